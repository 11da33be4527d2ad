//! What must be true of every crawl, checked while it runs. A model of what the core may do, in its own words.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crawl::{
    Action, Again, Answered, Claim, Core, Distance, Event, Get, Judged, Mode, Plan, Record,
    RobotsFile, Scope, VisitId, Work,
};
use frontier::{Entry, Facts, MemoryLedger, PageKey, ServerKey};
use page::{HostId, PageId, PageUrl};
use policy::{History, Moment, Number, Outcome, Policy, Report};

use crate::disk::Group;
use crate::network::Line;
use crate::politeness::{AnswerFact, Politeness, Times, Wait, refusal};
use crate::web::{Directive, Web};

/// Wake-ups in one simulated second, at most.
const WAKES: u32 = 1_000;

/// A bucket of fetches, as `frontier::Budget` describes it.
struct Bucket {
    per_second: f64,
    saved: f64,
    at: Moment,
}

impl Bucket {
    fn fill(&mut self, now: Moment) {
        let brought = now.since(self.at).as_secs_f64() * self.per_second;
        self.saved = (self.saved + brought).min(self.per_second.max(1.0));
        self.at = now;
    }
}

/// What a visit waits for.
#[derive(Debug, Clone, PartialEq)]
enum Awaits {
    Nothing,
    Pages,
    Address,
    /// The next action is to connect, or the visit ends.
    Route,
    Connection,
    Rules(PageUrl, Moment),
    Probe(Moment),
    /// Pages.
    Answers,
}

/// A visit under way.
struct Visiting {
    awaits: Awaits,
    /// The server that was found, or that its request went to.
    server: Option<ServerKey>,
    /// The host that was looked up.
    host: Option<HostId>,
    /// Pages that were asked for and not answered, and when.
    asked: BTreeMap<Number, Arc<Claim>>,
    at: Moment,
    requested: Moment,
    scope: Option<Arc<Scope>>,
    /// Whether their request found the connection closed: they may be asked for once more.
    held: bool,
}

impl Default for Visiting {
    fn default() -> Self {
        Self {
            awaits: Awaits::Nothing,
            server: None,
            host: None,
            asked: BTreeMap::new(),
            at: Moment::START,
            requested: Moment::START,
            scope: None,
            held: false,
        }
    }
}

/// What an action is checked against.
pub struct Around<'a> {
    pub web: &'a Web,
    pub ledger: &'a MemoryLedger,
    pub polite: &'a mut Politeness,
    pub now: Times,
}

/// What one run of a core may do.
pub struct Model {
    node: usize,
    plan: Plan,
    visits: BTreeMap<VisitId, Visiting>,
    connections: u64,
    loading_histories: HashSet<PageId>,
    loading_visits: HashSet<PageId>,
    loading_pages: HashSet<PageId>,
    /// Requests that are not committed.
    uncommitted: usize,
    bucket: Option<Bucket>,
    /// Pages that may be fetched.
    limit: Option<u64>,
    /// Pages that were asked for, and those among them that were no pages.
    granted: u64,
    returned: u64,
    /// Links of pages that were answered, by page and the moment at which it was asked for.
    told: HashMap<(PageId, Moment), Vec<PageUrl>>,
    offered: HashSet<PageId>,
    /// Hosts that did not answer.
    failed: HashSet<HostId>,
    /// Whether nothing new may begin.
    paused: bool,
    pub stopped: bool,
    /// Whether the crawl has stopped by itself, since it has found what it was to find.
    pub has_enough: bool,
    pub finished: bool,
    /// When it has come to its end.
    ended: Times,
    /// When the run began, and whether the clock goes wrong, so that moments do not tell what was first.
    begun: Moment,
    wrong_clock: bool,
    /// Pages that were read.
    read: u64,
    /// The last second, and wake-ups in it.
    wakes: (i64, u32),
}

