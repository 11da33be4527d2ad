//! What is said of a URL.

use frontier::{DomainAccount, HostFacts, SpentBudget, Standing, Visited};
use policy::{History, Term};
use serde::{Deserialize, Serialize};

use super::findable::Findable;
use super::opinion::Opinion;
use crate::clock::timestamp;
use crate::settings::policies::PolicySettings;

/// Everything there is to say about a URL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    /// The URL, in its normal form.
    pub url: String,
    /// Whether its host is blocked, and so nobody asks for it.
    pub blocked: bool,
    /// How it was discovered; `null`: it never was.
    pub discovered: Option<Found>,
    /// Links to it whose words were kept.
    pub links: Vec<Named>,
    /// The last visit; `null`: there was none.
    pub visited: Option<Seen>,
    /// What it is worth, by the last crawl's policies.
    pub worth: Option<Value>,
    /// The page budget of its domain; `null`: it has none, as a seed's domain.
    pub budget: Option<Share>,
    /// Its server.
    pub server: Option<Speed>,
    /// Where it stands in the queue; `null`: it does not wait.
    pub standing: Option<Place>,
    /// Why it was not fetched; `null`: it was.
    pub not_fetched: Option<String>,
    /// How it was judged by the topic of the last crawl; `null`: there was none that was learned, or no copy.
    pub topic: Option<Opinion>,
    /// What search knows of it; `null`: it is not in the index, or another process was asked.
    #[serde(default)]
    pub search: Option<Findable>,
}

/// How a page was discovered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// How many pages were discovered before it.
    pub number: u64,
    /// When.
    pub at: String,
    /// Links from a seed.
    pub depth: u16,
    /// The page that named it; `null`: a user did.
    pub by: Option<Named>,
}

/// A link, and the page that has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Named {
    /// The page.
    pub from: String,
    /// The words of the link.
    pub anchor: String,
}

/// What visits found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    /// When it was last asked for.
    pub at: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What was wrong with it.
    pub error: Option<String>,
    /// Visits that could tell whether it had changed.
    pub revisits: u32,
    /// How many of them found it changed.
    pub changes: u32,
    /// Visits in a row that found nobody.
    pub failures: u16,
    /// Pages that it links to.
    pub out_links: Option<u32>,
    /// Whether it is a sitemap or a feed.
    pub listing: bool,
    /// The WebSub hub that it names, which would say when it changes.
    pub hub: Option<String>,
    /// New pages that it named after the first look.
    pub named: u32,
    /// What sitemaps and feeds said of its changes.
    pub signals: Signalled,
    /// What the last change that was measured gave to searchers, ΔQ_A; `null`: none was, of late.
    pub gain: Option<f32>,
}

/// Signals, counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Signalled {
    /// Since it was last seen.
    pub since: u16,
    /// Followed by a visit that found a change.
    pub hits: u16,
    /// Followed by a visit that found none.
    pub false_alarms: u16,
    /// Changes that nobody had signalled.
    pub misses: u16,
}

/// What a page is worth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Value {
    /// The ordering.
    pub order: String,
    /// The refresh policy; `null`: the last crawl had none.
    pub refresh: Option<String>,
    /// What a fetch is worth now.
    pub now: f64,
    /// What a fetch must be worth.
    pub price: f64,
    /// What the worth is made of.
    pub terms: Vec<Term>,
    /// When it falls due; `null`: never, as far as is known.
    pub due: Option<String>,
}

/// The page budget of a domain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Share {
    /// Whether the page is beyond the budget, and so deferred.
    pub deferred: bool,
    /// The budget and its evidence.
    #[serde(flatten)]
    pub account: DomainAccount,
}

/// What is known of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Speed {
    /// `https://example.org`.
    pub origin: String,
    /// Connections opened.
    pub connections: u32,
    /// Requests answered.
    pub requests: u32,
    /// Milliseconds to open a connection, of late.
    pub connect_ms: Option<f64>,
    /// Milliseconds to an answer, of late.
    pub response_ms: Option<f64>,
    /// Requests that a connection carries.
    pub per_connection: Option<u32>,
}

