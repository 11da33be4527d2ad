//! The first lines of `avocet explain`: at most three sentences, before the figures.

use jiff::Timestamp;
use node::explain::Explanation;
use node::number::{amount, counted, duration, significant};
use policy::Price;

/// Returns up to three sentences about a page.
///
/// The first says whether the page was fetched, or why not; the second, what happens next and when.
/// The third compares the worth of a fetch with the price. It is left out if the page cannot be
/// fetched or its worth is unknown.
pub fn sentences(page: &Explanation, now: Timestamp) -> Vec<String> {
    let can_be_fetched = !page.forbidden && !is_gone(page);
    let all = [
        Some(past(page, now)),
        Some(future(page, now)),
        worth_and_price(page).filter(|_| can_be_fetched),
    ];
    all.into_iter().flatten().collect()
}

fn past(page: &Explanation, now: Timestamp) -> String {
    if let Some(why) = &page.not_fetched {
        return format!("Not fetched: {why}.");
    }
    let found = page.discovered.as_ref();
    let found = found.map_or(String::new(), |found| match &found.by {
        Some(link) => format!("; it was discovered by a link from {}", link.from),
        None => "; it is a seed".into(),
    });
    let visited = page.visited.as_ref();
    let status = visited.and_then(|visited| visited.status);
    let status = status.map_or(String::new(), |status| format!(" with status {status}"));
    let at = visited.and_then(|visited| visited.at.as_deref());
    let ago = at.and_then(|at| seconds_until(at, now));
    let ago = ago.map_or(String::new(), |ahead| {
        format!(" {} ago", duration((-ahead).max(0.0)))
    });
    if is_gone(page) {
        return format!("The server answered{ago} that there is no such page{status}{found}.");
    }
    format!("Last fetched{ago}{status}{found}.")
}

/// Returns whether the last answer was 404 or 410.
fn is_gone(page: &Explanation) -> bool {
    let status = page.visited.as_ref().and_then(|visited| visited.status);
    matches!(status, Some(404 | 410))
}

fn future(page: &Explanation, now: Timestamp) -> String {
    if page.blocked {
        return "It will not be fetched while [crawl] block in avocet.toml names its host.".into();
    }
    if page.forbidden {
        return "It will be fetched only if robots.txt of its host allows it; that file is read \
                again after a day."
            .into();
    }
    if page.discovered.is_none() {
        return "It will be fetched if it is in scope and a fetched page links to it, or if you \
                add it as a seed."
            .into();
    }
    if page.budget.as_ref().is_some_and(|budget| budget.deferred) {
        return "It waits until the page budget of its domain is raised.".into();
    }
    if let Some(place) = &page.standing {
        let pages = counted(place.pages_before, "page");
        let servers = counted(place.servers_before, "server");
        return format!("It is due: {pages} of its host and {servers} come first.");
    }
    let worth = page.worth.as_ref();
    let due = worth.and_then(|worth| worth.due.as_deref());
    let refreshes = worth.is_some_and(|worth| worth.refresh.is_some());
    match due {
        Some(due) => match seconds_until(due, now) {
            Some(ahead) if ahead > 0.0 => {
                format!("The next fetch is due in {}, at {due}.", duration(ahead))
            }
            _ if page.not_fetched.is_some() => "It is not in the queue now.".into(),
            _ => "The next fetch is due now.".into(),
        },
        None if page.not_fetched.is_some() => {
            "It will be fetched if its worth reaches the price.".into()
        }
        None if refreshes => {
            "No further fetch is planned: its worth is not expected to reach the price.".into()
        }
        None => "No further fetch is planned; `avocet run` and `avocet crawl --refresh-after` \
                 fetch pages again."
            .into(),
    }
}

fn worth_and_price(page: &Explanation) -> Option<String> {
    let worth = page.worth.as_ref()?;
    // A crawl without a budget has no price: it fetches every page that is worth anything.
    if worth.price <= Price::LEAST.value() {
        return Some(format!(
            "A fetch now is worth {} (what it gains).",
            amount(worth.now)
        ));
    }
    Some(format!(
        "A fetch now is worth {} (what it gains), {} the price of {} (the least worth at which a \
         page is fetched).",
        amount(worth.now),
        relation(worth.now, worth.price),
        amount(worth.price)
    ))
}

/// Returns the words between a worth and "the price".
fn relation(worth: f64, price: f64) -> String {
    match worth / price {
        ratio if !ratio.is_finite() || ratio >= 1000.0 => "far above".into(),
        ratio if ratio >= 1.0 => format!("{} times", significant(ratio)),
        ratio if ratio >= 0.001 => format!("{} % of", significant(ratio * 100.0)),
        _ => "far below".into(),
    }
}

fn seconds_until(time: &str, now: Timestamp) -> Option<f64> {
    let time: Timestamp = time.parse().ok()?;
    Some(time.duration_since(now).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(more: &Value) -> Vec<String> {
        let mut page = json!({
            "url": "http://e.org/a",
            "blocked": false,
            "discovered": {
                "number": 3,
                "at": "2026-11-17T00:00:00Z",
                "depth": 1,
                "by": { "from": "http://e.org/", "anchor": "a" },
            },
            "links": [],
            "visited": null,
            "worth": null,
            "budget": null,
            "server": null,
            "standing": null,
            "not_fetched": null,
            "topic": null,
        });
        for (key, value) in more.as_object().unwrap() {
            page[key] = value.clone();
        }
        let now = "2026-11-18T00:00:00Z".parse().unwrap();
        sentences(&serde_json::from_value(page).unwrap(), now)
    }

    #[test]
    fn a_fetched_page_gets_sentences_about_past_next_fetch_and_worth() {
        let said = of(&json!({
            "visited": {
                "at": "2026-11-17T21:00:00Z",
                "status": 200,
                "error": null,
                "revisits": 0,
                "changes": 0,
                "failures": 0,
                "out_links": null,
                "listing": false,
                "hub": null,
                "named": 0,
                "signals": { "since": 0, "hits": 0, "false_alarms": 0, "misses": 0 },
                "gain": null,
            },
            "worth": {
                "order": "rankmass",
                "refresh": "holistic",
                "now": 2e-5,
                "price": 4e-5,
                "terms": [],
                "due": "2026-11-18T00:10:00Z",
            },
        }));
        let expected = [
            "Last fetched 3 h ago with status 200; it was discovered by a link from http://e.org/.",
            "The next fetch is due in 10 min, at 2026-11-18T00:10:00Z.",
            "A fetch now is worth 20 millionths (what it gains), 50 % of the price of 40 millionths \
             (the least worth at which a page is fetched).",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn the_sentences_about_an_unknown_page_say_how_to_have_it_fetched() {
        let said = of(&json!({ "discovered": null, "not_fetched": "it is out of scope" }));
        assert_eq!(said.len(), 2);
        assert_eq!(said[0], "Not fetched: it is out of scope.");
        assert!(said[1].contains("add it as a seed"), "{said:?}");
    }

    #[test]
    fn worth_is_compared_with_the_price() {
        assert_eq!(relation(3.0, 2.0), "1.5 times");
        assert_eq!(relation(1.0, 2.0), "50 % of");
        assert_eq!(relation(1.0, 1e-12), "far above");
        assert_eq!(relation(0.0, 1.0), "far below");
    }
}
