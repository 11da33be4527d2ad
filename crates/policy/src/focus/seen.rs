//! What do links say of a page that nobody has read?
//!
//! **Invariant:** what is kept of a page is bounded: so many words, so many parents; the rest is counted.

use super::linear::place;
use super::words::{Field, counts, hash};
use crate::{Discovered, Link, Number};

/// Words that are kept of a page, at most.
const MOST_WORDS: usize = 32;
/// Parents that are kept of a page, at most.
const MOST_PARENTS: usize = 16;

/// What is known of a page by those that lead to it.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Its host.
    pub host: u32,
    /// Whether a user named it.
    pub seed: bool,
    /// The first pages that lead to it.
    pub parents: Vec<Parent>,
    /// How many there are in all.
    pub count: u32,
    /// The sum of their relevance.
    pub sum: f32,
    /// The best of it.
    pub best: f32,
    /// How likely it is of the topic by the best link to it.
    pub link: f32,
    /// The sum over its parents of how likely each is one that leads to the topic, as log odds above the usual.
    pub near: f32,
    /// The hashes of the folders that it is in: the whole of it, and what is above that.
    pub folders: [u64; 2],
    /// The words of its URL, of anchors and around them, by where their weights are.
    pub words: Vec<u32>,
}

/// A page that leads to another.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    /// Which one.
    pub page: u32,
    /// The hash of the tag path of its link.
    pub path: u64,
}

/// A page that was read, as its links see it.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// Which one.
    pub page: Number,
    /// How likely it is of the topic.
    pub relevance: f32,
    /// How likely it is one that leads there, by its text: log odds above the usual; 0 if nobody knows.
    pub near: f32,
}

impl Parent {
    /// The links of this page under this path.
    pub fn group(self) -> u64 {
        self.path ^ u64::from(self.page).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Known {
    /// A page that was heard of.
    pub fn of(discovered: &Discovered<'_>) -> Self {
        let mut known = Self {
            host: discovered.host,
            seed: discovered.seed,
            folders: folders(discovered.url),
            ..Self::default()
        };
        known.add_words(discovered.url, Field::Url);
        known
    }

    /// Takes in a link from this page, which is of the topic so likely by its own words.
    pub fn follow(&mut self, from: &Origin, anchor: f32, link: &Link<'_>) {
        let relevance = from.relevance;
        self.near += from.near;
        self.link = self.link.max(anchor);
        self.count += 1;
        self.sum += relevance;
        self.best = self.best.max(relevance);
        if self.parents.len() < MOST_PARENTS {
            let path = hash(link.path);
            self.parents.push(Parent {
                page: from.page.0,
                path,
            });
        }
        self.add_words(link.anchor, Field::Text);
        self.add_words(link.around, Field::Title);
    }

    /// The mean over the parents that are kept; 0 if there is none.
    pub fn mean(&self, of: impl Fn(&Parent) -> f32) -> f32 {
        match self.parents.is_empty() {
            true => 0.0,
            false => self.parents.iter().map(of).sum::<f32>() / self.parents.len() as f32,
        }
    }

    /// Takes in what the form of its URL says: how deep it is, how its last part reads, whether it is somebody's home.
    pub fn add_signs(&mut self, url: &str) {
        let path = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = path.split_once('/').map_or("", |(_, path)| path);
        let last = path.rsplit('/').next().unwrap_or_default();
        let depth = path.matches('/').count().min(9);
        let ending = last.rsplit_once('.').map_or("", |(_, ending)| ending);
        let home = path.contains('~') || path.contains("%7E");
        for sign in [
            format!("deep {depth} {home}"),
            format!("last {last}"),
            format!("ends {ending}"),
            format!("folder {}", self.folders[0]),
        ] {
            self.words.push(place(hash(&sign)));
        }
    }

    fn add_words(&mut self, text: &str, field: Field) {
        if text.is_empty() || self.words.len() >= MOST_WORDS {
            return;
        }
        // The same word says other things in a URL, in an anchor and around it.
        let salt = (field.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (word, _) in counts(text, field) {
            let place = place(word ^ salt);
            if self.words.len() < MOST_WORDS && !self.words.contains(&place) {
                self.words.push(place);
            }
        }
    }
}

/// The hashes of a URL's folder and of the one above it.
fn folders(url: &str) -> [u64; 2] {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let above = |path: &str| path.rfind('/').unwrap_or(0);
    let folder = &path[..above(path)];
    [hash(folder), hash(&folder[..above(folder)])]
}
