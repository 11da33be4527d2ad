//! The driver: carries out the actions of cores on an invented web and a disk in memory.
//!
//! Its clock jumps from event to event. It also kills and restarts cores.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crawl::{
    Action, Answered, Begun, ConnectionId, Core, Event, Met, Offer, Opened, Scope, Stored, TOKEN,
    VisitId,
};
use frontier::{Facts, HostFacts, PageKey, Partition, RobotsFact};
use page::{HostId, PageUrl, Robots};
use policy::{History, Moment};

use crate::disk::{DiskItem, SimDisk};
use crate::invariants::{CheckContext, CoreModel};
use crate::network::{SimConnection, SimNetwork};
use crate::politeness::{ClockPair, Politeness};
use crate::random::SimRandom;
use crate::records::check_ledger;
use crate::setup::{BEGIN, CrawlKind, OperatorOrder, Setup};

/// A simulation must end after fewer events than this.
const EVENTS: usize = 60_000;

/// A scheduled event.
enum Happening {
    /// A node is started.
    Begin,
    Event(Event<()>),
    /// An answer over a connection. `true`: no further answer to the same request follows.
    Reply(ConnectionId, bool, Event<()>),
    /// The wake-up that a core requested, by its number. Outdated numbers are ignored.
    Wake(u64),
    /// A group of work is written.
    GroupWritten,
    /// A server closes an idle connection.
    ConnectionCloses(ConnectionId),
    /// The driver notices the closed connection.
    ClosedNoticed(ConnectionId),
    Order(OperatorOrder),
    /// The clock of the cores jumps by this number of seconds, which may be negative.
    Jump(i64),
}

/// One core, its disk and its connections.
struct SimNode {
    core: Option<Core<()>>,
    model: CoreModel,
    disk: SimDisk,
    lines: BTreeMap<ConnectionId, SimConnection>,
    routes: BTreeMap<VisitId, (HostId, IpAddr)>,
    /// Number of the run. Events of earlier runs are dropped.
    run: u32,
    wakes: u64,
    /// Number of actions until the node is killed; `None`: it is not killed in this run.
    dies_after: Option<u64>,
    /// Offers of other nodes. This log survives kills.
    offers: Vec<Offer>,
    /// Whether offers arrived after its crawl had ended. The node then restarts.
    behind: bool,
    /// Whether the crawl has ended.
    done: bool,
}

/// One simulation.
pub struct Simulation {
    setup: Setup,
    network: SimNetwork,
    random: SimRandom,
    now: Moment,
    /// Seconds by which the clock of the cores is ahead of the real time.
    ahead: i64,
    happenings: BTreeMap<(Moment, u64), (usize, u32, Happening)>,
    sequence: u64,
    nodes: Vec<SimNode>,
    polite: Politeness,
    /// Number of groups that are still written before a write fails; `None`: no write fails.
    commits: Option<u64>,
    /// A hash of all actions, if requested.
    trace: Option<DefaultHasher>,
    verbose: bool,
}

/// The result of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct SimOutcome {
    pub events: usize,
    pub runs: u32,
    pub pages: usize,
    /// Most requests of a visit to a server that needs a delay.
    pub longest_burst: u32,
    pub hash: u64,
}

impl Simulation {
    /// Returns the simulation of a seed. `checkpoints`: its nodes start from checkpoints, not from
    /// ledgers.
    pub fn new(kind: CrawlKind, seed: u64, traced: bool, checkpoints: bool) -> Self {
        let mut random = SimRandom::new(seed);
        let (setup, web) = Setup::draw(kind, &mut random);
        let network = SimNetwork {
            web,
            proxied: setup.plan.proxied,
            faults: setup.faults,
            random: random.fork(),
        };
        let node = |number| SimNode {
            core: None,
            model: CoreModel::new(number, setup.plan.clone(), None, BEGIN, false),
            disk: SimDisk::new(checkpoints),
            lines: BTreeMap::new(),
            routes: BTreeMap::new(),
            run: 0,
            wakes: 0,
            dies_after: None,
            offers: Vec::new(),
            behind: false,
            done: false,
        };
        Self {
            nodes: (0..setup.nodes).map(node).collect(),
            commits: setup.commits,
            setup,
            network,
            random,
            now: BEGIN,
            ahead: 0,
            happenings: BTreeMap::new(),
            sequence: 0,
            polite: Politeness::default(),
            trace: traced.then(DefaultHasher::new),
            verbose: std::env::var_os("AVOCET_TRACE").is_some(),
        }
    }