impl Model {
    /// A run that begins now and may fetch so many pages.
    pub fn new(
        node: usize,
        plan: Plan,
        limit: Option<u64>,
        now: Moment,
        wrong_clock: bool,
    ) -> Self {
        let bucket = match plan.again {
            Again::Always { budget } => Some(Bucket {
                per_second: budget,
                saved: 1.0,
                at: now,
            }),
            _ => None,
        };
        Self {
            node,
            plan,
            visits: BTreeMap::new(),
            connections: 0,
            loading_histories: HashSet::new(),
            loading_visits: HashSet::new(),
            loading_pages: HashSet::new(),
            uncommitted: 0,
            bucket,
            limit,
            granted: 0,
            returned: 0,
            told: HashMap::new(),
            offered: HashSet::new(),
            failed: HashSet::new(),
            paused: false,
            stopped: false,
            has_enough: false,
            finished: false,
            ended: Times {
                clock: now,
                real: now,
            },
            begun: now,
            wrong_clock,
            read: 0,
            wakes: (0, 0),
        }
    }

    /// Takes in an event that is about to be told to the core.
    pub fn event(&mut self, event: &Event<()>, around: &mut Around<'_>) {
        let now = around.now.clock;
        if let Some(bucket) = &mut self.bucket {
            bucket.fill(now);
        }
        match event {
            Event::Woken => {
                let (second, count) = self.wakes;
                let same = second == now.unix_seconds();
                self.wakes = (now.unix_seconds(), if same { count + 1 } else { 1 });
                check!(self.wakes.1 < WAKES, "{WAKES} wake-ups within a second");
            }
            Event::PagesLoaded { visit, pages, .. } => {
                self.ends(*visit, around);
                let pages = pages.iter().map(|stored| stored.key.page);
                pages.for_each(|page| assert!(self.loading_pages.remove(&page)));
            }
            Event::HistoriesLoaded(histories) => {
                let pages = histories.iter().map(|(key, _)| key.page);
                pages.for_each(|page| assert!(self.loading_histories.remove(&page)));
            }
            Event::VisitsLoaded(visits) => {
                let pages = visits.iter().map(|(key, _)| key.page);
                pages.for_each(|page| assert!(self.loading_visits.remove(&page)));
            }
            Event::Resolved { visit, address } => {
                self.ends(*visit, around);
                let visiting = self.visits.entry(*visit).or_default();
                match address {
                    Ok(address) => {
                        let host = visiting.host.expect("a host");
                        let server = address.map_or(ServerKey::Host(host), ServerKey::Address);
                        visiting.server = Some(server);
                        visiting.awaits = Awaits::Route;
                    }
                    Err(_) => self.failed.extend(visiting.host),
                }
            }
            Event::Connected { visit, opened } => {
                self.ends(*visit, around);
                let host = self.visits[visit].host;
                self.failed.extend(host.filter(|_| opened.is_err()));
            }
            Event::RulesArrived {
                visit,
                file,
                retry_after,
                ..
            } => {
                self.spend(now, false);
                let awaited = self.ends(*visit, around);
                let Awaits::Rules(url, at) = awaited else {
                    panic!("rules come that were not asked for: {awaited:?}")
                };
                let site = around.web.site(url.host()).expect("a site");
                let wait = match (file, retry_after) {
                    (RobotsFile::Found { .. }, _) => Wait::SinceRequest(site.crawl_delay),
                    (_, Some(wait)) => Wait::SinceAnswer(*wait),
                    (_, None) => Wait::SinceRequest(Duration::ZERO),
                };
                if let RobotsFile::Unavailable = file {
                    self.failed.extend([url.host()]);
                }
                self.learned(*visit, at, (wait, None), around);
            }
            Event::Probed { visit, reply, .. } => {
                self.spend(now, false);
                let awaited = self.ends(*visit, around);
                let Awaits::Probe(at) = awaited else {
                    panic!("a probe comes that was not made: {awaited:?}")
                };
                if let Some(reply) = reply {
                    self.learned(*visit, at, (refusal(reply), None), around);
                }
            }
            Event::Answered {
                visit,
                page,
                answer,
                ..
            } => self.answered(*visit, *page, answer, around),
            Event::Committed { requests, .. } => self.uncommitted -= requests,
            Event::BudgetChanged(per_second) => {
                if let Some(bucket) = &mut self.bucket {
                    bucket.per_second = *per_second;
                }
            }
            Event::Paused(paused) => self.paused = *paused,
            Event::Stopped => self.stopped = true,
            Event::ConnectionClosed(_) | Event::Offered(_) | Event::Searched(_) => {}
        }
    }

