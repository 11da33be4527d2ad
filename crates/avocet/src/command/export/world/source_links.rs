//! The links of sources: which page each source named, and in which period.
//!
//! If a source was read before and now shows a link for the first time, the link is new at the time
//! of this answer. The links at the first visit to a source may be older. If another source named
//! the page as new, the link counts from that time; any other link counts from the beginning.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use lab::table::schema::LINKS;
use lab::table::{TableWriter, time_text};
use lab::workers::ExperimentProgress;
use policy::Moment;
use repository::archive;

use super::WorldCounts;
use super::answers::{Answers, judged};
use super::pages::WorldPages;
use crate::progress_bar::Bar;

/// A link of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NamedArticle {
    from: Moment,
    until: Moment,
    source: u32,
    article: u32,
}

/// The links of all sources.
#[derive(Debug, Default)]
pub(super) struct SourceLinks {
    links: Vec<NamedArticle>,
    sources: HashSet<u32>,
    articles: HashSet<u32>,
}

impl SourceLinks {
    /// Reads the links of all answers of sources, in the order of time.
    pub fn read(archive: &Path, pages: &WorldPages, answers: &Answers, bar: &Bar) -> Result<Self> {
        let mut all = Self::default();
        let [Some(beginning), Some(last)] = answers.span() else {
            return Ok(all);
        };
        bar.begin("answers of sources", answers.of_sources.len());
        let mut shown: HashMap<u32, HashMap<u32, Moment>> = HashMap::new();
        for answer in &answers.of_sources {
            let source = answer.source;
            let record = archive::read(archive, &answer.place)?;
            bar.step();
            let Some((_, verdict)) = judged(&record, pages, source) else {
                continue;
            };
            let targets = verdict
                .leads
                .iter()
                .filter_map(|lead| pages.number(lead.id));
            let targets = targets.map(|target| pages.target(target));
            let named: HashSet<u32> = targets.filter(|to| !pages.get(*to).source).collect();
            let is_first = all.sources.insert(source);
            let links = shown.entry(source).or_default();
            links.retain(|article, from| {
                let stays = named.contains(article);
                if !stays {
                    all.add(source, *article, *from, answer.at);
                }
                stays
            });
            for article in named {
                let appeared = || pages.get(article).appeared.unwrap_or(beginning);
                let since = if is_first {
                    appeared().min(answer.at)
                } else {
                    answer.at
                };
                links.entry(article).or_insert(since);
            }
        }
        // A link that is still there lasts until after the last moment.
        let until = last + Duration::from_secs(1);
        for (source, links) in shown {
            for (article, from) in links {
                all.add(source, article, from, until);
            }
        }
        all.links.sort_unstable();
        Ok(all)
    }

    fn add(&mut self, source: u32, article: u32, from: Moment, until: Moment) {
        self.articles.insert(article);
        self.links.push(NamedArticle {
            from,
            until,
            source,
            article,
        });
    }

    /// Returns whether there is no source.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns whether a page is a source that was read.
    pub fn is_source(&self, number: u32) -> bool {
        self.sources.contains(&number)
    }

    /// Returns whether a source links, or linked, to a page that is no source itself.
    pub fn is_article(&self, number: u32) -> bool {
        self.articles.contains(&number)
    }

    /// Writes the links, sorted by their beginning.
    pub fn write(&self, out: &Path, counts: &mut WorldCounts) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let mut table = TableWriter::create(out, LINKS)?;
        for link in &self.links {
            let times = [link.from, link.until].map(time_text);
            table.row([&link.source, &link.article, &times[0], &times[1]])?;
        }
        counts.links = self.links.len() as u64;
        Ok(table.finish()?)
    }
}
