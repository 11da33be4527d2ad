//! The last revisits of a page: a window that slides.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), note 4: what a page gives is estimated from a
//! sliding window of its last refreshes.

use serde::{Deserialize, Serialize};

/// Revisits that are kept, at most. Ours: 8 of a weekly crawl are two months.
pub const WINDOW: usize = 8;

/// A visit that could tell whether the page had changed since the visit before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Revisit {
    /// Seconds since the visit before.
    pub gap: f32,
    /// Whether the text was another.
    pub changed: bool,
    /// The share of its shingles that were others.
    pub differing: f32,
    /// What the refresh gave to searchers, ΔQ_A; `None`: nobody measured it.
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
    /// The revisits, the oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Revisit> {
        self.visits[..usize::from(self.kept)].iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.kept)
    }

    /// Whether there are none.
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
    fn the_window_slides() {
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
