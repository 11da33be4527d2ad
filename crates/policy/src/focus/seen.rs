//! What do links say of a page that nobody has read?
//!
//! **Invariant:** what is kept of a page is bounded: so many words, so many parents; the rest is counted.

use super::guide::Pointer;
use super::linear::place;
use super::word_counts::{Field, Spoken, counts};
use crate::words::hash;
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
    /// What the best link to it promises to lead to.
    pub promise: f32,
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
    pub fn follow(&mut self, from: &Origin, anchor: f32, link: &Link<'_>, spoken: &Spoken) {
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
        self.add_spoken(spoken);
    }

    /// The mean over the parents that are kept; 0 if there is none.
    pub fn mean(&self, of: impl Fn(&Parent) -> f32) -> f32 {
        match self.parents.is_empty() {
            true => 0.0,
            false => self.parents.iter().map(of).sum::<f32>() / self.parents.len() as f32,
        }
    }

    /// Takes in what the form of its URL says: how deep it is, how its last part reads and is made of letters and digits, whether it is
    /// somebody's home.
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
            format!("form {}", form(last)),
            format!("forms {}", form(path)),
        ] {
            self.words.push(place(hash(&sign)));
        }
    }

    /// Takes in the words of a link; those around it count as if they were of a title.
    fn add_spoken(&mut self, spoken: &Spoken) {
        self.add_counted(&spoken.anchor, Field::Text);
        self.add_counted(&spoken.around, Field::Title);
    }

    fn add_words(&mut self, text: &str, field: Field) {
        self.add_counted(&counts(text, field), field);
    }

    fn add_counted(&mut self, words: &[(u64, u32)], field: Field) {
        // The same word says other things in a URL, in an anchor and around it.
        let salt = (field.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (word, _) in words {
            if self.words.len() >= MOST_WORDS {
                return;
            }
            let place = place(word ^ salt);
            if !self.words.contains(&place) {
                self.words.push(place);
            }
        }
    }
}

/// The words of a link that nobody has followed: of its URL, its anchor and around it.
pub fn signs(link: &Pointer<'_>) -> Vec<u32> {
    let mut known = Known {
        folders: folders(link.url),
        ..Known::default()
    };
    known.add_words(link.url, Field::Url);
    known.add_signs(link.url);
    known.add_spoken(&Spoken::of(link.anchor, link.around));
    known.words
}

/// The words of a URL.
pub fn named(url: &str) -> Vec<u32> {
    let mut known = Known::default();
    known.add_words(url, Field::Url);
    known.words
}

/// The words of a link and those around it; where it has none, those of the URL.
pub fn near(spoken: &Spoken, url: &[u32]) -> Vec<u32> {
    let anchor = spoken.anchor.iter().map(|(word, _)| place(*word));
    // A word around a link is another sign than the same word in it.
    let around = spoken.around.iter().map(|(word, _)| place(!word));
    let words: Vec<u32> = anchor.chain(around).collect();
    match words.is_empty() {
        true => url.to_vec(),
        false => words,
    }
}

/// How a part of a URL is made: runs of digits, of capitals and of small letters, and what stands between them.
/// `cs302` is made like `ee101`, and `Isaac_Newton` like `Marie_Curie`.
fn form(text: &str) -> String {
    let mut form = String::new();
    for letter in text.chars() {
        let kind = match letter {
            letter if letter.is_numeric() => '0',
            letter if letter.is_uppercase() => 'A',
            letter if letter.is_alphabetic() => 'a',
            letter => letter,
        };
        if !kind.is_alphanumeric() || !form.ends_with(kind) {
            form.push(kind);
        }
    }
    form
}

/// The hashes of a URL's folder and of the one above it.
fn folders(url: &str) -> [u64; 2] {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let above = |path: &str| path.rfind('/').unwrap_or(0);
    let folder = &path[..above(path)];
    [hash(folder), hash(&folder[..above(folder)])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_alike() {
        for (one, other) in [("cs302", "ee7"), ("Isaac_Newton", "Marie_Curie")] {
            assert_eq!(form(one), form(other));
        }
        assert_eq!(form("95w/CS-101.html"), "0a/A-0.a");
        assert_ne!(form("Speed_of_light"), form("Isaac_Newton"));
    }
}
