//! Features of a new page before it is read: from its URL, its anchor and its position among new
//! pages.
//!
//! **Invariant:** a page has at most [`MOST`] features, and each is one of [`FEATURES`]. Words are
//! hashed, so that memory does not grow with the vocabulary.

use crate::chance::split_mix;

/// Maximum number of features of a page.
pub const MOST: usize = 16;
/// Number of different features of a kind.
pub const PER_KIND: usize = 1 << 12;
/// Number of all features.
pub const FEATURES: usize = PER_KIND * KINDS.len();

/// Maximum number of features of each kind on a page.
///
/// The kinds are: section, section of this host, second section, digits in the last segment,
/// position, words of the last segment, words of the anchor. The features of a page are sorted
/// by kind.
pub const KINDS: [usize; 7] = [1, 1, 1, 1, 1, 5, 5];

/// Maximum number of characters of a URL or an anchor that are used.
const LETTERS: usize = 1_000;
/// Minimum number of letters of a word. Shorter words are ignored.
const WORD: usize = 4;

/// The features of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Features {
    features: [u16; MOST],
    count: u8,
}

impl Features {
    /// Computes the features from the URL, the host, and the number of pages found before this one
    /// on the same source at the same time.
    pub fn of(url: &str, host: u32, place: u32) -> Self {
        let mut features = Self::default();
        let url = short(url);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (slug, sections) = segments
            .split_last()
            .map_or(("", &[][..]), |(slug, rest)| (*slug, rest));
        // A segment of digits alone is a date or a number, so a section must have letters.
        let lettered = |part: &&&str| part.chars().any(char::is_alphabetic);
        let mut sections = sections.iter().filter(lettered);
        if let Some(section) = sections.next() {
            features.put(0, section, 0);
            features.put(1, section, u64::from(host) + 1);
        }
        if let Some(section) = sections.next() {
            features.put(2, section, 0);
        }
        let digits = slug.chars().filter(char::is_ascii_digit).count();
        features.put(3, "", (digits as u64).min(5));
        // Positions 1, 2–3, 4–7 and so on share a feature, because later positions differ less.
        features.put(4, "", u64::from((place.min(64) + 1).ilog2()));
        words(slug).for_each(|word| features.put(5, word, 0));
        features
    }

    /// Returns the features with those of the anchor text added.
    #[must_use]
    pub fn linked(mut self, anchor: &str) -> Self {
        words(short(anchor)).for_each(|word| self.put(6, word, 0));
        self
    }

    /// Returns the features of one kind.
    pub fn of_kind(&self, kind: usize) -> impl Iterator<Item = usize> {
        self.iter()
            .filter(move |feature| feature / PER_KIND == kind)
    }

    /// Returns all features.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let features = &self.features[..usize::from(self.count)];
        features.iter().map(|&feature| usize::from(feature))
    }

    fn put(&mut self, kind: usize, word: &str, more: u64) {
        let letters = word.chars().flat_map(char::to_lowercase);
        let hash = letters.fold(split_mix(more), |hash, letter| {
            split_mix(hash ^ u64::from(u32::from(letter)))
        });
        let feature = kind * PER_KIND + hash as usize % PER_KIND;
        let known = self.of_kind(kind).any(|other| other == feature);
        if usize::from(self.count) < MOST && !known {
            self.features[usize::from(self.count)] = feature as u16;
            self.count += 1;
        }
    }
}

/// Returns the first five words of at least [`WORD`] letters in a text.
///
/// Digits separate words, because they have a feature of their own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    words
        .filter(|word| word.chars().nth(WORD - 1).is_some())
        .take(5)
}

/// Returns the first [`LETTERS`] characters of a text.
fn short(text: &str) -> &str {
    let end = text.char_indices().nth(LETTERS);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(features: &Features) -> Vec<usize> {
        features.iter().map(|feature| feature / PER_KIND).collect()
    }

    #[test]
    fn sections_digits_words_and_places_are_told_apart() {
        let news = |url| Features::of(url, 7, 0);
        let one = news("https://a.example/Sport/2022/football/long-transfer-saga-17.html?x=/y/");
        assert_eq!(kinds(&one), [0, 1, 2, 3, 4, 5, 5, 5, 5]);
        let other = news("https://a.example/sport/tennis-17");
        let same = |kind: usize| one.of_kind(kind).eq(other.of_kind(kind));
        assert!(same(0) && same(1) && same(3) && same(4) && !same(5));
        let elsewhere = Features::of("https://b.example/sport/tennis-17", 8, 3);
        assert!(other.of_kind(0).eq(elsewhere.of_kind(0)));
        assert!(
            !other.of_kind(1).eq(elsewhere.of_kind(1))
                && !other.of_kind(4).eq(elsewhere.of_kind(4))
        );
        assert_eq!(kinds(&news("https://a.example")), [3, 4]);
        let linked = other.linked("Is it the tennis FINAL at last, tennis fans?");
        assert_eq!(linked.of_kind(6).count(), 4, "tennis counts once");
    }

    #[test]
    fn no_page_has_more_features_than_the_limits_allow() {
        let long = format!("http://e.org/{}", "wört-é\u{202e}-/".repeat(1 << 16));
        let features =
            Features::of(&long, u32::MAX, u32::MAX).linked(&"many words ".repeat(1 << 16));
        assert!(
            features.iter().count() <= MOST && features.iter().all(|feature| feature < FEATURES)
        );
        for (kind, most) in KINDS.into_iter().enumerate() {
            assert!(features.of_kind(kind).count() <= most, "{kind}");
        }
    }
}
