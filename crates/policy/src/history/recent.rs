//! A sliding window of the last revisits of a page.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), note 4: the gain of a page is
//! estimated from a sliding window of its last refreshes.

use serde::{Deserialize, Serialize};

/// Maximum number of revisits that are kept. Our choice: in a weekly crawl, 8 revisits cover two
/// months.
pub const WINDOW: usize = 8;

/// A visit that could detect whether the page had changed since it was last read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Revisit {
    /// Seconds since the page was last read.
    pub gap: f32,
    /// Whether the text differed.
    pub changed: bool,
    /// The share of its shingles that differed, from 0 to 1. 0 if the text is unchanged.
    pub differing: f32,
    /// Quality gain of the refresh for searches, ΔQ_A. `None` if it was not measured.
    pub gain: Option<f32>,
}

/// The last [`WINDOW`] revisits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Revisit>", into = "Vec<Revisit>")]
pub struct Recent {
    visits: [Revisit; WINDOW],
    kept: u8,
}

impl Recent {
    /// Returns the revisits, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Revisit> {
        self.visits[..usize::from(self.kept)].iter()
    }

    /// Returns the number of revisits in the window.
    pub fn len(&self) -> usize {
        usize::from(self.kept)
    }

    /// Returns whether the window is empty.
    pub fn is_empty(&self) -> bool {
        self.kept == 0
    }

    pub(super) fn push(&mut self, visit: Revisit) {
        if self.len() == WINDOW {
            self.visits.rotate_left(1);
            self.kept -= 1;
        }
        self.visits[self.len()] = visit;
        self.kept += 1;
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Revisit> {
        let kept = self.len();
        self.visits[..kept].last_mut()
    }
}

impl From<Vec<Revisit>> for Recent {
    fn from(visits: Vec<Revisit>) -> Self {
        let mut recent = Self::default();
        visits.into_iter().for_each(|visit| recent.push(visit));
        recent
    }
}

impl From<Recent> for Vec<Revisit> {
    fn from(recent: Recent) -> Self {
        recent.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_keeps_the_last_eight_revisits() {
        let visit = |gap: u8| Revisit {
            gap: f32::from(gap),
            ..Revisit::default()
        };
        let mut recent = Recent::default();
        assert!(recent.is_empty() && recent.last_mut().is_none());
        (0..11).for_each(|gap| recent.push(visit(gap)));
        let gaps: Vec<f32> = recent.iter().map(|visit| visit.gap).collect();
        assert_eq!(gaps, [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(Recent::from(Vec::from(recent)), recent);
    }
}
