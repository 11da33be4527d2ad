//! The record of a page before it is read, from its URL and the links to it.
//!
//! **Invariant:** memory per page is bounded by [`MOST_WORDS`] and [`MOST_PARENTS`]. Further
//! parents only enter the counts and sums.

use super::guide::Pointer;
use super::logistic::weight_index;
use super::word_counts::{Field, LinkWords, counts};
use crate::words::hash;
use crate::{Discovered, LinkFact, Number};

/// Maximum number of hashed words stored per page. The six features of the form of its URL are
/// stored even beyond this limit.
const MOST_WORDS: usize = 32;
/// Maximum number of parents stored per page.
const MOST_PARENTS: usize = 16;

/// A page and what its URL and the links to it say.
#[derive(Debug, Clone, Default)]
pub struct UnreadPage {
    /// Number of its host.
    pub host: u32,
    /// Whether a user named it.
    pub seed: bool,
    /// The first pages seen that link to it, at most [`MOST_PARENTS`].
    pub parents: Vec<Parent>,
    /// Number of pages that link to it.
    pub count: u32,
    /// Sum of the relevance of its parents.
    pub sum: f32,
    /// Highest relevance of a parent.
    pub best: f32,
    /// Highest probability that it is of the topic, by the words of one link to it.
    pub link: f32,
    /// Sum over its parents of how much their text suggests that they link to the topic, in log
    /// odds above the prior.
    pub near: f32,
    /// Hashes of its folder and of the folder above.
    pub folders: [u64; 2],
    /// Highest expected discounted reward, from 0 to 1, of following a link to it.
    pub promise: f32,
    /// Weight indices of the words of its URL, of anchors and of the text around them.
    pub words: Vec<u32>,
}

/// A page that links to another, and where.
#[derive(Debug, Clone, Copy)]
pub struct Parent {
    /// Page number of the parent.
    pub page: u32,
    /// Hash of the tag path of the link.
    pub path: u64,
}

/// The page that a link is on.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// Its page number.
    pub page: Number,
    /// Probability that it is of the topic.
    pub relevance: f32,
    /// How much its text suggests that it links to the topic, in log odds above the prior; 0 if
    /// unknown.
    pub near: f32,
}

impl Parent {
    /// Returns the key of all links of this parent under this tag path.
    pub fn group(self) -> u64 {
        self.path ^ u64::from(self.page).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl UnreadPage {
    /// Creates the record of a discovered page.
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

    /// Adds a link to this page.
    ///
    /// `anchor` is the probability that this page is of the topic, by the words of the link.
    pub fn follow(
        &mut self,
        from: &Origin,
        anchor: f32,
        link: &LinkFact<'_>,
        link_words: &LinkWords,
    ) {
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
        self.add_link_words(link_words);
    }

    /// Returns the mean over the stored parents; 0 if there is none.
    pub fn mean(&self, of: impl Fn(&Parent) -> f32) -> f32 {
        match self.parents.is_empty() {
            true => 0.0,
            false => self.parents.iter().map(of).sum::<f32>() / self.parents.len() as f32,
        }
    }

    /// Adds features of the form of the URL.
    ///
    /// These six are its depth (together with whether it is in a user's home directory,
    /// `~name`), its last segment, the extension and the character pattern of that segment, its
    /// folder, and the character pattern of the whole path.
    pub fn add_url_features(&mut self, url: &str) {
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
            self.words.push(weight_index(hash(&sign)));
        }
    }

    /// Adds the words of a link. Words around it are hashed as [`Field::Title`], to keep them
    /// apart.
    fn add_link_words(&mut self, link_words: &LinkWords) {
        self.add_counted(&link_words.anchor, Field::Text);
        self.add_counted(&link_words.around, Field::Title);
    }

    fn add_words(&mut self, text: &str, field: Field) {
        self.add_counted(&counts(text, field), field);
    }

    fn add_counted(&mut self, words: &[(u64, u32)], field: Field) {
        // A word has one weight in a URL, another in an anchor, and a third around an anchor.
        let salt = (field.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for (word, _) in words {
            if self.words.len() >= MOST_WORDS {
                return;
            }
            let place = weight_index(word ^ salt);
            if !self.words.contains(&place) {
                self.words.push(place);
            }
        }
    }
}

/// Returns the weight indices of a link: of its URL, its anchor and the words around it.
pub fn link_features(link: &Pointer<'_>) -> Vec<u32> {
    let mut known = UnreadPage {
        folders: folders(link.url),
        ..UnreadPage::default()
    };
    known.add_words(link.url, Field::Url);
    known.add_url_features(link.url);
    known.add_link_words(&LinkWords::of(link.anchor, link.around));
    known.words
}

/// Returns the weight indices of the words of a URL.
pub fn url_features(url: &str) -> Vec<u32> {
    let mut known = UnreadPage::default();
    known.add_words(url, Field::Url);
    known.words
}

/// Returns the weight indices of a link's words and those around it, or of its URL if there are
/// none.
pub fn word_features(link_words: &LinkWords, url: &[u32]) -> Vec<u32> {
    let anchor = link_words
        .anchor
        .iter()
        .map(|(word, _)| weight_index(*word));
    // A word around a link has another weight than the same word in it.
    let around = link_words
        .around
        .iter()
        .map(|(word, _)| weight_index(!word));
    let words: Vec<u32> = anchor.chain(around).collect();
    match words.is_empty() {
        true => url.to_vec(),
        false => words,
    }
}

/// Returns the character pattern of a URL segment.
///
/// Each run of digits, capitals or small letters becomes one character; punctuation stays.
/// `cs302` has the pattern of `ee101`, and `Isaac_Newton` that of `Marie_Curie`.
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

/// Returns the hashes of a URL's folder and of the folder above.
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
    fn segments_of_one_pattern_have_the_same_form() {
        for (one, other) in [("cs302", "ee7"), ("Isaac_Newton", "Marie_Curie")] {
            assert_eq!(form(one), form(other));
        }
        assert_eq!(form("95w/CS-101.html"), "0a/A-0.a");
        assert_ne!(form("Speed_of_light"), form("Isaac_Newton"));
    }
}
