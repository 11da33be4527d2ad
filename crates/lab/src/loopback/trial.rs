//! Test of a crawler of ephemeral pages on a small [`Press`].
//!
//! Thirty sources on six sites publish for four days, at the given speed. Users click on the
//! articles that the tested crawler has.
//!
//! **Invariant:** each click on an article that the crawler has is reported once, after it
//! happened, with its time on the real clock. The score counts the second half of the time.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use page::PageUrl;
use policy::Moment;

use super::press::{Had, Press};
use crate::LabError;
use crate::invent;

const DAY: f64 = 86_400.0;

/// A press and the period in which a crawler is tested on it.
#[derive(Debug)]
pub struct Trial {
    /// The server to crawl.
    pub press: Arc<Press>,
    had: Had,
    speed: f64,
    begun: Timestamp,
    begins: Moment,
    /// Time of the world up to which clicks have been reported.
    reported: Moment,
}

impl Trial {
    /// Length of the test in days of the world.
    pub const DAYS: f64 = 4.0;
    /// Fetches per second of the world. It is lower than the rate of articles, so the crawler
    /// must choose polls and pages.
    pub const BUDGET: f64 = 0.0025;

    /// Starts the test now, on the clock of the current tokio runtime, with `speed` seconds of
    /// the world per real second.
    ///
    /// # Errors
    /// If no article is published in the world of this seed.
    pub fn begin(seed: u64, speed: f64, had: Had) -> Result<Self, LabError> {
        let news = invent::sources::SourcesPlan {
            sources: 30,
            sites: 6,
            days: Self::DAYS,
            articles: 0.004,
            links: 2.0,
            profit: 0.1,
            ..invent::sources::SourcesPlan::default()
        }
        .invent(seed);
        let Some(begins) = news.links().first().map(|link| link.from) else {
            let why = format!("no article is published with seed {seed}: choose another seed");
            return Err(LabError::Wish(why));
        };
        Ok(Self {
            press: Arc::new(Press::new(news, begins, speed)),
            had,
            speed,
            begun: Timestamp::now(),
            begins,
            reported: begins,
        })
    }

    /// Returns whether the test is over.
    pub fn is_over(&self) -> bool {
        self.press.now() >= self.end()
    }

    /// Returns the clicks since the last call on articles that the crawler has: the time on the
    /// real clock, the URL and the number of clicks.
    pub fn clicks(&mut self) -> Vec<(Timestamp, &PageUrl, u32)> {
        let now = self.press.now();
        let clicks = self.press.clicks(self.reported, now, self.had);
        self.reported = now;
        let ours = |at: Moment| {
            let passed = at.since(self.begins).as_secs_f64() / self.speed;
            self.begun + SignedDuration::from_secs_f64(passed)
        };
        clicks
            .into_iter()
            .map(|(url, click)| (ours(click.at), url, click.clicks))
            .collect()
    }

    /// Returns the share of the clicks in the second half of the test that are on articles which
    /// the crawler had at the time of the click.
    pub fn served(&self) -> f64 {
        let half = self.begins + Duration::from_secs_f64(Self::DAYS * DAY / 2.0);
        let served = self.press.clicks(half, self.end(), self.had);
        let served: u32 = served.iter().map(|(_, click)| click.clicks).sum();
        f64::from(served) / f64::from(self.press.all_clicks(half, self.end()).max(1))
    }

    /// Returns the end of the test, in the time of the world.
    pub fn end(&self) -> Moment {
        self.begins + Duration::from_secs_f64(Self::DAYS * DAY)
    }
}