    fn answered(
        &mut self,
        id: VisitId,
        page: Number,
        answer: &Answered<()>,
        around: &mut Around<'_>,
    ) {
        let visiting = self.visits.get_mut(&id).expect("a visit");
        if let Answered::Closed { .. } = answer {
            visiting.held = true;
            let server = visiting.server.expect("a server");
            around
                .polite
                .retract(server, (self.node, id), visiting.requested);
            self.ends(id, around);
            return;
        }
        let claim = visiting
            .asked
            .remove(&page)
            .expect("a page that was asked for");
        let (at, scope) = (visiting.requested, visiting.scope.clone());
        match answer {
            Answered::Page(judged) => {
                let fetched = matches!(judged.reply.status, 200..=299 | 304);
                self.returned += u64::from(!fetched);
                let wait = refusal(&judged.reply);
                self.learned(id, at, (wait, Some(claim.key)), around);
                let scope = scope.expect("the scope of a request");
                self.tell(&claim, judged, &scope);
            }
            Answered::Failed { .. } => {
                self.returned += 1;
                self.failed.insert(claim.url.host());
            }
            Answered::Unanswered => self.give_back(1),
            Answered::Closed { .. } => {}
        }
        if self.visits[&id].asked.is_empty() {
            self.ends(id, around);
        }
    }

    /// Remembers which links a page has that belong to the crawl.
    fn tell(&mut self, claim: &Claim, judged: &Judged<()>, scope: &Scope) {
        let depth = claim.discovery.depth + 1;
        let leads = judged.verdict.leads.iter().map(|lead| &lead.url);
        let inside = leads.filter(|url| scope.judge(url, depth).is_ok());
        let asked = judged.verdict.visited.history.asked.expect("a visit");
        let links = inside.cloned().collect();
        self.told.insert((claim.key.page, asked), links);
    }

    /// Takes in what an action that is about to be carried out means, and whether it is allowed. `line` is the
    /// connection that it uses.
    pub fn action(&mut self, action: &Action<()>, line: Option<&Line>, around: &mut Around<'_>) {
        check!(!self.finished, "after the end of the crawl: {action:?}");
        match action {
            Action::LoadPages { visit, pages, .. } => {
                self.begins(*visit, Awaits::Pages, action);
                for key in pages {
                    let new = self.loading_pages.insert(key.page);
                    check!(new, "{key:?} is loaded twice at once");
                }
            }
            Action::LoadHistories(pages) => {
                for key in pages {
                    let new = self.loading_histories.insert(key.page);
                    check!(new, "the history of {key:?} is loaded twice at once");
                }
            }
            Action::LoadVisits(pages) => {
                for key in pages {
                    let new = self.loading_visits.insert(key.page);
                    check!(new, "the visit to {key:?} is loaded twice at once");
                }
            }
            Action::Resolve { visit, url } => {
                self.begins(*visit, Awaits::Address, action);
                self.visits.entry(*visit).or_default().host = Some(url.host());
            }
            Action::Connect {
                visit, connection, ..
            } => {
                check!(
                    connection.0 == self.connections,
                    "{connection:?} is not new"
                );
                self.connections += 1;
                let visiting = self.visits.entry(*visit).or_default();
                check!(visiting.awaits == Awaits::Route, "no address: {action:?}");
                visiting.awaits = Awaits::Connection;
                let server = visiting.server.expect("a server");
                around
                    .polite
                    .enter(server, self.node, *visit, self.plan.per_server);
            }
            Action::Abandon(visit) => {
                let visiting = self.visits.remove(visit);
                let routed = visiting.is_some_and(|visiting| visiting.awaits == Awaits::Route);
                check!(routed, "{visit:?} has no address to forget");
            }
            Action::AskRules {
                visit,
                url,
                distance,
                ..
            } => {
                let awaits = Awaits::Rules(url.clone(), around.now.clock);
                self.begins(*visit, awaits, action);
                let fact = AnswerFact::Rules(PageKey::of(url), None);
                let line = used(line, url.host());
                self.request(
                    *visit,
                    line,
                    distance.as_ref(),
                    Duration::ZERO,
                    fact,
                    around,
                );
            }
            Action::Probe {
                visit,
                url,
                distance,
                ..
            } => {
                self.begins(*visit, Awaits::Probe(around.now.clock), action);
                check!(
                    self.plan.is_continuous(),
                    "a crawl that ends makes no probe"
                );
                let line = used(line, url.host());
                let least = self.crawl_delay(url, around);
                self.request(
                    *visit,
                    line,
                    distance.as_ref(),
                    least,
                    AnswerFact::None,
                    around,
                );
            }
            Action::Get(get) => self.get(get, line, around),
            Action::Offer(offers) => {
                self.offered
                    .extend(offers.iter().map(|offer| offer.url.id()));
            }
            Action::Finish => (self.finished, self.ended) = (true, around.now),
            Action::Commit(Work::Pages(records)) => {
                records
                    .iter()
                    .for_each(|record| check_record(record, around.web));
            }
            Action::Close(_)
            | Action::Keep(_)
            | Action::Commit(_)
            | Action::Note(_)
            | Action::WakeAt(_) => {}
        }
    }

