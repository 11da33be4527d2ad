//! A node: the real agent, publisher and core, on an invented web and a disk in memory.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{Future, poll_fn};
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;

use cluster::agent::{Agent, Tail};
use cluster::log::{Mail, SlotLog};
use cluster::member::MemberSettings;
use cluster::publisher::{Exchange, Publisher};
use cluster::{Division, Slot};
use crawl::scope::{Reach, ScopeRules};
use crawl::{
    Action, Again, Answered, Begun, ConnectionId, ConnectionState, Core, Distance, Event, Get,
    Judged, Mode, Opened, Plan, Reply, Scope, Work,
};
use frontier::{Entry, PageKey};
use futures_util::StreamExt;
use futures_util::future::{join, select};
use page::RecordLocation;
use policy::{Crawl, Moment, Price};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::disk::SharedDisk;
use crate::model::{ModelBroker, whole_millis};
use crate::random::SimRandom;
use crate::web::HonestWeb;

/// What all nodes share.
pub struct Common {
    pub web: HonestWeb,
    pub division: Division,
    pub silence: Duration,
    /// Whether copies are in an archive, which the next owner of a slot cannot read.
    pub archived: bool,
    /// Longest duration of a commit, in milliseconds.
    pub commit_millis: u64,
    /// Whether the owner that a log names is the only node that may make requests to its slot.
    pub strict: bool,
    pub started: Instant,
    /// The address of all hosts; `None`: proxies resolve their names.
    pub address: Option<IpAddr>,
    /// The delay between two requests to a server.
    pub delay: Duration,
    /// The time of each request, and its node.
    pub requests: RefCell<Vec<(Instant, usize)>>,
    /// Number of requests for each page.
    pub fetches: RefCell<Vec<u32>>,
    /// Pages that have refused a request.
    pub refused: RefCell<BTreeSet<usize>>,
    /// Number of requests whose results were lost by a kill or a takeover.
    pub wasted: Cell<usize>,
    pub terms: Cell<usize>,
    pub trace: bool,
}

impl Common {
    pub fn now(&self) -> Moment {
        moment(self.started)
    }
}

fn moment(started: Instant) -> Moment {
    let since = Instant::now() - started;
    Moment::from_micros(1_600_000_000_000_000) + since
}

