//! Texts of the demo with several nodes: introduction, progress, kill and results.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use node::number::{bytes, counted, rate};

use super::super::evaluation::freshness;
use super::super::messages::{RECENT, SAMPLES, seconds, share};
use super::kill::NodeKill;
use super::report::NodesReport;
use super::{NodesDemo, SILENCE};

/// Returns the introduction, when all nodes serve.
pub fn introduction(demo: &NodesDemo<'_>, root: &Path, kill_after: Duration) -> String {
    let mut text =
        String::from("This machine now serves the web of an invented town, to itself only:\n\n");
    for home in demo.web.homes() {
        writeln!(text, "  {home}").ok();
    }
    let nodes = demo.nodes.names();
    writeln!(
        text,
        "\n{} and a NATS server keep one copy of it fresh together, with at most {} for all of them, in {}.\nSimulated users make {}, each at another node.\n",
        counted(nodes.len(), "process"),
        rate(demo.arguments.budget.per_second, "fetch"),
        root.display(),
        rate(demo.arguments.searches, "search"),
    )
    .ok();
    for name in nodes {
        let address = demo.heard.address_of(name).unwrap_or_default();
        let slots = counted(demo.heard.owned(name).len(), "slot");
        writeln!(
            text,
            "  {name}  {address}/  dashboard {address}/dashboard  ({slots})"
        )
        .ok();
    }
    let first = nodes.first().and_then(|name| demo.heard.address_of(name));
    let first = first.unwrap_or_default();
    write!(
        text,
        "\nWhat to look at:\n  {first}/dashboard/cluster: one row for each node, and which slots it owns\n  search for 'ferry timetable' at any node: it answers for all\n  after {} s one node is killed (kill -9); its slots go to the others after {} s of silence\n\nStop with Ctrl-C. Every 10 s:",
        kill_after.as_secs(),
        SILENCE.as_secs()
    )
    .ok();
    text
}

/// Returns a progress line.
pub fn progress(demo: &NodesDemo<'_>) -> String {
    let now = demo.web.now();
    let period = (now - RECENT).max(0.0)..now;
    let alike = demo.web.copies_alike();
    let lately = freshness(&demo.web, Some(&alike), &demo.traffic, period, SAMPLES);
    let nodes = demo.heard.all().into_iter().map(|(beat, alive)| {
        if alive {
            let fetched = counted(beat.figures.fetched, "fetch");
            format!(
                "{} {}, {fetched}",
                beat.node,
                counted(beat.owned.len(), "slot")
            )
        } else {
            format!("{} dead", beat.node)
        }
    });
    let nodes: Vec<String> = nodes.collect();
    let (searches, clicks) = {
        let counts = demo.traffic.counts();
        (counts.searches, counts.clicks)
    };
    format!(
        "{now:>4.0} s  {}; {} with a copy, {} of the copies fresh; {}, {}",
        nodes.join("; "),
        counted(demo.web.copies().pages(), "page"),
        share(lately.copies),
        counted(searches, "search"),
        counted(clicks, "click"),
    )
}

/// Returns the message about the kill.
pub fn killed(demo: &NodesDemo<'_>) -> String {
    let Some(kill) = demo.nodes.killed() else {
        return String::new();
    };
    format!(
        "{:>4.0} s  KILLED {} (kill -9): it owned {} with {}. Watch its row on the page of the cluster: the others wait {} s for a heartbeat, then claim its slots",
        kill.at,
        kill.node,
        counted(kill.slots, "slot"),
        counted(kill.sites.len(), "site"),
        SILENCE.as_secs()
    )
}

/// Returns the message about the complete takeover.
pub fn taken_over(demo: &NodesDemo<'_>) -> String {
    let Some(kill) = demo.nodes.killed() else {
        return String::new();
    };
    format!(
        "{:>4.0} s  TAKEN OVER: {}. Its copies are on its disk only, so its pages are fetched again, as far as the budget allows",
        demo.web.now(),
        takeover(kill)
    )
}

fn takeover(kill: &NodeKill) -> String {
    format!(
        "the first of the {} of {} had a new owner {} after the kill, all of them after {}; the first page of its sites was requested after {}",
        counted(kill.slots, "slot"),
        kill.node,
        seconds(kill.first_slot_after),
        seconds(kill.all_slots_after),
        seconds(kill.first_request_after)
    )
}

/// Prints the results at the end.
pub fn print_report(report: &NodesReport, temporary: bool) {
    outln!(
        "\nResults of {:.0} s, measured against the town itself:",
        report.seconds
    );
    for node in &report.nodes {
        let state = if node.alive { "alive" } else { "dead" };
        outln!(
            "  {}: {state}, {}, {}, {} to the NATS server ({})",
            node.name,
            counted(node.slots, "slot"),
            counted(node.fetched, "fetch"),
            counted(node.messages, "message"),
            bytes(node.message_bytes as f64)
        );
    }
    outln!(
        "  {} of {} fetched, by {}; {} and {}, of which {} failed",
        report.known,
        counted(report.pages, "page"),
        counted(report.requests, "request"),
        counted(report.searches, "search"),
        counted(report.clicks, "click"),
        report.failed
    );
    outln!(
        "  copies that equal their page, from {:.0} s on: {} ({} if all pages were visited equally often)",
        report.freshness.from,
        share(report.freshness.copies),
        share(report.freshness.baseline_copies)
    );
    if let Some(kill) = &report.kill {
        outln!("  the kill: {}", takeover(kill));
        outln!(
            "  {} fetched again in full although they had not changed, because their copies were on the killed node",
            counted(kill.pages_fetched_again, "page")
        );
    }
    match temporary {
        true => outln!("The stores are deleted; use --store DIR to keep them."),
        false => outln!("The stores are in {}.", report.store),
    }
}
