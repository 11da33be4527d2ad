//! What did pages show at the steps of an experiment?
//!
//! **Invariant:** steps are even, the first is when half of all pages that ever lived had been born, and the last is not after the last
//! change: what was watched from then on by few pages, or not at all, is not judged.

use std::time::Duration;

use policy::Moment;

use crate::run::refresh::{Lives, text_at};

/// Pages at even steps.
#[derive(Debug, Clone)]
pub struct Snapshots {
    moments: Vec<Moment>,
    /// The pages that show something else than at the step before, and what, by page; at the first step all that are there.
    changed: Vec<Vec<(u32, Option<u32>)>>,
    /// Pages that were ever seen, by the step at which they first were, then by page.
    born: Vec<(usize, u32)>,
    pages: usize,
}

impl Snapshots {
    /// Looks at pages every `step`; `None`: they were watched for less than four steps.
    pub fn new(lives: &Lives, step: Duration) -> Option<Self> {
        let born = |page: usize| lives.of(page).first().map(|birth| birth.at);
        let mut births: Vec<Moment> = (0..lives.pages()).filter_map(born).collect();
        births.sort_unstable();
        let first = *births.get(births.len().checked_sub(1)? / 2)?;
        let (_, last) = lives.span()?;
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

    /// When the steps are.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The pages that show something else than at the step before.
    pub fn changed(&self, step: usize) -> &[(u32, Option<u32>)] {
        &self.changed[step]
    }

    /// Pages in the order in which they are discovered, and at which step.
    pub fn born(&self) -> &[(usize, u32)] {
        &self.born
    }

    /// All pages, seen or not.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// What every page shows at a step.
    pub fn at(&self, step: usize) -> Vec<Option<u32>> {
        let mut shown = vec![None; self.pages];
        for &(page, text) in self.changed[..=step].iter().flatten() {
            shown[page as usize] = text;
        }
        shown
    }
}
