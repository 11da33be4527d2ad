//! Makes snapshots of the running engine on demand.
//!
//! A snapshot must not slow the crawl down. Its lists are therefore short, and values that need
//! many reads of the ledger or of directories are measured only every ten seconds.

use std::sync::Arc;
use std::time::Duration;

use crawl::{Core, Host, Summary};
use frontier::bench::roster::{Place, State as Doing};
use frontier::{Discovery, Known, PageKey, RobotsFact};
use policy::source::NewPageClicks;
use policy::{Moment, Sources};
use repository::archive::Sealed;

use super::Engine;
use crate::clock::written;
use crate::explain::sources::SourceSummary;
use crate::live::snapshot::{
    CrawlMode, CrawlState, FreshnessOutlook, HostSnapshot, NewPageShare, PolicyNames, Snapshot,
    Storage,
};
use crate::panics::POISONED;
use crate::planning::Estimates;
use crate::store;

/// The age up to which the last snapshot is returned again.
const REUSED_FOR: Duration = Duration::from_millis(400);
/// How often the sources and the slow figures are updated: they need up to about 2,500 reads of
/// the ledger.
const MEASURE_EVERY: Duration = Duration::from_secs(10);
/// The maximum number of hosts in a snapshot, the busiest ones.
const SERVERS: usize = 200;
/// The maximum number of sources in a snapshot.
const SOURCES: usize = 200;

/// The last snapshot, and the last slow update.
#[derive(Default)]
pub(super) struct SnapshotCache {
    last: Option<(Moment, Arc<Snapshot>)>,
    measured: Option<Moment>,
    sources: Vec<SourceSummary>,
}

impl Engine {
    /// Empties the cache, so that the next snapshot measures everything.
    pub(super) fn forget_snapshot(&self) {
        *self.snapshots.lock().expect(POISONED) = SnapshotCache::default();
    }

    /// Returns a snapshot of the crawl. Blocks the thread, so it must not be called on an async
    /// task.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let now = self.clock.now();
        let mut cache = self.snapshots.lock().expect(POISONED);
        if let Some((at, last)) = &cache.last
            && now.since(*at) < REUSED_FOR
        {
            return last.clone();
        }
        if cache
            .measured
            .is_none_or(|last| now.since(last) >= MEASURE_EVERY)
        {
            cache.measured = Some(now);
            self.measure(now);
            cache.sources = self.sources(SOURCES);
        }
        let snapshot = Arc::new(self.collect_snapshot(now, cache.sources.clone()));
        cache.last = Some((now, snapshot.clone()));
        snapshot
    }

    fn collect_snapshot(&self, now: Moment, sources: Vec<SourceSummary>) -> Snapshot {
        let elapsed = self.clock.elapsed();
        let view = self.ask(move |core| CoreView::at(core, elapsed, now));
        let CoreView {
            summary,
            hosts,
            visits,
            uncommitted,
            budget,
            mode,
            new_page_clicks,
        } = view.unwrap_or_default();
        let servers = hosts.into_iter().map(|host| self.named(host)).collect();
        let meter = self.live.meter();
        let (fetches_per_second, bytes_per_second) = meter.rates();
        let state = CrawlState {
            summary: self.live.whole(summary),
            at: written(now),
            since: self.live.since().to_owned(),
            process: std::process::id(),
            address: self.live.address(),
            mode: match mode {
                crawl::Mode::Stopping => CrawlMode::Stopping,
                crawl::Mode::Running => CrawlMode::Running,
                crawl::Mode::Paused if visits + uncommitted > 0 => CrawlMode::Pausing,
                crawl::Mode::Paused => CrawlMode::Paused,
            },
            visits,
            uncommitted,
            budget,
            policies: PolicyNames::of(&self.live.policies()),
            fetches: meter.counts,
            statuses: meter.statuses.clone(),
            fetches_per_second,
            bytes_per_second,
            new_page_clicks: new_page_clicks.map(NewPageShare::from),
        };
        Snapshot {
            state,
            gains: meter.gains,
            outlook: meter.outlook,
            storage: Storage {
                memory: memory().unwrap_or_default(),
                ..meter.storage
            },
            core: meter.core,
            servers,
            sources,
            recent: meter.recent(),
            series: meter.series(),
        }
    }

    /// Measures the disk usage of the store and estimates the freshness of its copies.
    fn measure(&self, now: Moment) {
        let root = self.live.root();
        let free = rustix::fs::statvfs(root).map(|disk| disk.f_bavail * disk.f_frsize);
        let storage = Storage {
            ledger: self
                .ok_or_stop(self.ledger.disk_bytes())
                .unwrap_or_default(),
            archive: store::size(&store::archive(root)),
            index: store::size(&store::index(root)),
            free: free.unwrap_or_default(),
            memory: memory().unwrap_or_default(),
        };
        let outlook = self.outlook(now);
        let mut meter = self.live.meter();
        meter.storage = storage;
        meter.outlook = outlook.or(meter.outlook);
    }

    /// Estimates freshness and quality of the copies from a sample.
    fn outlook(&self, now: Moment) -> Option<FreshnessOutlook> {
        let keys = self.ask(|core| core.frontier().sampled())?;
        let known = |key: PageKey| {
            let discovery: Discovery = self.ok_or_stop(self.ledger.discovery(key))??;
            let visited = self.ok_or_stop(self.ledger.visited(key))?;
            Some(Ok(Known {
                key,
                discovery,
                visited,
                pattern: None,
            }))
        };
        let policies = self.live.policies();
        let rate = policies
            .refreshing()
            .and_then(|refresh| refresh.rate.clone());
        // Rates from a file are not estimates from this store's visits.
        let rate = rate.filter(|rate| rate != "given");
        let pages = keys.into_iter().filter_map(known);
        let estimates = Estimates::of(pages, "user-centric-marginal", rate.as_deref());
        estimates.ok()?.now(now)
    }

    /// Fills in the name of a host from the ledger, if the core does not have it.
    fn named(&self, host: HostEntry) -> HostSnapshot {
        let mut server = host.server;
        if server.origin.is_empty()
            && let Some(key) = host.key
            && let Some(found) = self.ok_or_stop(self.ledger.discovery(key)).flatten()
            && let Ok(url) = page::PageUrl::parse(&found.url)
        {
            server.origin = url.origin().to_owned();
        }
        server
    }
}