    fn get(&mut self, get: &Get, line: Option<&Line>, around: &mut Around<'_>) {
        let first = get.requests.first().expect("a page to ask for");
        let line = used(line, first.claim.url.host());
        let visiting = self.visits.entry(get.visit).or_default();
        let again = visiting.held;
        let pages: BTreeMap<Number, Arc<Claim>> = (get.requests.iter())
            .map(|request| (request.claim.number, Arc::clone(&request.claim)))
            .collect();
        check!(
            pages.len() == get.requests.len(),
            "a page is asked for twice at once"
        );
        if again {
            check!(
                visiting.asked.keys().eq(pages.keys()),
                "other pages than before"
            );
            visiting.held = false;
        } else {
            self.begins(get.visit, Awaits::Answers, &Action::Offer(Vec::new()));
        }
        let visiting = self.visits.entry(get.visit).or_default();
        visiting.awaits = Awaits::Answers;
        (visiting.at, visiting.scope) = (get.at, Some(Arc::clone(&get.scope)));
        visiting.asked = pages;
        check!(
            get.requests.len() <= self.plan.width,
            "too many pages at once"
        );
        for request in &get.requests {
            self.check_claim(&request.claim, around);
            if !again {
                self.spend(around.now.clock, true);
                self.granted += 1;
                self.uncommitted += 1;
            }
        }
        let most = self.plan.at_risk();
        check!(
            self.uncommitted <= most,
            "{} requests at risk",
            self.uncommitted
        );
        let under_way = self.granted - self.returned;
        let limit = self.limit.unwrap_or(u64::MAX);
        check!(
            under_way <= limit,
            "{under_way} pages of {limit} are fetched"
        );
        let fact = AnswerFact::Page(first.claim.key, get.at);
        let least = self.crawl_delay(&first.claim.url, around);
        self.request(get.visit, line, get.distance.as_ref(), least, fact, around);
    }

    /// Checks that what is known of a page that is asked for is the last that is known, and that it may be asked for.
    fn check_claim(&self, claim: &Claim, around: &Around<'_>) {
        check!(self.plan.ours.has(&claim.url), "{} is not ours", claim.url);
        let Some(stored) = around.ledger.visited(claim.key) else {
            return;
        };
        let (before, stored) = (claim.history(), stored.history);
        check!(
            self.wrong_clock || before.asked >= stored.asked,
            "{} is asked for with what was known at {:?}, not {:?}",
            claim.url,
            before.asked,
            stored.asked
        );
        check!(
            self.wrong_clock
                || before.asked != stored.asked
                || before.signals.last >= stored.signals.last,
            "{} is asked for without the hint of {:?}",
            claim.url,
            stored.signals.last
        );
        let again = self.plan.is_continuous()
            || before.outcome == Some(Outcome::Unreachable)
            || self.is_old(&before);
        check!(again, "{} was committed, and is asked for again", claim.url);
    }

