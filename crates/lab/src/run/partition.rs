//! What several crawlers fetch that share the work.
//!
//! Cho & Garcia-Molina, "Parallel crawlers" (WWW 2002), and the chapter, §6.3. Each crawler is a crawl core
//! of its own with its own policy ([`Driver`]); they take turns, a fetch each. **Invariant:** a crawler knows the
//! pages it fetched and the URLs it was sent, and nothing of what the others know.
//!
//! Who is responsible for a page: *independent* crawlers each for every page; *static*, the one that a hash of
//! the owner of its host says; *dynamic*, the one that a supervisor gave the host to. The
//! supervisor hears of a host when a crawler first meets a link there, and gives it to the crawler
//! that has least waiting, of equals the first; a host stays where it is. What becomes of links to
//! pages that another is responsible for, is [`Confinement`].
//!
//! A message is a URL that goes from one process to another: every link that is exchanged, once a batch; for a
//! new host the report to the supervisor, and if it goes to another crawler, the seed that this one is
//! sent. Seeds that the user names cost nothing.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crawl::Again;
use policy::{Policy, Price};

use super::driver::Driver;
use super::ordering::{begin, by, of_pages};
use super::wall::{Named, Wall, Web};

/// How crawlers agree who fetches what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordination {
    /// Not at all.
    Independent,
    /// By a hash that all know.
    Static(Confinement),
    /// By a supervisor.
    Dynamic(Confinement),
}

/// What a crawler does with a link to a page that another is responsible for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// Nothing.
    Firewall,
    /// Follows it, the oldest first, while nothing of its own waits.
    Crossover,
    /// Sends it to the other.
    Exchange,
}

/// How the web is divided.
#[derive(Debug, Clone)]
pub struct Division {
    /// The share of each page, of which crawler `share mod crawlers` has charge.
    pub shares: Vec<u8>,
    /// The host of each page, from 0 on.
    pub hosts: Vec<u32>,
}

/// How a team works.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Who fetches what.
    pub coordination: Coordination,
    /// A crawler sends its links after so many fetches, and when it has nothing else to do.
    pub batch: usize,
    /// Fetches of all crawlers together.
    pub budget: usize,
}

/// What a team did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Who fetched which page, in the order in which it happened.
    pub fetches: Vec<(u32, usize)>,
    /// URLs that were sent.
    pub messages: u64,
}

/// What a team of crawlers fetches, one for each policy.
///
/// # Panics
/// If the division is not of this web.
pub fn team<'a>(
    web: impl Into<Web<'a>>,
    division: &'a Division,
    policies: Vec<Box<dyn Policy>>,
    plan: Plan,
    seeds: &[usize],
) -> Work {
    let web = web.into();
    let desk = Rc::new(RefCell::new(Desk {
        charge: Charge::new(division, policies.len(), plan.coordination),
        met: Vec::new(),
        post: Vec::new(),
        messages: 0,
    }));
    let crawlers = policies.into_iter().enumerate();
    let crawlers = crawlers
        .map(|(at, policy)| Crawler::new(web, policy, at, plan.coordination, &desk))
        .collect();
    let mut team = Team {
        plan,
        crawlers,
        desk,
        fetches: Vec::new(),
    };
    team.begin(seeds);
    team.run();
    Work {
        messages: team.desk.borrow().messages,
        fetches: team.fetches,
    }
}

/// What the crawlers and their supervisor share while one of them reads a page.
struct Desk<'a> {
    charge: Charge<'a>,
    /// Links of the page to pages that others are responsible for.
    met: Vec<(usize, Named)>,
    /// What is sent, and to whom.
    post: Vec<(usize, Named)>,
    messages: u64,
}

impl Desk<'_> {
    /// Whether a page that this crawler met for the first time is its own.
    fn owns(&mut self, at: usize, named: Named) -> bool {
        let (owner, new) = self.charge.of(named.page, at);
        self.messages += u64::from(new);
        if new && owner != at {
            self.messages += 1;
            self.post.push((owner, named));
        } else if owner != at {
            self.met.push((owner, named));
        }
        owner == at
    }
}

struct Team<'a> {
    plan: Plan,
    crawlers: Vec<Crawler<'a>>,
    desk: Rc<RefCell<Desk<'a>>>,
    fetches: Vec<(u32, usize)>,
}

