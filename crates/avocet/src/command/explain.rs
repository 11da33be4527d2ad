//! `avocet explain URL`: prints why a page was or was not fetched, what happens next, and figures.

mod summary;

use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::ExplainArguments;
use node::access::{StoreView, explain_running};
use node::clock::Clock;
use node::explain::{self, Explanation, Findable, explain};
use node::number::{amount, counted, duration, rate, significant};
use node::store;
use summary::sentences;

/// Prints a line of the figures: a name and a formatted text.
macro_rules! line {
    ($name:expr, $($text:tt)*) => {
        outln!("  {:<12} {}", $name, format_args!($($text)*))
    };
}

/// Explains a page. If a crawl runs on the store, that process gives the explanation, except for
/// the part about search, which this process reads from the index.
pub fn run(root: &Path, json: bool, arguments: &ExplainArguments) -> Result<()> {
    explain::parse(&arguments.url)?;
    store::must_exist(root)?;
    let mut answer = match explain_running(root, &arguments.url)? {
        Some(answer) => answer,
        None => serde_json::to_value(explain_at_rest(root, &arguments.url)?)?,
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

/// Explains a page of a store on which no crawl runs.
fn explain_at_rest(root: &Path, url: &str) -> Result<Explanation> {
    let store = StoreView::open(root)?;
    match store.held() {
        Some((store, ledger)) => explain(store, ledger, url, Clock::start().now()),
        // A crawl has begun meanwhile.
        None => {
            let answer = explain_running(root, url)?;
            let answer =
                answer.context("a crawl has just begun or ended: run the command again")?;
            Ok(serde_json::from_value(answer)?)
        }
    }
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
        line!("discovered", "{when}, {by}");
    }
    for link in &page.links {
        line!("link to it", "{:?} from {}", link.anchor, link.from);
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
        let why = seen.document_error();
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        line!("last request", "{at}: {status}{error}{why}");
        if let Some(hub) = &seen.hub {
            line!("WebSub hub", "{hub}");
        }
        line!(
            "revisits",
            "{}, of which {} found a change",
            seen.revisits,
            seen.changes
        );
        if let Some(links) = seen.out_links {
            line!("links", "to {}", counted(links, "page"));
        }
        let signals = &seen.signals;
        if signals.since + signals.hits + signals.false_alarms > 0 {
            let told = format!("{} true, {} false", signals.hits, signals.false_alarms);
            let missed = format!("{} without one", counted(signals.misses, "change"));
            line!(
                "change hints",
                "{told}, {} since the last visit; {missed}",
                signals.since
            );
        }
        if let Some(gain) = seen.gain {
            line!("last gain", "{} for searchers", amount(gain.into()));
        }
    }
}

fn print_topic_and_search(page: &Explanation) {
    if let Some(topic) = &page.topic {
        let side = if topic.on_topic { "on" } else { "off" };
        line!(
            "topic",
            "{}: {side} topic, probability {:.3}",
            topic.name,
            topic.probability
        );
        for field in ["title", "url", "text"] {
            let words = topic.words.iter().filter(|word| word.field == field);
            let words: Vec<String> = words
                .map(|word| format!("{} {:+.1}", word.word, word.log_odds))
                .collect();
            if !words.is_empty() {
                line!(format!("by its {field}"), "{}", words.join(", "));
            }
        }
    }
    if let Some(found) = &page.search {
        let links = counted(found.in_links, "link");
        let sections = counted(found.sections, "section");
        line!("in the index", "{links} to it, {sections}");
        line!("views count by", "{}", found.attention);
        for url in &found.duplicates {
            line!("duplicate", "{url}");
        }
        for choice in &found.chosen {
            let times = counted(choice.times, "time");
            line!(
                "clicked",
                "{times} rather than higher results for {:?}",
                choice.query
            );
        }
    }
}

fn print_worth(page: &Explanation) {
    if let Some(worth) = &page.worth {
        let refresh = worth
            .refresh
            .as_ref()
            .map(|refresh| format!("{refresh} and "));
        let refresh = refresh.unwrap_or_default();
        line!(
            "worth now",
            "{} by {refresh}{}",
            amount(worth.now),
            worth.order
        );
        for term in &worth.terms {
            line!("", "{}", &described(&term.name, term.value));
        }
        if worth.price > policy::Price::LEAST.value() {
            line!("price", "{}", &amount(worth.price));
        }
        line!("due", "{}", worth.due.as_deref().unwrap_or("not planned"));
    }
    if let Some(budget) = &page.budget {
        let [used, evidence] = budget.describe();
        line!("budget", "{used}");
        line!("", "{evidence}");
    }
}

fn print_server(page: &Explanation) {
    if let Some(server) = &page.server {
        let connections = counted(server.connections, "connection");
        let requests = counted(server.requests, "request");
        line!("server", "{}: {connections}, {requests}", server.origin);
        let times = (server.connect_ms, server.response_ms, server.per_connection);
        if let (Some(connect), Some(response), Some(carries)) = times {
            let speed = format!("{connect:.1} ms to connect, {response:.1} ms to respond");
            line!(
                "",
                "{speed}, {} per connection",
                counted(carries, "request")
            );
        }
    }
    if let Some(place) = &page.standing {
        let visit = format!("rank {} by {}", amount(place.rank), place.strategy);
        line!(
            "next visit",
            "{visit}, for {}",
            counted(place.visit_pages, "page")
        );
        match place.burst {
            Some(1) => line!(
                "",
                "a visit is one page, since the server needs a delay between requests (--delay, Crawl-delay); so \
                 crawl-ability and best-prefix rank servers alike"
            ),
            Some(burst) => line!(
                "",
                "a visit is at most {} (--burst)",
                counted(burst, "page")
            ),
            None => {}
        }
        let due = counted(place.pages_waiting, "due page");
        let servers = counted(place.servers_before, "server");
        line!(
            "before it",
            "{} of {due} of its host, and {servers}",
            place.pages_before
        );
    }
}

/// Formats a term of the worth. Rates and intervals get a fitting unit.
fn described(name: &str, value: f64) -> String {
    const DAY: f64 = 86_400.0;
    match name {
        "changes a day" => rate(value / DAY, "change"),
        "new pages a day" => rate(value / DAY, "new page"),
        "days between visits" if value.is_finite() => {
            format!("a visit every {}", duration(value * DAY))
        }
        "interval in days" if value.is_finite() => format!("interval {}", duration(value * DAY)),
        _ if (0.001..1e6).contains(&value.abs()) => format!("{name} {}", significant(value)),
        _ => format!("{name} {}", amount(value)),
    }
}
