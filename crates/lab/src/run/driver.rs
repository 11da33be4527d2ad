//! The laboratory's driver of the crawl core.
//!
//! [`crawl::Core`] decides here everything that it decides in a live crawl. The driver replaces
//! its surroundings:
//!
//! - A [`MemoryLedger`] holds the facts. Every commit is durable at once.
//! - A [`Responder`] holds the pages of the world.
//! - A [`Connections`] says how long servers take. No robots.txt forbids anything, and no server
//!   answers a probe for a missing page with a page.
//! - The clock jumps to the earliest of the next answer, the time at which the core asks to be
//!   woken, and the next page that the world announces.
//!
//! **Invariant:** the driver calls [`Responder::respond`] only after the core has spent the
//! fetch. So a policy learns about the world only what a crawler would have seen.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use crawl::scope::{Reach, ScopeRules};
use crawl::verdict::Verdict;
use crawl::{
    Action, Answer, Answered, Begun, Claim, ConnectionId, ConnectionState, Core, Event, Get,
    Judged, Mode, Offer, Opened, Plan, Reply, RobotsFile, Scope, Stored, VisitId, Work,
};
use frontier::{Entry, MemoryLedger, PageKey, Probe};
use page::url::traps::Rules;
use page::{Directives, PageUrl, Robots};
use policy::server::Strategy;
use policy::{Crawl, History, Moment, Number, Page, Policy, Worth};

/// End time of a crawl that runs as long as pages wait.
pub(super) const NEVER: Moment = Moment::from_micros(u64::MAX);

/// Host of all links that a crawl must not follow. It is outside the scope of every crawl.
pub(super) const ELSEWHERE: &str = "elsewhere.invalid";

/// Least time between two wake-ups, so that the clock advances when the core asks for "now".
const TICK: Duration = Duration::from_micros(1);

/// The pages of a world.
pub(super) trait Responder {
    /// Returns what a fetch of the page gives.
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict;

    /// Records that the buffer dropped a page.
    fn dropped(&mut self, _page: Number) {}

    /// Returns whether the crawl should end now.
    fn is_finished(&self) -> bool {
        false
    }
}

/// Simulated connections to the servers of a world, with their delays.
pub(super) trait Connections {
    /// Returns the address of a server. `None` means that every host is a server of its own.
    fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }

    /// Opens a connection.
    ///
    /// Returns the time that this takes, and how many requests may be in flight on the
    /// connection.
    fn connect(
        &mut self,
        connection: ConnectionId,
        url: &PageUrl,
        now: Moment,
    ) -> (Duration, usize);

    /// Sends requests for these pages over a connection at once and returns their answers.
    ///
    /// There are fewer answers than requests if the server closes the connection early.
    fn send_requests(&mut self, connection: ConnectionId, pages: &[&PageUrl])
    -> Vec<PendingAnswer>;

    /// Sends a request that is not for a page: robots.txt, or a probe for a missing page.
    fn send_other_request(&mut self, connection: ConnectionId) -> PendingAnswer;

    /// Removes a connection that the crawler or the server has closed.
    fn closed(&mut self, connection: ConnectionId, now: Moment);

    /// Returns how long the crawler's processor takes for work that arrives now, including the
    /// wait for work that arrived before.
    fn process(&mut self, _work: CrawlerWork, _now: Moment) -> Duration {
        Duration::ZERO
    }
}

/// Work that arrives at the processor of a crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CrawlerWork {
    /// An answer.
    Answer,
    /// A connection that has opened.
    Connection,
}

/// An answer that the driver will deliver later.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingAnswer {
    /// Time from the request to the arrival of the answer.
    pub after: Duration,
    /// Server time that the crawler measures for this answer.
    pub took: Duration,
    /// State of the connection after the answer.
    pub connection: ConnectionState,
}

/// Servers that answer at once. They keep connections open, or close them after each page.
#[derive(Debug)]
pub(super) struct InstantServers {
    /// Whether connections stay open. If not, every visit fetches one page.
    persistent: bool,
    /// Time that the clock advances with each answer, so that no two answers have the same time.
    /// The crawler does not count it as server time.
    step: Duration,
    /// Answers given over each open connection.
    served: BTreeMap<ConnectionId, u32>,
}

impl InstantServers {
    /// Creates servers that close the connection after each page.
    pub fn one_page(step: Duration) -> Self {
        Self {
            persistent: false,
            step,
            served: BTreeMap::new(),
        }
    }

