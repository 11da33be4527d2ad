//! The sources of a crawl, how often each is polled, and why.

mod cover;
mod listed;

use frontier::{Frontier, PageKey};
use policy::source::{Account, SourceKind};
use policy::{Crawl, History, Page};
use serde::{Deserialize, Serialize};

use crate::clock::written;

pub use cover::SourceCover;
pub use listed::{Listed, at_rest, running};

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// One source, as `avocet sources`, the API and the dashboard show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceSummary {
    /// Its URL.
    pub url: String,
    /// The kind of source: `main` (the main page of a host, or a seed), `listing` (a sitemap or
    /// feed), or `near` (one link from a main page).
    pub kind: String,
    /// Whether it is polled at the current price.
    pub on: bool,
    /// Why it is polled, or why not.
    pub why: String,
    /// New pages that appeared on it so far.
    pub found: u32,
    /// Expected new pages per day.
    pub new_a_day: f64,
    /// The expected profit of a new page that is fetched as it appears, in clicks.
    pub profit: f64,
    /// Whether `profit` is estimated from clicks. If not, it is predicted from the quality of the
    /// pages that the source named.
    pub clicked: bool,
    /// The share of a new page's profit that is lost when it is found a day late.
    pub lost_in_a_day: f64,
    /// Hours from the last fetch to the next poll, at the current price; `null` if no poll is
    /// planned.
    pub interval_hours: Option<f64>,
    /// When it was last fetched; `null` if it never was.
    pub polled: Option<String>,
    /// When the next poll is due; `null` if none is planned.
    pub due: Option<String>,
}

/// Returns the sources with the most expected profit per second, best first; at most `most`.
/// `known` returns the URL and the history of a page; sources for which it has none are left out.
pub fn rows(
    frontier: &mut Frontier<Crawl>,
    most: usize,
    mut known: impl FnMut(PageKey) -> Option<(String, History)>,
) -> Vec<SourceSummary> {
    let price = frontier.price();
    let accounts = best_accounts(frontier, most);
    let mut rows = Vec::new();
    for account in accounts {
        let key = frontier.located(account.page, account.host);
        let Some((url, history)) = key.and_then(&mut known) else {
            continue;
        };
        let page = Page {
            number: account.page,
            history: &history,
        };
        if let Some(sources) = &frontier.policy().sources {
            let young = !sources.polls(page);
            let due = sources.due(page, price);
            rows.push(SourceSummary {
                url,
                on: due.is_some() && !young,
                why: why(&account, &history, young, due.is_some()),
                polled: history.asked.map(written),
                due: due.map(written),
                interval_hours: due
                    .zip(history.asked)
                    .map(|(due, asked)| due.since(asked).as_secs_f64() / 3600.0),
                ..SourceSummary::of(&account)
            });
        }
    }
    rows
}

/// Returns the ledger keys of the sources with the most expected profit per second; at most `most`.
pub fn best(frontier: &mut Frontier<Crawl>, most: usize) -> Vec<PageKey> {
    let accounts = best_accounts(frontier, most);
    let accounts = accounts.iter();
    accounts
        .filter_map(|account| frontier.located(account.page, account.host))
        .collect()
}

fn best_accounts(frontier: &mut Frontier<Crawl>, most: usize) -> Vec<Account> {
    let mut accounts: Vec<Account> = match &frontier.policy().sources {
        Some(sources) => sources.accounts().collect(),
        None => Vec::new(),
    };
    let worth = |account: &Account| account.outlook.rate * account.outlook.profit;
    accounts.sort_by(|one, other| {
        let by_worth = worth(other).total_cmp(&worth(one));
        by_worth.then(one.page.cmp(&other.page))
    });
    accounts.truncate(most);
    accounts
}

impl SourceSummary {
    fn of(account: &Account) -> Self {
        let outlook = account.outlook;
        Self {
            url: String::new(),
            kind: kind(account.kind).to_owned(),
            on: false,
            why: String::new(),
            found: account.found,
            new_a_day: outlook.rate * DAY,
            profit: outlook.profit,
            clicked: account.clicked,
            lost_in_a_day: 1.0 - (-outlook.decay * DAY).exp(),
            interval_hours: None,
            polled: None,
            due: None,
        }
    }
}

fn kind(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Main => "main",
        SourceKind::Listing => "listing",
        SourceKind::Near => "near",
    }
}

fn why(account: &Account, history: &History, young: bool, pays: bool) -> String {
    let base = if account.clicked {
        "by clicks on pages that it named"
    } else {
        "by the quality of pages that it named, which have no clicks"
    };
    match (history.asked, young, pays) {
        (None, ..) => "it was not fetched yet".into(),
        (_, true, _) => "it is one link from a main page, and too new to be a source".into(),
        (_, _, true) => format!("a poll is worth its price, {base}"),
        _ if account.found == 0 => {
            "it never named a new page, and a poll is not worth its price".into()
        }
        _ => format!("a poll is not worth its price, {base}"),
    }
}