/// Where a page stands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Place {
    /// The server strategy.
    pub strategy: String,
    /// The rank of its host's next visit, in worth a second where the strategy counts so.
    pub rank: f64,
    /// Pages that this visit is for.
    pub visit_pages: usize,
    /// Pages of its host that leave before it.
    pub pages_before: usize,
    /// Pages of its host that wait.
    pub pages_waiting: usize,
    /// Servers that are visited before its own.
    pub servers_before: usize,
}

impl Seen {
    pub(super) fn of(visited: Visited, out_links: Option<u32>) -> Self {
        let history = visited.history;
        Self {
            at: history.asked.map(|at| timestamp(at).to_string()),
            status: visited.status,
            error: visited.error,
            revisits: history.revisits,
            changes: history.changes,
            failures: history.failures,
            out_links,
            listing: history.listing,
            hub: visited.copy.and_then(|copy| copy.hub),
            named: history.finds.total,
            signals: Signalled {
                since: history.signals.since,
                hits: history.signals.hits,
                false_alarms: history.signals.false_alarms,
                misses: history.signals.misses,
            },
            gain: gain(&history),
        }
    }
}

/// Says why a page is deferred and what would release it.
pub(super) fn deferred(account: &DomainAccount) -> String {
    let domain = &account.domain;
    let spent = match account.spent {
        Some(SpentBudget::Names) => format!(
            "{} of {} host names of {domain} are open, and its own is not",
            account.open_names, account.known_names
        ),
        Some(SpentBudget::Host) => {
            format!(
                "its host has used its budget within {domain}: {}",
                pages(account)
            )
        }
        Some(SpentBudget::Domain) | None => {
            format!(
                "the domain {domain} has used its budget: {}",
                pages(account)
            )
        }
    };
    let raised = "links from other domains and distinct texts raise it";
    let open = account.spent != Some(SpentBudget::Names);
    let spare = if open && account.known <= account.spare {
        "; it is fetched when nothing else is left"
    } else {
        ", or [crawl] domain_pages in avocet.toml, or the domain as a seed"
    };
    format!("deferred: {spent}; {raised}{spare}")
}

fn pages(account: &DomainAccount) -> String {
    format!("{} of {} pages", account.used, account.allowed)
}

impl Share {
    /// The budget and its evidence, in words.
    pub fn describe(&self) -> [String; 2] {
        let account = &self.account;
        let names = format!(
            "{} of {} host names open",
            account.open_names, account.known_names
        );
        [
            format!("{} of {}, {names}", pages(account), account.domain),
            format!(
                "linked by {} other domains, {} of {} texts distinct",
                account.linking_domains, account.distinct_texts, account.texts
            ),
        ]
    }
}

fn gain(history: &History) -> Option<f32> {
    let changes = history.recent.iter().rev().filter(|visit| visit.changed);
    let last = changes.filter_map(|visit| visit.gain).next();
    last.or(history.first_gain)
}

impl Speed {
    pub(super) fn of(facts: HostFacts) -> Self {
        Self {
            origin: facts.origin,
            connections: facts.connections,
            requests: facts.requests,
            connect_ms: facts.speed.map(|speed| speed.connect * 1000.0),
            response_ms: facts.speed.map(|speed| speed.response * 1000.0),
            per_connection: facts.speed.map(|speed| speed.per_connection),
        }
    }
}

impl Place {
    pub(super) fn of(standing: &Standing, policies: &PolicySettings) -> Self {
        Self {
            strategy: policies.crawl.servers.clone(),
            // JSON knows no infinity.
            rank: standing.rank.value().clamp(f64::MIN, f64::MAX),
            visit_pages: standing.visit_pages,
            pages_before: standing.pages_before,
            pages_waiting: standing.pages_waiting,
            servers_before: standing.servers_before,
        }
    }
}