    /// Creates servers that never close a connection.
    pub fn persistent(step: Duration) -> Self {
        Self {
            persistent: true,
            ..Self::one_page(step)
        }
    }
}

impl Connections for InstantServers {
    fn connect(
        &mut self,
        connection: ConnectionId,
        _url: &PageUrl,
        _now: Moment,
    ) -> (Duration, usize) {
        self.served.insert(connection, 0);
        (Duration::ZERO, 1)
    }

    fn send_requests(
        &mut self,
        connection: ConnectionId,
        pages: &[&PageUrl],
    ) -> Vec<PendingAnswer> {
        let served = self.served.entry(connection).or_default();
        let persistent = self.persistent;
        let answers = pages.iter().map(|_| {
            *served += 1;
            PendingAnswer {
                after: self.step,
                took: Duration::ZERO,
                connection: ConnectionState {
                    open: persistent,
                    served: *served,
                },
            }
        });
        answers.collect()
    }

    fn send_other_request(&mut self, connection: ConnectionId) -> PendingAnswer {
        let served = self.served.entry(connection).or_default();
        *served += 1;
        let served = *served;
        PendingAnswer {
            after: Duration::ZERO,
            took: Duration::ZERO,
            connection: ConnectionState { open: true, served },
        }
    }

    fn closed(&mut self, connection: ConnectionId, _now: Moment) {
        self.served.remove(&connection);
    }
}

/// Something that the driver will deliver at a later time.
enum Scheduled {
    /// An event for the core.
    Event(Event<()>),
    /// The server closes a connection.
    Closed(ConnectionId),
    /// Work for the crawler's processor. What follows from it happens when the work is done.
    Work(CrawlerWork, Box<Scheduled>),
    /// The answer to a request for a page.
    Page {
        visit: VisitId,
        connection: ConnectionId,
        claim: Arc<Claim>,
        answer: PendingAnswer,
    },
}

/// Drives one crawl of a world.
pub(super) struct LabDriver<R, C = InstantServers> {
    pub world: R,
    pub connections: C,
    core: Core<()>,
    ledger: MemoryLedger,
    now: Moment,
    /// When the core asked to be woken.
    wake: Option<Moment>,
    /// What happens now, in order.
    events: VecDeque<Scheduled>,
    /// What happens later, by time. Ties are in the order in which the driver scheduled them.
    later: BTreeMap<(Moment, u64), Scheduled>,
    sequence: u64,
    /// Reused buffer for the actions of one core step.
    actions: Vec<Action<()>>,
    /// Whether the driver pauses the core after each answer.
    one_at_a_time: bool,
}

impl<R: Responder, C: Connections> LabDriver<R, C> {
    /// Starts a crawl with an empty ledger. Servers need no politeness delay.
    pub fn new(
        world: R,
        connections: C,
        plan: Plan,
        policies: (Crawl, Box<dyn Strategy>),
        now: Moment,
    ) -> Self {
        let nothing = MemoryLedger::default();
        Self::resumed(world, connections, plan, policies, nothing, now)
    }

    /// Starts a crawl with the facts of an earlier one.
    pub fn resumed(
        world: R,
        connections: C,
        plan: Plan,
        policies: (Crawl, Box<dyn Strategy>),
        ledger: MemoryLedger,
        now: Moment,
    ) -> Self {
        let plan = Plan {
            proxied: true,
            delay: Some(Duration::ZERO),
            ..plan
        };
        let Ok(Begun { core, .. }) =
            Core::begin(plan, everything(), policies, &ledger, |_, _| {}, 0, now);
        Self {
            world,
            connections,
            core,
            ledger,
            now,
            wake: None,
            events: VecDeque::from([Scheduled::Event(Event::Woken)]),
            later: BTreeMap::new(),
            sequence: 0,
            actions: Vec::new(),
            one_at_a_time: false,
        }
    }

    /// Crawls until just before `until`, until the world says that the crawl is finished, or until
    /// nothing is left to do.
    ///
    /// `announced` holds pages with the times at which the world names them, by rising time.
    pub fn run(&mut self, until: Moment, announced: impl IntoIterator<Item = (Moment, Offer)>) {
        let mut announced = announced.into_iter().peekable();
        loop {
            self.deliver_due();
            if self.world.is_finished() {
                return;
            }
            let announcement = announced.peek().map(|(at, _)| *at);
            let wake = self.wake.map(|wake| wake.max(self.now + TICK));
            let answer = self.later.keys().next().map(|(at, _)| *at);
            let Some(next) = [announcement, wake, answer].into_iter().flatten().min() else {
                return;
            };
            if next.max(self.now) >= until {
                return;
            }
            if answer == Some(next) {
                self.advance();
                continue;
            }
            self.now = self.now.max(next);
            let event = if announcement == Some(next) {
                let now = self.now;
                let offers = std::iter::from_fn(|| announced.next_if(|(at, _)| *at <= now));
                Event::Offered(offers.map(|(_, offer)| offer).collect())
            } else {
                self.wake = None;
                Event::Woken
            };
            self.events.push_back(Scheduled::Event(event));
        }
    }

