//! The explanation of a URL, as `avocet explain --json` and the API return it.

use frontier::{DomainAccount, HostFacts, SpentBudget, Standing, Visited};
use policy::{History, Term};
use serde::{Deserialize, Serialize};

use super::findable::Findable;
use super::topic_opinion::TopicOpinion;
use crate::clock::written;
use crate::documents;
use crate::number::counted;
use crate::settings::policies::PolicySettings;

/// The explanation of a URL.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Explanation {
    /// The URL, in its normal form.
    pub url: String,
    /// Whether its host is blocked, so that it is not fetched.
    pub blocked: bool,
    /// Whether robots.txt of its host forbids it.
    #[serde(default)]
    pub forbidden: bool,
    /// How it was discovered; `null` if it never was.
    pub discovered: Option<DiscoveryReport>,
    /// Links to it of which the ledger keeps an anchor text.
    pub links: Vec<LinkReport>,
    /// The last visit; `null` if there was none.
    pub visited: Option<VisitReport>,
    /// What a fetch is worth, by the policies of the running or last crawl; `null` if the URL was
    /// never discovered.
    pub worth: Option<WorthReport>,
    /// The page budget of its domain; `null` if there is none, as for the domain of a seed.
    pub budget: Option<BudgetReport>,
    /// Its host; `null` if the ledger has no facts about it.
    pub server: Option<ServerReport>,
    /// Its position in the queue of its host; `null` if it does not wait there, for example because
    /// it is not due or is being fetched.
    pub standing: Option<QueuePosition>,
    /// Why it was not fetched; `null` if the server answered the last visit.
    pub not_fetched: Option<String>,
    /// How the topic classifier of the running or last crawl judges it; `null` if the crawl has no
    /// trained topic, or the archive has no copy of the page.
    pub topic: Option<TopicOpinion>,
    /// What search knows of it; `null` if it is not in the index. `avocet explain` adds it; the
    /// API always returns `null`.
    #[serde(default)]
    pub search: Option<Findable>,
}

/// How a page was discovered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DiscoveryReport {
    /// How many pages were discovered before it.
    pub number: u64,
    /// When it was discovered.
    pub at: String,
    /// The number of links from a seed to it, along the path by which it was discovered.
    pub depth: u16,
    /// The link by which it was discovered; `null` for a seed, or for a sitemap that a robots.txt
    /// names.
    pub by: Option<LinkReport>,
}

/// A link to the page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkReport {
    /// The URL of the linking page.
    pub from: String,
    /// The anchor text; empty if the ledger keeps none.
    pub anchor: String,
}

/// The last visit, and counts over all visits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct VisitReport {
    /// When it was last requested.
    pub at: Option<String>,
    /// The HTTP status of the answer; `null` if there was none.
    pub status: Option<u16>,
    /// The error code, if there was an error.
    pub error: Option<String>,
    /// Visits after the first copy that could detect a change.
    pub revisits: u32,
    /// Revisits that found a changed text.
    pub changes: u32,
    /// Consecutive visits without a usable answer: none came, or it was incomplete, 429 or 5xx.
    pub failures: u16,
    /// Number of its links when its content last changed; `null` if it was never read.
    pub out_links: Option<u32>,
    /// Whether it is a sitemap or a feed.
    pub listing: bool,
    /// The WebSub hub that it names for change notifications.
    pub hub: Option<String>,
    /// New pages that its revisits discovered.
    pub named: u32,
    /// Hints of sitemaps and feeds about its changes.
    pub signals: HintCounts,
    /// The measured gain for searchers (ΔQ_A) of the last change among the recent revisits, or else
    /// of the first copy; `null` if neither was measured.
    pub gain: Option<f32>,
}

/// Counts of hints that the page has changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HintCounts {
    /// Hints since the last visit.
    pub since: u16,
    /// Hints followed by a visit that found a change.
    pub hits: u16,
    /// Hints followed by a visit that found no change.
    pub false_alarms: u16,
    /// Changes without a hint.
    pub misses: u16,
}

/// What a fetch of the page is worth.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorthReport {
    /// The ordering.
    pub order: String,
    /// The refresh policy; `null` if the last crawl had none.
    pub refresh: Option<String>,
    /// What a fetch is worth now, by the ordering or, in a continuous crawl, by all policies.
    pub now: f64,
    /// The price: the least worth at which a page is fetched.
    pub price: f64,
    /// The terms that the worth is computed from.
    pub terms: Vec<Term>,
    /// When it becomes due; `null` if it is blocked or forbidden, or if only new facts can make it
    /// due.
    pub due: Option<String>,
}

