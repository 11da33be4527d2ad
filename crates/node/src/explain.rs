//! Explains how a page was discovered, why it was not fetched, what it is worth and when it is due.
//!
//! For a store at rest, the frontier is restored from the ledger, with the policies, the scope and
//! the budgets of the last crawl. Retries, pages per host and the limits on URLs have their default
//! values. For a running crawl, see `engine/page_explanation.rs`.

mod findable;
mod report;
pub mod sources;
mod topic_opinion;

use std::net::IpAddr;

use anyhow::Result;
use frontier::bench::Manners;
use frontier::{
    Discovery, DomainAccount, Frontier, HostFacts, PageKey, Present, RobotsFact, Standing, Visited,
};
use ledger::Ledger;
use page::PageUrl;
use page::Robots;
use page::url::traps::Rules;
use policy::retry::Retry;
use policy::{Crawl, History, Moment, Number, Page, Policy, Price};

use crate::clock::written;
use crate::forget::ForgetLog;
use crate::recovery::{self, searches};
use crate::settings::Usage;
use crate::settings::last_crawl::LastCrawl;
use crate::settings::policies::PolicySettings;
use crate::store::Store;
use crawl::belongs;
use crawl::scope::{Outside, Scope, ScopeRules};
use crawl::{Plan, TOKEN};
use report::{
    BudgetReport, DiscoveryReport, LinkReport, QueuePosition, ServerReport, VisitReport,
    WorthReport,
};

pub use findable::Findable;
pub use report::Explanation;

/// Explains a URL of a store at rest.
pub fn explain(store: &Store, ledger: &Ledger, text: &str, now: Moment) -> Result<Explanation> {
    let url = parse(text)?;
    let last = LastCrawl::read(store.root())?;
    let scope = scope(store, &last, ledger)?;
    let facts = PageFacts::read(ledger, url)?;
    if facts.discovery.is_none() {
        return Ok(facts.explain_undiscovered(&scope));
    }
    let mut frontier = restored_frontier(store, ledger, &last, &scope, now)?;
    if let Some(pages) = facts.burst(&last.policies) {
        frontier.bench.recall_pace(facts.key.page.host(), pages);
    }
    let context = ExplainContext {
        frontier: &mut frontier,
        scope: &scope,
        policies: &last.policies,
        running: false,
        now,
    };
    let (explanation, source) = facts.explain_from_memory(context);
    let topic = facts.topic_opinion(&store.archive(), &last.policies)?;
    let explanation = complete(explanation, &facts, source, ledger)?;
    Ok(Explanation {
        topic,
        ..explanation
    })
}

/// Parses a URL that a user wrote.
pub fn parse(text: &str) -> Result<PageUrl> {
    PageUrl::parse(text).map_err(|_| {
        Usage(format!(
            "{text:?} is not a URL that can be crawled: write it like https://example.org/"
        ))
        .into()
    })
}

/// The crawl that a page is explained for.
pub struct ExplainContext<'a> {
    /// Its frontier.
    pub frontier: &'a mut Frontier<Crawl>,
    /// Its scope.
    pub scope: &'a Scope,
    /// Its policies.
    pub policies: &'a PolicySettings,
    /// Whether the crawl is running.
    pub running: bool,
    /// The current time.
    pub now: Moment,
}

/// The facts about a page. They do not depend on policies.
pub struct PageFacts {
    /// The page.
    pub url: PageUrl,
    /// Its key in the ledger.
    pub key: PageKey,
    /// Facts about its host.
    pub host: Option<HostFacts>,
    /// How it was discovered.
    pub discovery: Option<Discovery>,
    /// Its last visit.
    pub visited: Option<Visited>,
    /// When facts with a future date were first noticed, if the ledger has any.
    noticed_ahead: Option<Moment>,
}

impl PageFacts {
    /// Reads the facts from the ledger.
    pub fn read(ledger: &Ledger, url: PageUrl) -> Result<Self> {
        let key = PageKey::of(&url);
        Ok(Self {
            key,
            host: ledger.host((key.partition, key.page.host()))?,
            discovery: ledger.discovery(key)?,
            visited: ledger.visited(key)?,
            noticed_ahead: ledger.noticed_ahead()?,
            url,
        })
    }

