//! The laboratory's driver of the crawl core: a world behind a wall, a ledger in memory, a clock that jumps.
//!
//! [`crawl::Core`] decides here all that it decides in a live crawl. What it loads comes from a [`MemoryLedger`], and
//! what it commits is safe at once. A [`Responder`] has the pages and a [`Connections`] the time that servers take; no server
//! has a robots.txt that forbids anything, and none has a page where there cannot be one. The clock jumps to the next
//! answer, to the moment at which the core wants to be woken, or to the one at which the world names a page.
//!
//! **Invariant:** a [`Responder`] is asked for a page only when the core has spent the fetch. So a policy learns of the
//! world what a crawler would have seen.

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
use policy::{Crawl, History, Moment, Number};

/// When a crawl ends that is to go on as long as something waits.
pub(super) const NEVER: Moment = Moment::from_micros(u64::MAX);

/// The host that links lead to which a crawl is not to follow. It is out of the scope of every crawl.
pub(super) const ELSEWHERE: &str = "elsewhere.invalid";

/// Time that passes before the core is woken again that wants to be woken at once.
const TICK: Duration = Duration::from_micros(1);

/// The pages of a world.
pub(super) trait Responder {
    /// Fetches a page.
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict;

    /// Takes note of a page that is no longer kept.
    fn dropped(&mut self, _page: Number) {}

    /// Whether the crawl is to end here.
    fn has_enough(&self) -> bool {
        false
    }
}

/// Connections to the servers of a world, and the time that they take.
pub(super) trait Connections {
    /// The address of a server; `None`: every host is a server of its own.
    fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }

    /// Opens a connection. Returns how long that takes, and how many requests may be under way on it at once.
    fn connect(&mut self, connection: ConnectionId, url: &PageUrl) -> (Duration, usize);

    /// Sends requests over a connection, all at once. Returns their answers, which are fewer than the requests if the
    /// connection ends before.
    fn ask(&mut self, connection: ConnectionId, requests: usize) -> Vec<Arriving>;

    /// Asks for a robots.txt, or for a page that cannot be.
    fn ask_beside(&mut self, connection: ConnectionId) -> Arriving;

    /// Takes note that a connection is closed.
    fn closed(&mut self, connection: ConnectionId);
}

/// An answer on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arriving {
    /// When it comes, from the request on.
    pub after: Duration,
    /// How long the server is taken to need for it.
    pub took: Duration,
    /// The connection afterwards.
    pub connection: ConnectionState,
}

/// Servers that answer at once and never hang up, or hang up after each page.
#[derive(Debug)]
pub(super) struct AtOnce {
    /// Whether connections stay open. If not, every visit is for one page, whichever host has it.
    kept: bool,
    /// Time that passes with each answer, so that moments differ. Servers are not taken for slower.
    step: Duration,
    /// Answers that came over each open connection.
    served: BTreeMap<ConnectionId, u32>,
}

impl AtOnce {
    /// Servers that hang up after each page.
    pub fn one_page(step: Duration) -> Self {
        Self {
            kept: false,
            step,
            served: BTreeMap::new(),
        }
    }

    /// Servers that never hang up.
    pub fn kept(step: Duration) -> Self {
        Self {
            kept: true,
            ..Self::one_page(step)
        }
    }
}

impl Connections for AtOnce {
    fn connect(&mut self, connection: ConnectionId, _url: &PageUrl) -> (Duration, usize) {
        self.served.insert(connection, 0);
        (Duration::ZERO, 1)
    }

    fn ask(&mut self, connection: ConnectionId, requests: usize) -> Vec<Arriving> {
        let served = self.served.entry(connection).or_default();
        let kept = self.kept;
        let answers = (0..requests).map(|_| {
            *served += 1;
            Arriving {
                after: self.step,
                took: Duration::ZERO,
                connection: ConnectionState {
                    open: kept,
                    served: *served,
                },
            }
        });
        answers.collect()
    }

    fn ask_beside(&mut self, connection: ConnectionId) -> Arriving {
        let served = self.served.entry(connection).or_default();
        *served += 1;
        let served = *served;
        Arriving {
            after: Duration::ZERO,
            took: Duration::ZERO,
            connection: ConnectionState { open: true, served },
        }
    }

    fn closed(&mut self, connection: ConnectionId) {
        self.served.remove(&connection);
    }
}