    /// Runs it to its end.
    pub fn run(mut self) -> SimOutcome {
        for node in 0..self.nodes.len() {
            self.schedule(node, BEGIN, Happening::Begin);
        }
        for (at, order) in self.setup.operator.clone() {
            for node in 0..self.nodes.len() {
                self.schedule(node, at, Happening::Order(order));
            }
        }
        for (at, seconds) in self.setup.clock.clone() {
            self.schedule(0, at, Happening::Jump(seconds));
        }
        let mut events = 0;
        while let Some(((at, _), (node, run, happening))) = self.happenings.pop_first() {
            events += 1;
            assert!(events < EVENTS, "the crawl does not come to its end");
            self.now = self.now.max(at);
            let lasting = matches!(
                happening,
                Happening::Begin | Happening::Order(_) | Happening::Jump(_)
            );
            if lasting || self.nodes[node].run == run {
                self.happens(node, happening);
                self.look_for_end(node);
            }
        }
        for node in &self.nodes {
            assert!(
                node.done,
                "nothing is under way, and the crawl has not ended"
            );
            check_ledger(&node.disk.ledger);
        }
        SimOutcome {
            events,
            runs: self.nodes.iter().map(|node| node.run).sum(),
            pages: self
                .nodes
                .iter()
                .map(|node| node.disk.ledger.pages().count())
                .sum(),
            longest_burst: self.polite.longest_burst,
            hash: self.trace.map_or(0, |trace| trace.finish()),
        }
    }

    fn schedule(&mut self, node: usize, at: Moment, happening: Happening) {
        self.sequence += 1;
        let run = self.nodes[node].run;
        let key = (at, self.sequence);
        self.happenings.insert(key, (node, run, happening));
    }

    /// Returns the time on the clock of the cores.
    fn clock(&self) -> Moment {
        let ahead = Duration::from_secs(self.ahead.unsigned_abs());
        match self.ahead >= 0 {
            true => self.now + ahead,
            false => Moment::START + self.now.since(Moment::START + ahead),
        }
    }

    fn times(&self) -> ClockPair {
        ClockPair {
            clock: self.clock(),
            real: self.now,
        }
    }

    /// Schedules an event for the core after a delay.
    fn report(&mut self, node: usize, after: Duration, event: Event<()>) {
        self.schedule(node, self.now + after, Happening::Event(event));
    }

    fn happens(&mut self, node: usize, happening: Happening) {
        match happening {
            Happening::Begin => self.begin(node),
            Happening::Event(Event::Resolved { visit, address }) => {
                if let Ok(Some(found)) = address {
                    // `Action::Resolve` has stored the route with the address of the proxy.
                    let route = self.nodes[node].routes.get_mut(&visit);
                    route.expect("a lookup").1 = found;
                }
                self.step(node, Event::Resolved { visit, address });
            }
            Happening::Event(Event::Offered(_)) if self.nodes[node].model.finished => {
                // The node restarts when everything is written.
                self.nodes[node].behind = true;
            }
            Happening::Event(event) => self.step(node, event),
            Happening::Wake(number) => {
                if self.nodes[node].wakes == number {
                    self.step(node, Event::Woken);
                }
            }
            Happening::Reply(id, last, event) => self.reply(node, id, last, event),
            Happening::GroupWritten => self.group_written(node),
            Happening::ConnectionCloses(id) => {
                let line = self.nodes[node].lines.get_mut(&id);
                if let Some(line) = line.filter(|line| !line.in_use) {
                    line.open = false;
                    let notice = self.now + self.random.millis(0, 500);
                    self.schedule(node, notice, Happening::ClosedNoticed(id));
                }
            }
            Happening::ClosedNoticed(id) => {
                let line = self.nodes[node].lines.get(&id);
                if line.is_some_and(|line| !line.in_use && !line.open) {
                    self.nodes[node].lines.remove(&id);
                    self.step(node, Event::ConnectionClosed(id));
                }
            }
            Happening::Order(order) => self.obey(node, order),
            Happening::Jump(seconds) => {
                self.ahead += seconds;
                self.polite
                    .jump(Duration::from_secs(seconds.unsigned_abs()));
            }
        }
    }

