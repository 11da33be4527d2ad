//! Parallel crawlers that divide the web among them.
//!
//! Cho & Garcia-Molina, "Parallel crawlers" (WWW 2002), and Baldi, Frasconi & Smyth,
//! "Modeling the Internet and the Web" (2003), §6.3. Each crawler is a crawl core with its own
//! policy and [driver](LabDriver). The crawlers take turns of one fetch each.
//!
//! [`Coordination`] says which crawler is responsible for a page:
//!
//! - *independent*: every crawler is responsible for every page;
//! - *static*: a hash of the page decides, which all crawlers can compute, such as a hash of its
//!   registrable domain or of its IP address ([`Division`]);
//! - *dynamic*: a supervisor assigns the host when a crawler first meets a link to it. The
//!   crawler with the fewest waiting pages gets it; ties go to the first. The assignment does
//!   not change.
//!
//! [`Confinement`] says what a crawler does with links to pages of other crawlers.
//!
//! A message is one URL sent from one process to another; its bytes count too. Each exchanged link
//! counts once per batch. A new host counts one message to the supervisor, and another one if the
//! host goes to a different crawler. Seeds that the user names are free.
//!
//! **Invariant:** a crawler knows the pages that it fetched and the URLs that it received, and
//! nothing of what other crawlers know.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crawl::Again;
use policy::{Policy, Price};

use super::driver::LabDriver;
use super::ordering::{crawl_by, single_page_plan, start};
use super::wall::{CrawlableWorld, NamedPage, Wall};
use crate::world::Graph;

/// How crawlers divide the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordination {
    /// Not at all: each crawls everything.
    Independent,
    /// By a hash that all crawlers know.
    Static(Confinement),
    /// By a supervisor that assigns hosts.
    Dynamic(Confinement),
}

/// What a crawler does with a link to a page of another crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Ignores it.
    Firewall,
    /// Follows such links, oldest first, while no page of its own waits.
    Crossover,
    /// Sends it to the responsible crawler.
    Exchange,
}

/// The division of the web.
#[derive(Debug, Clone)]
pub struct Division {
    /// Share of each page. Crawler `share mod crawlers` is responsible for it.
    pub shares: Vec<u32>,
    /// Host of each page, numbered from 0.
    pub hosts: Vec<u32>,
}

/// How a team of crawlers works.
#[derive(Debug, Clone, Copy)]
pub struct TeamPlan {
    /// How pages are divided.
    pub coordination: Coordination,
    /// Fetches after which a crawler sends its collected links. It also sends them when it is
    /// idle.
    pub batch: usize,
    /// Total number of fetches of all crawlers.
    pub budget: usize,
}

/// What a team did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamWork {
    /// Crawler and page of each fetch, in order.
    pub fetches: Vec<(u32, usize)>,
    /// URLs sent between processes.
    pub messages: u64,
    /// Bytes of these URLs.
    pub message_bytes: u64,
}

/// Runs a team with one crawler for each policy. `seeds` are pairs of a crawler and a page.
/// Coordinated crawlers pass a seed on to the crawler that is responsible for it.
///
/// # Panics
/// If the division is not of this web, or a seed is given to a crawler that does not exist.
pub fn team<'a>(
    web: impl Into<CrawlableWorld<'a>>,
    division: &'a Division,
    policies: Vec<Box<dyn Policy>>,
    plan: TeamPlan,
    seeds: &[(usize, usize)],
) -> TeamWork {
    let web = web.into();
    let shared = Rc::new(RefCell::new(TeamState {
        assignment: Assignment::new(division, policies.len(), plan.coordination),
        foreign_links: Vec::new(),
        in_transit: Vec::new(),
        graph: web.graph(),
        messages: 0,
        message_bytes: 0,
    }));
    let crawlers = policies.into_iter().enumerate();
    let crawlers = crawlers
        .map(|(at, policy)| TeamCrawler::new(web, policy, at, plan.coordination, &shared))
        .collect();
    let mut team = Team {
        plan,
        crawlers,
        shared,
        fetches: Vec::new(),
    };
    team.begin(seeds);
    team.run();
    let shared = team.shared.borrow();
    TeamWork {
        messages: shared.messages,
        message_bytes: shared.message_bytes,
        fetches: team.fetches.clone(),
    }
}

