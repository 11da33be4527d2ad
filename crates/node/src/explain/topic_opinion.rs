//! The judgement of a page by the topic classifier of the crawl, with the words that decided it.

use std::path::Path;

use anyhow::Result;
use policy::focus::{Evidence, Field, ON_TOPIC, TopicDefinition};
use serde::{Deserialize, Serialize};

use super::PageFacts;
use crate::recovery;
use crate::settings::policies::PolicySettings;
use crate::settings::topic::Subject;

/// The maximum number of words that are listed per field.
const WORDS: usize = 8;

/// The judgement of a page by a topic classifier.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TopicOpinion {
    /// The name of the topic.
    pub name: String,
    /// The probability that the page matches it, by title, text and URL.
    pub probability: f64,
    /// Whether the probability reaches the threshold.
    pub on_topic: bool,
    /// The words with the strongest evidence, for and against the topic.
    pub words: Vec<WordEvidence>,
}

/// A word, and what its occurrences add to the log odds of its field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WordEvidence {
    /// The field that it occurs in.
    pub field: String,
    /// The word.
    pub word: String,
    /// Evidence for the topic if positive, against it if negative.
    pub log_odds: f32,
}

impl PageFacts {
    /// Judges the archived copy of the page by the crawl's topic.
    ///
    /// Returns `None` if the crawl has no trained topic, or there is no copy.
    pub fn topic_opinion(
        &self,
        archive: &Path,
        policies: &PolicySettings,
    ) -> Result<Option<TopicOpinion>> {
        let url = &self.url;
        let copy = self
            .visited
            .as_ref()
            .and_then(|visited| visited.copy.as_ref());
        let place = copy.and_then(|copy| copy.place);
        let (Some(subject @ Subject::Learned(_)), Some(place)) = (&policies.subject, place) else {
            return Ok(None);
        };
        let topic = subject.open()?;
        let (TopicDefinition::Examples(bayes), Some(text)) =
            (&topic.known, recovery::kept_text(archive, place, url))
        else {
            return Ok(None);
        };
        let fields = [
            (Field::Text, text.body.as_str()),
            (Field::Title, text.title.as_str()),
            (Field::Url, url.as_str()),
        ];
        let evidence: [Evidence; 3] = fields.map(|(field, words)| bayes.evidence(words, field));
        let probability = bayes.page(evidence);
        let words = fields.iter().flat_map(|(field, text)| {
            let words = bayes.telling(text, *field, WORDS).into_iter();
            words.map(|(word, log_odds)| WordEvidence {
                field: field.name().to_owned(),
                word,
                log_odds,
            })
        });
        Ok(Some(TopicOpinion {
            probability,
            on_topic: probability >= f64::from(ON_TOPIC),
            words: words.collect(),
            name: topic.name,
        }))
    }
}