    /// Announces pages and crawls until no page waits on the bench.
    pub fn exhaust(&mut self, offers: Vec<Offer>) {
        self.events
            .push_back(Scheduled::Event(Event::Offered(offers)));
        loop {
            self.deliver_due();
            if self.advance() {
                continue;
            }
            if self.waiting() == 0 {
                return;
            }
            self.now = self.now + TICK;
            self.events.push_back(Scheduled::Event(Event::Woken));
        }
    }

    /// Announces a page now.
    pub fn announce(&mut self, offer: Offer) {
        self.events
            .push_back(Scheduled::Event(Event::Offered(vec![offer])));
        self.deliver_due();
    }

    /// Delivers events to the core at time `at`. The crawl must have [run](Self::run) up to
    /// `at`.
    pub fn deliver<const N: usize>(&mut self, at: Moment, events: [Event<()>; N]) {
        self.now = self.now.max(at);
        // In front of the queue, because the first wake-up may still be in it: the core must see
        // these events before it chooses a page.
        for event in events.into_iter().rev() {
            self.events.push_front(Scheduled::Event(event));
        }
        self.deliver_due();
    }

    /// Makes the driver pause the core after each answer, for [`LabDriver::fetch_one`].
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.one_at_a_time = true;
        self.events
            .push_front(Scheduled::Event(Event::Paused(true)));
        self
    }

    /// Lets a paused core fetch one page, if one waits.
    ///
    /// The driver pauses the core again when the answer arrives. So the core chooses its next
    /// page after it has received what other crawlers announced in the meantime.
    pub fn fetch_one(&mut self) {
        self.events
            .push_back(Scheduled::Event(Event::Paused(false)));
        self.deliver_due();
        while self.advance() {
            self.deliver_due();
        }
        if self.core.mode() == Mode::Running {
            self.events.push_back(Scheduled::Event(Event::Paused(true)));
            self.deliver_due();
        }
    }

    /// Recomputes the worth of all visited pages that wait on the bench.
    ///
    /// A frontier without a budget computes the worth of a page once, when the page is due. Call
    /// this if pages wait for longer.
    pub fn revalue(&mut self) {
        let frontier = self.core.frontier();
        for (key, visited) in self.ledger.visits() {
            let waits = |page: &Number| frontier.bench.waits(*page);
            let Some(number) = frontier.number(key.page).filter(waits) else {
                continue;
            };
            let page = Page {
                number,
                history: &visited.history,
            };
            let worth = frontier.policy().worth(page, self.now);
            frontier.bench.change(number, worth, Worth::NONE);
        }
    }

    /// Returns the policy of the crawl.
    pub fn policy(&mut self) -> &Crawl {
        self.core.frontier().policy()
    }

    /// Returns how many pages wait on the bench.
    pub fn waiting(&mut self) -> usize {
        self.core.frontier().bench.waiting()
    }

    /// Delivers everything that is due now, until the core has nothing left to process.
    fn deliver_due(&mut self) {
        loop {
            while let Some(item) = self.events.pop_front() {
                let item = match item {
                    Scheduled::Work(work, result) => {
                        let after = self.connections.process(work, self.now);
                        if !after.is_zero() {
                            self.schedule(after, *result);
                            continue;
                        }
                        *result
                    }
                    item => item,
                };
                let event = match item {
                    Scheduled::Work(..) => unreachable!("the result of work is no work"),
                    Scheduled::Event(event) => event,
                    Scheduled::Closed(connection) => {
                        self.connections.closed(connection, self.now);
                        continue;
                    }
                    Scheduled::Page {
                        visit,
                        connection,
                        claim,
                        answer,
                    } => self.fetch(visit, connection, &claim, answer),
                };
                self.step_core(event);
            }
            if !self.core.is_behind() {
                return;
            }
            self.step_core(Event::Woken);
        }
    }

    /// Advances the clock to the next scheduled item. Returns whether there was one.
    fn advance(&mut self) -> bool {
        let Some(((at, _), item)) = self.later.pop_first() else {
            return false;
        };
        self.now = at;
        self.events.push_back(item);
        true
    }

    fn schedule(&mut self, after: Duration, item: Scheduled) {
        if after.is_zero() {
            self.events.push_back(item);
            return;
        }
        self.sequence += 1;
        self.later.insert((self.now + after, self.sequence), item);
    }

    /// Schedules the result of work that arrives at the processor after this time.
    fn schedule_work(&mut self, after: Duration, work: CrawlerWork, result: Scheduled) {
        self.schedule(after, Scheduled::Work(work, Box::new(result)));
    }

    /// Steps the core with an event and carries out its actions.
    fn step_core(&mut self, event: Event<()>) {
        let mut actions = std::mem::take(&mut self.actions);
        self.core.step(event, self.now, &mut actions);
        for action in actions.drain(..) {
            self.carry_out(action);
        }
        self.actions = actions;
    }

    fn carry_out(&mut self, action: Action<()>) {
        let (after, event) = match action {
            Action::LoadPages { visit, pages, host } => {
                let facts = host.and_then(|host| self.ledger.host(host)).cloned();
                let event = Event::PagesLoaded {
                    visit,
                    pages: pages.into_iter().map(|key| self.stored(key)).collect(),
                    host: facts.map(|facts| (facts, Some(Arc::new(Robots::allow_all())))),
                };
                (Duration::ZERO, event)
            }
            Action::LoadHistories(pages) => {
                let history = |key: PageKey| (key, self.history(key));
                let histories = pages.into_iter().map(history).collect();
                (Duration::ZERO, Event::HistoriesLoaded(histories))
            }
            Action::LoadVisits(pages) => {
                let visited = |key: PageKey| (key, self.ledger.visited(key).cloned());
                let visits = pages.into_iter().map(visited).collect();
                (Duration::ZERO, Event::VisitsLoaded(visits))
            }
            Action::Resolve { visit, url } => {
                let address = Ok(self.connections.address(&url));
                (Duration::ZERO, Event::Resolved { visit, address })
            }
            Action::Connect {
                visit,
                connection,
                url,
            } => {
                let (took, width) = self.connections.connect(connection, &url, self.now);
                let opened = Ok(Opened {
                    address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                    connect_time: took,
                    took,
                    width,
                });
                let event = Event::Connected { visit, opened };
                return self.schedule_work(took, CrawlerWork::Connection, Scheduled::Event(event));
            }
            Action::AskRules {
                visit, connection, ..
            } => {
                let (after, connection) = self.send_other_request(connection);
                let event = Event::RulesArrived {
                    visit,
                    file: RobotsFile::Missing,
                    retry_after: None,
                    bytes: 0,
                    connection,
                };
                return self.schedule_work(after, CrawlerWork::Answer, Scheduled::Event(event));
            }
            Action::Probe {
                visit, connection, ..
            } => {
                let (after, connection) = self.send_other_request(connection);
                let event = Event::Probed {
                    visit,
                    found: Some(Probe::Honest),
                    reply: None,
                    bytes: 0,
                    connection,
                };
                (after, event)
            }
            Action::Get(get) => return self.get(get),
            Action::Close(connection) => return self.connections.closed(connection, self.now),
            Action::Commit(work) => match self.commit(work) {
                Some(event) => (Duration::ZERO, event),
                None => return,
            },
            Action::WakeAt(moment) => {
                self.wake = Some(moment);
                return;
            }
            Action::Finish => {
                self.wake = None;
                return;
            }
            Action::Offer(_)
            | Action::Reached(_)
            | Action::Keep(_)
            | Action::Note(_)
            | Action::Abandon(_) => return,
        };
        self.schedule(after, Scheduled::Event(event));
    }

    /// Sends a request that is not for a page. Returns the delay of the answer, and the
    /// connection afterwards.
    fn send_other_request(&mut self, connection: ConnectionId) -> (Duration, ConnectionState) {
        let answer = self.connections.send_other_request(connection);
        if !answer.connection.open {
            self.schedule(answer.after, Scheduled::Closed(connection));
        }
        (answer.after, answer.connection)
    }

    fn get(&mut self, get: Get) {
        let pages: Vec<&PageUrl> = get.requests.iter().map(|one| &one.claim.url).collect();
        let answers = self.connections.send_requests(get.connection, &pages);
        let last = answers.last().map_or(Duration::ZERO, |last| last.after);
        let mut answers = answers.into_iter();
        for request in get.requests {
            let page = request.claim.number;
            let visit = get.visit;
            match answers.next() {
                Some(answer) => self.schedule_work(
                    answer.after,
                    CrawlerWork::Answer,
                    Scheduled::Page {
                        visit,
                        connection: get.connection,
                        claim: request.claim,
                        answer,
                    },
                ),
                None => {
                    let event = Event::Answered {
                        visit,
                        page,
                        answer: Answered::Unanswered,
                        connection: ConnectionState {
                            open: false,
                            served: 0,
                        },
                    };
                    self.schedule(last, Scheduled::Event(event));
                }
            }
        }
    }

    /// Fetches a page from the world, when its answer is due.
    fn fetch(
        &mut self,
        visit: VisitId,
        connection: ConnectionId,
        claim: &Claim,
        answer: PendingAnswer,
    ) -> Event<()> {
        if !answer.connection.open {
            self.connections.closed(connection, self.now);
        }
        if self.one_at_a_time {
            self.step_core(Event::Paused(true));
        }
        let verdict = self.world.respond(claim, self.now);
        let reply = Reply {
            status: verdict.visited.status.unwrap_or(200),
            retry_after: None,
        };
        let judged = Judged {
            verdict,
            sealed: None,
            reply,
            first_byte: answer.took,
            took: answer.took,
        };
        Event::Answered {
            visit,
            page: claim.number,
            answer: Answered::Page(Box::new(judged)),
            connection: answer.connection,
        }
    }

    fn commit(&mut self, work: Work<()>) -> Option<Event<()>> {
        let mut requests = 0;
        let facts = match work {
            Work::Facts(facts) => facts,
            Work::Pages(records) => {
                let mut facts = Vec::with_capacity(records.len());
                for record in records {
                    requests += usize::from(record.asked);
                    // Only a later resume would read the links, and no run continues this ledger.
                    let admitted = record.admitted.into_iter();
                    facts.extend(admitted.filter(|fact| !matches!(fact, Entry::Links(..))));
                    facts.push(Entry::Visited(record.key, Box::new(record.visited)));
                }
                facts
            }
            Work::Drop(pages) => {
                for key in pages {
                    if let Some(page) = self.core.frontier().number(key.page) {
                        self.world.dropped(page);
                    }
                }
                return None;
            }
        };
        self.ledger.commit(&facts);
        Some(Event::Committed {
            facts,
            requests,
            gains: Vec::new(),
        })
    }

    fn stored(&self, key: PageKey) -> Stored {
        Stored {
            key,
            discovery: self.ledger.discovery(key).cloned(),
            visited: self.ledger.visited(key).cloned(),
        }
    }

    fn history(&self, key: PageKey) -> Option<History> {
        let visited = self.ledger.visited(key).map(|visited| visited.history);
        visited.or_else(|| {
            let found = self.ledger.discovery(key)?;
            Some(History::discovered(found.at, found.depth))
        })
    }
}

