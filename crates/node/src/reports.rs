//! Reports about a store: broken links, pages that only a sitemap names, duplicates, slow servers,
//! and what people search for.
//!
//! A report is a table, so that command, API, dashboard and CSV show the same.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Result;
use frontier::{Facts, Known, Visited};
use ledger::LedgerReader;
use policy::Outcome;
use repository::log::{Click, EventLog, Position, Search};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::clock::written;
use crate::store;

/// Rows that a report keeps; it counts the others.
const MOST: usize = 10_000;
/// Searches with results that a query needs before it counts as never clicked.
const ENOUGH: u64 = 3;

/// A report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportKind {
    /// Links to pages that are missing or do not answer.
    BrokenLinks,
    /// Pages to which no page links: only a sitemap or a feed names them.
    SitemapOnly,
    /// Pages with the same text.
    Duplicates,
    /// Servers by their response time.
    SlowServers,
    /// Queries by their number of searches.
    TopSearches,
    /// Queries that found nothing.
    SearchesWithoutResult,
    /// Queries with results of which none was clicked.
    SearchesWithoutClick,
}

impl ReportKind {
    /// All reports.
    pub const ALL: [Self; 7] = [
        Self::BrokenLinks,
        Self::SitemapOnly,
        Self::Duplicates,
        Self::SlowServers,
        Self::TopSearches,
        Self::SearchesWithoutResult,
        Self::SearchesWithoutClick,
    ];

    /// Returns its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::BrokenLinks => "broken-links",
            Self::SitemapOnly => "sitemap-only",
            Self::Duplicates => "duplicates",
            Self::SlowServers => "slow-servers",
            Self::TopSearches => "top-searches",
            Self::SearchesWithoutResult => "searches-without-result",
            Self::SearchesWithoutClick => "searches-without-click",
        }
    }

    /// Returns its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::BrokenLinks => "Broken links",
            Self::SitemapOnly => "Pages that only a sitemap names",
            Self::Duplicates => "Pages with the same text",
            Self::SlowServers => "Servers by response time",
            Self::TopSearches => "Most frequent searches",
            Self::SearchesWithoutResult => "Searches without a result",
            Self::SearchesWithoutClick => "Searches that were never clicked",
        }
    }

    /// Returns the report with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn columns(self) -> &'static [&'static str] {
        match self {
            Self::BrokenLinks => &["url", "status", "error", "checked_at", "from", "anchor"],
            Self::SitemapOnly => &["url", "status", "named_by"],
            Self::Duplicates => &["url", "same_as", "group", "pages"],
            Self::SlowServers => &["server", "response_ms", "connect_ms", "requests"],
            Self::TopSearches => &["query", "searches", "clicks", "results"],
            Self::SearchesWithoutResult => &["query", "searches"],
            Self::SearchesWithoutClick => &["query", "searches", "results"],
        }
    }
}

/// A report as a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportTable {
    /// The report.
    pub report: ReportKind,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows; each has a value for each column.
    pub rows: Vec<Vec<Value>>,
    /// The number of all rows, those beyond the limit included.
    pub total: usize,
}

impl ReportTable {
    fn new(report: ReportKind, mut rows: Vec<Vec<Value>>) -> Self {
        let total = rows.len();
        rows.truncate(MOST);
        let columns = report.columns().iter().map(|&name| name.to_owned());
        Self {
            report,
            columns: columns.collect(),
            rows,
            total,
        }
    }

