//! Why was this page fetched, or why not, and when will it be?
//!
//! Answers by the policies of the last crawl, from the facts in the ledger: the frontier is made again
//! as the next run would make it, and asked.

mod account;

use anyhow::{Context, Result};
use fetch::Robots;
use frontier::bench::Manners;
use frontier::{Discovery, Frontier, HostFacts, Ledger, PageKey, RobotsFact, Standing, Visited};
use page::url::traps::Rules;
use page::{PageId, PageUrl};
use policy::retry::Retry;
use policy::{Crawl, History, Moment, Number, Page, Policy, Price};

use crate::engine::begin::belongs;
use crate::engine::plan::TOKEN;
use crate::engine::searches;
use crate::engine::timestamp;
use crate::ranking::{LastCrawl, Ranking};
use crate::recover;
use crate::scope::{Outside, Scope};
use crate::store::Store;
use crate::upkeep::Refreshing;
use account::{Found, Named, Place, Seen, Speed, Value};

pub use account::Explanation;

/// Explains a URL.
pub fn explain(store: &Store, text: &str, now: Moment) -> Result<Explanation> {
    let url = PageUrl::parse(text).with_context(|| {
        format!("{text:?} is no URL that could be crawled: write it like https://example.org/")
    })?;
    let last = LastCrawl::read(store.root())?;
    let ledger = store.ledger()?;
    let scope = scope(&last, &ledger)?;
    let key = PageKey::of(&url);
    let host = ledger.host((key.partition, key.page.host()))?;
    let mut explanation = Explanation {
        url: url.as_str().to_owned(),
        discovered: None,
        links: Vec::new(),
        visited: None,
        worth: None,
        server: host.clone().map(Speed::of),
        standing: None,
        not_fetched: None,
    };
    let Some(discovery) = ledger.discovery(key)? else {
        explanation.not_fetched = Some(undiscovered(&scope, &url));
        return Ok(explanation);
    };
    let visited = ledger.visited(key)?;
    let new = History::discovered(discovery.at, discovery.depth);
    let history = visited.as_ref().map_or(new, |visited| visited.history);
    let mut frontier = remembered(store, &ledger, &last.ranking, &scope, now)?;
    let number = Number(discovery.order as u32);
    let standing = frontier.bench.standing(number, key.page.host());
    explanation.worth = Some(Value::of(
        &mut frontier,
        &last.ranking,
        number,
        &history,
        now,
    ));
    explanation.not_fetched = visited
        .as_ref()
        .is_none_or(|visited| visited.status.is_none())
        .then(|| {
            let unasked = Unasked {
                url: &url,
                depth: discovery.depth,
                scope: &scope,
                host: host.as_ref(),
                visited: visited.as_ref(),
                worth: explanation.worth.as_ref(),
                standing: standing.as_ref(),
            };
            unasked.why()
        });
    explanation.standing = standing.map(|standing| Place::of(&standing, &last.ranking));
    explanation.links = named(&ledger, &frontier, number)?;
    let out_links = ledger.links(key)?.map(|links| links.out_links);
    explanation.visited = visited.map(|visited| Seen::of(visited, out_links));
    explanation.discovered = Some(Found::of(&ledger, &frontier, discovery)?);
    Ok(explanation)
}

/// The frontier as the next run would begin with it, by the policies and the scope of the last.
pub fn frontier(store: &Store, ledger: &Ledger, now: Moment) -> Result<Frontier<Crawl>> {
    let last = LastCrawl::read(store.root())?;
    let scope = scope(&last, ledger)?;
    remembered(store, ledger, &last.ranking, &scope, now)
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
    recover::widen(&mut scope, &seeds, ledger)?;
    Ok(scope)
}

