//! Searches and clicks of the log: how often each query was asked, and when articles were clicked.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Result;
use jiff::Timestamp;
use lab::table::schema::{CLICKS, QUERIES};
use lab::table::{TableWriter, time_text};
use lab::world::News;
use node::store;
use page::PageUrl;
use policy::Moment;
use repository::log::{Click, EventLog, Position, Search};

use super::WorldCounts;
use super::pages::WorldPages;
use super::source_links::SourceLinks;

/// Most different queries that are counted. Later ones are left out, which bounds the memory.
const QUERIES_LIMIT: usize = 1_000_000;

/// Searches by query, and clicks by time and article.
#[derive(Debug, Default)]
struct Demand {
    queries: HashMap<String, u64>,
    clicks: BTreeMap<(Moment, u32), u64>,
    elsewhere: u64,
}

/// Writes the queries, most frequent first, and the clicks on articles. Writes no table of queries
/// if there are none, and none of clicks if there are no sources.
pub(super) fn write(
    root: &Path,
    pages: &WorldPages,
    links: &SourceLinks,
    out: &Path,
    counts: &mut WorldCounts,
) -> Result<()> {
    let mut demand = Demand::default();
    let article = |url: &str| {
        let number = pages.number(PageUrl::parse(url).ok()?.id())?;
        let target = pages.target(number);
        links.is_article(target).then_some(target)
    };
    let log = store::log(root);
    EventLog::<Search>::open(&log).read(&Position::default(), |search| {
        demand.ask(&search.query, search.count);
        for page in search.pages().filter(|page| page.clicks > 0) {
            demand.click(article(page.url), search.time, page.clicks);
        }
    })?;
    EventLog::<Click>::open(&log).read(&Position::default(), |click| {
        demand.click(article(&click.url), click.time, click.count);
    })?;
    counts.clicks_elsewhere = demand.elsewhere;
    if !links.is_empty() {
        let mut table = TableWriter::create(out, CLICKS)?;
        for ((at, article), clicks) in &demand.clicks {
            table.row([article, &time_text(*at), &cell(*clicks)])?;
            counts.clicks += clicks;
        }
        table.finish()?;
    }
    let mut queries: Vec<(String, u64)> = demand.queries.into_iter().collect();
    if queries.is_empty() {
        return Ok(());
    }
    queries
        .sort_unstable_by(|one, other| (Reverse(one.1), &one.0).cmp(&(Reverse(other.1), &other.0)));
    let mut table = TableWriter::create(out, QUERIES)?;
    for (query, count) in &queries {
        table.row([query, &cell(*count)])?;
        counts.searches += count;
    }
    counts.queries = queries.len() as u64;
    Ok(table.finish()?)
}

/// Returns a count as the tables can hold it.
fn cell(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Demand {
    /// Counts searches. Case and white space of a query do not matter.
    fn ask(&mut self, query: &str, count: u64) {
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let query = words.join(" ");
        let full = self.queries.len() >= QUERIES_LIMIT && !self.queries.contains_key(&query);
        if !query.is_empty() && !full {
            *self.queries.entry(query).or_default() += count;
        }
    }

    /// Counts clicks on an article, or on another page.
    fn click(&mut self, article: Option<u32>, time: Timestamp, clicks: u64) {
        let Some(article) = article else {
            self.elsewhere += clicks;
            return;
        };
        let bin = News::BIN.as_secs();
        let seconds = u64::try_from(time.as_second()).unwrap_or(0) / bin * bin;
        let at = Moment::from_micros(seconds * 1_000_000);
        *self.clicks.entry((at, article)).or_default() += clicks;
    }
}
