//! News: sources that link to short-lived articles, and the clicks on these.
//!
//! They are read from `sources.tsv` (source, url), `articles.tsv` (article, url), `links.tsv`
//! (source, article, t_in, t_out; sorted by t_in) and `clicks.tsv` (article, t, clicks; sorted
//! by t).
//!
//! **Invariant:** links and clicks are sorted by time. No link ends before it begins. No two
//! sources and no two articles share a URL.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use page::PageUrl;
use policy::Moment;

use super::ids;
use super::urls::distinct;
use crate::LabError;
use crate::table::schema::{ARTICLES, CLICKS, LINKS, SOURCES};
use crate::table::{Table, TableWriter, time_text};

/// Sources, articles, links and clicks.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    sources: Vec<PageUrl>,
    articles: Vec<PageUrl>,
    links: Vec<LinkPeriod>,
    clicks: Vec<Clicked>,
}

/// The period during which a source links to an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkPeriod {
    /// Number of the source.
    pub source: u32,
    /// Number of the article.
    pub article: u32,
    /// Time at which the link appears.
    pub from: Moment,
    /// Time at which the link disappears, exclusive.
    pub until: Moment,
}

/// The number of clicks on an article within one [`News::BIN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clicked {
    /// Number of the article.
    pub article: u32,
    /// Start of the bin.
    pub at: Moment,
    /// Number of clicks.
    pub clicks: u32,
}

impl News {
    /// Length of a bin in which clicks are counted.
    pub const BIN: Duration = Duration::from_secs(600);

    /// Creates news of these sources and articles, and sorts links and clicks by time.
    ///
    /// # Panics
    /// If a link or a click refers to a source or an article out of range, or if a link ends
    /// before it begins.
    pub fn new<'a>(
        sources: impl Iterator<Item = &'a str>,
        articles: impl Iterator<Item = &'a str>,
        links: Vec<LinkPeriod>,
        clicks: Vec<Clicked>,
    ) -> Self {
        let mut news = Self {
            sources: distinct(sources),
            articles: distinct(articles),
            links,
            clicks,
        };
        news.links.sort_by_key(|link| link.from);
        news.clicks.sort_by_key(|click| click.at);
        let (sources, articles) = (news.sources.len(), news.articles.len());
        for link in &news.links {
            assert!((link.source as usize) < sources, "links are on sources");
            assert!((link.article as usize) < articles, "links lead to articles");
            assert!(link.from <= link.until, "no link ends before it begins");
        }
        let clicked = news.clicks.iter().map(|click| click.article as usize);
        assert!(clicked.max() < Some(articles), "clicks are on articles");
        news
    }

    /// Reads the tables of a directory.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let mut sources = Table::open(directory, SOURCES)?;
        let (source_ids, sources) = ids::named(&mut sources)?;
        let mut articles = Table::open(directory, ARTICLES)?;
        let (article_ids, articles) = ids::named(&mut articles)?;
        let (source_ids, article_ids) = (ids::places(&source_ids), ids::places(&article_ids));
        Ok(Self {
            sources: distinct(sources),
            articles: distinct(articles),
            links: links(directory, &source_ids, &article_ids)?,
            clicks: clicks(directory, &article_ids)?,
        })
    }

    /// Returns the pages that link to articles, by number.
    pub fn sources(&self) -> &[PageUrl] {
        &self.sources
    }

    /// Returns the articles, by number.
    pub fn articles(&self) -> &[PageUrl] {
        &self.articles
    }

    /// Returns all links, by the time of their appearance.
    pub fn links(&self) -> &[LinkPeriod] {
        &self.links
    }

    /// Returns all clicks, by time.
    pub fn clicks(&self) -> &[Clicked] {
        &self.clicks
    }

    /// Writes the tables.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        for (schema, urls) in [(SOURCES, &self.sources), (ARTICLES, &self.articles)] {
            let mut table = TableWriter::create(directory, schema)?;
            for (number, url) in urls.iter().enumerate() {
                table.row([&number, url])?;
            }
            table.finish()?;
        }
        let mut table = TableWriter::create(directory, LINKS)?;
        for link in &self.links {
            let (from, until) = (time_text(link.from), time_text(link.until));
            table.row([&link.source, &link.article, &from, &until])?;
        }
        table.finish()?;
        let mut table = TableWriter::create(directory, CLICKS)?;
        for click in &self.clicks {
            table.row([&click.article, &time_text(click.at), &click.clicks])?;
        }
        table.finish()
    }
}

fn links(
    directory: &Path,
    sources: &HashMap<&str, u32>,
    articles: &HashMap<&str, u32>,
) -> Result<Vec<LinkPeriod>, LabError> {
    let mut links = Vec::new();
    let mut last = Moment::START;
    let mut table = Table::open(directory, LINKS)?;
    while let Some(row) = table.next()? {
        last = row.later(2, last)?;
        let until = row.moment(3)?;
        if until < last {
            return Err(row.place.wrong("t_out is before t_in"));
        }
        links.push(LinkPeriod {
            source: ids::found(sources, &row, 0, "source")?,
            article: ids::found(articles, &row, 1, "article")?,
            from: last,
            until,
        });
    }
    Ok(links)
}

fn clicks(directory: &Path, articles: &HashMap<&str, u32>) -> Result<Vec<Clicked>, LabError> {
    let mut clicks = Vec::new();
    let mut last = Moment::START;
    let mut table = Table::open(directory, CLICKS)?;
    while let Some(row) = table.next()? {
        last = row.later(1, last)?;
        clicks.push(Clicked {
            article: ids::found(articles, &row, 0, "article")?,
            at: last,
            clicks: row.number(2)?,
        });
    }
    Ok(clicks)
}
