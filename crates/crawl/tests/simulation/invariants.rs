//! Invariants of every crawl, checked while it runs against a model of what the core may do.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crawl::{
    Action, Again, Answered, Claim, Core, Distance, Event, Get, Judged, Mode, Plan, RobotsFile,
    Scope, VisitId, Work,
};
use frontier::{Entry, Facts, MemoryLedger, PageKey, ServerKey};
use page::{HostId, PageId, PageUrl};
use policy::{History, Moment, Number, Outcome, Policy, Report};

use crate::budget::ModelBucket;
use crate::disk::WrittenGroup;
use crate::network::{SimConnection, used};
use crate::politeness::{AnswerFact, ClockPair, Politeness, RequiredPause, refusal};
use crate::records::{check_hints, check_ledger, check_record};
use crate::web::SimWeb;

/// A core must wake up fewer times than this in one simulated second.
const WAKES: u32 = 1_000;

/// What a visit waits for.
#[derive(Debug, Clone, PartialEq)]
enum Awaits {
    Nothing,
    Pages,
    Address,
    /// The next action must be to connect, or the visit ends.
    Route,
    Connection,
    Rules(PageUrl, Moment),
    Probe(Moment),
    /// Answers to requests for pages.
    Answers,
}

/// A visit under way.
struct ModelVisit {
    awaits: Awaits,
    /// The resolved server, or the one that its request went to.
    server: Option<ServerKey>,
    /// The host that was resolved.
    host: Option<HostId>,
    /// Pages that were requested and not answered.
    asked: BTreeMap<Number, Arc<Claim>>,
    /// When the last request was made.
    requested: Moment,
    scope: Option<Arc<Scope>>,
    /// Whether the request for the pages in `asked` found the connection closed. They may then be
    /// requested again.
    held: bool,
}

impl Default for ModelVisit {
    fn default() -> Self {
        Self {
            awaits: Awaits::Nothing,
            server: None,
            host: None,
            asked: BTreeMap::new(),
            requested: Moment::START,
            scope: None,
            held: false,
        }
    }
}

/// The state that an action is checked against.
pub struct CheckContext<'a> {
    pub web: &'a SimWeb,
    pub ledger: &'a MemoryLedger,
    pub polite: &'a mut Politeness,
    pub now: ClockPair,
}

/// A model of one run of a core.
pub struct CoreModel {
    node: usize,
    plan: Plan,
    visits: BTreeMap<VisitId, ModelVisit>,
    connections: u64,
    loading_histories: HashSet<PageId>,
    loading_visits: HashSet<PageId>,
    loading_pages: HashSet<PageId>,
    /// Number of requests that are not committed.
    uncommitted: usize,
    bucket: Option<ModelBucket>,
    /// Maximum number of pages that may be fetched.
    limit: Option<u64>,
    /// Number of pages that were requested.
    granted: u64,
    /// Number of requested pages that do not count against the limit: their requests failed, were
    /// not made, or had a status other than 2xx and 304.
    returned: u64,
    /// Links that must be committed with a visit, by page and moment of the request.
    expected_links: HashMap<(PageId, Moment), Vec<PageUrl>>,
    offered: HashSet<PageId>,
    /// Hosts that had a failure.
    failed: HashSet<HostId>,
    /// Whether the operator has paused the crawl: no new work may start.
    paused: bool,
    pub stopped: bool,
    /// Whether the crawl stopped by itself because it reached its stop condition.
    pub has_enough: bool,
    pub finished: bool,
    /// When it ended.
    ended: ClockPair,
    /// When the run began.
    begun: Moment,
    /// Whether the clock jumps. The order of moments is not the order of events then.
    wrong_clock: bool,
    /// Number of pages that were read.
    read: u64,
    /// The last second, and the number of wake-ups in it.
    wakes: (i64, u32),
}

