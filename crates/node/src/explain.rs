//! Why was this page fetched, or why not, and when will it be?
//!
//! Answers by the policies of the last crawl, from the facts in the ledger: the frontier is made again
//! as the next run would make it, and asked. A crawl that goes on is asked itself.

mod account;
mod findable;
mod opinion;
pub mod sources;

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

use crate::clock::timestamp;
use crate::recovery::{self, searches};
use crate::settings::Usage;
use crate::settings::last_crawl::LastCrawl;
use crate::settings::policies::PolicySettings;
use crate::store::Store;
use account::{Found, Named, Place, Seen, Share, Speed, Value};
use crawl::TOKEN;
use crawl::belongs;
use crawl::scope::{Outside, Scope};

pub use account::Explanation;
pub use findable::Findable;

/// Explains a URL of a store at rest.
pub fn explain(store: &Store, ledger: &Ledger, text: &str, now: Moment) -> Result<Explanation> {
    let url = parse(text)?;
    let last = LastCrawl::read(store.root())?;
    let scope = scope(&last, ledger)?;
    let facts = Facts::read(ledger, url)?;
    if facts.discovery.is_none() {
        return Ok(facts.unheard(&scope));
    }
    let mut frontier = remembered(store, ledger, &last, &scope, now)?;
    let asked = Asked {
        frontier: &mut frontier,
        scope: &scope,
        policies: &last.policies,
        running: false,
        now,
    };
    let (explanation, source) = facts.told(asked);
    let topic = facts.judged(&store.archive(), &last.policies)?;
    let explanation = complete(explanation, &facts, source, ledger)?;
    Ok(Explanation {
        topic,
        ..explanation
    })
}

/// A URL as people write it.
pub fn parse(text: &str) -> Result<PageUrl> {
    PageUrl::parse(text).map_err(|_| {
        Usage(format!(
            "{text:?} is no URL that could be crawled: write it like https://example.org/"
        ))
        .into()
    })
}

/// Who is asked about a page.
pub struct Asked<'a> {
    /// What waits.
    pub frontier: &'a mut Frontier<Crawl>,
    /// What belongs to the crawl.
    pub scope: &'a Scope,
    /// By which policies.
    pub policies: &'a PolicySettings,
    /// Whether the crawl goes on.
    pub running: bool,
    /// When.
    pub now: Moment,
}

/// What is known of a page without asking a policy.
pub struct Facts {
    /// The page.
    pub url: PageUrl,
    /// Where it is in the ledger.
    pub key: PageKey,
    /// Its host.
    pub host: Option<HostFacts>,
    /// How it was discovered.
    pub discovery: Option<Discovery>,
    /// Its last visit.
    pub visited: Option<Visited>,
    /// When facts from the future were first noticed, if there are any.
    noticed_ahead: Option<Moment>,
}

impl Facts {
    /// What the ledger knows.
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

    /// What there is to say of a page that nobody has heard of.
    pub fn unheard(&self, scope: &Scope) -> Explanation {
        Explanation {
            blocked: is_blocked(scope, &self.url),
            not_fetched: Some(undiscovered(scope, &self.url)),
            ..self.blank()
        }
    }

    /// What there is to say of a page but for links to it, and where the page that named it is in the ledger. Reads nothing but
    /// memory, so it may be asked under a lock.
    pub fn told(&self, asked: Asked<'_>) -> (Explanation, Option<PageKey>) {
        let Some(discovery) = &self.discovery else {
            return (self.unheard(asked.scope), None);
        };
        let Asked {
            frontier, scope, ..
        } = asked;
        let new = History::discovered(discovery.at, discovery.depth);
        let visited = self.visited.as_ref();
        let history = visited.map_or(new, |visited| visited.history);
        let history = Present::new(asked.now, self.noticed_ahead).history(&history);
        let number = Number(discovery.order as u32);
        let standing = frontier.bench.standing(number, self.key.page.host());
        let blocked = is_blocked(scope, &self.url);
        let mut worth = Value::of(frontier, asked.policies, number, &history, asked.now);
        worth.due = worth.due.filter(|_| !blocked);
        let host = self.key.page.host();
        let deferred = frontier.bench.is_deferred(number, host);
        let budget = frontier.domain_account(host);
        let unanswered = visited.is_none_or(|visited| visited.status.is_none());
        let not_fetched = unanswered.then(|| {
            let unasked = Unasked {
                url: &self.url,
                depth: discovery.depth,
                scope,
                host: self.host.as_ref(),
                visited,
                worth: Some(&worth),
                standing: standing.as_ref(),
                deferred: budget.as_ref().filter(|_| deferred),
                running: asked.running,
            };
            unasked.why()
        });
        let explanation = Explanation {
            blocked,
            not_fetched,
            worth: Some(worth),
            budget: budget.map(|account| Share { deferred, account }),
            standing: standing.map(|standing| Place::of(&standing, asked.policies)),
            discovered: Some(Found::of(discovery)),
            ..self.blank()
        };
        let source = discovery.source.and_then(|source| frontier.key(source));
        (explanation, source)
    }

    fn blank(&self) -> Explanation {
        Explanation {
            url: self.url.as_str().to_owned(),
            blocked: false,
            discovered: None,
            links: Vec::new(),
            visited: None,
            worth: None,
            server: self.host.clone().map(Speed::of),
            budget: None,
            standing: None,
            not_fetched: None,
            topic: None,
            search: None,
        }
    }
}

