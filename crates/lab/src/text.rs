//! Word counts of the texts in a history, for the words that queries use.
//!
//! All bodies are read once and not kept. For each text, [`CountedTexts`] stores the counts of
//! query words, the length and the shingles. Words are runs of letters and digits in lower case.
//! The lab splits pages and queries with the same function.
//!
//! **Invariant:** bodies with the same [fingerprint](page::Fingerprint) are one text. Texts are
//! numbered in the order in which bodies first show them.

mod knee;
mod scores;
mod words;
mod workload;

pub use scores::{Scored, Scorer};
pub(crate) use workload::QueryLog;
pub use workload::{QueryWorkload, WorkloadQuery};

use std::collections::HashMap;

use page::{PageId, PageUrl, ReadLimits, Shingles, TextDigest};

use crate::LabError;
use crate::world::{Body, Histories};
use words::{QueryVocabulary, count};

/// The texts of a history.
#[derive(Debug, Clone)]
pub struct CountedTexts {
    /// The text of each body.
    of_body: Vec<u32>,
    texts: Vec<CountedText>,
    in_links: Option<Vec<u32>>,
}

/// The counts and shingles of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedText {
    /// Query words that it contains, with their counts, by ascending word number.
    pub counts: Box<[(u32, u32)]>,
    /// Number of all its words.
    pub length: u32,
    /// Shingles, for the size of its changes.
    pub shingles: Shingles,
}

/// The data that is kept of a body.
struct BodyReading {
    fingerprint: u64,
    text: CountedText,
    /// Targets of its links; `None` if it is not HTML or its links are not needed.
    links: Option<Vec<PageId>>,
}

impl CountedTexts {
    /// Reads all bodies once, on all cores, and counts the words of the vocabulary.
    pub(crate) fn read(
        histories: &Histories,
        vocabulary: &QueryVocabulary,
    ) -> Result<Self, LabError> {
        let first = first_bodies(histories);
        let base = bases(histories, &first);
        let readings = histories.measured(|number, body| {
            let base = base[number as usize].map(|page| &histories.urls()[page as usize]);
            read(body, base, vocabulary)
        })?;
        let mut known: HashMap<u64, u32> = HashMap::new();
        let (mut of_body, mut texts) = (Vec::new(), Vec::new());
        let mut links = Vec::new();
        for reading in readings {
            let number = *known
                .entry(reading.fingerprint)
                .or_insert(texts.len() as u32);
            if number as usize == texts.len() {
                texts.push(reading.text);
            }
            of_body.push(number);
            links.push(reading.links);
        }
        Ok(Self {
            of_body,
            texts,
            in_links: in_links(histories, &first, &links),
        })
    }

    /// Returns texts with these counts of the words 0 to 3, in a world of `pages` pages with zero
    /// to two in-links.
    #[cfg(test)]
    pub(crate) fn invented(counts: &[[u32; 4]], pages: usize) -> Self {
        let text = |counts: &[u32; 4]| CountedText {
            counts: (0..).zip(*counts).filter(|(_, count)| *count > 0).collect(),
            length: 5 + counts.iter().sum::<u32>(),
            shingles: Shingles::default(),
        };
        Self {
            of_body: (0..counts.len() as u32).collect(),
            texts: counts.iter().map(text).collect(),
            in_links: Some((0..pages as u32).map(|page| page % 3).collect()),
        }
    }

    /// Returns the text of a body.
    pub fn of_body(&self, body: u32) -> u32 {
        self.of_body[body as usize]
    }

    /// Returns a text by its number.
    pub fn text(&self, number: u32) -> &CountedText {
        &self.texts[number as usize]
    }

    /// Returns the number of texts.
    pub fn count(&self) -> usize {
        self.texts.len()
    }

    /// Returns, for each page, the number of other pages whose first body links to it. `None` if no
    /// first body is HTML.
    pub fn in_links(&self) -> Option<&[u32]> {
        self.in_links.as_deref()
    }

    /// Returns one minus the resemblance of the shingles of two texts: 0 if they are equal.
    pub fn differing(&self, one: u32, other: u32) -> f32 {
        let (one, other) = (self.text(one), self.text(other));
        1.0 - one.shingles.resemblance(&other.shingles) as f32
    }
}