/// Something that happens later.
enum Due {
    /// The core is told of it.
    Told(Event<()>),
    /// A connection is closed by its server.
    Closed(ConnectionId),
    /// The answer to a request for a page.
    Page {
        visit: VisitId,
        connection: ConnectionId,
        claim: Arc<Claim>,
        answer: Arriving,
    },
}

/// A crawl of a world.
pub(super) struct Driver<R, C = AtOnce> {
    pub world: R,
    pub connections: C,
    core: Core<()>,
    ledger: MemoryLedger,
    now: Moment,
    /// When the core wants to be woken.
    wake: Option<Moment>,
    /// What happens now.
    events: VecDeque<Due>,
    /// What happens later, in the order in which that was decided.
    agenda: BTreeMap<(Moment, u64), Due>,
    turn: u64,
    /// Room for what the core wants.
    actions: Vec<Action<()>>,
    /// Whether the core is paused after each answer.
    in_turns: bool,
}

impl<R: Responder, C: Connections> Driver<R, C> {
    /// A crawl that begins now, by these policies. Servers need no delay.
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

    /// A crawl that goes on with the facts of an earlier one.
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
            events: VecDeque::from([Due::Told(Event::Woken)]),
            agenda: BTreeMap::new(),
            turn: 0,
            actions: Vec::new(),
            in_turns: false,
        }
    }

    /// Crawls until this moment, or until the core ends the crawl. Pages are named at their moments, which rise.
    pub fn run(&mut self, until: Moment, named: impl IntoIterator<Item = (Moment, Offer)>) {
        let mut named = named.into_iter().peekable();
        loop {
            self.work_off();
            if self.world.has_enough() {
                return;
            }
            let naming = named.peek().map(|(at, _)| *at);
            let wake = self.wake.map(|wake| wake.max(self.now + TICK));
            let answer = self.agenda.keys().next().map(|(at, _)| *at);
            let Some(next) = [naming, wake, answer].into_iter().flatten().min() else {
                return;
            };
            if next.max(self.now) >= until {
                return;
            }
            if answer == Some(next) {
                self.jump();
                continue;
            }
            self.now = self.now.max(next);
            let event = if naming == Some(next) {
                let now = self.now;
                let offers = std::iter::from_fn(|| named.next_if(|(at, _)| *at <= now));
                Event::Offered(offers.map(|(_, offer)| offer).collect())
            } else {
                self.wake = None;
                Event::Woken
            };
            self.events.push_back(Due::Told(event));
        }
    }

    /// Names pages, and crawls until nothing waits.
    pub fn exhaust(&mut self, named: Vec<Offer>) {
        self.events.push_back(Due::Told(Event::Offered(named)));
        loop {
            self.work_off();
            if self.jump() {
                continue;
            }
            if self.waiting() == 0 {
                return;
            }
            self.now = self.now + TICK;
            self.events.push_back(Due::Told(Event::Woken));
        }
    }

    /// Names a page.
    pub fn name(&mut self, named: Offer) {
        self.events
            .push_back(Due::Told(Event::Offered(vec![named])));
        self.work_off();
    }

    /// Tells the core of what happens at this moment. All that happens before must have [run](Self::run).
    pub fn happen<const N: usize>(&mut self, at: Moment, events: [Event<()>; N]) {
        self.now = self.now.max(at);
        // The core has not begun if no crawl has run yet: it is told before it chooses.
        for event in events.into_iter().rev() {
            self.events.push_front(Due::Told(event));
        }
        self.work_off();
    }

    /// Has the core be paused after each answer, for [`Driver::fetch_one`].
    #[must_use]
    pub fn in_turns(mut self) -> Self {
        self.in_turns = true;
        self.events.push_front(Due::Told(Event::Paused(true)));
        self
    }

    /// Lets a core that is paused fetch one page, if one waits. It is paused again when the answer comes, so that it
    /// chooses the next page by what others have named until then.
    pub fn fetch_one(&mut self) {
        self.events.push_back(Due::Told(Event::Paused(false)));
        self.work_off();
        while self.jump() {
            self.work_off();
        }
        if self.core.mode() == Mode::Running {
            self.events.push_back(Due::Told(Event::Paused(true)));
            self.work_off();
        }
    }

    /// Pages that wait.
    pub fn waiting(&mut self) -> usize {
        self.core.frontier().bench.waiting()
    }

    /// Tells the core of all that has happened by now.
    fn work_off(&mut self) {
        loop {
            while let Some(due) = self.events.pop_front() {
                let event = match due {
                    Due::Told(event) => event,
                    Due::Closed(connection) => {
                        self.connections.closed(connection);
                        continue;
                    }
                    Due::Page {
                        visit,
                        connection,
                        claim,
                        answer,
                    } => self.fetch(visit, connection, &claim, answer),
                };
                self.tell(event);
            }
            if !self.core.is_behind() {
                return;
            }
            self.tell(Event::Woken);
        }
    }

    /// Jumps to the next thing that happens, if there is one.
    fn jump(&mut self) -> bool {
        let Some(((at, _), due)) = self.agenda.pop_first() else {
            return false;
        };
        self.now = at;
        self.events.push_back(due);
        true
    }

    fn schedule(&mut self, after: Duration, due: Due) {
        if after.is_zero() {
            self.events.push_back(due);
            return;
        }
        self.turn += 1;
        self.agenda.insert((self.now + after, self.turn), due);
    }

    /// Tells the core of an event, and does what it then wants.
    fn tell(&mut self, event: Event<()>) {
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
                let (took, width) = self.connections.connect(connection, &url);
                let opened = Ok(Opened {
                    address: IpAddr::V4(Ipv4Addr::LOCALHOST),
                    connect_time: took,
                    took,
                    width,
                });
                (took, Event::Connected { visit, opened })
            }
            Action::AskRules {
                visit, connection, ..
            } => {
                let (after, connection) = self.ask_beside(connection);
                let event = Event::RulesArrived {
                    visit,
                    file: RobotsFile::Missing,
                    retry_after: None,
                    bytes: 0,
                    connection,
                };
                (after, event)
            }
            Action::Probe {
                visit, connection, ..
            } => {
                let (after, connection) = self.ask_beside(connection);
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
            Action::Close(connection) => return self.connections.closed(connection),
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
            Action::Offer(_) | Action::Keep(_) | Action::Note(_) | Action::Abandon(_) => return,
        };
        self.schedule(after, Due::Told(event));
    }

    /// Asks for something that is no page. Returns when the answer comes, and the connection afterwards.
    fn ask_beside(&mut self, connection: ConnectionId) -> (Duration, ConnectionState) {
        let answer = self.connections.ask_beside(connection);
        if !answer.connection.open {
            self.schedule(answer.after, Due::Closed(connection));
        }
        (answer.after, answer.connection)
    }

    fn get(&mut self, get: Get) {
        let answers = self.connections.ask(get.connection, get.requests.len());
        let last = answers.last().map_or(Duration::ZERO, |last| last.after);
        let mut answers = answers.into_iter();
        for request in get.requests {
            let page = request.claim.number;
            let visit = get.visit;
            match answers.next() {
                Some(answer) => self.schedule(
                    answer.after,
                    Due::Page {
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
                    self.schedule(last, Due::Told(event));
                }
            }
        }
    }

    /// Fetches a page whose answer has come.
    fn fetch(
        &mut self,
        visit: VisitId,
        connection: ConnectionId,
        claim: &Claim,
        answer: Arriving,
    ) -> Event<()> {
        if !answer.connection.open {
            self.connections.closed(connection);
        }
        if self.in_turns {
            self.tell(Event::Paused(true));
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
                    // Links are facts for the next run, and there is none.
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

/// A page that the world names.
pub(super) fn named(url: &PageUrl) -> Offer {
    Offer {
        url: url.clone(),
        depth: 0,
        hops: 0,
        source: None,
    }
}

/// What a server answers that shows this text; `None`: it has no such page. The text is told by its identity alone.
pub(super) fn answer_of(text: Option<u64>) -> Answer {
    let mut payload = [0; 20];
    payload[..8].copy_from_slice(&text.unwrap_or_default().to_le_bytes());
    Answer {
        status: if text.is_some() { 200 } else { 404 },
        // Of a type that nobody reads.
        content_type: Some("application/x-text-number".into()),
        etag: None,
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content: Bytes::new(),
        payload,
        truncated: None,
    }
}

/// All URLs but [`ELSEWHERE`], whatever their shape: a world has the pages that it has.
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