/// Adds what is read from the ledger, where that may take a while.
pub fn complete(
    mut explanation: Explanation,
    facts: &Facts,
    source: Option<PageKey>,
    ledger: &Ledger,
) -> Result<Explanation> {
    let Some(discovery) = &facts.discovery else {
        return Ok(explanation);
    };
    let number = discovery.order as u32;
    if let (Some(found), Some(source)) = (&mut explanation.discovered, source) {
        let links = ledger.links(source)?;
        found.by = Some(Named {
            from: url_of(ledger, source)?,
            anchor: links.map_or(String::new(), |links| links.anchor(number).to_owned()),
        });
    }
    explanation.links = named(ledger, number)?;
    let out_links = ledger.links(facts.key)?.map(|links| links.out_links);
    let visited = facts.visited.clone();
    explanation.visited = visited.map(|visited| Seen::of(visited, out_links));
    Ok(explanation)
}

/// The frontier as the next run would begin with it, by the policies and the scope of the last.
pub fn frontier(store: &Store, ledger: &Ledger, now: Moment) -> Result<Frontier<Crawl>> {
    let last = LastCrawl::read(store.root())?;
    let scope = scope(&last, ledger)?;
    remembered(store, ledger, &last, &scope, now)
}

/// What belonged to the last crawl.
fn scope(last: &LastCrawl, ledger: &Ledger) -> Result<Scope> {
    let mut scope = Scope::new(&last.scope, Rules::default())?;
    let seeds: Vec<PageUrl> = last
        .scope
        .seeds
        .iter()
        .filter_map(|seed| PageUrl::parse(seed).ok())
        .collect();
    recovery::widen(&mut scope, &seeds, ledger)?;
    Ok(scope)
}

fn remembered(
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
        |page, tell| texts.tell(page, tell),
        now,
    )?;
    let met = searches::all_met(store.root(), now)?;
    crawl::tell_searches(&mut frontier, &met);
    Ok(frontier)
}

fn undiscovered(scope: &Scope, url: &PageUrl) -> String {
    match scope.judge(url, 0) {
        Err(outside) => outside_reason(outside),
        Ok(()) => "never heard of: no page that was read links to it, and it is no seed".into(),
    }
}

fn outside_reason(outside: Outside) -> String {
    match outside {
        Outside::Blocked => "its host is blocked: [crawl] block in avocet.toml names it".into(),
        Outside::Scope => {
            "out of scope: the last crawl's --scope, --include or --exclude leave it out".into()
        }
        Outside::Depth => "too many links from a seed for the last crawl's --depth".into(),
        Outside::Trap(trap) => format!("its shape is that of a trap ({})", trap.name()),
    }
}

/// The links to a page whose words were kept.
fn named(ledger: &Ledger, page: u32) -> Result<Vec<Named>> {
    let mut links = Vec::new();
    for source in ledger.all_links() {
        let (source, out) = source?;
        let anchor = out.anchor(page);
        if !anchor.is_empty() {
            links.push(Named {
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

/// A page that was never fetched.
struct Unasked<'a> {
    url: &'a PageUrl,
    depth: u16,
    scope: &'a Scope,
    host: Option<&'a HostFacts>,
    visited: Option<&'a Visited>,
    worth: Option<&'a Value>,
    standing: Option<&'a Standing>,
    /// The budget that it is beyond.
    deferred: Option<&'a DomainAccount>,
    running: bool,
}

impl Unasked<'_> {
    fn why(&self) -> String {
        if is_blocked(self.scope, self.url) {
            return outside_reason(Outside::Blocked);
        }
        if let Some(error) = self.visited.and_then(|visited| visited.error.as_deref()) {
            return match error {
                "robots" => "its host's robots.txt forbids it".into(),
                "trap:pattern" => {
                    "pages of its pattern gave nothing new: it looks like a trap".into()
                }
                other => format!("it was asked for, and there was no answer ({other})"),
            };
        }
        if let Err(outside) = self.scope.judge(self.url, self.depth) {
            return outside_reason(outside);
        }
        if self.host.is_some_and(|host| !allows(host, self.url)) {
            return "its host's robots.txt forbids it".into();
        }
        if let Some(account) = self.deferred {
            return account::deferred(account);
        }
        match (self.worth, self.standing) {
            (Some(worth), _) if worth.due.is_none() => format!(
                "it is worth {:.3e}, and the price is {:.3e}",
                worth.now, worth.price
            ),
            (_, Some(standing)) if self.running => format!(
                "it waits: {} pages of its host and {} servers stand before it",
                standing.pages_before, standing.servers_before
            ),
            (_, Some(standing)) => format!(
                "the crawl ended before its turn: {} pages of its host and {} servers stand before it",
                standing.pages_before, standing.servers_before
            ),
            _ if self.running => "it is being asked for now, or its server is left alone".into(),
            _ => "its server was left alone after failures".into(),
        }
    }
}

fn allows(host: &HostFacts, url: &PageUrl) -> bool {
    match &host.robots {
        Some(RobotsFact::Found { text, .. }) => Robots::parse(text.as_bytes(), TOKEN).allows(url),
        Some(RobotsFact::Missing { .. }) | None => true,
    }
}

impl Found {
    fn of(found: &Discovery) -> Self {
        Self {
            number: found.order,
            at: timestamp(found.at).to_string(),
            depth: found.depth,
            by: None,
        }
    }
}

impl Value {
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
            due: due.map(|due| timestamp(due).to_string()),
        }
    }
}
