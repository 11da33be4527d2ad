//! The users of a town: their queries and clicks.
//!
//! Queries are subjects of the sites, distributed by Zipf's law. A result is judged by the text
//! of its page at that moment.
//!
//! **Invariant:** the random numbers of a search and of its clicks are functions of the seed and
//! of the number of the search. Only [`Searchers::choose`] reads pages of the web: a user clicks
//! by what a page says.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::super::web::{PageNumber, Web};
use super::words::{EVENTS, FEATURES, GOODS, PLACES, TROUBLES, any, often};
use crate::chance::{For, stream};

/// Probability that a user who looks at a result continues to the next one, as in the cascade
/// model of Craswell et al., "An experimental comparison of click position-bias models" (WSDM
/// 2008). The value is ours.
const GOES_ON: f64 = 0.85;
/// Probability of a click on a page that has just changed and contains all words of the query.
const WANTED: f64 = 0.6;
/// Probability of a click on a page that is gone or lacks a word of the query.
const UNWANTED: f64 = 0.03;
/// Half-life of the novelty of a change, in seconds at speed 1.
const NEWS: f64 = 240.0;

/// The users who search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Searchers {
    /// The seed of all random numbers.
    pub seed: u64,
    /// Searches per second.
    pub rate: f64,
    /// The speed of their town.
    pub speed: f64,
}

/// One search.
#[derive(Debug, Clone, PartialEq)]
pub struct UserSearch {
    /// Its number, from 0.
    pub number: u64,
    /// Time since the search before, in seconds.
    pub after: f64,
    /// The text of the query.
    pub query: String,
}

impl Searchers {
    /// Returns an endless sequence of searches.
    pub fn wishes(self) -> impl Iterator<Item = UserSearch> {
        (0..).map(move |number| self.wish(number))
    }

    fn wish(&self, number: u64) -> UserSearch {
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
            // Users leave words out.
            0 => any(&subject.split(' ').collect::<Vec<_>>(), &mut rng).to_owned(),
            1 if subjects == EVENTS => format!("{subject} {}", any(&PLACES, &mut rng)),
            _ => subject.to_owned(),
        };
        UserSearch {
            number,
            after: gap / self.rate,
            query: query.to_lowercase(),
        }
    }

    /// Returns the index of the result that the user clicks; `None` if the user clicks none. The
    /// user looks at the results from the top and stops at the first click.
    pub fn choose(
        &self,
        wish: &UserSearch,
        results: &[PageNumber],
        web: &Web,
        at: f64,
    ) -> Option<usize> {
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

    fn attraction(&self, wish: &UserSearch, page: PageNumber, web: &Web, at: f64) -> f64 {
        let known = web.page(page);
        if !known.exists(at) {
            return UNWANTED;
        }
        let text = web.html(page, at, 80).to_lowercase();
        if !wish.query.split(' ').all(|word| text.contains(word)) {
            return UNWANTED;
        }
        // Half of the attraction is due to the text, and half to its novelty.
        let age = (at - web.version(known, at).since).max(0.0) * self.speed;
        WANTED * (0.5 + 0.5 * (-age / NEWS).exp2())
    }
}