impl Team<'_> {
    fn begin(&mut self, seeds: &[usize]) {
        if self.crawlers.is_empty() {
            return;
        }
        for (turn, &seed) in seeds.iter().enumerate() {
            let by = turn % self.crawlers.len();
            let (owner, _) = self.desk.borrow_mut().charge.of(seed, by);
            self.crawlers[owner].hear(Named::seed(seed));
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
            let post = std::mem::take(&mut self.desk.borrow_mut().post);
            busy |= !post.is_empty();
            for (owner, named) in post {
                self.crawlers[owner].hear(named);
                self.count_waiting(owner);
            }
            if !busy {
                return;
            }
        }
    }

    /// Tells the supervisor how many pages wait at a crawler.
    fn count_waiting(&mut self, at: usize) {
        let waiting = self.crawlers[at].waiting();
        self.desk.borrow_mut().charge.waits(at, waiting);
    }

    /// Lets a crawler fetch a page. Returns whether it had one, or has links left to follow.
    fn step(&mut self, at: usize) -> bool {
        let crawler = &mut self.crawlers[at];
        // The order may hold a page back: then the next is tried.
        while crawler.waiting() == 0
            && let Some(foreign) = crawler.foreign.pop_front()
        {
            crawler.hear(foreign);
        }
        let page = crawler.fetch();
        self.count_waiting(at);
        let met = std::mem::take(&mut self.desk.borrow_mut().met);
        self.met(at, met, page.is_none());
        self.fetches.extend(page.map(|page| (at as u32, page)));
        page.is_some() || !self.crawlers[at].foreign.is_empty()
    }

    /// Deals with links to pages that others are responsible for.
    fn met(&mut self, at: usize, met: Vec<(usize, Named)>, idle: bool) {
        let crawler = &mut self.crawlers[at];
        match self.plan.coordination {
            Coordination::Static(Confinement::Crossover)
            | Coordination::Dynamic(Confinement::Crossover) => {
                for (_, named) in met {
                    if crawler.note(named.page) {
                        crawler.foreign.push_back(named);
                    }
                }
            }
            Coordination::Static(Confinement::Exchange)
            | Coordination::Dynamic(Confinement::Exchange) => {
                for (owner, named) in met {
                    if crawler.note(named.page) {
                        crawler.outbox.push((owner, named));
                    }
                }
                crawler.since += 1;
                if crawler.since >= self.plan.batch || idle {
                    crawler.since = 0;
                    crawler.batch += 1;
                    let desk = &mut *self.desk.borrow_mut();
                    desk.messages += crawler.outbox.len() as u64;
                    desk.post.append(&mut crawler.outbox);
                }
            }
            _ => {}
        }
    }
}

/// Whether a page that is named for the first time is a crawler's own.
type Rule<'a> = Box<dyn FnMut(Named) -> bool + 'a>;

struct Crawler<'a> {
    driver: Driver<Wall<'a, Rule<'a>>>,
    /// Links to pages of others that may be followed, the oldest first.
    foreign: VecDeque<Named>,
    /// Links to pages of others that are to be sent.
    outbox: Vec<(usize, Named)>,
    /// Fetches since links were sent.
    since: usize,
    /// How often links were sent, counted from 1.
    batch: u32,
    /// In which batch each page of another was noted last; empty if none is noted.
    noted: Vec<u32>,
}

impl<'a> Crawler<'a> {
    fn new(
        web: Web<'a>,
        policy: Box<dyn Policy>,
        at: usize,
        coordination: Coordination,
        desk: &Rc<RefCell<Desk<'a>>>,
    ) -> Self {
        let notes = matches!(
            coordination,
            Coordination::Static(Confinement::Crossover | Confinement::Exchange)
                | Coordination::Dynamic(Confinement::Crossover | Confinement::Exchange)
        );
        let noted = if notes { web.graph().pages() } else { 0 };
        let crawl = by(policy);
        let desk = Rc::clone(desk);
        let ours: Rule<'a> = Box::new(move |named| desk.borrow_mut().owns(at, named));
        let wall = Wall::new(web, crawl.needs(), ours);
        let plan = crawl::Plan {
            // It does not end when nothing waits: others may name pages.
            again: Again::AtPrice(Price::LEAST),
            ..of_pages()
        };
        Self {
            driver: begin(wall, plan, crawl).in_turns(),
            foreign: VecDeque::new(),
            outbox: Vec::new(),
            since: 0,
            batch: 1,
            noted: vec![0; noted],
        }
    }

    fn waiting(&mut self) -> usize {
        self.driver.waiting()
    }

    /// Takes in a page that something named.
    fn hear(&mut self, named: Named) {
        if let Some(named) = self.driver.world.name(named) {
            self.driver.name(named);
        }
    }

    /// Fetches a page, if one waits.
    fn fetch(&mut self) -> Option<usize> {
        let before = self.driver.world.visits.len();
        self.driver.fetch_one();
        self.driver.world.visits.get(before).copied()
    }

    /// Notes a page of another. Returns whether it was not noted in this batch.
    fn note(&mut self, page: usize) -> bool {
        std::mem::replace(&mut self.noted[page], self.batch) != self.batch
    }
}

/// Who is responsible for what.
struct Charge<'a> {
    division: &'a Division,
    coordination: Coordination,
    /// What waits at each crawler, as the supervisor knows it.
    waiting: Vec<usize>,
    /// Whom each host was given to.
    given: Vec<Option<u32>>,
}

impl<'a> Charge<'a> {
    fn new(division: &'a Division, crawlers: usize, coordination: Coordination) -> Self {
        let hosts = division.hosts.iter().max().map_or(0, |most| most + 1);
        Self {
            division,
            coordination,
            waiting: vec![0; crawlers],
            given: vec![None; hosts as usize],
        }
    }

    /// The crawler that is responsible for a page that this one has met, and whether the supervisor has
    /// just said so.
    fn of(&mut self, page: usize, by: usize) -> (usize, bool) {
        match self.coordination {
            Coordination::Independent => (by, false),
            Coordination::Static(_) => {
                let share = usize::from(self.division.shares[page]);
                (share % self.waiting.len(), false)
            }
            Coordination::Dynamic(_) => self.assigned(self.division.hosts[page] as usize),
        }
    }

    fn assigned(&mut self, host: usize) -> (usize, bool) {
        if let Some(owner) = self.given[host] {
            return (owner as usize, false);
        }
        let idlest = (0..self.waiting.len()).min_by_key(|&crawler| self.waiting[crawler]);
        let owner = idlest.unwrap_or(0);
        self.given[host] = Some(owner as u32);
        // The page that it was heard of for waits there.
        self.waiting[owner] += 1;
        (owner, true)
    }

    fn waits(&mut self, crawler: usize, pages: usize) {
        self.waiting[crawler] = pages;
    }
}
