//! What pages show at the evenly spaced steps of an experiment.
//!
//! **Invariant:** the first step is when half of all pages that ever lived had been born. The
//! last step is not after the last change. The experiment does not judge periods in which few
//! pages or none were observed.

use std::time::Duration;

use policy::Moment;

use crate::run::refresh::{Lives, text_at};

/// The texts of pages at evenly spaced steps.
#[derive(Debug, Clone)]
pub struct Snapshots {
    moments: Vec<Moment>,
    /// For each step, the pages that show another text than at the step before, with the new text,
    /// by page. For the first step, all pages that exist.
    changed: Vec<Vec<(u32, Option<u32>)>>,
    /// Pages that exist at some step, by the first such step, then by page.
    born: Vec<(usize, u32)>,
    pages: usize,
}

impl Snapshots {
    /// Takes a snapshot every `step`. Returns `None` if the pages were observed for less than
    /// four steps after the first.
    pub fn new(lives: &Lives, step: Duration) -> Option<Self> {
        let (first, last) = Self::observed(lives)?;
        let steps = last.since(first).as_micros() / step.as_micros().max(1);
        let steps = u32::try_from(steps).ok().filter(|steps| *steps >= 4)?;
        let moments: Vec<Moment> = (0..=steps).map(|n| first + step * n).collect();
        let mut shown = vec![None; lives.pages()];
        let mut seen = vec![false; lives.pages()];
        let (mut changed, mut born) = (Vec::new(), Vec::new());
        for (step, &now) in moments.iter().enumerate() {
            let mut here = Vec::new();
            for page in 0..lives.pages() {
                let text = text_at(lives.of(page), now).map(|text| text as u32);
                if text != shown[page] {
                    here.push((page as u32, text));
                    shown[page] = text;
                }
                if text.is_some() && !std::mem::replace(&mut seen[page], true) {
                    born.push((step, page as u32));
                }
            }
            changed.push(here);
        }
        Some(Self {
            moments,
            changed,
            born,
            pages: lives.pages(),
        })
    }

    /// Returns the times between which steps lie: the birth of the middle page, and the last
    /// change. `None` if there are no changes.
    pub fn observed(lives: &Lives) -> Option<(Moment, Moment)> {
        let born = |page: usize| lives.of(page).first().map(|birth| birth.at);
        let mut births: Vec<Moment> = (0..lives.pages()).filter_map(born).collect();
        births.sort_unstable();
        let first = *births.get(births.len().checked_sub(1)? / 2)?;
        Some((first, lives.span()?.1))
    }

    /// Drops all pages but these, as if the others did not exist at any step. Steps and page
    /// numbers stay.
    pub fn retain(&mut self, kept: &[bool]) {
        let is_kept = |page: u32| kept[page as usize];
        for step in &mut self.changed {
            step.retain(|(page, _)| is_kept(*page));
        }
        self.born.retain(|(_, page)| is_kept(*page));
    }

    /// Returns, for each page, whether it exists at every step.
    pub fn persistent(&self) -> Vec<bool> {
        let mut persistent: Vec<bool> = self.at(0).iter().map(Option::is_some).collect();
        for &(page, text) in self.changed.iter().flatten() {
            persistent[page as usize] &= text.is_some();
        }
        persistent
    }

    /// Returns, for each page, whether its text at some step differs from that at the step before,
    /// where it existed.
    pub fn changing(&self) -> Vec<bool> {
        let mut changing = vec![false; self.pages];
        let mut seen = vec![false; self.pages];
        for &(page, text) in self.changed.iter().flatten() {
            let page = page as usize;
            changing[page] |= seen[page];
            seen[page] |= text.is_some();
        }
        changing
    }

    /// Returns the time of each step.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Returns the pages that show another text than at the step before, with the new text; for the
    /// first step all pages that exist.
    pub fn changed(&self, step: usize) -> &[(u32, Option<u32>)] {
        &self.changed[step]
    }

    /// Returns pages in the order of discovery, with the step of discovery.
    pub fn born(&self) -> &[(usize, u32)] {
        &self.born
    }

    /// Returns the number of all pages, whether they exist at a step or not.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Returns the text of every page at a step.
    pub fn at(&self, step: usize) -> Vec<Option<u32>> {
        let mut shown = vec![None; self.pages];
        for &(page, text) in self.changed[..=step].iter().flatten() {
            shown[page as usize] = text;
        }
        shown
    }
}