/// Returns the first body of each page.
fn first_bodies(histories: &Histories) -> Vec<Option<u32>> {
    let mut first = vec![None; histories.urls().len()];
    for version in histories.versions() {
        let first = &mut first[version.page as usize];
        *first = first.or(version.body);
    }
    first
}

/// Returns, for each body, the first page that shows it as its first body. `None` if no page does;
/// the links of the body are then not needed.
fn bases(histories: &Histories, first: &[Option<u32>]) -> Vec<Option<u32>> {
    let mut bases = vec![None; histories.bodies().count() as usize];
    for (page, body) in (0..).zip(first) {
        if let Some(body) = body {
            bases[*body as usize].get_or_insert(page);
        }
    }
    bases
}

fn read(body: &Body, base: Option<&PageUrl>, vocabulary: &QueryVocabulary) -> BodyReading {
    let parsed = body.html.then(|| body.parsed(base, &limits(base)));
    let Some(parsed) = parsed.flatten() else {
        return measured(&body.text, TextDigest::of(&body.text), None, vocabulary);
    };
    let links = base.map(|_| parsed.links.iter().map(|link| link.id).collect());
    measured(&parsed.text, parsed.digest, links, vocabulary)
}

fn limits(base: Option<&PageUrl>) -> ReadLimits {
    let all = ReadLimits::default();
    ReadLimits {
        links: if base.is_some() { all.links } else { 0 },
        ..all
    }
}

fn measured(
    text: &str,
    digest: TextDigest,
    links: Option<Vec<PageId>>,
    vocabulary: &QueryVocabulary,
) -> BodyReading {
    let (counts, length) = count(text, vocabulary);
    BodyReading {
        fingerprint: digest.fingerprint.0,
        text: CountedText {
            counts,
            length,
            shingles: digest.shingles,
        },
        links,
    }
}

fn in_links(
    histories: &Histories,
    first: &[Option<u32>],
    links: &[Option<Vec<PageId>>],
) -> Option<Vec<u32>> {
    let urls = histories.urls().iter();
    let pages: HashMap<PageId, usize> = urls.map(PageUrl::id).zip(0..).collect();
    let mut counts = vec![0; pages.len()];
    let mut known = false;
    for (page, body) in first.iter().enumerate() {
        let links = body.and_then(|body| links[body as usize].as_ref());
        known |= links.is_some();
        let mut targets: Vec<usize> = links
            .into_iter()
            .flatten()
            .filter_map(|id| pages.get(id).copied())
            .filter(|&target| target != page)
            .collect();
        targets.sort_unstable();
        targets.dedup();
        targets.iter().for_each(|&target| counts[target] += 1);
    }
    known.then_some(counts)
}

#[cfg(test)]
mod tests {
    use policy::Moment;

    use super::*;
    use crate::world::{Bodies, Version};

    #[test]
    fn bodies_with_equal_words_are_one_text_and_in_links_count_pages() {
        let pages = ["http://a.example/x", "http://a.example/y"];
        let version = |page, at, body| Version {
            page,
            at: Moment::from_micros(at),
            body,
        };
        let versions = vec![
            version(0, 1, Some(0)),
            version(1, 1, Some(1)),
            version(0, 2, Some(2)),
        ];
        let bodies = [
            "<p>Blue whale, <a href=y>blue</a> <a href='/y#2'>sea</a>",
            "<p>Tea <a href=y>itself</a>",
            "<b>Blue</b> whale, <i>blue</i> sea <a href=z>",
        ];
        let bodies = Bodies::kept(bodies.map(Body::html).to_vec());
        let histories = Histories::new(pages.into_iter(), versions, bodies);
        let vocabulary = QueryVocabulary::of(["blue", "sea", "coral"].into_iter());
        let texts = CountedTexts::read(&histories, &vocabulary).unwrap();
        assert_eq!([0, 1, 2].map(|body| texts.of_body(body)), [0, 1, 0]);
        assert_eq!(*texts.text(0).counts, [(0, 2), (1, 1)]);
        assert_eq!(texts.text(0).length, 4);
        assert_eq!(texts.in_links(), Some(&[0, 1][..]));
        assert_eq!(texts.differing(0, 0), 0.0);
    }
}