    /// Whether a page is to be fetched again by this run because of its age.
    fn is_old(&self, history: &History) -> bool {
        let old = |asked: Moment, age| self.wrong_clock || asked + age <= self.begun;
        match (self.plan.again, history.asked) {
            (Again::OlderThan(age), Some(asked)) => old(asked, age),
            _ => false,
        }
    }

    /// The delay that robots.txt asks for.
    fn crawl_delay(&self, url: &PageUrl, around: &Around<'_>) -> Duration {
        around.web.site(url.host()).expect("a site").crawl_delay
    }

    fn request(
        &mut self,
        visit: VisitId,
        line: &Line,
        distance: Option<&Distance>,
        least: Duration,
        fact: AnswerFact,
        around: &mut Around<'_>,
    ) {
        let (server, loopback) = match self.plan.proxied {
            true => (ServerKey::Host(line.host), false),
            false => (ServerKey::Address(line.address), line.address.is_loopback()),
        };
        let usual = Duration::from_secs(u64::from(!loopback));
        let due = self.plan.delay.unwrap_or(usual).max(least);
        let kept = distance.map_or(Duration::ZERO, |distance| distance.facts.wait);
        check!(
            kept >= due,
            "a delay of {due:?} is due to {}, not {kept:?}",
            line.host.0
        );
        if let Some(distance) = distance {
            check!(
                distance.facts.asked == around.now.clock,
                "asked now: {distance:?}"
            );
            check!(
                distance.server == server,
                "asked is {server:?}: {distance:?}"
            );
        }
        let visiting = self.visits.entry(visit).or_default();
        (visiting.server, visiting.requested) = (Some(server), around.now.clock);
        let seats = self.plan.per_server;
        around.polite.enter(server, self.node, visit, seats);
        around
            .polite
            .request(server, (self.node, visit), around.now, kept, seats, fact);
    }

    /// Takes in that the answer to a request asks for the server to be left alone.
    fn learned(
        &self,
        visit: VisitId,
        at: Moment,
        wait: (Wait, Option<PageKey>),
        around: &mut Around<'_>,
    ) {
        let visiting = self.visits.get(&visit).expect("a visit");
        let server = visiting.server.expect("a server");
        let by = (self.node, visit);
        around.polite.answered(server, (by, at), wait, around.now);
    }

    /// Takes in what the core makes of an event, before anything of it is carried out.
    pub fn stepped(&mut self, of_visit: Option<VisitId>, actions: &[Action<()>]) {
        let Some(id) = of_visit else { return };
        let goes_on = |action: &Action<()>| match action {
            Action::Connect { visit, .. } => *visit == id,
            Action::Get(get) => get.visit == id,
            Action::Resolve { visit, .. } => *visit == id,
            _ => false,
        };
        let Some(visiting) = self.visits.get_mut(&id) else {
            return;
        };
        if visiting.held && !actions.iter().any(goes_on) {
            let left = visiting.asked.len();
            (visiting.held, visiting.asked) = (false, BTreeMap::new());
            self.give_back(left);
        }
    }

    /// Takes in whether the core has stopped by itself, once what it wanted before is under way.
    pub fn look_for_stop(&mut self, core: &mut Core<()>) {
        let tally = core.tally();
        let read = tally.pages + tally.unchanged;
        let more = std::mem::replace(&mut self.read, read) < read;
        let report = core.frontier().policy().report();
        let enough = self.is_enough(&report);
        if core.mode() == Mode::Stopping && !self.stopped {
            check!(enough, "the crawl stops without a reason: {report:?}");
            (self.stopped, self.has_enough) = (true, true);
        }
        check!(
            self.stopped || !more || !enough,
            "the crawl goes on: {report:?}"
        );
    }

    fn is_enough(&self, report: &Report) -> bool {
        let covered = report.coverage.zip(self.plan.stop_coverage);
        let found = report.found.zip(self.plan.until_found);
        covered.is_some_and(|(have, want)| have >= want)
            || found.is_some_and(|(have, want)| have >= want)
    }

