//! What was learned once is learned again: which pages, as they were known before they were read?
//!
//! A model that sees each page once learns little from each. **Invariant:** so many pages are remembered; the oldest gives way, and
//! all are told in the same order.

use super::linear::Linear;

/// Pages that are remembered, at most.
const MOST: usize = 4_096;

/// Pages that were read.
#[derive(Debug, Clone)]
pub struct Rehearsal<const N: usize> {
    lessons: Vec<Lesson<N>>,
    next: usize,
}

/// What was known of a page, and what it was.
#[derive(Debug, Clone)]
struct Lesson<const N: usize> {
    inputs: [f32; N],
    words: Vec<u32>,
    truth: f32,
}

impl<const N: usize> Default for Rehearsal<N> {
    /// None yet.
    fn default() -> Self {
        Self {
            lessons: Vec::new(),
            next: 0,
        }
    }
}

impl<const N: usize> Rehearsal<N> {
    /// Remembers a page of which this was known.
    pub fn remember(&mut self, inputs: [f32; N], words: &[u32], truth: f32) {
        let lesson = Lesson {
            inputs,
            words: words.to_vec(),
            truth,
        };
        match self.lessons.get_mut(self.next) {
            Some(oldest) => *oldest = lesson,
            None => self.lessons.push(lesson),
        }
        self.next = (self.next + 1) % MOST;
    }

    /// Has a model learn from all of them once more.
    pub fn tell(&self, model: &mut Linear<N>) {
        for lesson in &self.lessons {
            model.learn(&lesson.inputs, &lesson.words, lesson.truth);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_gives_way_and_the_rest_is_told_again() {
        let mut rehearsal = Rehearsal::<1>::default();
        for page in 0..MOST + 10 {
            // The first ten speak against the word, all others for it.
            rehearsal.remember([1.0], &[7], if page < 10 { 0.0 } else { 1.0 });
        }
        assert_eq!(rehearsal.lessons.len(), MOST);
        assert!(rehearsal.lessons.iter().all(|lesson| lesson.truth > 0.5));
        let mut model = Linear::new([0.0], (0.1, 0.3));
        let before = model.log_odds(&[1.0], &[7]);
        rehearsal.tell(&mut model);
        assert!(model.log_odds(&[1.0], &[7]) > before);
    }
}