    /// Starts a node from its disk.
    fn begin(&mut self, number: usize) {
        let clock = self.clock();
        let node = &mut self.nodes[number];
        if node.core.is_some() {
            return;
        }
        let mut plan = self.setup.plan.clone();
        plan.ours = self.setup.ownership(number);
        let mut scope = Scope::new(&self.setup.scope, Default::default()).expect("a scope");
        for target in node
            .disk
            .ledger
            .seeds()
            .filter_map(|url| PageUrl::parse(url).ok())
        {
            if plan
                .seeds
                .iter()
                .any(|seed| scope.follows_seed(seed, &target))
            {
                scope.add_seed(&target);
            }
        }
        let policies = self.setup.policies().of_plan(&plan);
        let salt = self.random.bits();
        let ledger = &node.disk.ledger;
        let begun = match &node.disk.checkpoint {
            Some(checkpoint) => {
                let facts = checkpoint.facts(ledger);
                let plan = plan.clone();
                Core::begin(plan, scope, policies, &facts, |_, _| (), salt, clock)
            }
            None => {
                let plan = plan.clone();
                Core::begin(plan, scope, policies, ledger, |_, _| (), salt, clock)
            }
        };
        let Ok(Begun {
            core,
            copies,
            recalled,
        }) = begun;
        let left = self.setup.pages.map(|pages| pages.saturating_sub(copies));
        let before = node.disk.ledger.noticed_ahead;
        let noticed = before.map_or(clock, |before| before.min(clock));
        let noticed = (recalled.ahead.pages > 0).then_some(noticed);
        node.disk.ledger.noticed_ahead = noticed;
        let wrong_clock = !self.setup.clock.is_empty();
        node.core = Some(core.limited(left, noticed));
        node.model = CoreModel::new(number, plan, left, clock, wrong_clock);
        node.run += 1;
        node.done = false;
        node.dies_after = self.setup.kills.pop();
        if self.setup.plan.is_continuous() && !self.will_be_stopped(number) {
            // The node was down at the time of its stop order, so it gets another one.
            let at = self.now + Duration::from_secs(60);
            self.schedule(number, at, Happening::Order(OperatorOrder::Stop));
        }
        self.step(number, Event::Woken);
        let offers = self.nodes[number].offers.clone();
        if !offers.is_empty() && self.nodes[number].core.is_some() {
            self.step(number, Event::Offered(offers));
        }
    }

    fn will_be_stopped(&self, number: usize) -> bool {
        let mut ours = self
            .happenings
            .values()
            .filter(|(node, ..)| *node == number);
        let stop =
            |happening: &Happening| matches!(happening, Happening::Order(OperatorOrder::Stop));
        ours.any(|(.., happening)| stop(happening))
    }

    /// Kills a node: everything that is not on its disk is lost.
    fn kill(&mut self, number: usize) {
        let clock = self.clock();
        let node = &mut self.nodes[number];
        node.core = None;
        node.lines.clear();
        node.routes.clear();
        node.run += 1;
        node.disk.lose(&mut self.random, clock);
        self.polite.end_run(number);
        self.polite.forget_uncommitted(&node.disk.ledger);
        check_ledger(&node.disk.ledger);
        let down = match self.random.chance(0.5) {
            true => Duration::ZERO,
            false => self.random.millis(0, 20_000),
        };
        self.schedule(number, self.now + down, Happening::Begin);
    }

