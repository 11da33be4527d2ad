//! How is a crawler of ephemeral pages put to the test, on a small press?
//!
//! Thirty sources on six sites publish for four days, as fast as the speed says, and people click the articles that the crawler under trial has.
//! **Invariant:** a crawler is told of clicks on what it has, once each and not before they happen, in the time of its own clock; it is judged by the second half of the time.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use page::PageUrl;
use policy::Moment;

use super::press::{Had, Press};
use crate::LabError;
use crate::invent;

const DAY: f64 = 86_400.0;

/// A press, and the time in which a crawler is tried on it.
#[derive(Debug)]
pub struct Trial {
    /// What is crawled.
    pub press: Arc<Press>,
    had: Had,
    speed: f64,
    begun: Timestamp,
    begins: Moment,
    /// Until when clicks were told.
    told: Moment,
}

impl Trial {
    /// Days of the world that pass.
    pub const DAYS: f64 = 4.0;
    /// Fetches a second of the world: fewer than there are articles, so that polls and pages must be chosen.
    pub const BUDGET: f64 = 0.0025;

    /// Begins now, on the clock of the current tokio runtime; so many seconds of the world pass in one of ours.
    ///
    /// # Errors
    /// If nothing is published by the world of this seed.
    pub fn begin(seed: u64, speed: f64, had: Had) -> Result<Self, LabError> {
        let news = invent::sources::Plan {
            sources: 30,
            sites: 6,
            days: Self::DAYS,
            articles: 0.004,
            links: 2.0,
            profit: 0.1,
            ..invent::sources::Plan::default()
        }
        .invent(seed);
        let Some(begins) = news.links().first().map(|link| link.from) else {
            let why = format!("nothing is published by the press of the seed {seed}: take another");
            return Err(LabError::Wish(why));
        };
        Ok(Self {
            press: Arc::new(Press::new(news, begins, speed)),
            had,
            speed,
            begun: Timestamp::now(),
            begins,
            told: begins,
        })
    }

    /// Whether all of the time has passed.
    pub fn is_over(&self) -> bool {
        self.press.now() >= self.end()
    }

    /// Clicks since the last question: when on our clock, on what, and how many.
    pub fn clicks(&mut self) -> Vec<(Timestamp, &PageUrl, u32)> {
        let now = self.press.now();
        let clicks = self.press.clicks(self.told, now, self.had);
        self.told = now;
        let ours = |at: Moment| {
            let passed = at.since(self.begins).as_secs_f64() / self.speed;
            self.begun + SignedDuration::from_secs_f64(passed)
        };
        clicks
            .into_iter()
            .map(|(url, click)| (ours(click.at), url, click.clicks))
            .collect()
    }

    /// The share of the second half's clicks that are on what the crawler had by then.
    pub fn served(&self) -> f64 {
        let half = self.begins + Duration::from_secs_f64(Self::DAYS * DAY / 2.0);
        let served = self.press.clicks(half, self.end(), self.had);
        let served: u32 = served.iter().map(|(_, click)| click.clicks).sum();
        f64::from(served) / f64::from(self.press.all_clicks(half, self.end()).max(1))
    }

    /// The last moment.
    pub fn end(&self) -> Moment {
        self.begins + Duration::from_secs_f64(Self::DAYS * DAY)
    }
}
