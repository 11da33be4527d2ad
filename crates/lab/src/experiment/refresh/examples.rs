//! Examples of updates that a count of changed words misjudges, as figure 5 of Pandey & Olston
//! (2005) shows them.
//!
//! The first is a page whose updates change much text and gain nothing: no query asks for what
//! changed, as in the paper's example of an advertisement. The second is the page whose updates
//! gain most, with the update that gains most, as in its example of announced seminars.

use policy::Moment;

use super::ground_truth::GroundTruth;
use crate::text::CountedTexts;

/// An update of a page: its copy is refreshed when the text changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageUpdate {
    pub at: Moment,
    /// The texts before and after.
    pub before: u32,
    pub after: u32,
    /// Share of the shingles that differ.
    pub differing: f32,
    /// Measured gain ΔQ_A.
    pub gain: f64,
}

/// The updates of all pages, summed.
pub(super) struct PageUpdates(Vec<UpdateSums>);

#[derive(Debug, Clone, Copy, Default)]
struct UpdateSums {
    updates: u32,
    differing: f64,
    gain: f64,
    /// The update with the largest gain, and the one with the largest change.
    most_gain: Option<PageUpdate>,
    most_change: Option<PageUpdate>,
}

impl PageUpdates {
    pub fn new(pages: usize) -> Self {
        Self(vec![UpdateSums::default(); pages])
    }

    pub fn add(&mut self, page: u32, update: &PageUpdate) {
        let sums = &mut self.0[page as usize];
        sums.updates += 1;
        sums.differing += f64::from(update.differing);
        sums.gain += update.gain;
        if sums.most_gain.is_none_or(|most| update.gain > most.gain) {
            sums.most_gain = Some(*update);
        }
        if sums
            .most_change
            .is_none_or(|most| update.differing > most.differing)
        {
            sums.most_change = Some(*update);
        }
    }

    /// Describes the two examples. Leaves out one that the world does not have.
    pub fn examples(&self, truth: &GroundTruth, texts: &CountedTexts) -> Vec<String> {
        let begin = truth.snapshots.moments()[0];
        let day = |at: Moment| at.since(begin).as_secs_f64() / 86_400.0;
        let pages = || {
            self.0
                .iter()
                .enumerate()
                .filter(|(_, sums)| sums.updates > 0)
        };
        let all: f64 = self.0.iter().map(|sums| sums.gain).sum();
        let useless = pages().filter(|(_, sums)| sums.gain <= 0.0 && sums.differing > 0.0);
        let useless =
            useless.max_by(|(_, one), (_, other)| one.differing.total_cmp(&other.differing));
        let best = pages().filter(|(_, sums)| sums.gain > 0.0);
        let best = best.max_by(|(_, one), (_, other)| one.gain.total_cmp(&other.gain));
        let mut examples = Vec::new();
        if let Some((page, sums)) = useless
            && let Some(most) = sums.most_change
        {
            examples.push(format!(
                "Example as in figure 5(a), much changed text that no query asks for: {} was updated {}, by {:.0} % of its \
                 shingles on average and {:.0} % at most (day {:.0}), and no update gained anything.",
                truth.lives.url(page).as_str(),
                match sums.updates {
                    1 => "once".to_owned(),
                    several => format!("{several} times"),
                },
                100.0 * sums.differing / f64::from(sums.updates),
                100.0 * most.differing,
                day(most.at),
            ));
        }
        if let Some((page, sums)) = best
            && let Some(most) = sums.most_gain
        {
            let gained = truth
                .asked
                .gained(texts.text(most.before), texts.text(most.after));
            let query = gained.map_or(String::new(), |(query, share)| {
                format!(
                    " From then on it answers \"{query}\", {:.2} % of all searches.",
                    100.0 * share
                )
            });
            examples.push(format!(
                "Example as in figure 5(b), a page worth many refreshes: {} has {:.1} % of all gain. Of its {} updates that of \
                 day {:.0} gained most, with {:.0} % of its shingles changed.{query}",
                truth.lives.url(page).as_str(),
                100.0 * sums.gain / all,
                sums.updates,
                day(most.at),
                100.0 * most.differing,
            ));
        }
        examples
    }
}
