//! The ground truth of a world, which only the judge knows.

use std::time::Duration;

use crate::LabError;
use crate::experiment::refresh::RefreshExperimentOptions;
use crate::run::refresh::{Change, Lives};
use crate::run::steps::{Snapshots, SteppedWorld};
use crate::text::{CountedText, CountedTexts, QueryLog, QueryWorkload, Scored};
use crate::world::{Histories, Queries};

/// Least number of steps, unless the user gives their length. Half of them are for learning.
const STEPS: u32 = 20;

/// The queries of a world, in words.
#[derive(Default)]
pub(super) struct AskedQueries {
    workload: QueryWorkload,
    words: Vec<Box<str>>,
}

impl AskedQueries {
    /// Returns the most frequent query that `after` answers and `before` does not, with its share
    /// of all searches.
    pub fn gained(&self, before: &CountedText, after: &CountedText) -> Option<(String, f64)> {
        let answers = |text: &CountedText, words: &[u32]| words.iter().all(|&word| text.has(word));
        let queries = self.workload.queries.iter();
        let gained =
            queries.filter(|query| answers(after, &query.words) && !answers(before, &query.words));
        let most = gained.max_by(|one, other| one.share.total_cmp(&other.share))?;
        let words: Vec<&str> = (most.words.iter())
            .map(|&word| &*self.words[word as usize])
            .collect();
        Some((words.join(" "), most.share))
    }
}

/// A world with its texts and their scores.
pub(super) struct GroundTruth {
    pub lives: Lives,
    pub snapshots: Snapshots,
    texts: Option<(CountedTexts, Scored)>,
    /// The queries that are asked, and the words of their vocabulary. Empty without queries.
    pub asked: AskedQueries,
    pub step: Duration,
    pub notes: Vec<String>,
}

impl GroundTruth {
    /// Reads all texts of a world once.
    ///
    /// # Errors
    /// If a text cannot be read, if the world covers fewer than four steps, or if it has texts and
    /// queries but no page that matches a query, or lacks data for the scorer.
    pub fn of(
        (histories, queries): (Histories, Option<Queries>),
        options: &RefreshExperimentOptions,
    ) -> Result<Self, LabError> {
        let log = queries.as_ref().map(QueryLog::of).unwrap_or_default();
        let known = histories.bodies().are_known();
        let texts = known.then(|| CountedTexts::read(&histories, &log.vocabulary));
        let texts = texts.transpose()?;
        let mut lives = lives(&histories, texts.as_ref());
        let step = options.step.unwrap_or_else(|| usual_step(&lives));
        let Some(mut snapshots) = Snapshots::new(&lives, step) else {
            let why = format!(
                "the world covers less than four steps of {} s: give a shorter --step, or use a world of a longer time",
                step.as_secs_f64()
            );
            return Err(LabError::Wish(why));
        };
        if let Some(kept) = options.pages.kept(&snapshots) {
            lives.retain(&kept);
            snapshots.retain(&kept);
            if snapshots.born().is_empty() {
                let why = format!(
                    "no page of the world is left with --pages {}: use other pages, or a longer --step",
                    options.pages.name()
                );
                return Err(LabError::Wish(why));
            }
        }
        let mut asked = AskedQueries::default();
        let mut notes = vec![format!(
            "{} steps of {} s, the first when half of all pages have been born; {} pages at the first step, {} in all.",
            snapshots.moments().len(),
            step.as_secs_f64(),
            snapshots.changed(0).len(),
            snapshots.born().len()
        )];
        let texts = match (texts, queries) {
            (Some(texts), Some(_)) => {
                let workload = log.cut(&histories, &texts, options.most_queries);
                notes.push(workload.note.clone());
                if workload.queries.is_empty() {
                    let why = "no page has all words of any query, so quality cannot be measured: use other queries";
                    return Err(LabError::Wish(why.into()));
                }
                let living = snapshots.changed(0).iter();
                let living: Vec<u32> = living.filter_map(|(_, text)| *text).collect();
                let scored = Scored::new(options.scorer, &texts, &workload, &living)?;
                asked = AskedQueries {
                    workload,
                    words: log.vocabulary.words(),
                };
                Some((texts, scored))
            }
            (texts, queries) => {
                let missing = match (texts.is_some(), queries.is_some()) {
                    (true, _) => "queries (--queries FILE)",
                    (_, true) => "texts",
                    _ => "texts and queries",
                };
                notes.push(format!("The world has no {missing}, so there is no quality and no gain: only freshness and age are measured."));
                None
            }
        };
        Ok(Self {
            lives,
            snapshots,
            texts,
            asked,
            step,
            notes,
        })
    }

    /// Returns the texts and their scores; `None` if the world has no texts or no queries.
    pub fn texts(&self) -> Option<(&CountedTexts, &Scored)> {
        self.texts.as_ref().map(|(texts, scored)| (texts, scored))
    }

    /// Returns the world at evenly spaced steps.
    pub fn world(&self) -> SteppedWorld<'_> {
        SteppedWorld::new(&self.lives, &self.snapshots, self.texts())
    }
}

/// Returns the longest of week, day, hour, minute and second that fits at least [`STEPS`] times
/// into the observed time; a second if none does.
fn usual_step(lives: &Lives) -> Duration {
    let observed = Snapshots::observed(lives).map_or(Duration::ZERO, |(from, to)| to.since(from));
    let units = [7 * 86_400, 86_400, 3_600, 60, 1].map(Duration::from_secs);
    let fits = |unit: &Duration| observed >= STEPS * *unit;
    units
        .into_iter()
        .find(fits)
        .unwrap_or(Duration::from_secs(1))
}

/// Returns the pages with the changes of their texts. Without texts, a change is one of the
/// body.
fn lives(histories: &Histories, texts: Option<&CountedTexts>) -> Lives {
    let shown = histories.versions().iter().map(|version| {
        let text = |body| u64::from(texts.map_or(body, |texts| texts.of_body(body)));
        let change = Change {
            at: version.at,
            text: version.body.map(text),
        };
        (version.page, change)
    });
    Lives::new(histories.urls().to_vec(), shown)
}
