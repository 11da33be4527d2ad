//! Counts how often a text has each word of the workload, by part of the page.

use super::super::weights::Part;
use super::super::word_finder::WordFinder;

/// Occurrences of a word in a page, by part. Differences wrap around: −1 is `u32::MAX`.
pub(super) type Counts = [u32; Part::COUNT];

/// Counts occurrences of given words.
pub(super) struct Counter {
    finder: WordFinder,
    /// Occurrences so far, by word.
    tally: Box<[Counts]>,
    /// The words that were counted. A word whose counts returned to 0 may be listed twice.
    seen: Vec<u16>,
}

impl Counter {
    /// Counts these words, which must be in the form that the analyzer produces. There must be
    /// fewer than 65,535.
    pub(super) fn new<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> Self {
        Self {
            tally: vec![Counts::default(); words.len()].into(),
            finder: WordFinder::new(words),
            seen: Vec::new(),
        }
    }

    /// Adds the words of a text to the counts. Returns the number of all words in the text.
    pub(super) fn read(&mut self, text: &str, part: Part) -> u32 {
        self.count(text, part, 1)
    }

    /// Subtracts the words of a text from the counts. Returns the number of all words in the
    /// text.
    pub(super) fn unread(&mut self, text: &str, part: Part) -> u32 {
        self.count(text, part, u32::MAX)
    }

    fn count(&mut self, text: &str, part: Part, unit: u32) -> u32 {
        let Self {
            finder,
            tally,
            seen,
        } = self;
        finder.read(text, |word, _| {
            let counts = &mut tally[usize::from(word)];
            if *counts == Counts::default() {
                seen.push(word);
            }
            let count = &mut counts[part as usize];
            *count = count.wrapping_add(unit);
        })
    }

    /// Removes and returns the counts of a word.
    pub(super) fn take(&mut self, word: u16) -> Counts {
        std::mem::take(&mut self.tally[usize::from(word)])
    }

    /// Removes the remaining counts and visits those that are not 0.
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
    fn occurrences_are_counted_by_part() {
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
    fn a_word_that_became_rarer_has_a_wrapped_count() {
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
