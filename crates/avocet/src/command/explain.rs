//! `avocet explain URL`: what is known of a page, in words.

use std::path::Path;

use anyhow::Result;

use crate::cli::Explain;
use node::clock::Clock;
use node::explain::{self, Explanation, Findable, explain};
use node::live::remote;
use node::store::{self, Store};

/// Explains; a crawl that has the store is asked itself.
pub fn run(root: &Path, json: bool, wishes: &Explain) -> Result<()> {
    store::must_exist(root)?;
    let mut answer = match Store::open(root) {
        Ok(store) => {
            let ledger = store.ledger()?;
            let explanation = explain(&store, &ledger, &wishes.url, Clock::start().now())?;
            serde_json::to_value(explanation)?
        }
        Err(_) => remote::explain(root, explain::parse(&wishes.url)?.as_str())?,
    };
    let findable = Findable::of(root, &explain::parse(&wishes.url)?)?;
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
    if page.blocked {
        line(
            "blocked",
            "its host is asked no more: [crawl] block in avocet.toml",
        );
    }
    if let Some(why) = &page.not_fetched {
        line("not fetched", why);
    }
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
            .map_or("no answer".into(), |status| format!("status {status}"));
        let error = seen
            .error
            .as_ref()
            .map_or(String::new(), |error| format!(", {error}"));
        let at = seen.at.as_deref().unwrap_or("never");
        line("last asked", &format!("{at}: {status}{error}"));
        if let Some(hub) = &seen.hub {
            line("WebSub hub", hub);
        }
        line(
            "revisits",
            &format!(
                "{}, {} of them found it changed",
                seen.revisits, seen.changes
            ),
        );
        if let Some(links) = seen.out_links {
            line("links", &format!("to {links} pages"));
        }
        let signals = &seen.signals;
        if signals.since + signals.hits + signals.false_alarms > 0 {
            let told = format!("{} true, {} false", signals.hits, signals.false_alarms);
            let missed = format!("{} changes without one", signals.misses);
            line(
                "signals",
                &format!("{told}, {} since the last visit; {missed}", signals.since),
            );
        }
        if let Some(gain) = seen.gain {
            line("last gain", &format!("{} to searchers", short(gain.into())));
        }
    }
    if let Some(topic) = &page.topic {
        let side = if topic.on_topic { "on" } else { "off" };
        line(
            "topic",
            &format!("{}: {side}, P = {:.3}", topic.name, topic.probability),
        );
        for field in ["title", "url", "text"] {
            let told = topic.words.iter().filter(|told| told.field == field);
            let told: Vec<String> = told
                .map(|told| format!("{} {:+.1}", told.word, told.log_odds))
                .collect();
            if !told.is_empty() {
                line(&format!("by its {field}"), &told.join(", "));
            }
        }
    }
    if let Some(found) = &page.search {
        let counts = format!(
            "{} pages link to it, {} sections",
            found.in_links, found.sections
        );
        line("in the index", &counts);
        for url in &found.duplicates {
            line("nearly the same", url);
        }
        for choice in &found.chosen {
            let times = format!("{} times over others for {:?}", choice.times, choice.query);
            line("chosen", &times);
        }
    }
    if let Some(worth) = &page.worth {
        line(
            "worth now",
            &match &worth.refresh {
                Some(refresh) => format!("{} by {refresh} and {}", short(worth.now), worth.order),
                None => format!("{} by {}", short(worth.now), worth.order),
            },
        );
        for term in &worth.terms {
            line("", &format!("{} {}", term.name, short(term.value)));
        }
        line(
            "due",
            worth.due.as_deref().unwrap_or("not, as far as is known"),
        );
    }
    if let Some(budget) = &page.budget {
        let [used, evidence] = budget.describe();
        line("budget", &used);
        line("", &evidence);
    }
    if let Some(server) = &page.server {
        let counts = format!(
            "{} connections, {} requests",
            server.connections, server.requests
        );
        line("server", &format!("{}: {counts}", server.origin));
        let times = (server.connect_ms, server.response_ms, server.per_connection);
        if let (Some(connect), Some(response), Some(carries)) = times {
            let speed = format!("{connect:.1} ms to connect, {response:.1} ms to answer");
            line("", &format!("{speed}, {carries} requests a connection"));
        }
    }
    if let Some(place) = &page.standing {
        let visit = format!("rank {} by {}", short(place.rank), place.strategy);
        line(
            "next visit",
            &format!("{visit}, for {} pages", place.visit_pages),
        );
        let pages = format!(
            "{} of {} pages of its host",
            place.pages_before, place.pages_waiting
        );
        line(
            "before it",
            &format!("{pages}, {} servers", place.servers_before),
        );
    }
}

/// Four digits that say something, also of a small share.
fn short(value: f64) -> String {
    if value > 0.0 && value < 1e-3 {
        format!("{value:.3e}")
    } else {
        format!("{value:.4}")
    }
}

fn line(name: &str, text: &str) {
    outln!("  {name:<12} {text}");
}
