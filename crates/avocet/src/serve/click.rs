//! A click on a result: counted, and led on to the page if that is asked for.
//!
//! A result of the search page links to the page itself. The browser reports the click by `POST`: the script of the
//! page with `navigator.sendBeacon`, and without a script the attribute `ping`. `GET` counts the click and redirects; it
//! is for programs that show results of the API. A browser with neither script nor `ping` (Firefox has `ping` off)
//! counts no click: a reader sees where a link leads, and that is worth more than the count.
//!
//! **Invariant:** `GET` leads only to a page that is in the index, from an address that we sealed; an address counts
//! once, and only on the day it was handed out. A browser that fetches ahead of its user does not click.

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jiff::{SignedDuration, Timestamp};
use repository::log::{Click, Log};
use serde::Deserialize;

use super::App;
use super::seal::{Shown, is_web};
use crate::panics::POISONED;
use crate::store;

/// How long an address counts.
const COUNTS: SignedDuration = SignedDuration::from_hours(24);
/// Addresses that are remembered.
const REMEMBERED: usize = 100_000;
/// Searches whose words are remembered, so that a click can be told what it is an answer to.
const SEARCHES: usize = 10_000;

/// The clicks of a store.
pub struct Clicks {
    log: Log<Click>,
    seen: Mutex<Seen>,
    searches: Mutex<VecDeque<(Timestamp, String)>>,
}

/// Results that were clicked of late.
#[derive(Default)]
struct Seen {
    known: HashSet<(u128, i64)>,
    order: VecDeque<(u128, i64)>,
}

#[derive(Deserialize)]
struct Clicked {
    #[serde(default)]
    to: String,
}

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/click", get(click).post(report))
}