    /// Checks the core after an event.
    pub fn check(&self, core: &Core<()>, lines: usize) {
        check!(
            core.uncommitted() == self.uncommitted,
            "{} requests are not committed, by the core's count {}",
            self.uncommitted,
            core.uncommitted()
        );
        let most = self.plan.connections;
        check!(core.visits() <= most, "{} visits", core.visits());
        check!(lines <= most, "{lines} connections");
    }

    /// Checks what was committed.
    pub fn committed(&mut self, group: &Group, before: &MemoryLedger, after: &MemoryLedger) {
        if !self.wrong_clock {
            check_hints(group, before);
        }
        for fact in &group.facts {
            let Entry::Visited(key, visited) = fact else {
                continue;
            };
            check!(
                after.discovery(*key).is_some(),
                "{key:?} was never discovered"
            );
            let earlier = before.visited(*key).map(|earlier| earlier.history);
            let newer = earlier.is_none_or(|earlier| earlier.asked <= visited.history.asked);
            check!(
                self.wrong_clock || newer,
                "{key:?} is replaced by an older visit"
            );
        }
        for (key, asked) in &group.visits {
            let asked = asked.expect("a visit");
            for url in self.told.remove(&(key.page, asked)).into_iter().flatten() {
                let known = match self.plan.ours.has(&url) {
                    true => after.discovery(PageKey::of(&url)).is_some(),
                    false => self.offered.contains(&url.id()),
                };
                check!(known, "{url} is lost, which {key:?} links to");
            }
        }
    }

    /// Checks a crawl that has come to its end, and whose facts are committed.
    pub fn check_end(&self, core: &mut Core<()>, around: &mut Around<'_>) {
        check!(core.visits() == 0, "visits are not settled");
        check!(
            self.uncommitted == 0,
            "{} requests are not committed",
            self.uncommitted
        );
        let fetched = self.granted - self.returned;
        let left = self.limit.map(|limit| limit - fetched);
        check!(
            core.pages_left() == left,
            "{left:?} pages are left, not {:?}",
            core.pages_left()
        );
        check_ledger(around.ledger);
        for known in around.ledger.pages().filter_map(Result::ok) {
            let record = core.uncommitted_record(known.key.page);
            check!(record.is_none(), "{} is not committed", known.discovery.url);
        }
        let ended = !self.stopped && left != Some(0) && !self.plan.is_continuous();
        if !ended {
            return;
        }
        // A crawl of old pages tries those once more that did not answer in an earlier run.
        let ages = matches!(self.plan.again, Again::OlderThan(_));
        let (mut unsettled, mut perhaps) = (Vec::new(), 0);
        for known in around.ledger.pages().filter_map(Result::ok) {
            let again = |history: &History| {
                let unreachable = history.outcome == Some(Outcome::Unreachable);
                unreachable && self.plan.retry.due(history).is_some()
                    || self.is_old(history) && !self.wrong_clock
            };
            let tried_again = |history: &History| {
                let unreachable = history.outcome == Some(Outcome::Unreachable);
                unreachable && history.asked < Some(self.begun)
            };
            let visited = known.visited.as_ref().map(|visited| &visited.history);
            if let Some(history) = visited.filter(|history| !again(history)) {
                perhaps += usize::from(ages && tried_again(history));
                continue;
            }
            unsettled.push(known.discovery.url.clone());
            let (page, host) = (known.key.page, known.key.page.host());
            let number = core.frontier().number(page).expect("a number");
            let waits = core.frontier().bench.standing(number, host).is_some();
            let why = match waits {
                true => self.wrong_clock || around.polite.rests_long(around.ledger, self.ended),
                false => {
                    self.failed.contains(&host)
                        || self.plan.pages_per_host < u32::MAX
                        || self.plan.domains.is_some()
                        // Links of pages that are not of the topic are worth nothing.
                        || self.plan.until_found.is_some()
                }
            };
            check!(why, "{} is left without a reason", known.discovery.url);
        }
        let frontier = core.frontier();
        let waiting = frontier.waiting() + frontier.bench.left_alone();
        check!(
            (unsettled.len()..=unsettled.len() + perhaps).contains(&waiting)
                || self.wrong_clock
                || self.plan.until_found.is_some(),
            "{waiting} pages wait, and these are not settled: {unsettled:?}"
        );
    }