/// A process of a node. A restart is a new process with the same disk.
pub struct Process {
    pub common: Rc<Common>,
    pub broker: ModelBroker,
    pub disk: SharedDisk,
    pub agent: Arc<Agent<ModelBroker>>,
    pub random: RefCell<SimRandom>,
    /// Requests whose results are not published.
    pub open: Cell<usize>,
    leaving: Cell<bool>,
    leave: Notify,
    /// When the present term began to claim its slots.
    pub claimed: Cell<Instant>,
    paused: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Process {
    /// Starts a process. It owns nothing yet.
    pub fn new(
        common: Rc<Common>,
        broker: ModelBroker,
        disk: SharedDisk,
        mut random: SimRandom,
        settings: MemberSettings,
    ) -> Rc<Self> {
        let started = common.started;
        let agent = Agent::new(broker.clone(), settings, Arc::new(move || moment(started)));
        Rc::new(Self {
            random: RefCell::new(random.fork()),
            common,
            broker,
            disk,
            agent,
            open: Cell::new(0),
            leaving: Cell::new(false),
            leave: Notify::new(),
            claimed: Cell::new(Instant::now()),
            paused: Cell::new(false),
            waker: RefCell::new(None),
        })
    }

    /// Lets the process stand still (`true`), or go on.
    pub fn pause(&self, paused: bool) {
        self.paused.set(paused);
        if !paused && let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Asks the process to end.
    pub fn leave(&self) {
        self.leaving.set(true);
        self.agent.is_leaving(true);
        self.leave.notify_one();
    }

    /// Runs until it is asked to leave.
    pub async fn run(self: Rc<Self>) {
        let mut whole = pin!(self.work());
        poll_fn(|context| {
            if self.paused.get() {
                self.waker.replace(Some(context.waker().clone()));
                return Poll::Pending;
            }
            whole.as_mut().poll(context)
        })
        .await;
    }

    async fn work(&self) {
        let part = async {
            loop {
                self.agent.clone().run().await.ok();
                sleep(Duration::from_secs(1)).await;
            }
        };
        let crawl = async {
            let mut disk = self.disk.clone();
            while !self.leaving.get() {
                self.claimed.set(Instant::now());
                match self.agent.rebalance(&mut disk).await {
                    Ok(tails) => self.term(tails).await,
                    Err(_) => sleep(Duration::from_secs(1)).await,
                }
            }
            self.agent.leave(&mut disk).await.ok();
        };
        select(pin!(part), pin!(crawl)).await;
    }

    fn millis(&self, from: u64, to: u64) -> Duration {
        whole_millis(&mut self.random.borrow_mut(), from, to)
    }

    async fn term(&self, tails: BTreeMap<Slot, Tail>) {
        self.common.terms.set(self.common.terms.get() + 1);
        if self.common.trace {
            eprintln!(
                "{:?} {} term {tails:?}",
                self.common.now(),
                self.broker.node
            );
        }
        let (work, works) = unbounded_channel();
        let (report, reports) = unbounded_channel();
        let offers = tails.iter();
        let offers = offers.map(|(slot, tail)| (*slot, tail.applied.offers));
        let mail = self.receive(offers.collect(), report.clone());
        let enough = tails.len() * 20;
        let driver = SimDriver::new(self, &tails, work);
        let publisher = Publisher::new(self.agent.clone(), Handle::current(), tails);
        let commits = self.commit_all(publisher, works, enough, report);
        let crawl = join(driver.run(reports), commits);
        select(pin!(mail), pin!(crawl)).await;
    }

    async fn receive(&self, mut applied: BTreeMap<Slot, u64>, to: UnboundedSender<Report>) {
        loop {
            if let Ok(mut mail) = self
                .broker
                .mail(applied.clone(), self.common.division)
                .await
            {
                while let Some(Ok(mail)) = mail.next().await {
                    mail.read_in(&mut applied);
                    // The driver may have ended.
                    to.send(Report::Mail(mail)).ok();
                }
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Commits and publishes in the order of the committer of the crate `node`.
    async fn commit_all(
        &self,
        mut publisher: Publisher<ModelBroker>,
        mut works: UnboundedReceiver<CommitItem>,
        enough: usize,
        done: UnboundedSender<Report>,
    ) {
        while let Some(first) = works.recv().await {
            let until = Instant::now() + Duration::from_secs(1);
            let mut group = vec![first];
            let pages = |item: &CommitItem| match item {
                CommitItem::Work(Work::Pages(pages)) => pages.len(),
                _ => 0,
            };
            while group.iter().map(pages).sum::<usize>() < enough
                && let Ok(Some(next)) = timeout_at(until, works.recv()).await
            {
                group.push(next);
            }
            let mut facts: Vec<Entry> = Vec::new();
            let (mut exchange, mut requests) = (Exchange::default(), 0);
            for item in group {
                match item {
                    CommitItem::Offer(offers) => exchange.offers.extend(offers),
                    CommitItem::Taken(slot, sequence) => exchange.taken.push((slot, sequence)),
                    CommitItem::Work(Work::Facts(some)) => facts.extend(some),
                    CommitItem::Work(Work::Drop(_)) => unreachable!("there is no buffer"),
                    CommitItem::Work(Work::Pages(pages)) => {
                        for mut page in pages {
                            requests += usize::from(page.asked);
                            if let Some(copy) =
                                page.visited.copy.as_mut().filter(|_| self.common.archived)
                            {
                                copy.place = Some(RecordLocation {
                                    file: self.broker.node as u32,
                                    offset: 0,
                                    length: 1,
                                });
                            }
                            facts.extend(page.admitted);
                            facts.push(Entry::Visited(page.key, Box::new(page.visited)));
                        }
                    }
                }
            }
            sleep(self.millis(0, self.common.commit_millis)).await;
            {
                let slots = facts.iter().filter_map(|fact| publisher.slot_of(fact));
                let mut disk = self.disk.0.borrow_mut();
                disk.note.mark_unpublished(slots);
                let slot = |fact: &Entry| publisher.slot_of(fact).expect("URLs are valid");
                disk.commit(facts.iter().map(|fact| (slot(fact), fact.clone())));
            }
            sleep(self.millis(0, 20)).await;
            if publisher.send(&facts, exchange).await.is_err() {
                self.waste(self.open.get());
                return;
            }
            sleep(self.millis(0, 20)).await;
            let applied = publisher.applied();
            let dropped = facts.iter().filter(|fact| {
                let slot = publisher.slot_of(fact);
                matches!(fact, Entry::Visited(..)) && slot.is_none_or(|s| !applied.contains_key(&s))
            });
            self.waste(dropped.count());
            self.disk.0.borrow_mut().note.published(applied);
            self.open.set(self.open.get() - requests);
            done.send(Report::Committed(facts, requests)).ok();
        }
    }

    /// Counts requests whose results are lost.
    pub fn waste(&self, requests: usize) {
        self.common.wasted.set(self.common.wasted.get() + requests);
    }
}

/// Work for the committer.
enum CommitItem {
    Work(Work<()>),
    Offer(Vec<crawl::Offer>),
    Taken(Option<Slot>, u64),
}

/// A report to the driver.
enum Report {
    Committed(Vec<Entry>, usize),
    Mail(Mail),
}

/// Drives the core of one term.
struct SimDriver<'a> {
    process: &'a Process,
    core: Core<()>,
    work: UnboundedSender<CommitItem>,
    later: BTreeMap<(Moment, u64), Event<()>>,
    sequence: u64,
    wake: Option<Moment>,
    served: HashMap<ConnectionId, u32>,
    mail: Vec<(Option<Slot>, u64)>,
    taken: u64,
    /// The addresses that other nodes use too, as the core knows them.
    shared: BTreeMap<IpAddr, u32>,
    finished: bool,
}

impl<'a> SimDriver<'a> {
    fn new(
        process: &'a Process,
        tails: &BTreeMap<Slot, Tail>,
        work: UnboundedSender<CommitItem>,
    ) -> Self {
        let common = &process.common;
        let plan = Plan {
            seeds: vec![common.web.urls[0].clone()],
            ours: common.division.ownership(tails.keys().copied()),
            connections: 3,
            pages_per_visit: 4,
            proxied: common.address.is_none(),
            delay: Some(common.delay),
            again: Again::AtPrice(Price::LEAST),
            without_rules: true,
            unpublished: 10,
            ..Plan::default()
        };
        let rules = ScopeRules {
            reach: Reach::Any,
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, Default::default()).expect("a scope");
        let strategy = Box::new(policy::published::server::BreadthFirstServers);
        let policies = (Crawl::default(), strategy as _);
        let disk = process.disk.0.borrow();
        let Ok(Begun { core, .. }) =
            Core::begin(plan, scope, policies, &*disk, |_, _| {}, 0, common.now());
        Self {
            process,
            core,
            work,
            later: BTreeMap::new(),
            sequence: 0,
            wake: None,
            served: HashMap::new(),
            mail: Vec::new(),
            taken: 0,
            shared: BTreeMap::new(),
            finished: false,
        }
    }

    async fn run(mut self, mut reports: UnboundedReceiver<Report>) {
        let mut stopping = false;
        self.step(Event::Woken);
        while !self.finished {
            let now = self.process.common.now();
            if let Some(entry) = self
                .later
                .first_entry()
                .filter(|entry| entry.key().0 <= now)
            {
                let event = entry.remove();
                self.step(event);
                continue;
            }
            let next = self.later.keys().next().map(|(at, _)| *at);
            let check = now + Duration::from_millis(500);
            let next = [next, self.wake].into_iter().flatten().min();
            let next = next.map_or(check, |next| next.min(check));
            tokio::select! {
                biased;
                () = self.process.leave.notified(), if !stopping => {
                    stopping = true;
                    self.step(Event::Stopped);
                }
                () = self.process.agent.change_due(), if !stopping => {
                    stopping = true;
                    self.step(Event::Stopped);
                }
                Some(report) = reports.recv() => match report {
                    Report::Committed(facts, requests) => {
                        self.step(Event::Committed { facts, requests, gains: Vec::new() });
                    }
                    Report::Mail(mail) => {
                        self.mail.push((mail.slot, mail.sequence));
                        self.step(Event::Offered(mail.offers));
                        self.step(Event::Mark(self.mail.len() as u64));
                    }
                },
                () = sleep_until(Instant::now() + next.since(now)) => {
                    self.wake = self.wake.filter(|wake| *wake > next);
                    self.step(Event::Woken);
                }
            }
        }
    }

    fn step(&mut self, event: Event<()>) {
        let now = self.process.common.now();
        let mut actions = Vec::new();
        let cut_off = !self.process.agent.may_fetch();
        let mode = self.core.mode();
        if mode != Mode::Stopping && cut_off != (mode == Mode::Paused) {
            self.core.step(Event::Paused(cut_off), now, &mut actions);
        }
        let known = self.process.common.address.is_some();
        let shared = known.then(|| self.process.agent.shared_addresses());
        if let Some(shared) = shared.filter(|shared| *shared != self.shared) {
            self.shared.clone_from(&shared);
            self.core
                .step(Event::AddressesShared(shared), now, &mut actions);
        }
        self.core.step(event, now, &mut actions);
        for action in actions {
            self.act(action, now);
        }
    }

    fn after(&mut self, after: Duration, event: Event<()>) {
        self.sequence += 1;
        let at = self.process.common.now() + after;
        self.later.insert((at, self.sequence), event);
    }

    fn act(&mut self, action: Action<()>, now: Moment) {
        let disk = &self.process.disk.0;
        let read = Duration::ZERO;
        match action {
            Action::LoadPages { visit, pages, host } => {
                let disk = disk.borrow();
                let robots = Some(Arc::new(page::Robots::allow_all()));
                let host = host.and_then(|host| disk.host(host));
                let event = Event::PagesLoaded {
                    visit,
                    pages: pages.into_iter().map(|key| disk.stored(key)).collect(),
                    host: host.map(|facts| (facts, robots)),
                };
                drop(disk);
                self.after(read, event);
            }
            Action::LoadHistories(pages) => {
                let history = |key: PageKey| (key, disk.borrow().history(key));
                let histories = pages.into_iter().map(history).collect();
                self.after(read, Event::HistoriesLoaded(histories));
            }
            Action::LoadVisits(pages) => {
                let visited = |key: PageKey| (key, disk.borrow().stored(key).visited);
                let visits = pages.into_iter().map(visited).collect();
                self.after(read, Event::VisitsLoaded(visits));
            }
            Action::Resolve { visit, .. } => {
                let address = self.process.common.address;
                if let Some(address) = address {
                    self.process.agent.note_address(address);
                }
                let address = Ok(address);
                self.after(read, Event::Resolved { visit, address });
            }
            Action::Connect {
                visit, connection, ..
            } => {
                self.served.insert(connection, 0);
                let took = Duration::from_millis(5);
                let common = &self.process.common;
                let opened = Ok(Opened {
                    address: common.address.unwrap_or(Ipv4Addr::LOCALHOST.into()),
                    connect_time: took,
                    took,
                    width: 1,
                });
                self.after(took, Event::Connected { visit, opened });
            }
            Action::Get(get) => self.get(get, now),
            Action::Commit(work) => self.send(CommitItem::Work(work)),
            Action::Offer(offers) => self.send(CommitItem::Offer(offers)),
            Action::Reached(number) => {
                for place in self.taken..number {
                    let (slot, sequence) = self.mail[place as usize];
                    self.send(CommitItem::Taken(slot, sequence));
                }
                self.taken = self.taken.max(number);
            }
            Action::WakeAt(moment) => self.wake = Some(moment),
            Action::Finish => self.finished = true,
            Action::Keep(Distance { server, facts }) => {
                self.process.agent.note_refusal(server, facts);
                let mut disk = disk.borrow_mut();
                disk.servers.keep_server(server, facts, now);
            }
            Action::Close(_) | Action::Note(_) | Action::Abandon(_) => {}
            Action::AskRules { .. } | Action::Probe { .. } => unreachable!("without rules"),
        }
    }

    fn send(&self, item: CommitItem) {
        // The committer ends early only when the node leaves without its broker.
        self.work.send(item).ok();
    }

    fn get(&mut self, get: Get, now: Moment) {
        let process = self.process;
        let common = &process.common;
        assert!(
            process.agent.may_fetch(),
            "a node that may not fetch makes a request"
        );
        let mut after = Duration::ZERO;
        for request in get.requests {
            let claim = request.claim;
            let slot = common.division.slot(claim.key.partition);
            process.open.set(process.open.get() + 1);
            let page = common.web.number(claim.key.page);
            let refusal = common.web.refusal(page);
            let refusal = refusal.filter(|_| common.refused.borrow_mut().insert(page));
            common.fetches.borrow_mut()[page] += u32::from(refusal.is_none());
            let asked = (Instant::now(), process.broker.node);
            common.requests.borrow_mut().push(asked);
            crate::invariants::check_wait(process, claim.key.page.host());
            if common.trace {
                eprintln!("{now:?} {} gets {page} of {slot:?}", process.broker.node);
            }
            if common.strict {
                crate::invariants::check_owner(process, slot);
            }
            after += process.millis(10, 600);
            let served = self.served.entry(get.connection).or_default();
            *served += 1;
            let served = *served;
            let judged = Judged {
                verdict: common.web.respond(&claim, now, refusal.is_some()),
                sealed: None,
                reply: Reply {
                    status: if refusal.is_some() { 503 } else { 200 },
                    retry_after: refusal,
                },
                first_byte: after,
                took: after,
            };
            let event = Event::Answered {
                visit: get.visit,
                page: claim.number,
                answer: Answered::Page(Box::new(judged)),
                connection: ConnectionState { open: true, served },
            };
            self.after(after, event);
        }
    }
}