    /// Explains a page that was never discovered.
    pub fn explain_undiscovered(&self, scope: &Scope) -> Explanation {
        Explanation {
            blocked: is_blocked(scope, &self.url),
            not_fetched: Some(undiscovered_reason(scope, &self.url)),
            ..self.blank()
        }
    }

    /// Explains a page, without the parts that [`complete`] adds. Also returns the ledger key of
    /// the page on which it was discovered.
    ///
    /// Reads only memory, so the core's task may call it.
    pub fn explain_from_memory(
        &self,
        context: ExplainContext<'_>,
    ) -> (Explanation, Option<PageKey>) {
        let Some(discovery) = &self.discovery else {
            return (self.explain_undiscovered(context.scope), None);
        };
        let ExplainContext {
            frontier, scope, ..
        } = context;
        let new = History::discovered(discovery.at, discovery.depth);
        let visited = self.visited.as_ref();
        let history = visited.map_or(new, |visited| visited.history);
        let history = Present::new(context.now, self.noticed_ahead).history(&history);
        let number = Number(discovery.order as u32);
        let standing = frontier.bench.standing(number, self.key.page.host());
        let blocked = is_blocked(scope, &self.url);
        let mut worth = WorthReport::of(frontier, context.policies, number, &history, context.now);
        let forbidden = self.is_forbidden();
        worth.due = worth.due.filter(|_| !blocked && !forbidden);
        let host = self.key.page.host();
        let deferred = frontier.bench.is_deferred(number, host);
        let budget = frontier.domain_account(host);
        let unanswered = visited.is_none_or(|visited| visited.status.is_none());
        let not_fetched = unanswered.then(|| {
            let page = NeverFetched {
                url: &self.url,
                depth: discovery.depth,
                scope,
                host: self.host.as_ref(),
                visited,
                worth: &worth,
                standing: standing.as_ref(),
                deferred: budget.as_ref().filter(|_| deferred),
                running: context.running,
            };
            page.reason()
        });
        let explanation = Explanation {
            blocked,
            forbidden,
            not_fetched,
            worth: Some(worth),
            budget: budget.map(|account| BudgetReport { deferred, account }),
            standing: standing.map(|standing| QueuePosition::of(&standing, context.policies)),
            discovered: Some(DiscoveryReport::of(discovery)),
            ..self.blank()
        };
        let source = discovery.source.and_then(|source| frontier.key(source));
        (explanation, source)
    }

    /// Returns the most pages of a visit to the server of the page; `None` if it needs no delay.
    fn burst(&self, policies: &PolicySettings) -> Option<usize> {
        let crawl_delay = match self.host.as_ref().and_then(|host| host.robots.as_ref()) {
            Some(RobotsFact::Found { text, .. }) => {
                Robots::parse(text.as_bytes(), TOKEN).crawl_delay()
            }
            Some(RobotsFact::Missing { .. }) | None => None,
        };
        let plan = Plan {
            delay: policies.crawl.delay.map(|delay| delay.0),
            burst: policies.crawl.burst,
            ..Plan::default()
        };
        let address = self.url.host_name().parse::<IpAddr>();
        let loopback = address.is_ok_and(|address| address.is_loopback());
        let pace = plan.pace(&self.url, loopback, crawl_delay);
        (!pace.delay.is_zero()).then_some(pace.burst)
    }

    /// Returns whether the last known robots.txt of the host forbids the page.
    fn is_forbidden(&self) -> bool {
        let host = self.host.as_ref();
        host.is_some_and(|host| !allows(host, &self.url))
    }

    fn blank(&self) -> Explanation {
        Explanation {
            url: self.url.as_str().to_owned(),
            blocked: false,
            forbidden: false,
            discovered: None,
            links: Vec::new(),
            visited: None,
            worth: None,
            server: self.host.clone().map(ServerReport::of),
            budget: None,
            standing: None,
            not_fetched: None,
            topic: None,
            search: None,
        }
    }
}

