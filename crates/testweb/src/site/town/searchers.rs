//! What do the people of a town search for, and which results do they click?
//!
//! They know what they want: queries are words of what the sites are about, by Zipf's law, and a result is judged by what its page says at that moment.
//! **Invariant:** searches and choices are functions of the seed and their number; only [`Searchers::choose`] looks at the web, since people do.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::super::web::{PageNumber, Web};
use super::words::{EVENTS, FEATURES, GOODS, PLACES, TROUBLES, any, often};
use crate::chance::{For, stream};

/// The chance that someone who looks at a result goes on to the next: Craswell et al., "An experimental comparison of click position-bias models" (WSDM 2008),
/// call it the cascade; the number is ours.
const GOES_ON: f64 = 0.85;
/// The chance of a click on a page that says what was asked for, and on another.
const WANTED: f64 = 0.6;
const UNWANTED: f64 = 0.03;
/// News of so many seconds ago is half as attractive, at speed 1.
const NEWS: f64 = 240.0;

/// People who search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searchers {
    /// Where all chance comes from.
    pub seed: u64,
    /// Searches a second.
    pub rate: f64,
    /// How fast their town lives.
    pub speed: f64,
}

/// One search.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// Its number, from 0.
    pub number: u64,
    /// How long after the search before it, in seconds.
    pub after: f64,
    /// What is typed.
    pub query: String,
}

impl Searchers {
    /// Their searches, one after the other, for ever.
    pub fn wishes(self) -> impl Iterator<Item = Wish> {
        (0..).map(move |number| self.wish(number))
    }

    fn wish(&self, number: u64) -> Wish {
        let mut rng = stream(self.seed, For::Searchers, number, 0);
        let gap: f64 = Exp1.sample(&mut rng);
        let subjects: &[&str] = match rng.random_range(0..10) {
            0..4 => &EVENTS,
            4..6 => &FEATURES,
            6..8 => &TROUBLES,
            _ => &GOODS,
        };
        let subject = often(subjects, &mut rng);
        let query = match rng.random_range(0..4) {
            // People leave words out.
            0 => any(&subject.split(' ').collect::<Vec<_>>(), &mut rng).to_owned(),
            1 if subjects == EVENTS => format!("{subject} {}", any(&PLACES, &mut rng)),
            _ => subject.to_owned(),
        };
        Wish {
            number,
            after: gap / self.rate,
            query: query.to_lowercase(),
        }
    }

    /// Which of these results someone clicks, who looks at them from the top and leaves with the first click.
    pub fn choose(&self, wish: &Wish, results: &[PageNumber], web: &Web, at: f64) -> Option<usize> {
        let mut rng = stream(self.seed, For::Searchers, wish.number, 1);
        for (place, page) in results.iter().enumerate() {
            if rng.random::<f64>() < self.attraction(wish, *page, web, at) {
                return Some(place);
            }
            if rng.random::<f64>() > GOES_ON {
                return None;
            }
        }
        None
    }

    fn attraction(&self, wish: &Wish, page: PageNumber, web: &Web, at: f64) -> f64 {
        let known = web.page(page);
        if !known.exists(at) {
            return UNWANTED;
        }
        let text = web.html(page, at, 80).to_lowercase();
        if !wish.query.split(' ').all(|word| text.contains(word)) {
            return UNWANTED;
        }
        // Half of it is what the page says and half that it is new.
        let age = (at - web.version(known, at).since).max(0.0) * self.speed;
        WANTED * (0.5 + 0.5 * (-age / NEWS).exp2())
    }
}
