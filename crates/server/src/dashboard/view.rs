//! Turns a snapshot of the crawl into the texts and figures that the dashboard shows.

use crawl::Purpose;
use jiff::Timestamp;

use super::chart::Chart;
use super::charts::charts;
use super::figures::{amount, bytes, percent, short, span, when};
use node::live::core_figures::CoreFigures;
use node::live::snapshot::{CrawlMode, Snapshot};
use node::number::counted;

/// The maximum number of rows of a table.
const ROWS: usize = 50;

/// The parts of the dashboard that change with each snapshot.
pub struct DashboardView {
    /// `running`, `paused`, …; also the CSS class.
    pub mode: &'static str,
    /// What the crawl is doing, in words.
    pub doing: String,
    pub tiles: Vec<Tile>,
    pub charts: Vec<Chart>,
    pub split: Vec<FetchSplit>,
    pub servers: Vec<ServerRow>,
    pub more_servers: usize,
    pub sources: Vec<SourceRow>,
    pub more_sources: usize,
    pub recent: Vec<FetchRow>,
    pub errors: Vec<(String, String)>,
    pub storage: Vec<(&'static str, String)>,
    pub core: Vec<(&'static str, String)>,
}

/// A figure with its name and a note.
pub struct Tile {
    pub name: &'static str,
    pub value: String,
    pub note: String,
}

/// The number and the worth of the fetches of one kind.
pub struct FetchSplit {
    pub name: &'static str,
    pub class: &'static str,
    pub fetches: String,
    pub share: String,
    pub per_mille: u64,
    pub each: String,
}

pub struct ServerRow {
    pub origin: String,
    pub address: String,
    pub state: String,
    pub class: &'static str,
    pub next: String,
    pub waiting: String,
    pub claimed: String,
    pub connect: String,
    pub response: String,
    pub robots: String,
    pub failures: u32,
}

pub struct SourceRow {
    pub url: String,
    pub on: bool,
    pub why: String,
    pub found: u32,
    pub a_day: String,
    pub profit: String,
    pub every: String,
    pub due: String,
}

pub struct FetchRow {
    pub url: String,
    pub ago: String,
    pub kind: &'static str,
    pub status: String,
    pub outcome: String,
    pub class: &'static str,
    pub bytes: String,
    pub ms: String,
    pub worth: String,
    pub error: String,
}

impl DashboardView {
    /// Creates the view of a snapshot. `crawling` tells whether its crawl still runs.
    pub fn of(snapshot: &Snapshot, crawling: bool) -> Self {
        let state = &snapshot.state;
        let now = state.at.parse().unwrap_or_else(|_| Timestamp::now());
        let (mode, doing) = doing(snapshot, crawling);
        let errors = state.summary.errors.iter();
        let mut errors: Vec<_> = errors.map(|(kind, count)| (kind.clone(), *count)).collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let storage = &snapshot.storage;
        let size = |count: u64| bytes(count as f64);
        Self {
            mode,
            doing,
            tiles: tiles(snapshot),
            charts: charts(&snapshot.series, state.budget),
            split: split(snapshot),
            servers: rows(&snapshot.servers, |one| server(one, now)),
            more_servers: snapshot.servers.len().saturating_sub(ROWS),
            sources: rows(&snapshot.sources, |one| source(one, now)),
            more_sources: snapshot.sources.len().saturating_sub(ROWS),
            recent: rows(&snapshot.recent, |one| fetch(one, now)),
            errors: (errors.into_iter())
                .map(|(kind, count)| (kind, amount(count)))
                .collect(),
            storage: vec![
                ("Ledger", size(storage.ledger)),
                ("Archive", size(storage.archive)),
                ("Index", size(storage.index)),
                ("Free on this disk", size(storage.free)),
                ("Memory", size(storage.memory)),
            ],
            core: core(&snapshot.core),
        }
    }
}

fn rows<T, R>(all: &[T], row: impl Fn(&T) -> R) -> Vec<R> {
    all.iter().take(ROWS).map(row).collect()
}

/// Returns the rows on the load of the crawl's core, the state machine that makes all decisions.
fn core(figures: &CoreFigures) -> Vec<(&'static str, String)> {
    let time = |seconds: Option<f64>| match seconds {
        None => "–".to_owned(),
        Some(seconds) if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        Some(seconds) => format!("{:.1} ms", seconds * 1e3),
    };
    let (steps, commits) = (&figures.steps, &figures.commits);
    vec![
        ("Steps", amount(steps.count())),
        ("Step, 99 % quantile", time(steps.quantile(0.99))),
        ("Step, 99.99 % quantile", time(steps.quantile(0.9999))),
        ("Commit, 99 % quantile", time(commits.quantile(0.99))),
        ("Events waiting", amount(figures.events_waiting)),
        ("Histories loaded", amount(figures.histories)),
    ]
}

fn doing(snapshot: &Snapshot, crawling: bool) -> (&'static str, String) {
    let state = &snapshot.state;
    if !crawling || state.at.is_empty() {
        return match state.at.is_empty() {
            true => (
                "idle",
                "Nothing was crawled yet, or the crawl is just starting.".into(),
            ),
            false => (
                "idle",
                format!("No crawl runs. These figures are from {}.", state.at),
            ),
        };
    }
    let doing = match state.mode {
        CrawlMode::Running => format!("{} under way", counted(state.visits, "visit")),
        CrawlMode::Pausing => format!(
            "{} requests are under way or not committed yet",
            state.uncommitted
        ),
        CrawlMode::Paused => "no request is under way, and everything is committed".into(),
        CrawlMode::Stopping => "requests under way are ending".into(),
    };
    (state.mode.name(), doing)
}

fn tiles(snapshot: &Snapshot) -> Vec<Tile> {
    let state = &snapshot.state;
    let summary = &state.summary;
    let tile = |name, value: String, note: String| Tile { name, value, note };
    let budget = state.budget.map_or("no budget".into(), |budget| {
        format!("of {} allowed", short(budget))
    });
    let outlook = snapshot.outlook;
    let sampled = outlook.map_or("not known before pages are revisited".into(), |outlook| {
        format!(
            "of {} pages, estimated from {} revisited ones",
            amount(outlook.sampled as u64),
            amount(outlook.revisited as u64)
        )
    });
    let paid = state.fetches.all().saturating_sub(state.fetches.overhead);
    let each = snapshot.gains.all() / paid.max(1) as f64;
    let share = |share: Option<f64>| share.map_or("–".into(), percent);
    let quality = match outlook.is_some_and(|outlook| outlook.quality.is_none()) {
        true => "not known before searches and later refreshes".into(),
        false => "of the quality of a fresh store".into(),
    };
    let news = state.new_page_clicks.map(|clicks| {
        let note = format!(
            "of the clicks on pages of the last week came after we had the page: {} counted, {} estimated as missed",
            short(clicks.earned),
            short(clicks.missed)
        );
        tile("New pages in time", percent(clicks.share), note)
    });
    let mut tiles = vec![
        tile("Fetches a second", short(state.fetches_per_second), budget),
        tile(
            "Bytes a second",
            bytes(state.bytes_per_second),
            format!("{} in all", bytes(summary.bytes as f64)),
        ),
        tile(
            "Price ω",
            summary.price.map_or("–".into(), short),
            "the least worth at which a page is fetched".into(),
        ),
        tile(
            "Worth of a fetch",
            short(each),
            "on average, as estimated before the fetch".into(),
        ),
        tile(
            "Expected freshness",
            share(outlook.map(|outlook| outlook.freshness)),
            sampled,
        ),
        tile(
            "Expected quality",
            share(outlook.and_then(|outlook| outlook.quality)),
            quality,
        ),
        tile(
            "Pages known",
            amount(summary.urls_seen as u64),
            format!(
                "{} to fetch, {} of these due now",
                amount(summary.queued as u64),
                amount(summary.due as u64)
            ),
        ),
        tile(
            "Memory",
            bytes(snapshot.storage.memory as f64),
            format!("{} free on disk", bytes(snapshot.storage.free as f64)),
        ),
    ];
    tiles.extend(news);
    tiles
}

fn split(snapshot: &Snapshot) -> Vec<FetchSplit> {
    let (counts, gains) = (&snapshot.state.fetches, &snapshot.gains);
    let all = counts.all().max(1);
    let row = |name, class, count: u64, gain: Option<f64>| FetchSplit {
        name,
        class,
        fetches: amount(count),
        share: percent(count as f64 / all as f64),
        per_mille: count * 1000 / all,
        each: match gain {
            Some(gain) if count > 0 => short(gain / count as f64),
            _ => "–".into(),
        },
    };
    vec![
        row("New pages", "new", counts.new, Some(gains.new)),
        row("Refreshes", "refresh", counts.refresh, Some(gains.refresh)),
        row("Sources", "source", counts.source, Some(gains.source)),
        row("Overhead", "overhead", counts.overhead, None),
    ]
}

fn server(server: &node::live::snapshot::HostSnapshot, now: Timestamp) -> ServerRow {
    let ms = |ms: Option<f64>| ms.map_or("–".into(), |ms| format!("{ms:.0} ms"));
    let delay = server.crawl_delay.filter(|delay| *delay > 0.0);
    let delay = delay.map_or(String::new(), |delay| format!(", every {}", span(delay)));
    ServerRow {
        origin: server.origin.clone(),
        address: server.address.clone().unwrap_or_else(|| "–".into()),
        class: match server.state.as_str() {
            "visited" => "good",
            "left alone" => "bad",
            "delayed" => "wait",
            _ => "plain",
        },
        state: server.state.clone(),
        next: server
            .next
            .as_deref()
            .map_or("now".into(), |next| when(next, now)),
        waiting: amount(server.waiting as u64),
        claimed: amount(u64::from(server.claimed)),
        connect: ms(server.connect_ms),
        response: ms(server.response_ms),
        robots: format!("{}{delay}", server.robots),
        failures: server.failures,
    }
}

fn source(row: &node::explain::sources::SourceSummary, now: Timestamp) -> SourceRow {
    SourceRow {
        url: row.url.clone(),
        on: row.on,
        why: row.why.clone(),
        found: row.found,
        a_day: short(row.new_a_day),
        profit: short(row.profit),
        every: row
            .interval_hours
            .map_or("–".into(), |hours| span(hours * 3600.0)),
        due: row.due.as_deref().map_or("–".into(), |due| when(due, now)),
    }
}

fn fetch(fetch: &node::live::meter::Fetch, now: Timestamp) -> FetchRow {
    FetchRow {
        url: fetch.url.clone(),
        ago: when(&fetch.at, now),
        kind: match fetch.kind {
            Purpose::New => "new",
            Purpose::Refresh => "refresh",
            Purpose::Source => "source",
        },
        status: fetch.status.map_or("–".into(), |status| status.to_string()),
        class: match fetch.outcome.as_str() {
            "changed" => "good",
            "unchanged" => "plain",
            "gone" => "wait",
            _ => "bad",
        },
        outcome: fetch.outcome.clone(),
        bytes: bytes(fetch.bytes as f64),
        ms: span(fetch.ms / 1e3),
        worth: fetch.worth.map_or("any price".into(), short),
        error: fetch.error.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use node::live::snapshot::NewPageShare;

    use super::*;

    #[test]
    fn what_new_pages_earned_is_shown_only_with_clicks() {
        let mut snapshot = Snapshot::default();
        let news = |snapshot: &Snapshot| {
            let tiles = tiles(snapshot).into_iter();
            let mut tiles = tiles.filter(|tile| tile.name == "New pages in time");
            tiles.next().map(|tile| (tile.value, tile.note))
        };
        assert_eq!(news(&snapshot), None);
        snapshot.state.new_page_clicks = Some(NewPageShare {
            earned: 30.0,
            missed: 10.0,
            share: 0.75,
        });
        let (value, note) = news(&snapshot).unwrap();
        assert_eq!(value, "75.0 %");
        assert!(
            note.ends_with("30.0 counted, 10.0 estimated as missed"),
            "{note}"
        );
    }
}