    /// Passes an event to the core and carries out its actions.
    fn step(&mut self, number: usize, event: Event<()>) {
        let times = self.times();
        let now = times.clock;
        let node = &mut self.nodes[number];
        let Some(core) = &mut node.core else { return };
        if self.verbose {
            eprintln!("{number} {now:?} <- {event:?}");
        }
        let mut context = CheckContext {
            web: &self.network.web,
            ledger: &node.disk.ledger,
            polite: &mut self.polite,
            now: times,
        };
        node.model.event(&event, &mut context);
        let of_visit = match &event {
            Event::Resolved { visit, .. } | Event::Connected { visit, .. } => Some(*visit),
            _ => None,
        };
        let mut actions = Vec::new();
        core.step(event, now, &mut actions);
        node.model.stepped(of_visit, &actions);
        for action in actions {
            if let Some(trace) = &mut self.trace {
                format!("{action:?}").hash(trace);
            }
            if self.verbose {
                eprintln!("{number} {now:?} -> {action:?}");
            }
            let node = &mut self.nodes[number];
            if let Some(left) = &mut node.dies_after {
                *left -= 1;
                if *left == 0 {
                    return self.kill(number);
                }
            }
            self.act(number, action);
        }
        let node = &mut self.nodes[number];
        if let Some(core) = &mut node.core {
            node.model.look_for_stop(core);
            node.model.check(core, node.lines.len());
        }
    }

    fn act(&mut self, number: usize, action: Action<()>) {
        let times = self.times();
        let node = &mut self.nodes[number];
        let connection = match &action {
            Action::AskRules { connection, .. } | Action::Probe { connection, .. } => {
                Some(*connection)
            }
            Action::Get(get) => Some(get.connection),
            _ => None,
        };
        let line = connection.and_then(|id| node.lines.get(&id));
        let mut context = CheckContext {
            web: &self.network.web,
            ledger: &node.disk.ledger,
            polite: &mut self.polite,
            now: times,
        };
        node.model.action(&action, line, &mut context);
        match action {
            Action::LoadPages { visit, pages, host } => self.load_pages(number, visit, pages, host),
            Action::LoadHistories(pages) => {
                let ledger = &node.disk.ledger;
                let history = |key: &PageKey| match ledger.visited(*key) {
                    Some(visited) => Some(visited.history),
                    None => {
                        let found = ledger.discovery(*key);
                        found.map(|found| History::discovered(found.at, found.depth))
                    }
                };
                let read = pages.iter().map(|key| (*key, history(key))).collect();
                self.read(number, Event::HistoriesLoaded(read));
            }
            Action::LoadVisits(pages) => {
                let visited = |key: &PageKey| node.disk.ledger.visited(*key).cloned();
                let read = pages.iter().map(|key| (*key, visited(key))).collect();
                self.read(number, Event::VisitsLoaded(read));
            }
            Action::Resolve { visit, url } => {
                let address = self.network.resolve(&url, self.now);
                // The address of the proxy, if there is one. The proxy is on loopback, and the
                // servers behind it are not.
                let proxy = IpAddr::from([127, 0, 0, 99]);
                node.routes.insert(visit, (url.host(), proxy));
                let after = self.network.latency();
                self.report(number, after, Event::Resolved { visit, address });
            }
            Action::Connect {
                visit, connection, ..
            } => self.connect(number, visit, connection),
            Action::Abandon(visit) => drop(node.routes.remove(&visit)),
            Action::AskRules {
                visit,
                connection: id,
                distance,
                ..
            } => {
                self.keep(number, distance);
                let line = self.nodes[number].lines.get_mut(&id).expect("a connection");
                line.in_use = true;
                let (file, retry_after) = self.network.rules(line, self.now);
                let event = Event::RulesArrived {
                    visit,
                    file,
                    retry_after,
                    bytes: 10,
                    connection: line.state(),
                };
                let at = self.now + self.network.latency();
                self.schedule(number, at, Happening::Reply(id, true, event));
            }
            Action::Probe {
                visit,
                connection: id,
                url,
                distance,
            } => {
                self.keep(number, distance);
                let line = self.nodes[number].lines.get_mut(&id).expect("a connection");
                line.in_use = true;
                let (found, reply) = self.network.probe(line, &url, self.now);
                let event = Event::Probed {
                    visit,
                    found,
                    reply,
                    bytes: 10,
                    connection: line.state(),
                };
                let at = self.now + self.network.latency();
                self.schedule(number, at, Happening::Reply(id, true, event));
            }
            Action::Get(get) => {
                self.keep(number, get.distance);
                let id = get.connection;
                let line = self.nodes[number].lines.get_mut(&id).expect("a connection");
                line.in_use = true;
                let results = self.network.get(&get, line, self.now);
                let last = results.len() - 1;
                for (place, results) in results.into_iter().enumerate() {
                    let event = Event::Answered {
                        visit: get.visit,
                        page: get.requests[results.place].claim.number,
                        answer: results.answer,
                        connection: results.connection,
                    };
                    let reply = Happening::Reply(id, place == last, event);
                    self.schedule(number, self.now + results.after, reply);
                }
            }
            Action::Close(id) => {
                let line = node.lines.remove(&id);
                assert!(line.is_some_and(|line| !line.in_use), "{id:?} is not idle");
            }
            Action::Keep(distance) => {
                node.disk.push(DiskItem::Keep(distance));
                self.write(number);
            }
            Action::Commit(work) => {
                node.disk.push(DiskItem::Work(work));
                self.write(number);
            }
            Action::Offer(offers) => self.offer(offers),
            Action::Note(_) | Action::Reached(_) => {}
            Action::WakeAt(moment) => {
                node.wakes += 1;
                let wake = Happening::Wake(node.wakes);
                self.schedule(number, self.now + moment.since(times.clock), wake);
            }
            Action::Finish => {}
        }
    }