impl CoreModel {
    /// Returns the model of a run that begins now and may fetch up to `limit` pages.
    pub fn new(
        node: usize,
        plan: Plan,
        limit: Option<u64>,
        now: Moment,
        wrong_clock: bool,
    ) -> Self {
        let bucket = match plan.again {
            Again::Always { budget } => Some(ModelBucket::new(budget, now)),
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
            expected_links: HashMap::new(),
            offered: HashSet::new(),
            failed: HashSet::new(),
            paused: false,
            stopped: false,
            has_enough: false,
            finished: false,
            ended: ClockPair {
                clock: now,
                real: now,
            },
            begun: now,
            wrong_clock,
            read: 0,
            wakes: (0, 0),
        }
    }

    /// Processes an event before the core does.
    pub fn event(&mut self, event: &Event<()>, context: &mut CheckContext<'_>) {
        let now = context.now.clock;
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
                self.ends(*visit, context);
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
                self.ends(*visit, context);
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
                self.ends(*visit, context);
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
                let awaited = self.ends(*visit, context);
                let Awaits::Rules(url, at) = awaited else {
                    panic!("a robots.txt arrives that was not requested: {awaited:?}")
                };
                let site = context.web.site(url.host()).expect("a site");
                let wait = match (file, retry_after) {
                    (RobotsFile::Found { .. }, _) => RequiredPause::SinceRequest(site.crawl_delay),
                    (_, Some(wait)) => RequiredPause::SinceAnswer(*wait),
                    (_, None) => RequiredPause::SinceRequest(Duration::ZERO),
                };
                if let RobotsFile::Unavailable = file {
                    self.failed.extend([url.host()]);
                }
                self.learned(*visit, at, (wait, None), context);
            }
            Event::Probed { visit, reply, .. } => {
                self.spend(now, false);
                let awaited = self.ends(*visit, context);
                let Awaits::Probe(at) = awaited else {
                    panic!("an answer arrives to a probe that was not made: {awaited:?}")
                };
                if let Some(reply) = reply {
                    self.learned(*visit, at, (refusal(reply), None), context);
                }
            }
            Event::Answered {
                visit,
                page,
                answer,
                ..
            } => self.answered(*visit, *page, answer, context),
            Event::Committed { requests, .. } => self.uncommitted -= requests,
            Event::BudgetChanged(per_second) => {
                if let Some(bucket) = &mut self.bucket {
                    bucket.per_second = *per_second;
                }
            }
            Event::Paused(paused) => self.paused = *paused,
            Event::Stopped => self.stopped = true,
            Event::ConnectionClosed(_)
            | Event::Offered(_)
            | Event::Mark(_)
            | Event::AddressesShared(_)
            | Event::Searched(_) => {}
        }
    }

    fn answered(
        &mut self,
        id: VisitId,
        page: Number,
        answer: &Answered<()>,
        context: &mut CheckContext<'_>,
    ) {
        let visiting = self.visits.get_mut(&id).expect("a visit");
        if let Answered::Closed { sent } = answer {
            visiting.held = true;
            let server = visiting.server.expect("a server");
            context
                .polite
                .closed(server, ((self.node, id), visiting.requested), *sent);
            self.ends(id, context);
            return;
        }
        let claim = visiting
            .asked
            .remove(&page)
            .expect("the page was requested");
        let (at, scope) = (visiting.requested, visiting.scope.clone());
        match answer {
            Answered::Page(judged) => {
                let fetched = matches!(judged.reply.status, 200..=299 | 304);
                self.returned += u64::from(!fetched);
                let wait = refusal(&judged.reply);
                self.learned(id, at, (wait, Some(claim.key)), context);
                let scope = scope.expect("the scope of a request");
                self.expect_links(&claim, judged, &scope);
            }
            Answered::Failed { .. } => {
                self.returned += 1;
                self.failed.insert(claim.url.host());
            }
            Answered::Unanswered => self.give_back(1),
            Answered::Closed { .. } => {}
        }
        if self.visits[&id].asked.is_empty() {
            self.ends(id, context);
        }
    }

    /// Records the links of a page that are in scope.
    fn expect_links(&mut self, claim: &Claim, judged: &Judged<()>, scope: &Scope) {
        let depth = claim.discovery.depth + 1;
        let leads = judged.verdict.leads.iter().map(|lead| &lead.url);
        let inside = leads.filter(|url| scope.judge(url, depth).is_ok());
        let asked = judged.verdict.visited.history.asked.expect("a visit");
        let links = inside.cloned().collect();
        self.expected_links.insert((claim.key.page, asked), links);
    }

    /// Checks and processes an action before it is carried out. `line` is the connection that
    /// it uses.
    pub fn action(
        &mut self,
        action: &Action<()>,
        line: Option<&SimConnection>,
        context: &mut CheckContext<'_>,
    ) {
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
                context
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
                let awaits = Awaits::Rules(url.clone(), context.now.clock);
                self.begins(*visit, awaits, action);
                let fact = AnswerFact::Rules(PageKey::of(url), None);
                let line = used(line, url.host());
                self.request(
                    *visit,
                    line,
                    distance.as_ref(),
                    Duration::ZERO,
                    fact,
                    context,
                );
            }
            Action::Probe {
                visit,
                url,
                distance,
                ..
            } => {
                self.begins(*visit, Awaits::Probe(context.now.clock), action);
                check!(
                    self.plan.is_continuous(),
                    "a crawl that ends makes no probe"
                );
                let line = used(line, url.host());
                let least = self.crawl_delay(url, context);
                self.request(
                    *visit,
                    line,
                    distance.as_ref(),
                    least,
                    AnswerFact::None,
                    context,
                );
            }
            Action::Get(get) => self.get(get, line, context),
            Action::Offer(offers) => {
                self.offered
                    .extend(offers.iter().map(|offer| offer.url.id()));
            }
            Action::Finish => (self.finished, self.ended) = (true, context.now),
            Action::Commit(Work::Pages(records)) => {
                records
                    .iter()
                    .for_each(|record| check_record(record, context.web));
            }
            Action::Close(_)
            | Action::Keep(_)
            | Action::Reached(_)
            | Action::Commit(_)
            | Action::Note(_)
            | Action::WakeAt(_) => {}
        }
    }

    fn get(&mut self, get: &Get, line: Option<&SimConnection>, context: &mut CheckContext<'_>) {
        let first = get
            .requests
            .first()
            .expect("a request names at least one page");
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
            context.polite.repeat((self.node, get.visit));
        } else {
            self.begins(get.visit, Awaits::Answers, &Action::Offer(Vec::new()));
        }
        let visiting = self.visits.entry(get.visit).or_default();
        visiting.awaits = Awaits::Answers;
        visiting.scope = Some(Arc::clone(&get.scope));
        visiting.asked = pages;
        check!(
            get.requests.len() <= self.plan.width,
            "too many pages at once"
        );
        for request in &get.requests {
            self.check_claim(&request.claim, context);
            if !again {
                self.spend(context.now.clock, true);
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
        let least = self.crawl_delay(&first.claim.url, context);
        self.request(get.visit, line, get.distance.as_ref(), least, fact, context);
    }

    /// Checks that a claim holds the newest known record, and that the page may be requested.
    fn check_claim(&self, claim: &Claim, context: &CheckContext<'_>) {
        check!(self.plan.ours.has(&claim.url), "{} is not ours", claim.url);
        let Some(stored) = context.ledger.visited(claim.key) else {
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

    /// Returns whether a page is so old that this run fetches it again.
    fn is_old(&self, history: &History) -> bool {
        let old = |asked: Moment, age| self.wrong_clock || asked + age <= self.begun;
        match (self.plan.again, history.asked) {
            (Again::OlderThan(age), Some(asked)) => old(asked, age),
            _ => false,
        }
    }

    /// Returns the crawl delay of robots.txt.
    fn crawl_delay(&self, url: &PageUrl, context: &CheckContext<'_>) -> Duration {
        context.web.site(url.host()).expect("a site").crawl_delay
    }

    fn request(
        &mut self,
        visit: VisitId,
        line: &SimConnection,
        distance: Option<&Distance>,
        least: Duration,
        fact: AnswerFact,
        context: &mut CheckContext<'_>,
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
                distance.facts.asked == context.now.clock,
                "asked now: {distance:?}"
            );
            check!(
                distance.server == server,
                "asked is {server:?}: {distance:?}"
            );
        }
        let visiting = self.visits.entry(visit).or_default();
        (visiting.server, visiting.requested) = (Some(server), context.now.clock);
        let seats = self.plan.per_server;
        let burst = if least.is_zero() { self.plan.burst } else { 1 };
        let pauses = (kept, due, burst);
        context.polite.enter(server, self.node, visit, seats);
        context
            .polite
            .request(server, (self.node, visit), context.now, pauses, seats, fact);
    }

    /// Records the pause that the answer to a request requires.
    fn learned(
        &self,
        visit: VisitId,
        at: Moment,
        wait: (RequiredPause, Option<PageKey>),
        context: &mut CheckContext<'_>,
    ) {
        let visiting = self.visits.get(&visit).expect("a visit");
        let server = visiting.server.expect("a server");
        let by = (self.node, visit);
        context.polite.answered(server, (by, at), wait, context.now);
    }

    /// Processes the core's reaction to an event, before its actions are carried out.
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

    /// Checks whether the core has stopped by itself, and whether it had to.
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

    /// Checks the counts of the core after an event.
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
    pub fn committed(&mut self, group: &WrittenGroup, before: &MemoryLedger, after: &MemoryLedger) {
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
            for url in self
                .expected_links
                .remove(&(key.page, asked))
                .into_iter()
                .flatten()
            {
                let known = match self.plan.ours.has(&url) {
                    true => after.discovery(PageKey::of(&url)).is_some(),
                    false => self.offered.contains(&url.id()),
                };
                check!(known, "{url} is lost, which {key:?} links to");
            }
        }
    }

    /// Checks a crawl that has ended and whose facts are committed.
    pub fn check_end(&self, core: &mut Core<()>, context: &mut CheckContext<'_>) {
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
        check_ledger(context.ledger);
        for known in context.ledger.pages().filter_map(Result::ok) {
            let record = core.uncommitted_record(known.key.page);
            check!(record.is_none(), "{} is not committed", known.discovery.url);
        }
        let ended = !self.stopped && left != Some(0) && !self.plan.is_continuous();
        if !ended {
            return;
        }
        // A run that fetches old pages retries those that did not answer in an earlier run.
        let ages = matches!(self.plan.again, Again::OlderThan(_));
        let (mut unsettled, mut perhaps) = (Vec::new(), 0);
        for known in context.ledger.pages().filter_map(Result::ok) {
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
                true => self.wrong_clock || context.polite.rests_long(context.ledger, self.ended),
                false => {
                    self.failed.contains(&host)
                        || self.plan.pages_per_host < u32::MAX
                        || self.plan.domains.is_some()
                        // Links of pages off the topic have no worth.
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
            bucket.spend(now, must_have);
        }
    }

    /// Records that requests were not made after all: they no longer count, and their tokens are
    /// available again.
    fn give_back(&mut self, requests: usize) {
        self.uncommitted -= requests;
        self.returned += requests as u64;
        if let Some(bucket) = &mut self.bucket {
            bucket.give_back(requests);
        }
    }

    /// Records what a visit waits for.
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

    /// Records that a visit no longer waits. Returns what it waited for.
    fn ends(&mut self, visit: VisitId, context: &mut CheckContext<'_>) -> Awaits {
        context.polite.leave(self.node, visit);
        let visiting = self.visits.get_mut(&visit).expect("a visit that waits");
        std::mem::replace(&mut visiting.awaits, Awaits::Nothing)
    }
}