/// State that the crawlers and the supervisor share while one of them reads a page.
struct TeamState<'a> {
    assignment: Assignment<'a>,
    /// Links from the page that is being read to pages of other crawlers, each with the responsible
    /// crawler.
    foreign_links: Vec<(usize, NamedPage)>,
    /// URLs in transit, with their receivers.
    in_transit: Vec<(usize, NamedPage)>,
    graph: &'a Graph,
    messages: u64,
    message_bytes: u64,
}

impl TeamState<'_> {
    /// Counts the URL of a page as sent.
    fn count_message(&mut self, page: usize) {
        self.messages += 1;
        self.message_bytes += self.graph.url(page).as_str().len() as u64;
    }

    /// Returns whether crawler `at` is responsible for a page that it met for the first time.
    ///
    /// If not, records the link for the responsible crawler. If the supervisor has just assigned
    /// the page's host to another crawler, the URL is on its way to that crawler at once.
    fn owns(&mut self, at: usize, named: NamedPage) -> bool {
        let (owner, new) = self.assignment.of(named.page, at);
        if new {
            self.count_message(named.page);
        }
        if new && owner != at {
            self.count_message(named.page);
            self.in_transit.push((owner, named));
        } else if owner != at {
            self.foreign_links.push((owner, named));
        }
        owner == at
    }
}

struct Team<'a> {
    plan: TeamPlan,
    crawlers: Vec<TeamCrawler<'a>>,
    shared: Rc<RefCell<TeamState<'a>>>,
    fetches: Vec<(u32, usize)>,
}