    /// Answers a read from disk after a delay.
    fn read(&mut self, node: usize, event: Event<()>) {
        let after = match self.random.chance(0.1) {
            true => self.random.millis(0, 3_000),
            false => self.random.millis(0, 5),
        };
        self.report(node, after, event);
    }

    fn load_pages(
        &mut self,
        number: usize,
        visit: VisitId,
        pages: Vec<PageKey>,
        host: Option<(Partition, HostId)>,
    ) {
        let ledger = &self.nodes[number].disk.ledger;
        let stored = |key: PageKey| Stored {
            key,
            discovery: ledger.discovery(key).cloned(),
            visited: ledger.visited(key).cloned(),
        };
        let host = host.and_then(|key| ledger.host(key).cloned());
        let event = Event::PagesLoaded {
            visit,
            pages: pages.into_iter().map(stored).collect(),
            host: host.map(|facts| {
                let rules = rules_of(&facts);
                (facts, rules)
            }),
        };
        self.read(number, event);
    }

    fn connect(&mut self, number: usize, visit: VisitId, id: ConnectionId) {
        let node = &mut self.nodes[number];
        let (host, address) = node.routes.remove(&visit).expect("an address");
        let took = self.network.latency();
        let opened = self.network.connect(host, address).map(|mut line| {
            line.in_use = true;
            node.lines.insert(id, line);
            Opened {
                address,
                connect_time: took,
                took,
                width: 16,
            }
        });
        let event = Event::Connected { visit, opened };
        self.schedule(number, self.now + took, Happening::Reply(id, true, event));
    }

    /// Stores a politeness record before the request.
    fn keep(&mut self, number: usize, distance: Option<crawl::Distance>) {
        if let Some(distance) = distance {
            let now = self.clock();
            let ledger = &mut self.nodes[number].disk.ledger;
            ledger.keep_server(distance.server, distance.facts, now);
        }
    }

    fn reply(&mut self, number: usize, id: ConnectionId, last: bool, event: Event<()>) {
        let node = &mut self.nodes[number];
        let found_closed = matches!(&event, Event::Answered { answer, .. } if matches!(answer, Answered::Closed { .. }));
        if let Some(line) = node.lines.get_mut(&id).filter(|_| last) {
            line.in_use = false;
            if !line.open || found_closed {
                node.lines.remove(&id);
            } else if self.random.chance(self.network.faults.close) {
                let at = self.now + self.random.millis(0, 20_000);
                self.schedule(number, at, Happening::ConnectionCloses(id));
            }
        }
        self.step(number, event);
    }

    /// Starts the committer, if work waits.
    fn write(&mut self, number: usize) {
        if self.nodes[number].disk.begin_group() {
            let took = self.random.millis(0, self.setup.commit_millis);
            self.schedule(number, self.now + took, Happening::GroupWritten);
        }
    }