/// Returns an offer of a page with depth 0 and no source.
pub(super) fn offer(url: &PageUrl) -> Offer {
    Offer {
        url: url.clone(),
        depth: 0,
        hops: 0,
        source: None,
    }
}

/// Returns a server's answer that stands for the text with this number; `None` gives a 404.
///
/// The number is written into the payload hash and there is no body.
pub(super) fn answer_of(text: Option<u64>) -> Answer {
    let mut payload = [0; 20];
    payload[..8].copy_from_slice(&text.unwrap_or_default().to_le_bytes());
    Answer {
        status: if text.is_some() { 200 } else { 404 },
        // A type that the crawl core does not parse.
        content_type: Some("application/x-text-number".into()),
        etag: None,
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content: Bytes::new(),
        payload: Some(payload),
        truncated: None,
        document: None,
    }
}

/// Returns a scope of all URLs except [`ELSEWHERE`], without URL-shape rules. A world decides
/// itself which pages it has.
fn everything() -> Scope {
    let rules = ScopeRules {
        reach: Reach::Any,
        block: vec![ELSEWHERE.into()],
        ..ScopeRules::default()
    };
    let any = Rules {
        max_length: usize::MAX,
        max_depth: usize::MAX,
        max_repeats: usize::MAX,
        strip_sessions: false,
        strip_tracking: false,
    };
    Scope::new(&rules, any).expect("there is no expression to compile")
}