/// Adds the parts that are read from the ledger: the link by which the page was discovered, the
/// links to it, and the report on the last visit.
pub fn complete(
    mut explanation: Explanation,
    facts: &PageFacts,
    source: Option<PageKey>,
    ledger: &Ledger,
) -> Result<Explanation> {
    let Some(discovery) = &facts.discovery else {
        return Ok(explanation);
    };
    let number = discovery.order as u32;
    if let (Some(found), Some(source)) = (&mut explanation.discovered, source) {
        let links = ledger.links(source)?;
        found.by = Some(LinkReport {
            from: url_of(ledger, source)?,
            anchor: links.map_or(String::new(), |links| links.anchor(number).to_owned()),
        });
    }
    explanation.links = links_to(ledger, number)?;
    let out_links = ledger.links(facts.key)?.map(|links| links.out_links);
    let visited = facts.visited.clone();
    explanation.visited = visited.map(|visited| VisitReport::of(visited, out_links));
    Ok(explanation)
}

/// Restores the frontier of a store at rest, with the policies and the scope of the last run.
pub fn frontier(store: &Store, ledger: &Ledger, now: Moment) -> Result<Frontier<Crawl>> {
    let last = LastCrawl::read(store.root())?;
    let scope = scope(store, &last, ledger)?;
    restored_frontier(store, ledger, &last, &scope, now)
}

/// Returns the scope of the last crawl, with the default limits on URLs.
fn scope(store: &Store, last: &LastCrawl, ledger: &Ledger) -> Result<Scope> {
    let rules = ScopeRules {
        forgotten: ForgetLog::read(store.root())?.targets(),
        ..last.scope.clone()
    };
    let mut scope = Scope::new(&rules, Rules::default())?;
    let seeds: Vec<PageUrl> = last
        .scope
        .seeds
        .iter()
        .filter_map(|seed| PageUrl::parse(seed).ok())
        .collect();
    recovery::widen(&mut scope, &seeds, ledger)?;
    Ok(scope)
}

fn restored_frontier(
    store: &Store,
    ledger: &Ledger,
    last: &LastCrawl,
    scope: &Scope,
    now: Moment,
) -> Result<Frontier<Crawl>> {
    let choice = last.policies.choose()?;
    let policy = Crawl {
        order: choice.order,
        retry: Retry::default(),
        refresh: choice.refresh,
        sources: choice.sources,
        listings: choice.listings,
        least: choice.least,
    };
    let manners = Manners::default();
    let mut frontier = Frontier::new(policy, choice.strategy, Price::LEAST, manners, 1);
    if let Some(budget) = last.policies.budget() {
        frontier = frontier.with_budget(budget);
    }
    if let Some(limits) = last.domains {
        frontier = frontier.with_domain_budgets(limits);
    }
    let needs = frontier.policy().needs();
    let texts = recovery::texts(store, ledger, choice.query.as_deref(), needs)?;
    frontier.recall(
        ledger,
        |known| belongs(scope, known),
        |page, receive| texts.pass(page, receive),
        now,
    )?;
    let met = searches::all_met(store.root(), now)?;
    crawl::tell_searches(&mut frontier, &met);
    Ok(frontier)
}

fn undiscovered_reason(scope: &Scope, url: &PageUrl) -> String {
    match scope.judge(url, 0) {
        Err(outside) => outside_reason(outside),
        Ok(()) => "no page that was read links to it, and it is no seed".into(),
    }
}

fn outside_reason(outside: Outside) -> String {
    match outside {
        Outside::Blocked => "its host is blocked by [crawl] block in avocet.toml".into(),
        Outside::Scope => {
            "out of scope: --scope, --include or --exclude of the last crawl exclude it".into()
        }
        Outside::Forgotten => {
            "the operator has forgotten it: `avocet forget --allow` lets crawls fetch it again"
                .into()
        }
        Outside::Depth => "more links from a seed than --depth of the last crawl allows".into(),
        Outside::Trap(trap) => format!("its URL looks like a crawler trap ({})", trap.name()),
    }
}

