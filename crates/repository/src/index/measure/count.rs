//! Counts how often a text has each word that people search for, by part of the page.

use super::super::spot::Spotter;
use super::super::weights::Part;

/// How often a page has a word, by part. Differences wrap: less is a large number.
pub(super) type Counts = [u32; Part::COUNT];

/// Counts words.
pub(super) struct Counter {
    spotter: Spotter,
    /// By word, how often it was seen.
    tally: Box<[Counts]>,
    /// The words whose tally was touched, in the order in which they were first seen.
    seen: Vec<u16>,
}

impl Counter {
    /// Counts these words, which are as the analyzer leaves them. There must be fewer than 65,535.
    pub(super) fn new<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> Self {
        Self {
            tally: vec![Counts::default(); words.len()].into(),
            spotter: Spotter::new(words),
            seen: Vec::new(),
        }
    }

    /// Counts the words of a text. Returns how many there are, of all kinds.
    pub(super) fn read(&mut self, text: &str, part: Part) -> u32 {
        self.count(text, part, 1)
    }

    /// Takes the words of a text off the counts. Returns how many there are, of all kinds.
    pub(super) fn unread(&mut self, text: &str, part: Part) -> u32 {
        self.count(text, part, u32::MAX)
    }

    fn count(&mut self, text: &str, part: Part, unit: u32) -> u32 {
        let Self {
            spotter,
            tally,
            seen,
        } = self;
        spotter.read(text, |word, _| {
            let counts = &mut tally[usize::from(word)];
            if *counts == Counts::default() {
                seen.push(word);
            }
            let count = &mut counts[part as usize];
            *count = count.wrapping_add(unit);
        })
    }

    /// Takes out how often a word was seen.
    pub(super) fn take(&mut self, word: u16) -> Counts {
        std::mem::take(&mut self.tally[usize::from(word)])
    }

    /// Takes out what is left.
    pub(super) fn take_rest(&mut self, mut visit: impl FnMut(u16, Counts)) {
        for word in self.seen.drain(..) {
            let counts = std::mem::take(&mut self.tally[usize::from(word)]);
            if counts != Counts::default() {
                visit(word, counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(counter: &mut Counter) -> Vec<(u16, [u32; 2])> {
        let mut rest = Vec::new();
        counter.take_rest(|word, counts| {
            rest.push((
                word,
                [Part::Title, Part::Body].map(|part| counts[part as usize]),
            ));
        });
        rest
    }

    #[test]
    fn parts_are_told_apart() {
        let mut counter = Counter::new(["a", "b"].into_iter());
        assert_eq!(counter.read("a a b", Part::Body), 3);
        assert_eq!(counter.read("a x", Part::Title), 2);
        let counts = counter.take(0);
        assert_eq!(
            (counts[Part::Title as usize], counts[Part::Body as usize]),
            (1, 2)
        );
        assert_eq!(rest(&mut counter), [(1, [0, 1])]);
        assert_eq!(rest(&mut counter), []);
    }

    #[test]
    fn what_is_there_less_often_wraps() {
        let mut counter = Counter::new(["a", "b", "c"].into_iter());
        counter.unread("a a b c", Part::Title);
        counter.read("a c c", Part::Title);
        let less = u32::MAX;
        assert_eq!(
            rest(&mut counter),
            [(0, [less, 0]), (1, [less, 0]), (2, [1, 0])]
        );
    }
}
