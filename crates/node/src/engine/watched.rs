//! What the engine says of itself while it runs: counted at every request, put together when somebody asks.
//!
//! What is said must not slow down what is done: lists are cut to what a person can read, and what takes reads of the ledger or
//! of directories is done every ten seconds.

use std::sync::Arc;
use std::time::Duration;

use crawl::{Core, Host, Summary};
use frontier::bench::roster::{Place, State as Doing};
use frontier::{Discovery, Known, PageKey, RobotsFact};
use policy::Moment;
use repository::archive::Sealed;

use super::Engine;
use crate::explain::sources::Row;
use crate::live::meter::written;
use crate::live::snapshot::{Mode, Outlook, Policies, Server, Snapshot, State, Storage};
use crate::panics::POISONED;
use crate::planning::Estimates;
use crate::store;

/// For so long what was said last is said again.
const SAID_FOR: Duration = Duration::from_millis(400);
/// How often the sources are looked at anew, and it is measured what takes a while to measure: some thousand reads of the ledger.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Hosts that are spoken of.
const SERVERS: usize = 200;
/// Sources that are spoken of.
const SOURCES: usize = 200;

/// What the engine last said, and when it looked for it.
#[derive(Default)]
pub(super) struct Said {
    last: Option<(Moment, Arc<Snapshot>)>,
    looked: Option<Moment>,
    sources: Vec<Row>,
}

impl Engine {
    /// How it goes. Blocks: not to be called on a task.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let now = self.clock.now();
        let mut said = self.said.lock().expect(POISONED);
        if let Some((at, last)) = &said.last
            && now.since(*at) < SAID_FOR
        {
            return last.clone();
        }
        if said.looked.is_none_or(|last| now.since(last) >= LOOK_EVERY) {
            said.looked = Some(now);
            self.measure(now);
            said.sources = self.sources(SOURCES);
        }
        let snapshot = Arc::new(self.look(now, said.sources.clone()));
        said.last = Some((now, snapshot.clone()));
        snapshot
    }

    fn look(&self, now: Moment, sources: Vec<Row>) -> Snapshot {
        let elapsed = self.clock.elapsed();
        let seen = self.ask(move |core| Look::at(core, elapsed, now));
        let Look {
            summary,
            hosts,
            visits,
            uncommitted,
            budget,
            mode,
        } = seen.unwrap_or_default();
        let servers = hosts.into_iter().map(|seen| self.named(seen)).collect();
        let meter = self.live.meter();
        let (fetches_per_second, bytes_per_second) = meter.rates();
        let state = State {
            summary,
            at: written(now),
            since: self.live.since().to_owned(),
            process: std::process::id(),
            address: self.live.address(),
            mode: match mode {
                crawl::Mode::Stopping => Mode::Stopping,
                crawl::Mode::Running => Mode::Running,
                crawl::Mode::Paused if visits + uncommitted > 0 => Mode::Pausing,
                crawl::Mode::Paused => Mode::Paused,
            },
            visits,
            uncommitted,
            budget,
            policies: Policies::of(&self.live.policies()),
            fetches: meter.counts,
            fetches_per_second,
            bytes_per_second,
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

    /// Measures what the store takes, and what its copies are expected to be like.
    fn measure(&self, now: Moment) {
        let root = self.live.root();
        let free = rustix::fs::statvfs(root).map(|disk| disk.f_bavail * disk.f_frsize);
        let storage = Storage {
            ledger: self.trust(self.ledger.disk_bytes()).unwrap_or_default(),
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

    /// What copies are expected to be like, by a sample of them.
    fn outlook(&self, now: Moment) -> Option<Outlook> {
        let keys = self.ask(|core| core.frontier().sampled())?;
        let known = |key: PageKey| {
            let discovery: Discovery = self.trust(self.ledger.discovery(key))??;
            let visited = self.trust(self.ledger.visited(key))?;
            Some(Ok(Known {
                key,
                discovery,
                visited,
            }))
        };
        let policies = self.live.policies();
        let rate = policies
            .refreshing()
            .and_then(|refresh| refresh.rate.clone());
        // Rates that were given are not estimates of this store.
        let rate = rate.filter(|rate| rate != "given");
        let pages = keys.into_iter().filter_map(known);
        let estimates = Estimates::of(pages, "user-centric-marginal", rate.as_deref());
        estimates.ok()?.now(now)
    }

    /// A host by its name.
    fn named(&self, seen: Seen) -> Server {
        let mut server = seen.server;
        if server.origin.is_empty()
            && let Some(key) = seen.key
            && let Some(found) = self.trust(self.ledger.discovery(key)).flatten()
            && let Ok(url) = page::PageUrl::parse(&found.url)
        {
            server.origin = url.origin().to_owned();
        }
        server
    }
}

/// What the core says of itself at one moment.
#[derive(Default)]
struct Look {
    summary: Summary,
    hosts: Vec<Seen>,
    visits: usize,
    uncommitted: usize,
    budget: Option<f64>,
    mode: crawl::Mode,
}

impl Look {
    fn at(core: &mut Core<Sealed>, elapsed: Duration, now: Moment) -> Self {
        let places = core.frontier().bench.busiest(SERVERS, now);
        let hosts = places.into_iter().map(|place| seen(core, place)).collect();
        Self {
            summary: core.summary(elapsed),
            hosts,
            visits: core.visits(),
            uncommitted: core.uncommitted(),
            budget: core.budget(),
            mode: core.mode(),
        }
    }
}

/// A host, and where one of its pages is in the ledger, if its name is only there.
struct Seen {
    server: Server,
    key: Option<PageKey>,
}

fn seen(core: &mut Core<Sealed>, place: Place) -> Seen {
    let known = core.host(place.host).map(server);
    let frontier = core.frontier();
    let page = place.first.map(|number| frontier.page(place.host, number));
    let recent = page.and_then(|page| frontier.recent(page));
    let recent = recent.and_then(|found| page::PageUrl::parse(&found.url).ok());
    let origin = recent.map_or(String::new(), |url| url.origin().to_owned());
    let server = known.unwrap_or(Server {
        origin,
        robots: "unknown".into(),
        ..Server::default()
    });
    let (state, next) = match place.state {
        Doing::Visited => ("visited", None),
        Doing::Ready => ("ready", None),
        Doing::Later(moment) => ("waiting", Some(written(moment))),
        Doing::Idle => ("idle", None),
        Doing::Parked => ("left alone", None),
    };
    Seen {
        key: page.and_then(|page| frontier.key(page)),
        server: Server {
            address: place.address.map(|address| address.to_string()),
            state: state.to_owned(),
            next,
            waiting: place.waiting,
            claimed: place.claimed,
            ..server
        },
    }
}

/// What is said of a host to people.
fn server(host: &Host) -> Server {
    let facts = host.facts();
    let ms = |seconds: f64| (seconds * 1e4).round() / 10.0;
    Server {
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
        ..Server::default()
    }
}

/// Bytes of memory that this process holds, where the system says so.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = status.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
