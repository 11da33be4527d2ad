//! What is known of the world, to the judge?

use std::time::Duration;

use crate::LabError;
use crate::experiment::refresh::Options;
use crate::run::refresh::{Change, Lives};
use crate::run::steps::{Course, Snapshots};
use crate::text::{Log, Scored, Texts};
use crate::world::{Histories, Queries};

/// A world, read.
pub(super) struct Ground {
    pub lives: Lives,
    pub snapshots: Snapshots,
    said: Option<(Texts, Scored)>,
    pub step: Duration,
    pub notes: Vec<String>,
}

impl Ground {
    /// Reads all texts once.
    pub fn of(
        (histories, queries): (Histories, Option<Queries>),
        options: &Options,
    ) -> Result<Self, LabError> {
        let log = queries.as_ref().map(Log::of).unwrap_or_default();
        let known = histories.bodies().are_known();
        let texts = known.then(|| Texts::read(&histories, &log.vocabulary));
        let texts = texts.transpose()?;
        let lives = lives(&histories, texts.as_ref());
        let Some(snapshots) = Snapshots::new(&lives, options.step()) else {
            let why = "the world was watched for less than four steps";
            return Err(LabError::Wish(why.into()));
        };
        let mut notes = vec![format!(
            "{} steps, from when half of the pages were there; {} pages at the first, {} in all.",
            snapshots.moments().len(),
            snapshots.changed(0).len(),
            snapshots.born().len()
        )];
        let said = match (texts, queries) {
            (Some(texts), Some(_)) => {
                let workload = log.cut(&histories, &texts, options.most_queries);
                notes.push(workload.note.clone());
                if workload.queries.is_empty() {
                    let why = "no page has all words of any query: there is no quality to measure";
                    return Err(LabError::Wish(why.into()));
                }
                let living = snapshots.changed(0).iter();
                let living: Vec<u32> = living.filter_map(|(_, text)| *text).collect();
                let scored = Scored::new(options.scorer, &texts, &workload, &living)?;
                Some((texts, scored))
            }
            (texts, queries) => {
                let missing = match (texts.is_some(), queries.is_some()) {
                    (true, _) => "queries (--queries FILE)",
                    (_, true) => "texts",
                    _ => "texts and queries",
                };
                notes.push(format!("There are no {missing}: no quality, no gains; what is left is freshness and age."));
                None
            }
        };
        Ok(Self {
            lives,
            snapshots,
            said,
            step: options.step(),
            notes,
        })
    }

    /// What texts say, and how they are scored.
    pub fn said(&self) -> Option<(&Texts, &Scored)> {
        self.said.as_ref().map(|(texts, scored)| (texts, scored))
    }

    /// The course of its pages.
    pub fn course(&self) -> Course<'_> {
        Course::new(&self.lives, &self.snapshots, self.said())
    }
}

/// Pages and the changes of their texts, by number; of bodies where it is not known what they say.
fn lives(histories: &Histories, texts: Option<&Texts>) -> Lives {
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