fn remembered(
    store: &Store,
    ledger: &Ledger,
    ranking: &Ranking,
    scope: &Scope,
    now: Moment,
) -> Result<Frontier<Crawl>> {
    let choice = ranking.choose()?;
    let policy = Crawl {
        order: choice.order,
        retry: Retry::default(),
        refresh: choice.refresh,
        sources: choice.sources,
        listings: ranking.refresh.as_ref().map(Refreshing::listings),
        least: choice.least,
    };
    let manners = Manners::default();
    let mut frontier = Frontier::new(policy, choice.strategy, Price::LEAST, manners, 1);
    if let Some(refreshing) = &ranking.refresh {
        frontier = frontier.with_budget(refreshing.budget);
    }
    let texts = recover::texts(store, choice.query.as_deref())?;
    frontier.recall(
        ledger,
        |known| belongs(scope, known),
        |page| texts.of(page),
        now,
    )?;
    searches::recall(store.root(), &mut frontier)?;
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
        Outside::Scope => {
            "out of scope: the last crawl's --scope, --include or --exclude leave it out".into()
        }
        Outside::Depth => "too many links from a seed for the last crawl's --depth".into(),
        Outside::Trap(trap) => format!("its shape is that of a trap ({})", trap.name()),
    }
}

/// The links to a page whose words were kept.
fn named(ledger: &Ledger, frontier: &Frontier<Crawl>, page: Number) -> Result<Vec<Named>> {
    let mut links = Vec::new();
    for source in ledger.all_links() {
        let (source, out) = source?;
        let anchor = out.anchor(page.0);
        if !anchor.is_empty() {
            links.push(Named {
                from: url_of(ledger, frontier, source.page)?,
                anchor: anchor.to_owned(),
            });
        }
    }
    Ok(links)
}

/// The words of the link from one page to another.
fn words_of(
    ledger: &Ledger,
    frontier: &Frontier<Crawl>,
    source: PageId,
    page: u32,
) -> Result<String> {
    let key = frontier.key(source);
    let links = key.map(|key| ledger.links(key)).transpose()?.flatten();
    Ok(links.map_or(String::new(), |links| links.anchor(page).to_owned()))
}

fn url_of(ledger: &Ledger, frontier: &Frontier<Crawl>, page: PageId) -> Result<String> {
    let known = frontier
        .key(page)
        .map(|key| ledger.discovery(key))
        .transpose()?;
    Ok(known.flatten().map(|found| found.url).unwrap_or_default())
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
}

impl Unasked<'_> {
    fn why(&self) -> String {
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
        match (self.worth, self.standing) {
            (Some(worth), _) if worth.due.is_none() => format!(
                "it is worth {:.3e}, and the price is {:.3e}",
                worth.now, worth.price
            ),
            (_, Some(standing)) => format!(
                "the crawl ended before its turn: {} pages of its host and {} servers stand before it",
                standing.pages_before, standing.servers_before
            ),
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
    fn of(ledger: &Ledger, frontier: &Frontier<Crawl>, found: Discovery) -> Result<Self> {
        let by = match found.source {
            Some(source) => Some(Named {
                from: url_of(ledger, frontier, source)?,
                anchor: words_of(ledger, frontier, source, found.order as u32)?,
            }),
            None => None,
        };
        Ok(Self {
            number: found.order,
            at: timestamp(found.at).to_string(),
            depth: found.depth,
            by,
        })
    }
}

impl Value {
    fn of(
        frontier: &mut Frontier<Crawl>,
        ranking: &Ranking,
        number: Number,
        history: &History,
        now: Moment,
    ) -> Self {
        let page = Page { number, history };
        let price = match &ranking.refresh {
            Some(_) => frontier.price().value(),
            None => ranking.threshold.unwrap_or(Price::LEAST.value()),
        };
        let due = frontier.prospects(number, history).map(|(due, _)| due);
        let policy = frontier.policy();
        Self {
            order: ranking.order.clone(),
            refresh: ranking
                .refresh
                .as_ref()
                .map(|refresh| refresh.policy.clone()),
            now: match &ranking.refresh {
                Some(_) => policy.worth(page, now).value(),
                None => policy.order.worth(page, now).value(),
            },
            price,
            terms: policy.terms(page),
            due: due.map(|due| timestamp(due).to_string()),
        }
    }
}
