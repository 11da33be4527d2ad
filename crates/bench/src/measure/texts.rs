//! Which texts, and in which order?
//!
//! **Invariant:** texts as a crawler reads them. A refresh differs in its text from the copy before it: nobody puts what
//! did not change.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::{Result, bail};
use lab::world::{Body, Histories, Queries, World};
use page::{Digest, Fingerprint, Limits, PageUrl};
use repository::index::Workload;
use serde::{Deserialize, Serialize};

use crate::cli::Measure;

/// Where the recorded world and queries are on our machines.
const RECORDED: &str = "../shared/data/telegram-web";
const ASKED: &str = "../shared/data/queries";
const INVENTED: &str = "invented:corpus";
const SEED: u64 = 1;

/// Versions read for one refresh that is wanted: many change the markup only.
const VERSIONS: usize = 4;

/// Pages and what became of them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Texts {
    pub world: String,
    pub queries: Vec<(String, u64)>,
    pub first: Vec<Text>,
    pub refreshes: Vec<Text>,
}

/// A text of a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Text {
    pub url: String,
    pub title: String,
    pub text: String,
}

impl Texts {
    pub fn workload(&self) -> Workload {
        let queries = self.queries.iter();
        Workload::of(queries.map(|(query, count)| (query.as_str(), *count)))
    }

    /// The pages with fewer refreshes.
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

    /// Bytes of a text.
    pub fn mean_length(&self) -> usize {
        let all = self.first.iter().chain(&self.refreshes);
        let bytes: usize = all.map(|text| text.text.len()).sum();
        bytes / (self.first.len() + self.refreshes.len()).max(1)
    }
}

/// Reads what is wished for.
pub fn read(wishes: &Measure) -> Result<Texts> {
    let recorded = Path::new(RECORDED).exists();
    let default = if recorded { RECORDED } else { INVENTED };
    let world = wishes.world.clone().unwrap_or_else(|| default.to_owned());
    eprintln!("reading {world}");
    let (histories, queries) = match World::open(&world, &[], SEED)? {
        World::Corpus(corpus) => (corpus.histories, Some(corpus.queries)),
        World::Histories(histories) => (histories, None),
        other => bail!(
            "{world} is a world of the kind {:?}: take histories",
            other.kind()
        ),
    };
    let queries = match (&wishes.queries, queries) {
        (Some(directory), _) => Queries::read(directory)?,
        (None, Some(queries)) => queries,
        (None, None) => Queries::read(Path::new(ASKED))?,
    };
    let queries = queries.queries.into_iter();
    let (first, refreshes) = replay(&histories, wishes.refreshes as usize)?;
    if refreshes.is_empty() {
        bail!("no text of {world} changes");
    }
    Ok(Texts {
        world,
        queries: queries
            .map(|(query, count)| (query, count.into()))
            .collect(),
        first,
        refreshes,
    })
}

/// First copies, and so many changes after them, by time.
fn replay(histories: &Histories, refreshes: usize) -> Result<(Vec<Text>, Vec<Text>)> {
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
        let text = || Text {
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
            let reading = page::read(&body.text, &base, &Limits::default());
            (reading.digest.fingerprint, reading.title, reading.text)
        }
        _ => {
            let fingerprint = Digest::of(&body.text).fingerprint;
            (fingerprint, String::new(), body.text)
        }
    }
}