impl Team<'_> {
    fn begin(&mut self, seeds: &[(usize, usize)]) {
        for &(by, seed) in seeds {
            let (owner, _) = self.shared.borrow_mut().assignment.of(seed, by);
            self.crawlers[owner].add(NamedPage::seed(seed));
        }
    }

    fn run(&mut self) {
        loop {
            let mut busy = false;
            for crawler in 0..self.crawlers.len() {
                if self.fetches.len() == self.plan.budget {
                    return;
                }
                busy |= self.step(crawler);
            }
            let in_transit = std::mem::take(&mut self.shared.borrow_mut().in_transit);
            busy |= !in_transit.is_empty();
            for (owner, named) in in_transit {
                self.crawlers[owner].add(named);
                self.count_waiting(owner);
            }
            if !busy {
                return;
            }
        }
    }

    /// Reports to the supervisor how many pages wait at a crawler.
    fn count_waiting(&mut self, at: usize) {
        let waiting = self.crawlers[at].waiting();
        self.shared.borrow_mut().assignment.set_waiting(at, waiting);
    }

    /// Lets a crawler fetch a page. Returns whether it fetched one, or has links to pages of other
    /// crawlers left to follow.
    fn step(&mut self, at: usize) -> bool {
        let crawler = &mut self.crawlers[at];
        // The ordering may reject a page; then the crawler tries the next one.
        while crawler.waiting() == 0
            && let Some(foreign) = crawler.foreign.pop_front()
        {
            crawler.add(foreign);
        }
        let page = crawler.fetch();
        self.count_waiting(at);
        let foreign_links = std::mem::take(&mut self.shared.borrow_mut().foreign_links);
        self.handle_foreign_links(at, foreign_links, page.is_none());
        self.fetches.extend(page.map(|page| (at as u32, page)));
        page.is_some() || !self.crawlers[at].foreign.is_empty()
    }

    /// Handles links to pages of other crawlers, by the confinement rule.
    fn handle_foreign_links(
        &mut self,
        at: usize,
        foreign_links: Vec<(usize, NamedPage)>,
        idle: bool,
    ) {
        let crawler = &mut self.crawlers[at];
        match self.plan.coordination {
            Coordination::Static(Confinement::Crossover)
            | Coordination::Dynamic(Confinement::Crossover) => {
                for (_, named) in foreign_links {
                    if crawler.record_foreign(named.page) {
                        crawler.foreign.push_back(named);
                    }
                }
            }
            Coordination::Static(Confinement::Exchange)
            | Coordination::Dynamic(Confinement::Exchange) => {
                for (owner, named) in foreign_links {
                    if crawler.record_foreign(named.page) {
                        crawler.outbox.push((owner, named));
                    }
                }
                crawler.unsent_fetches += 1;
                if crawler.unsent_fetches >= self.plan.batch || idle {
                    crawler.unsent_fetches = 0;
                    crawler.batch += 1;
                    let shared = &mut *self.shared.borrow_mut();
                    for (_, named) in &crawler.outbox {
                        shared.count_message(named.page);
                    }
                    shared.in_transit.append(&mut crawler.outbox);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a page that is named for the first time belongs to the crawler.
type Ownership<'a> = Box<dyn FnMut(NamedPage) -> bool + 'a>;

struct TeamCrawler<'a> {
    driver: LabDriver<Wall<'a, Ownership<'a>>>,
    /// Links to pages of other crawlers that it may follow, oldest first.
    foreign: VecDeque<NamedPage>,
    /// Links to pages of other crawlers that it will send.
    outbox: Vec<(usize, NamedPage)>,
    /// Fetches since it last sent links.
    unsent_fetches: usize,
    /// Number of the current batch, from 1.
    batch: u32,
    /// Batch in which each page of another crawler was last recorded. Empty if the rule records
    /// none.
    recorded: Vec<u32>,
}

impl<'a> TeamCrawler<'a> {
    fn new(
        web: CrawlableWorld<'a>,
        policy: Box<dyn Policy>,
        at: usize,
        coordination: Coordination,
        shared: &Rc<RefCell<TeamState<'a>>>,
    ) -> Self {
        let records = matches!(
            coordination,
            Coordination::Static(Confinement::Crossover | Confinement::Exchange)
                | Coordination::Dynamic(Confinement::Crossover | Confinement::Exchange)
        );
        let recorded = if records { web.graph().pages() } else { 0 };
        let crawl = crawl_by(policy);
        let shared = Rc::clone(shared);
        let ours: Ownership<'a> = Box::new(move |named| shared.borrow_mut().owns(at, named));
        let wall = Wall::new(web, crawl.needs(), ours);
        let plan = crawl::Plan {
            // The crawl must not end when no page waits, because others may send pages.
            again: Again::AtPrice(Price::LEAST),
            ..single_page_plan()
        };
        Self {
            driver: start(wall, plan, crawl).one_at_a_time(),
            foreign: VecDeque::new(),
            outbox: Vec::new(),
            unsent_fetches: 0,
            batch: 1,
            recorded: vec![0; recorded],
        }
    }

    fn waiting(&mut self) -> usize {
        self.driver.waiting()
    }

    /// Adds a page to the crawl unless it is known.
    fn add(&mut self, named: NamedPage) {
        if let Some(offer) = self.driver.world.discover(named) {
            self.driver.announce(offer);
        }
    }

    /// Fetches a page, if one waits. Returns its number.
    fn fetch(&mut self) -> Option<usize> {
        let before = self.driver.world.visits.len();
        self.driver.fetch_one();
        self.driver.world.visits.get(before).copied()
    }

    /// Records a page of another crawler. Returns whether it is new in this batch.
    fn record_foreign(&mut self, page: usize) -> bool {
        std::mem::replace(&mut self.recorded[page], self.batch) != self.batch
    }
}

/// Says which crawler is responsible for each page.
struct Assignment<'a> {
    division: &'a Division,
    coordination: Coordination,
    /// Waiting pages of each crawler, as the supervisor knows them.
    waiting: Vec<usize>,
    /// Crawler that each host is assigned to.
    assigned_to: Vec<Option<u32>>,
}

impl<'a> Assignment<'a> {
    fn new(division: &'a Division, crawlers: usize, coordination: Coordination) -> Self {
        let hosts = division.hosts.iter().max().map_or(0, |most| most + 1);
        Self {
            division,
            coordination,
            waiting: vec![0; crawlers],
            assigned_to: vec![None; hosts as usize],
        }
    }

    /// Returns the crawler responsible for a page that crawler `by` has met, and whether the
    /// supervisor has just assigned its host.
    fn of(&mut self, page: usize, by: usize) -> (usize, bool) {
        match self.coordination {
            Coordination::Independent => (by, false),
            Coordination::Static(_) => {
                let share = self.division.shares[page] as usize;
                (share % self.waiting.len(), false)
            }
            Coordination::Dynamic(_) => self.assigned(self.division.hosts[page] as usize),
        }
    }

    fn assigned(&mut self, host: usize) -> (usize, bool) {
        if let Some(owner) = self.assigned_to[host] {
            return (owner as usize, false);
        }
        let idlest = (0..self.waiting.len()).min_by_key(|&crawler| self.waiting[crawler]);
        let owner = idlest.unwrap_or(0);
        self.assigned_to[host] = Some(owner as u32);
        // The page that made the host known will wait there.
        self.waiting[owner] += 1;
        (owner, true)
    }

    fn set_waiting(&mut self, crawler: usize, pages: usize) {
        self.waiting[crawler] = pages;
    }
}
