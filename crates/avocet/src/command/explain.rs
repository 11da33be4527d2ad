//! `avocet explain URL`: why a page was or was not fetched, what happens next, and the figures.

mod summary;

use std::path::Path;

use anyhow::Result;

use crate::cli::ExplainArguments;
use crate::number::{amount, duration, rate, significant};
use node::clock::Clock;
use node::explain::{self, Explanation, Findable, explain};
use node::live::remote;
use node::store::{self, Store};
use summary::sentences;

/// Explains a page. If a crawl runs on the store, that process gives the explanation.
pub fn run(root: &Path, json: bool, arguments: &ExplainArguments) -> Result<()> {
    store::must_exist(root)?;
    let mut answer = match Store::open(root) {
        Ok(store) => {
            let ledger = store.ledger()?;
            let explanation = explain(&store, &ledger, &arguments.url, Clock::start().now())?;
            serde_json::to_value(explanation)?
        }
        Err(_) => remote::explain(root, explain::parse(&arguments.url)?.as_str())?,
    };
    let findable = Findable::of(root, &explain::parse(&arguments.url)?)?;
    answer["search"] = serde_json::to_value(findable)?;
    if json {
        outln!("{answer}");
    } else {
        print(&serde_json::from_value(answer)?);
    }
    Ok(())
}

fn print(page: &Explanation) {
    outln!("{}", page.url);
    for sentence in sentences(page, jiff::Timestamp::now()) {
        outln!("{sentence}");
    }
    outln!("");
    print_visits(page);
    print_topic_and_search(page);
    print_worth(page);
    print_server(page);
}

fn print_visits(page: &Explanation) {
    if let Some(found) = &page.discovered {
        let by = match &found.by {
            Some(link) => format!("by a link from {} {:?}", link.from, link.anchor),
            None => "as a seed".into(),
        };
        let when = format!(
            "{}, number {}, depth {}",
            found.at, found.number, found.depth
        );
        line("discovered", &format!("{when}, {by}"));
    }
    for link in &page.links {
        line(
            "link to it",
            &format!("{:?} from {}", link.anchor, link.from),
        );
    }
    if let Some(seen) = &page.visited {
        let status = seen
            .status
            .map_or("no response".into(), |status| format!("status {status}"));
        let error = seen
            .error
            .as_ref()
            .map_or(String::new(), |error| format!(", {error}"));
        let at = seen.at.as_deref().unwrap_or("never");
        line("last request", &format!("{at}: {status}{error}"));
        if let Some(hub) = &seen.hub {
            line("WebSub hub", hub);
        }
        line(
            "revisits",
            &format!(
                "{}, of which {} found a change",
                seen.revisits, seen.changes
            ),
        );
        if let Some(links) = seen.out_links {
            line("links", &format!("to {links} pages"));
        }
        let signals = &seen.signals;
        if signals.since + signals.hits + signals.false_alarms > 0 {
            let told = format!("{} true, {} false", signals.hits, signals.false_alarms);
            let missed = format!("{} changes came without one", signals.misses);
            line(
                "change hints",
                &format!("{told}, {} since the last visit; {missed}", signals.since),
            );
        }
        if let Some(gain) = seen.gain {
            line(
                "last gain",
                &format!("{} for searchers", amount(gain.into())),
            );
        }
    }
}

fn print_topic_and_search(page: &Explanation) {
    if let Some(topic) = &page.topic {
        let side = if topic.on_topic { "on" } else { "off" };
        line(
            "topic",
            &format!(
                "{}: {side} topic, probability {:.3}",
                topic.name, topic.probability
            ),
        );
        for field in ["title", "url", "text"] {
            let words = topic.words.iter().filter(|word| word.field == field);
            let words: Vec<String> = words
                .map(|word| format!("{} {:+.1}", word.word, word.log_odds))
                .collect();
            if !words.is_empty() {
                line(&format!("by its {field}"), &words.join(", "));
            }
        }
    }
    if let Some(found) = &page.search {
        let counts = format!(
            "{} pages link to it; it has {} sections",
            found.in_links, found.sections
        );
        line("in the index", &counts);
        for url in &found.duplicates {
            line("duplicate", url);
        }
        for choice in &found.chosen {
            let times = format!(
                "{} times over higher results for {:?}",
                choice.times, choice.query
            );
            line("clicked", &times);
        }
    }
}

fn print_worth(page: &Explanation) {
    if let Some(worth) = &page.worth {
        line(
            "worth now",
            &match &worth.refresh {
                Some(refresh) => format!("{} by {refresh} and {}", amount(worth.now), worth.order),
                None => format!("{} by {}", amount(worth.now), worth.order),
            },
        );
        for term in &worth.terms {
            line("", &described(&term.name, term.value));
        }
        if worth.price > policy::Price::LEAST.value() {
            line("price", &amount(worth.price));
        }
        line("due", worth.due.as_deref().unwrap_or("not planned"));
    }
    if let Some(budget) = &page.budget {
        let [used, evidence] = budget.describe();
        line("budget", &used);
        line("", &evidence);
    }
}

fn print_server(page: &Explanation) {
    if let Some(server) = &page.server {
        let counts = format!(
            "{} connections, {} requests",
            server.connections, server.requests
        );
        line("server", &format!("{}: {counts}", server.origin));
        let times = (server.connect_ms, server.response_ms, server.per_connection);
        if let (Some(connect), Some(response), Some(carries)) = times {
            let speed = format!("{connect:.1} ms to connect, {response:.1} ms to respond");
            line("", &format!("{speed}, {carries} requests per connection"));
        }
    }
    if let Some(place) = &page.standing {
        let visit = format!("rank {} by {}", amount(place.rank), place.strategy);
        line(
            "next visit",
            &format!("{visit}, for {} pages", place.visit_pages),
        );
        let pages = format!(
            "{} of {} waiting pages of its host",
            place.pages_before, place.pages_waiting
        );
        line(
            "before it",
            &format!("{pages}, and {} servers", place.servers_before),
        );
    }
}

/// Returns a term of the worth for people: rates and intervals with a fitting unit.
fn described(name: &str, value: f64) -> String {
    const DAY: f64 = 86_400.0;
    match name {
        "changes a day" => rate(value / DAY, "changes"),
        "new pages a day" => rate(value / DAY, "new pages"),
        "days between visits" if value.is_finite() => {
            format!("a visit every {}", duration(value * DAY))
        }
        "interval in days" if value.is_finite() => format!("interval {}", duration(value * DAY)),
        _ if (0.001..1e6).contains(&value.abs()) => format!("{name} {}", significant(value)),
        _ => format!("{name} {}", amount(value)),
    }
}

fn line(name: &str, text: &str) {
    outln!("  {name:<12} {text}");
}