    fn spend(&mut self, now: Moment, must_have: bool) {
        if let Some(bucket) = &mut self.bucket {
            bucket.fill(now);
            check!(
                !must_have || bucket.saved >= 1.0 - 1e-3,
                "a page is asked for with {} fetches saved",
                bucket.saved
            );
            bucket.saved -= 1.0;
        }
    }

    /// Takes in that so many requests were not made after all.
    fn give_back(&mut self, requests: usize) {
        self.uncommitted -= requests;
        self.returned += requests as u64;
        if let Some(bucket) = &mut self.bucket {
            bucket.saved += requests as f64;
        }
    }

    /// Takes in that a visit waits for something.
    fn begins(&mut self, visit: VisitId, awaits: Awaits, action: &Action<()>) {
        let visiting = self.visits.entry(visit).or_default();
        let before = &visiting.awaits;
        check!(
            *before == Awaits::Nothing,
            "{visit:?} awaits {before:?}, and more: {action:?}"
        );
        let new = !visiting.held;
        check!(!(new && self.stopped), "after the stop: {action:?}");
        check!(!(new && self.paused), "in a pause: {action:?}");
        visiting.awaits = awaits;
    }

    /// Takes in that what a visit waited for has come. Returns what it was.
    fn ends(&mut self, visit: VisitId, around: &mut Around<'_>) -> Awaits {
        around.polite.leave(self.node, visit);
        let visiting = self.visits.get_mut(&visit).expect("a visit that waits");
        std::mem::replace(&mut visiting.awaits, Awaits::Nothing)
    }
}

/// Checks that each hint that is committed is news to the record that it is about: that one was asked for before the
/// page is said to have changed.
fn check_hints(group: &Group, ledger: &MemoryLedger) {
    let mut newer: HashMap<PageKey, Moment> = HashMap::new();
    for fact in &group.facts {
        match fact {
            Entry::Visited(key, visited) => {
                newer.extend(visited.history.asked.map(|asked| (*key, asked)));
            }
            Entry::Signalled(key, at) => {
                let stored = ledger.visited(*key);
                let stored = stored.and_then(|stored| stored.history.asked);
                let asked = newer.get(key).copied().or(stored);
                let news = asked.is_some_and(|asked| asked < *at);
                check!(
                    news,
                    "{key:?} was asked for at {asked:?}, and {at:?} is no news"
                );
            }
            _ => {}
        }
    }
}

/// Checks that a page is found by search, and its links are followed, only if the page says so.
fn check_record(record: &Record<()>, web: &Web) {
    let directive = web.directive(record.key.page);
    let copy = record.visited.copy.as_ref();
    let indexed = copy.is_some_and(|copy| copy.indexed);
    check!(
        record.text.is_none() || indexed && !record.gone,
        "{} has a text, and is not found",
        record.url
    );
    check!(
        !indexed || !directive.hides(),
        "{} is found in spite of {directive:?}",
        record.url
    );
    let followed = record.admitted.iter().any(
        |fact| matches!(fact, Entry::Admitted(_, found) if found.source == Some(record.key.page)),
    );
    check!(
        !followed || directive != Directive::NoFollow,
        "links of {} are followed in spite of {directive:?}",
        record.url
    );
}

/// The connection that a request uses.
fn used(line: Option<&Line>, host: HostId) -> &Line {
    let line = line.expect("a connection that is open");
    check!(!line.in_use, "the connection is in use");
    check!(line.host == host, "the connection is to another host");
    line
}

/// Checks that numbers of pages are unique and dense, and that links lead to pages that are known.
pub fn check_ledger(ledger: &MemoryLedger) {
    let pages = ledger.pages().filter_map(Result::ok);
    let mut numbers: Vec<u64> = pages.map(|known| known.discovery.order).collect();
    numbers.sort_unstable();
    let count = numbers.len() as u64;
    check!(
        numbers.into_iter().eq(0..count),
        "numbers of pages are not dense"
    );
    for (key, links) in ledger.links().filter_map(Result::ok) {
        let last = links.links().last();
        let known = last.is_none_or(|(to, _)| u64::from(to) < count);
        check!(known, "{key:?} links to a page that is not known");
    }
}
