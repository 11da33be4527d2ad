//! The texts of `bench measure`: first copies and refreshes, in the order of time.
//!
//! **Invariant:** texts are extracted as by a crawler. The text of a refresh differs from that of
//! the copy before it, because a crawl does not index unchanged texts.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Result, bail};
use lab::world::{Body, Histories, Queries, World};
use page::{Fingerprint, PageUrl, ReadLimits, TextDigest};
use repository::index::Workload;
use serde::{Deserialize, Serialize};

use super::MeasureOptions;

/// The default paths of the recorded world and of the queries.
const RECORDED: &str = "../shared/data/telegram-web";
const QUERIES: &str = "../shared/data/queries";
const INVENTED: &str = "invented:corpus";
const SEED: u64 = 1;

/// Versions read per requested refresh, since many change only the markup.
const VERSIONS: usize = 4;

/// The texts of a world, with its queries.
#[derive(Debug, Serialize, Deserialize)]
pub struct MeasuredTexts {
    pub world: String,
    pub queries: Vec<(String, u64)>,
    pub first: Vec<PageText>,
    pub refreshes: Vec<PageText>,
}

/// One text of a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageText {
    pub url: String,
    pub title: String,
    pub text: String,
}

impl MeasuredTexts {
    pub fn workload(&self) -> Workload {
        let queries = self.queries.iter();
        Workload::of(queries.map(|(query, count)| (query.as_str(), *count)))
    }

    /// Returns the first refreshes, with the first copies of their pages.
    pub fn some(&self, refreshes: usize) -> Self {
        let refreshes = &self.refreshes[..refreshes.min(self.refreshes.len())];
        let touched: HashSet<&str> = refreshes.iter().map(|text| text.url.as_str()).collect();
        let first = self
            .first
            .iter()
            .filter(|text| touched.contains(text.url.as_str()));
        Self {
            world: self.world.clone(),
            queries: self.queries.clone(),
            first: first.cloned().collect(),
            refreshes: refreshes.to_vec(),
        }
    }

    /// Returns the mean length of a text, in bytes.
    pub fn mean_length(&self) -> usize {
        let all = self.first.iter().chain(&self.refreshes);
        let bytes: usize = all.map(|text| text.text.len()).sum();
        bytes / (self.first.len() + self.refreshes.len()).max(1)
    }
}

/// Reads the texts and queries that the options name.
pub fn read(options: &MeasureOptions) -> Result<MeasuredTexts> {
    let recorded = Path::new(RECORDED).exists();
    let default = if recorded { RECORDED } else { INVENTED };
    let world = options.world.clone().unwrap_or_else(|| default.to_owned());
    eprintln!("reading {world}");
    let (histories, queries) = match World::open(&world, &[], SEED)? {
        World::Corpus(corpus) => (corpus.histories, Some(corpus.queries)),
        World::Histories(histories) => (histories, None),
        other => bail!(
            "{world} is a world of the kind {:?}: use a world of histories",
            other.kind()
        ),
    };
    let queries = match (&options.queries, queries) {
        (Some(directory), _) => Queries::read(directory)?,
        (None, Some(queries)) => queries,
        (None, None) => Queries::read(Path::new(QUERIES))?,
    };
    let queries = queries.queries.into_iter();
    let (first, refreshes) = replay(&histories, options.refreshes as usize)?;
    if refreshes.is_empty() {
        bail!("no text of {world} changes");
    }
    Ok(MeasuredTexts {
        world,
        queries: queries
            .map(|(query, count)| (query, count.into()))
            .collect(),
        first,
        refreshes,
    })
}

/// Returns the first copies, and the first `refreshes` changes after them, by time.
fn replay(histories: &Histories, refreshes: usize) -> Result<(Vec<PageText>, Vec<PageText>)> {
    let urls = histories.urls();
    let shown = histories.versions().iter();
    let shown = shown.filter_map(|version| Some((version.page, version.body?)));
    let shown: Vec<(u32, u32)> = shown.take(urls.len() + VERSIONS * refreshes).collect();
    let wanted: HashSet<u32> = shown.iter().map(|&(_, body)| body).collect();
    let mut read = HashMap::new();
    histories.bodies().each(|number, body| {
        if wanted.contains(&number) {
            read.insert(number, reading(body));
        }
    })?;
    let mut last: HashMap<u32, Fingerprint> = HashMap::new();
    let (mut first, mut changed) = (Vec::new(), Vec::new());
    for (page, body) in shown {
        let Some((fingerprint, title, text)) = read.get(&body) else {
            continue;
        };
        let text = || PageText {
            url: urls[page as usize].to_string(),
            title: title.clone(),
            text: text.clone(),
        };
        match last.insert(page, *fingerprint) {
            None => first.push(text()),
            Some(before) if before != *fingerprint && changed.len() < refreshes => {
                changed.push(text());
            }
            Some(_) => {}
        }
    }
    Ok((first, changed))
}

fn reading(body: Body) -> (Fingerprint, String, String) {
    let base = PageUrl::parse("http://page.invalid/");
    match (body.html, base) {
        (true, Ok(base)) => {
            let reading = page::read(&body.text, &base, &ReadLimits::default());
            (reading.digest.fingerprint, reading.title, reading.text)
        }
        _ => {
            let fingerprint = TextDigest::of(&body.text).fingerprint;
            (fingerprint, String::new(), body.text)
        }
    }
}