/// Returns the links to a page of which the ledger keeps an anchor text.
fn links_to(ledger: &Ledger, page: u32) -> Result<Vec<LinkReport>> {
    let mut links = Vec::new();
    for source in ledger.all_links() {
        let (source, out) = source?;
        let anchor = out.anchor(page);
        if !anchor.is_empty() {
            links.push(LinkReport {
                from: url_of(ledger, source)?,
                anchor: anchor.to_owned(),
            });
        }
    }
    Ok(links)
}

fn url_of(ledger: &Ledger, page: PageKey) -> Result<String> {
    let known = ledger.discovery(page)?;
    Ok(known.map(|found| found.url).unwrap_or_default())
}

fn is_blocked(scope: &Scope, url: &PageUrl) -> bool {
    scope.judge(url, 0) == Err(Outside::Blocked)
}

/// A page that was never visited, or whose last visit got no answer.
struct NeverFetched<'a> {
    url: &'a PageUrl,
    depth: u16,
    scope: &'a Scope,
    host: Option<&'a HostFacts>,
    visited: Option<&'a Visited>,
    worth: &'a WorthReport,
    standing: Option<&'a Standing>,
    /// The budget that defers the page, if one does.
    deferred: Option<&'a DomainAccount>,
    running: bool,
}

impl NeverFetched<'_> {
    fn reason(&self) -> String {
        if is_blocked(self.scope, self.url) {
            return outside_reason(Outside::Blocked);
        }
        if let Some(error) = self.visited.and_then(|visited| visited.error.as_deref()) {
            return match error {
                "robots" => "robots.txt of its host forbids it".into(),
                "trap:pattern" => {
                    "too many pages of its URL pattern repeat known texts: it looks like a trap"
                        .into()
                }
                "refused:private-address" => {
                    "it was not requested: its address is not public; --allow-private permits it, or name its host as a seed"
                        .into()
                }
                "refused:port" => {
                    "it was not requested: its port is not 80, 443 or that of a seed; --allow-private permits it, or name its host as a seed"
                        .into()
                }
                other if other.starts_with("refused:") => format!("it was not requested ({other})"),
                other => format!("it was tried, and there was no answer ({other})"),
            };
        }
        if let Err(outside) = self.scope.judge(self.url, self.depth) {
            return outside_reason(outside);
        }
        if self.host.is_some_and(|host| !allows(host, self.url)) {
            return "robots.txt of its host forbids it".into();
        }
        if let Some(account) = self.deferred {
            return report::deferred(account);
        }
        match self.standing {
            _ if self.worth.due.is_none() => "its worth is below the price".to_owned(),
            Some(_) if self.running => "its turn has not come yet".into(),
            Some(_) => "the crawl ended before its turn".into(),
            None if self.running => {
                "it is being fetched now, or its server must not be asked yet".into()
            }
            None => "its server was not asked again after failures".into(),
        }
    }
}

fn allows(host: &HostFacts, url: &PageUrl) -> bool {
    match &host.robots {
        Some(RobotsFact::Found { text, .. }) => Robots::parse(text.as_bytes(), TOKEN).allows(url),
        Some(RobotsFact::Missing { .. }) | None => true,
    }
}

impl DiscoveryReport {
    fn of(found: &Discovery) -> Self {
        Self {
            number: found.order,
            at: written(found.at),
            depth: found.depth,
            by: None,
        }
    }
}

impl WorthReport {
    fn of(
        frontier: &mut Frontier<Crawl>,
        policies: &PolicySettings,
        number: Number,
        history: &History,
        now: Moment,
    ) -> Self {
        let page = Page { number, history };
        let price = match policies.continuous {
            true => frontier.price().value(),
            false => policies.crawl.threshold.unwrap_or(Price::LEAST.value()),
        };
        let due = frontier.prospects(number, history).map(|(due, _)| due);
        let policy = frontier.policy();
        Self {
            order: policies.order().to_owned(),
            refresh: policies.refreshing().map(|refresh| refresh.policy.clone()),
            now: match policies.continuous {
                true => policy.worth(page, now).value(),
                false => policy.order.worth(page, now).value(),
            },
            price,
            terms: policy.terms(page),
            due: due.map(written),
        }
    }
}