    fn group_written(&mut self, number: usize) {
        if self.commits == Some(0) {
            self.commits = None;
            self.nodes[number].disk.fail();
            return self.step(number, Event::Stopped);
        }
        self.commits = self.commits.map(|left| left - 1);
        let clock = self.clock();
        let node = &mut self.nodes[number];
        let before = node.disk.ledger.clone();
        let group = node.disk.end_group(&mut self.random, clock);
        node.model.committed(&group, &before, &node.disk.ledger);
        let event = Event::Committed {
            facts: group.facts,
            requests: group.requests,
            gains: group.gains,
        };
        let after = self.random.millis(0, 20);
        self.report(number, after, event);
        self.write(number);
    }

    /// Sends pages to the nodes that own them, and starts nodes that are down.
    fn offer(&mut self, offers: Vec<Offer>) {
        for offer in offers {
            let owner = (0..self.nodes.len())
                .find(|node| self.setup.ownership(*node).has(&offer.url))
                .expect("every page has an owner");
            let node = &mut self.nodes[owner];
            node.offers.push(offer.clone());
            let running = node.core.is_some() && !node.model.finished;
            let after = self.random.millis(1, 500);
            match running {
                true => self.report(owner, after, Event::Offered(vec![offer])),
                false => self.schedule(owner, self.now + after, Happening::Begin),
            }
        }
    }

    fn obey(&mut self, number: usize, order: OperatorOrder) {
        let event = match order {
            OperatorOrder::Pause(paused) => Event::Paused(paused),
            OperatorOrder::Stop => Event::Stopped,
            OperatorOrder::Budget(per_second) => Event::BudgetChanged(per_second),
            OperatorOrder::Search => {
                let page = self.network.web.any_page(&mut self.random);
                Event::Searched(vec![Met {
                    page,
                    at: self.clock(),
                    views: 1.0,
                    clicks: 0.5,
                }])
            }
        };
        if !self.nodes[number].model.finished {
            self.step(number, event);
        }
    }

    /// Checks a crawl that has ended, once everything is written. Restarts it if it was stopped,
    /// its disk failed, offers came after its end, or a rerun is left.
    fn look_for_end(&mut self, number: usize) {
        let (last, times) = (!self.will_be_stopped(number), self.times());
        let clock = self.clock();
        let node = &mut self.nodes[number];
        let Some(core) = &mut node.core else { return };
        let pending = self.happenings.values();
        let mut pending = pending.filter(|(other, run, _)| *other == number && *run == node.run);
        let settled = |happening: &Happening| {
            !matches!(
                happening,
                Happening::Event(Event::Committed { .. }) | Happening::GroupWritten
            )
        };
        let drained = node.model.finished && pending.all(|(.., happening)| settled(happening));
        if !drained || !node.disk.is_idle() {
            return;
        }
        let failed = node.disk.broken;
        if !failed {
            let mut context = CheckContext {
                web: &self.network.web,
                ledger: &node.disk.ledger,
                polite: &mut self.polite,
                now: times,
            };
            node.model.check_end(core, &mut context);
        }
        let behind = std::mem::take(&mut node.behind);
        let stopped = node.model.stopped && !node.model.has_enough;
        let again = failed || behind || stopped && !(self.setup.plan.is_continuous() && last);
        node.core = None;
        node.lines.clear();
        node.routes.clear();
        node.run += 1;
        node.disk.lose(&mut self.random, clock);
        node.done = true;
        self.polite.end_run(number);
        self.polite.forget_uncommitted(&node.disk.ledger);
        if again {
            let down = self.random.millis(0, 5_000);
            self.schedule(number, self.now + down, Happening::Begin);
        } else if self.setup.reruns.0 > 0 {
            self.setup.reruns.0 -= 1;
            let at = self.now + self.setup.reruns.1;
            self.schedule(number, at, Happening::Begin);
        }
    }
}

/// Returns the rules of the robots.txt in the ledger.
fn rules_of(facts: &HostFacts) -> Option<Arc<Robots>> {
    let rules = facts.robots.as_ref().map(|fact| match fact {
        RobotsFact::Found { text, .. } => Robots::parse(text.as_bytes(), TOKEN),
        RobotsFact::Missing { .. } => Robots::allow_all(),
    });
    rules.map(Arc::new)
}