/// The page budget of a domain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BudgetReport {
    /// Whether the page is deferred because it is beyond the budget.
    pub deferred: bool,
    /// The budget and its evidence.
    #[serde(flatten)]
    pub account: DomainAccount,
}

/// Figures of the page's host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerReport {
    /// The host, such as `https://example.org`.
    pub origin: String,
    /// Connections opened.
    pub connections: u32,
    /// Requests for pages that were answered.
    pub requests: u32,
    /// Milliseconds to open a connection (moving average).
    pub connect_ms: Option<f64>,
    /// Milliseconds from a request to its answer (moving average).
    pub response_ms: Option<f64>,
    /// Expected number of answers before the server closes a connection.
    pub per_connection: Option<u32>,
}

/// The position of a page in the queue of its host, and of the host's server among all servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct QueuePosition {
    /// The server strategy.
    pub strategy: String,
    /// The rank of its host's next visit. Its unit depends on the strategy, such as worth per
    /// second.
    pub rank: f64,
    /// Pages that the rank of the next visit counts.
    pub visit_pages: usize,
    /// The most pages of a visit, because the server needs a delay between requests; `null` if it
    /// needs none. If 1, the strategies crawl-ability and best-prefix rank servers alike.
    #[serde(default)]
    pub burst: Option<usize>,
    /// Pages of its host that are fetched before it.
    pub pages_before: usize,
    /// Pages of its host that are due.
    pub pages_waiting: usize,
    /// Servers that are visited before its own.
    pub servers_before: usize,
}

impl VisitReport {
    /// Returns why its document was not read, as a sentence.
    pub fn document_error(&self) -> Option<&'static str> {
        documents::explained(self.error.as_deref()?)
    }

    pub(super) fn of(visited: Visited, out_links: Option<u32>) -> Self {
        let history = visited.history;
        Self {
            at: history.asked.map(written),
            status: visited.status,
            error: visited.error,
            revisits: history.revisits,
            changes: history.changes,
            failures: history.failures,
            out_links,
            listing: history.listing,
            hub: visited.copy.and_then(|copy| copy.hub),
            named: history.finds.total,
            signals: HintCounts {
                since: history.signals.since,
                hits: history.signals.hits,
                false_alarms: history.signals.false_alarms,
                misses: history.signals.misses,
            },
            gain: gain(&history),
        }
    }
}

/// Describes why a page is deferred and what would release it.
pub(super) fn deferred(account: &DomainAccount) -> String {
    let domain = &account.domain;
    let spent = match account.spent {
        Some(SpentBudget::Names) => format!(
            "pages of {} of the {} of {domain} may be fetched, and the host of this page is not among them",
            account.open_names,
            counted(account.known_names, "host name")
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
    let raised = "links from other domains and distinct texts raise the budget";
    let open = account.spent != Some(SpentBudget::Names);
    let spare = if open && account.known <= account.spare {
        "; the page is fetched when nothing else is left to fetch"
    } else {
        "; so does a higher [crawl] domain_pages in avocet.toml, or a seed on the domain"
    };
    format!("deferred: {spent}; {raised}{spare}")
}

fn pages(account: &DomainAccount) -> String {
    format!("{} of {}", account.used, counted(account.allowed, "page"))
}

impl BudgetReport {
    /// Describes the budget and its evidence, in two lines.
    pub fn describe(&self) -> [String; 2] {
        let account = &self.account;
        let names = counted(account.known_names, "host name");
        let names = format!("pages of {} of {names} may be fetched", account.open_names);
        [
            format!("{} of {}, {names}", pages(account), account.domain),
            format!(
                "linked by {}, {} of {} distinct",
                counted(account.linking_domains, "other domain"),
                account.distinct_texts,
                counted(account.texts, "text")
            ),
        ]
    }
}

fn gain(history: &History) -> Option<f32> {
    let changes = history.recent.iter().rev().filter(|visit| visit.changed);
    let last = changes.filter_map(|visit| visit.gain).next();
    last.or(history.first_gain)
}

impl ServerReport {
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

impl QueuePosition {
    pub(super) fn of(standing: &Standing, policies: &PolicySettings) -> Self {
        Self {
            strategy: policies.crawl.servers.clone(),
            // JSON cannot represent infinity.
            rank: standing.rank.value().clamp(f64::MIN, f64::MAX),
            visit_pages: standing.visit_pages,
            burst: standing.burst,
            pages_before: standing.pages_before,
            pages_waiting: standing.pages_waiting,
            servers_before: standing.servers_before,
        }
    }
}