/// The part of a snapshot that is read from the core.
#[derive(Default)]
struct CoreView {
    summary: Summary,
    hosts: Vec<HostEntry>,
    visits: usize,
    uncommitted: usize,
    budget: Option<f64>,
    mode: crawl::Mode,
    new_page_clicks: Option<NewPageClicks>,
}

impl CoreView {
    fn at(core: &mut Core<Sealed>, elapsed: Duration, now: Moment) -> Self {
        let places = core.frontier().bench.busiest(SERVERS, now);
        let hosts = places
            .into_iter()
            .map(|place| host_entry(core, place))
            .collect();
        let sources = core.frontier().policy().sources.as_ref();
        let new_page_clicks = sources.and_then(Sources::new_page_clicks);
        Self {
            new_page_clicks,
            summary: core.summary(elapsed),
            hosts,
            visits: core.visits(),
            uncommitted: core.uncommitted(),
            budget: core.budget(),
            mode: core.mode(),
        }
    }
}

/// A host, and the ledger key of one of its pages, from which its name can be read.
struct HostEntry {
    server: HostSnapshot,
    key: Option<PageKey>,
}

fn host_entry(core: &mut Core<Sealed>, place: Place) -> HostEntry {
    let known = core.host(place.host).map(server);
    let frontier = core.frontier();
    let page = place.first.map(|number| frontier.page(place.host, number));
    let recent = page.and_then(|page| frontier.recent(page));
    let recent = recent.and_then(|found| page::PageUrl::parse(&found.url).ok());
    let origin = recent.map_or(String::new(), |url| url.origin().to_owned());
    let server = known.unwrap_or(HostSnapshot {
        origin,
        robots: "unknown".into(),
        ..HostSnapshot::default()
    });
    let (state, next) = match place.state {
        Doing::Visited => ("visited", None),
        Doing::Ready => ("ready", None),
        Doing::Later(moment) => ("delayed", Some(written(moment))),
        Doing::Idle => ("idle", None),
        Doing::Parked => ("left alone", None),
    };
    HostEntry {
        key: page.and_then(|page| frontier.key(page)),
        server: HostSnapshot {
            address: place.address.map(|address| address.to_string()),
            state: state.to_owned(),
            next,
            waiting: place.waiting,
            claimed: place.claimed,
            ..server
        },
    }
}

/// Returns the figures of a host that is in memory.
fn server(host: &Host) -> HostSnapshot {
    let facts = host.facts();
    let ms = |seconds: f64| (seconds * 1e4).round() / 10.0;
    HostSnapshot {
        origin: facts.origin.clone(),
        requests: facts.requests,
        connect_ms: facts.speed.map(|speed| ms(speed.connect)),
        response_ms: facts.speed.map(|speed| ms(speed.response)),
        robots: match &facts.robots {
            Some(RobotsFact::Found { .. }) => "found",
            Some(RobotsFact::Missing { .. }) => "missing",
            None => "unknown",
        }
        .to_owned(),
        crawl_delay: host.crawl_delay().map(|delay| delay.as_secs_f64()),
        failures: host.failures(),
        ..HostSnapshot::default()
    }
}

/// Returns the resident memory of this process in bytes; `None` where `/proc` does not exist.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = status.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