/// Counts a click that the browser reports; the browser itself goes to the page.
async fn report(State(app): State<Arc<App>>, Query(clicked): Query<Clicked>) -> StatusCode {
    let Some(shown) = app.seal.open(&clicked.to) else {
        return StatusCode::NOT_FOUND;
    };
    match app.clicked(shown, true).await {
        Ok(Some(_)) => StatusCode::NO_CONTENT,
        Ok(None) => StatusCode::GONE,
        Err(error) => {
            tracing::error!("a click failed: {error:#}");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

async fn click(
    State(app): State<Arc<App>>,
    Query(clicked): Query<Clicked>,
    headers: HeaderMap,
) -> Response {
    let Some(shown) = app.seal.open(&clicked.to) else {
        return app.message(
            StatusCode::NOT_FOUND,
            "No such result",
            "This address was not handed out by this search page. Search again.",
        );
    };
    let ahead = headers
        .get("sec-purpose")
        .or(headers.get("purpose"))
        .is_some_and(|purpose| purpose.as_bytes().starts_with(b"prefetch"));
    match app.clicked(shown, !ahead).await {
        Ok(Some(url)) => {
            let headers = [
                (header::LOCATION, url),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            (StatusCode::FOUND, headers).into_response()
        }
        Ok(None) => app.message(
            StatusCode::GONE,
            "No longer found",
            "This page has left the index since it was shown. Search again.",
        ),
        Err(error) => {
            tracing::error!("a click failed: {error:#}");
            app.message(
                StatusCode::SERVICE_UNAVAILABLE,
                "Try again",
                "The page could not be looked up. Try again in a moment.",
            )
        }
    }
}

impl App {
    /// Looks up where a result leads, and counts the click if it is one. Returns `None` if it leads nowhere.
    async fn clicked(self: &Arc<Self>, shown: Shown, counts: bool) -> Result<Option<String>> {
        let app = self.clone();
        let work = move || {
            let kept = app.index.kept(shown.page)?;
            let url = kept.map(|kept| kept.url).filter(|url| is_web(url));
            if let Some(url) = &url
                && counts
                && app.clicks.count(&shown, url, Timestamp::now())
            {
                app.metrics.clicked();
            }
            Ok(url)
        };
        self.readers.read(work).await
    }
}

impl Clicks {
    /// Those of the store at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            log: Log::open(&store::log(root)),
            seen: Mutex::default(),
            searches: Mutex::default(),
        }
    }

    /// Remembers what was searched for at a time, which its results carry.
    pub fn searched(&self, at: Timestamp, query: &str) {
        let mut searches = self.searches.lock().expect(POISONED);
        searches.push_back((at, query.to_owned()));
        if searches.len() > SEARCHES {
            searches.pop_front();
        }
    }

    /// What a result was shown for, if that is still known. Results that were not logged are of no search.
    fn query(&self, shown: &Shown) -> Option<String> {
        let searches = self.searches.lock().expect(POISONED);
        let found = searches
            .iter()
            .rev()
            .find(|(at, _)| at.as_microsecond() == shown.at.as_microsecond());
        found.map(|(_, query)| query.clone())
    }

    /// What is clicked.
    pub fn log(&self) -> &Log<Click> {
        &self.log
    }

    /// Counts a click, if it is one. Returns whether it was.
    fn count(&self, shown: &Shown, url: &str, now: Timestamp) -> bool {
        let age = now.duration_since(shown.at);
        if age > COUNTS || age.is_negative() || !self.is_first(shown) {
            return false;
        }
        let line = Click {
            time: now,
            url: url.to_owned(),
            count: 1,
            query: self.query(shown),
            rank: Some(shown.rank),
        };
        if let Err(error) = self.log.append(&line) {
            tracing::warn!(%error, "a click is not in the log");
        }
        true
    }

    fn is_first(&self, shown: &Shown) -> bool {
        let mut seen = self.seen.lock().expect(POISONED);
        let result = (shown.page.0, shown.at.as_microsecond());
        if !seen.known.insert(result) {
            return false;
        }
        seen.order.push_back(result);
        if seen.order.len() > REMEMBERED
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use page::PageId;

    use super::*;

    #[test]
    fn an_address_counts_once_and_on_its_day() {
        let dir = tempfile::tempdir().unwrap();
        let clicks = Clicks::of(dir.path());
        let at: Timestamp = "2026-11-16T11:10:00Z".parse().unwrap();
        let shown = |page| Shown {
            page: PageId(page),
            at,
            rank: 1,
        };
        let later = |hours| at + SignedDuration::from_hours(hours);
        assert!(clicks.count(&shown(1), "http://e.org/", later(0)));
        assert!(!clicks.count(&shown(1), "http://e.org/", later(1)), "again");
        assert!(clicks.count(&shown(2), "http://e.org/b", later(23)));
        assert!(
            !clicks.count(&shown(3), "http://e.org/c", later(25)),
            "late"
        );
        assert!(!clicks.count(&shown(4), "http://e.org/d", later(-1)));
        let log = std::fs::read_to_string(dir.path().join("log/clicks-2026-11.jsonl")).unwrap();
        assert_eq!(log.lines().count(), 2, "{log}");
        clicks.searched(at, "pied avocet");
        assert!(clicks.count(&shown(5), "http://e.org/e", later(2)));
        let log = std::fs::read_to_string(dir.path().join("log/clicks-2026-11.jsonl")).unwrap();
        assert!(
            log.ends_with("\"query\":\"pied avocet\",\"rank\":1}\n"),
            "{log}"
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let clicks = Clicks::of(Path::new("/proc/nowhere"));
        let shown = |page| Shown {
            page: PageId(page),
            at: Timestamp::UNIX_EPOCH,
            rank: 1,
        };
        for page in 0..=REMEMBERED as u128 {
            assert!(clicks.is_first(&shown(page)));
        }
        assert!(!clicks.is_first(&shown(5)));
        assert!(clicks.is_first(&shown(0)), "the oldest was forgotten");
        let seen = clicks.seen.lock().unwrap();
        assert_eq!(
            (seen.known.len(), seen.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