    /// Returns the table as JSON, each row as an object.
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let fields = self.columns.iter().cloned().zip(row.iter().cloned());
            Value::Object(fields.collect::<Map<String, Value>>())
        });
        json!({
            "report": self.report,
            "total": self.total,
            "rows": rows.collect::<Vec<Value>>(),
        })
    }

    /// Returns the table as CSV (RFC 4180), with the names of the columns in the first line.
    pub fn csv(&self) -> String {
        let mut text = self.columns.join(",") + "\r\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|value| quoted(&cell(value))).collect();
            text += &(cells.join(",") + "\r\n");
        }
        text
    }

    /// Returns the rows as texts.
    pub fn texts(&self) -> impl Iterator<Item = Vec<String>> {
        self.rows.iter().map(|row| row.iter().map(cell).collect())
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Quotes a cell. Texts come from crawled pages: one that a spreadsheet would run as a formula gets
/// an apostrophe before it.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// Makes a report of the store at `root`.
pub fn report(kind: ReportKind, root: &Path, ledger: &LedgerReader) -> Result<ReportTable> {
    let rows = match kind {
        ReportKind::BrokenLinks => broken_links(ledger)?,
        ReportKind::SitemapOnly => sitemap_only(ledger)?,
        ReportKind::Duplicates => duplicates(ledger)?,
        ReportKind::SlowServers => slow_servers(ledger)?,
        ReportKind::TopSearches => rows_of(
            &searches(root)?,
            |_| true,
            |one| vec![json!(one.searches), json!(one.clicks), json!(one.results)],
        ),
        ReportKind::SearchesWithoutResult => rows_of(
            &searches(root)?,
            |one| one.results == 0 && one.clicks == 0 && one.is_ours,
            |one| vec![json!(one.searches)],
        ),
        ReportKind::SearchesWithoutClick => rows_of(
            &searches(root)?,
            |one| one.results > 0 && one.clicks == 0 && one.searches >= ENOUGH,
            |one| vec![json!(one.searches), json!(one.results)],
        ),
    };
    Ok(ReportTable::new(kind, rows))
}

/// Returns whether the last visit found that there is no page, or got no answer. A server that is
/// busy, or a rule against the request, says nothing about the link.
fn is_broken(visited: &Visited) -> bool {
    let busy = matches!(visited.status, Some(408 | 421 | 425 | 429 | 503));
    match visited.history.outcome {
        Some(Outcome::Gone) => true,
        Some(Outcome::Unreachable) => {
            !busy && visited.error.as_deref() != Some("robots:unavailable")
        }
        _ => false,
    }
}

fn broken_links(ledger: &LedgerReader) -> Result<Vec<Vec<Value>>> {
    let mut broken: HashMap<u32, (Known, Visited)> = HashMap::new();
    for known in ledger.scan() {
        let known = known?;
        if let Some(visited) = known.visited.clone().filter(is_broken) {
            broken.insert(known.discovery.order as u32, (known, visited));
        }
    }
    let mut rows = Vec::new();
    for links in ledger.all_links() {
        let (source, out) = links?;
        for (target, anchor) in out.links() {
            let Some((known, visited)) = broken.get(&target) else {
                continue;
            };
            let Some(from) = ledger.discovery(source)? else {
                continue;
            };
            rows.push(vec![
                json!(known.discovery.url),
                json!(visited.status),
                json!(visited.error),
                json!(visited.history.asked.map(written)),
                json!(from.url),
                json!(anchor),
            ]);
        }
    }
    rows.sort_by_cached_key(|row| (cell(&row[0]), cell(&row[4])));
    Ok(rows)
}

/// What links to a page.
const BY_PAGE: u8 = 1;
const BY_LISTING: u8 = 2;

fn sitemap_only(ledger: &LedgerReader) -> Result<Vec<Vec<Value>>> {
    let mut named: Vec<u8> = Vec::new();
    let mut listing_of: HashMap<u32, String> = HashMap::new();
    for links in ledger.all_links() {
        let (source, out) = links?;
        let is_listing = ledger
            .visited(source)?
            .is_some_and(|visited| visited.history.listing);
        let url = match is_listing {
            true => ledger.discovery(source)?.map(|found| found.url),
            false => None,
        };
        for (target, _) in out.links() {
            let place = target as usize;
            if named.len() <= place {
                named.resize(place + 1, 0);
            }
            named[place] |= if is_listing { BY_LISTING } else { BY_PAGE };
            if let Some(url) = &url
                && listing_of.len() < 10 * MOST
            {
                listing_of.entry(target).or_insert_with(|| url.clone());
            }
        }
    }
    let mut rows = Vec::new();
    for known in ledger.scan() {
        let known = known?;
        let number = known.discovery.order as u32;
        let by = named.get(number as usize).copied().unwrap_or(0);
        let visited = known.visited.as_ref();
        let is_listing = visited.is_some_and(|visited| visited.history.listing);
        if by == BY_LISTING && !is_listing && known.discovery.source.is_some() {
            let status = visited.and_then(|visited| visited.status);
            let listing = listing_of.get(&number);
            rows.push(vec![
                json!(known.discovery.url),
                json!(status),
                json!(listing),
            ]);
        }
    }
    Ok(rows)
}

fn duplicates(ledger: &LedgerReader) -> Result<Vec<Vec<Value>>> {
    let mut groups: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for known in ledger.scan() {
        let known = known?;
        let copy = known.visited.and_then(|visited| visited.copy);
        let text = copy.filter(|copy| copy.indexed).and_then(|copy| copy.text);
        if let Some(text) = text {
            groups
                .entry(text.fingerprint.0)
                .or_default()
                .push(known.discovery.url);
        }
    }
    let mut groups: Vec<Vec<String>> = groups.into_values().filter(|urls| urls.len() > 1).collect();
    for urls in &mut groups {
        // The shortest URL is most likely the one that people know.
        urls.sort_by_key(|url| (url.len(), url.clone()));
    }
    groups.sort_by_key(|urls| std::cmp::Reverse(urls.len()));
    let mut rows = Vec::new();
    for (number, urls) in (1..).zip(&groups) {
        for url in &urls[1..] {
            rows.push(vec![
                json!(url),
                json!(urls[0]),
                json!(number),
                json!(urls.len()),
            ]);
        }
    }
    Ok(rows)
}

fn slow_servers(ledger: &LedgerReader) -> Result<Vec<Vec<Value>>> {
    let mut servers = Vec::new();
    for host in ledger.hosts() {
        let (_, facts) = host?;
        if facts.requests == 0 {
            continue;
        }
        let mean = |micros: u64, of: u32| micros as f64 / 1000.0 / f64::from(of.max(1));
        let response = mean(facts.response_micros, facts.requests);
        let connect = mean(facts.connect_micros, facts.connections);
        servers.push((response, connect, facts));
    }
    servers.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let tenths = |millis: f64| json!((millis * 10.0).round() / 10.0);
    let rows = servers.into_iter().map(|(response, connect, facts)| {
        vec![
            json!(facts.origin),
            tenths(response),
            tenths(connect),
            json!(facts.requests),
        ]
    });
    Ok(rows.collect())
}

/// What is known of a query.
#[derive(Debug, Default)]
struct QueryUse {
    searches: u64,
    clicks: u64,
    /// Results that the last search with this query showed first.
    results: usize,
    /// Whether our own server answered it. Imported queries may lack their results.
    is_ours: bool,
}

/// Counts searches and clicks by query, in lower case and without space around it.
fn searches(root: &Path) -> Result<Vec<(String, QueryUse)>> {
    let log = store::log(root);
    let mut queries: HashMap<String, QueryUse> = HashMap::new();
    let key = |query: &str| query.trim().to_lowercase();
    if log.exists() {
        EventLog::<Search>::open(&log).read(&Position::default(), |search| {
            let one = queries.entry(key(&search.query)).or_default();
            // Further pages of results are the same search.
            if search.offset == 0 {
                one.searches += search.count;
                one.results = search.shown.len();
                one.is_ours |= search.count == 1;
            }
            one.clicks += search.clicked.len() as u64 * search.count;
        })?;
        EventLog::<Click>::open(&log).read(&Position::default(), |click| {
            if let Some(one) = click
                .query
                .as_deref()
                .and_then(|query| queries.get_mut(&key(query)))
            {
                one.clicks += click.count;
            }
        })?;
    }
    let mut queries: Vec<(String, QueryUse)> = queries.into_iter().collect();
    queries.sort_by(|(a, one), (b, other)| other.searches.cmp(&one.searches).then(a.cmp(b)));
    Ok(queries)
}

fn rows_of(
    queries: &[(String, QueryUse)],
    is_shown: impl Fn(&QueryUse) -> bool,
    row: impl Fn(&QueryUse) -> Vec<Value>,
) -> Vec<Vec<Value>> {
    let shown = queries.iter().filter(|(_, one)| is_shown(one));
    shown
        .map(|(query, one)| [vec![json!(query)], row(one)].concat())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_must_be_quoted_and_disarms_formulas() {
        for (text, cell) in [
            ("a b", "a b"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("-1,2", "\"'-1,2\""),
        ] {
            assert_eq!(quoted(text), cell, "{text}");
        }
    }

    #[test]
    fn names_and_columns_are_complete() {
        for kind in ReportKind::ALL {
            assert_eq!(ReportKind::named(kind.name()), Some(kind));
            assert_eq!(json!(kind), kind.name());
            assert!(!kind.columns().is_empty() && !kind.title().is_empty());
        }
    }
}
