//! What can be told of a new page before it is read: by its URL, the words of the link to it, and its place among what is new?
//!
//! **Invariant:** a page has at most [`MOST`] marks, whatever its URL, and each is one of [`MARKS`]: words are known by hashes, so that memory does not grow with the language.

use crate::chance::split_mix;

/// Marks of a page, at most.
pub const MOST: usize = 16;
/// Different marks of a kind.
pub const OF_A_KIND: usize = 1 << 12;
/// All marks.
pub const MARKS: usize = OF_A_KIND * KINDS.len();

/// How many marks of each kind a page has at most; marks of a page are sorted by kind.
pub const KINDS: [usize; 7] = [1, 1, 1, 1, 1, 5, 5];

/// Letters of a URL or a link that are looked at.
const LETTERS: usize = 1_000;
/// Shorter words say little.
const WORD: usize = 4;

/// The marks of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Marks {
    marks: [u16; MOST],
    count: u8,
}

impl Marks {
    /// By its URL, its host, and how many pages that were new at the same time came before it.
    pub fn of(url: &str, host: u32, place: u32) -> Self {
        let mut marks = Self::default();
        let url = short(url);
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (slug, sections) = segments
            .split_last()
            .map_or(("", &[][..]), |(slug, rest)| (*slug, rest));
        // A segment of digits alone is a date or a number: the section is what has letters.
        let lettered = |part: &&&str| part.chars().any(char::is_alphabetic);
        let mut sections = sections.iter().filter(lettered);
        if let Some(section) = sections.next() {
            marks.put(0, section, 0);
            marks.put(1, section, u64::from(host) + 1);
        }
        if let Some(section) = sections.next() {
            marks.put(2, section, 0);
        }
        let digits = slug.chars().filter(char::is_ascii_digit).count();
        marks.put(3, "", (digits as u64).min(5));
        // First, second, third or fourth, …: the later, the less it matters which.
        marks.put(4, "", u64::from((place.min(64) + 1).ilog2()));
        words(slug).for_each(|word| marks.put(5, word, 0));
        marks
    }

    /// The same with the words of the link to it.
    #[must_use]
    pub fn linked(mut self, anchor: &str) -> Self {
        words(short(anchor)).for_each(|word| self.put(6, word, 0));
        self
    }

    /// Those of a kind.
    pub fn of_kind(&self, kind: usize) -> impl Iterator<Item = usize> {
        self.iter().filter(move |mark| mark / OF_A_KIND == kind)
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let marks = &self.marks[..usize::from(self.count)];
        marks.iter().map(|&mark| usize::from(mark))
    }

    fn put(&mut self, kind: usize, word: &str, more: u64) {
        let letters = word.chars().flat_map(char::to_lowercase);
        let hash = letters.fold(split_mix(more), |hash, letter| {
            split_mix(hash ^ u64::from(u32::from(letter)))
        });
        let mark = kind * OF_A_KIND + hash as usize % OF_A_KIND;
        let known = self.of_kind(kind).any(|other| other == mark);
        if usize::from(self.count) < MOST && !known {
            self.marks[usize::from(self.count)] = mark as u16;
            self.count += 1;
        }
    }
}

/// The first words of a text that say something: runs of letters alone, since digits are a kind of mark
/// of their own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphabetic());
    words
        .filter(|word| word.chars().nth(WORD - 1).is_some())
        .take(5)
}

/// The beginning of a text.
fn short(text: &str) -> &str {
    let end = text.char_indices().nth(LETTERS);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(marks: &Marks) -> Vec<usize> {
        marks.iter().map(|mark| mark / OF_A_KIND).collect()
    }

    #[test]
    fn sections_digits_words_and_places_are_told_apart() {
        let news = |url| Marks::of(url, 7, 0);
        let one = news("https://a.example/Sport/2022/football/long-transfer-saga-17.html?x=/y/");
        assert_eq!(kinds(&one), [0, 1, 2, 3, 4, 5, 5, 5, 5]);
        let other = news("https://a.example/sport/tennis-17");
        let same = |kind: usize| one.of_kind(kind).eq(other.of_kind(kind));
        assert!(same(0) && same(1) && same(3) && same(4) && !same(5));
        let elsewhere = Marks::of("https://b.example/sport/tennis-17", 8, 3);
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
    fn no_url_has_too_many() {
        let long = format!("http://e.org/{}", "wört-é\u{202e}-/".repeat(1 << 16));
        let marks = Marks::of(&long, u32::MAX, u32::MAX).linked(&"many words ".repeat(1 << 16));
        assert!(marks.iter().count() <= MOST && marks.iter().all(|mark| mark < MARKS));
        for (kind, most) in KINDS.into_iter().enumerate() {
            assert!(marks.of_kind(kind).count() <= most, "{kind}");
        }
    }
}
