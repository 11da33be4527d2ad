//! Why was a page judged on or off the topic of the crawl?

use std::path::Path;

use anyhow::Result;
use frontier::Visited;
use page::PageUrl;
use policy::focus::{Evidence, Field, Known, ON_TOPIC};
use serde::{Deserialize, Serialize};

use super::Facts;
use crate::recovery;
use crate::settings::policies::PolicySettings;
use crate::settings::topic::Subject;

/// Telling words that are named of each field.
const WORDS: usize = 8;

/// How a page was judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opinion {
    /// The topic.
    pub name: String,
    /// How likely the page is of it, by title, text and URL.
    pub probability: f64,
    /// Whether that is called on the topic.
    pub on_topic: bool,
    /// What told most, for the topic (above 0) and against it.
    pub words: Vec<Telling>,
}

/// A word and what its occurrences add to the log odds of its field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Telling {
    /// Where it stands.
    pub field: String,
    /// The word.
    pub word: String,
    /// Above 0: for the topic.
    pub log_odds: f32,
}

impl Opinion {
    /// What the crawl's topic says of a page whose copy the archive has; `None` if the crawl has no topic that was
    /// learned, or there is no copy.
    pub fn of(
        archive: &Path,
        policies: &PolicySettings,
        url: &PageUrl,
        visited: Option<&Visited>,
    ) -> Result<Option<Self>> {
        let copy = visited.and_then(|visited| visited.copy.as_ref());
        let place = copy.and_then(|copy| copy.place);
        let (Some(subject @ Subject::Learned(_)), Some(place)) = (&policies.subject, place) else {
            return Ok(None);
        };
        let topic = subject.open()?;
        let (Known::Examples(bayes), Some(text)) =
            (&topic.known, recovery::kept_text(archive, place, url))
        else {
            return Ok(None);
        };
        let said = [
            (Field::Text, text.body.as_str()),
            (Field::Title, text.title.as_str()),
            (Field::Url, url.as_str()),
        ];
        let evidence: [Evidence; 3] = said.map(|(field, words)| bayes.evidence(words, field));
        let probability = bayes.page(evidence);
        let words = said.iter().flat_map(|(field, text)| {
            let told = bayes.telling(text, *field, WORDS).into_iter();
            told.map(|(word, log_odds)| Telling {
                field: field.name().to_owned(),
                word,
                log_odds,
            })
        });
        Ok(Some(Self {
            probability,
            on_topic: probability >= f64::from(ON_TOPIC),
            words: words.collect(),
            name: topic.name,
        }))
    }
}

impl Facts {
    /// How the page was judged by the topic of the crawl.
    pub fn judged(&self, archive: &Path, policies: &PolicySettings) -> Result<Option<Opinion>> {
        Opinion::of(archive, policies, &self.url, self.visited.as_ref())
    }
}
