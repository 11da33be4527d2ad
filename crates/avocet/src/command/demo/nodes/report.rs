//! The results of the demo, as `--json` prints them.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use testweb::site::Fetches;

use super::super::evaluation::{DemoFreshness, SAMPLES, freshness};
use super::NodesDemo;
use super::kill::NodeKill;

/// The results of a demo with several nodes.
#[derive(Debug, Serialize)]
pub struct NodesReport {
    /// Random seed of the town.
    pub seed: u64,
    /// Speed of the town.
    pub speed: f64,
    /// Duration of the demo, in seconds.
    pub seconds: f64,
    /// The nodes, by name.
    pub nodes: Vec<NodeRow>,
    /// Text pages of the town that exist at the end.
    pub pages: usize,
    /// Text pages of the town that exist at the end and were fetched at least once.
    pub known: usize,
    /// Requests by kind, counted by the servers of the town.
    pub fetches: Fetches,
    /// Total number of requests.
    pub requests: u64,
    /// Freshness of the copies after `--measure-from`, or in the second half of the demo.
    pub freshness: DemoFreshness,
    /// Searches with a response.
    pub searches: u64,
    pub clicks: u64,
    /// Searches and clicks without a response, or with an error as response.
    pub failed: u64,
    /// The kill of a node; `null` if the demo ended before.
    pub kill: Option<NodeKill>,
    /// Directory of the stores.
    pub store: String,
}

/// A node at the end of the demo.
#[derive(Debug, Serialize)]
pub struct NodeRow {
    pub name: String,
    /// Where its web server listens.
    pub address: String,
    pub alive: bool,
    /// Number of slots that it owns; those of a dead node belong to others.
    pub slots: usize,
    /// Known pages of its slots.
    pub known: u64,
    /// Requests for pages.
    pub fetched: u64,
    /// Bytes received from the servers of the town.
    pub bytes: u64,
    /// Messages to the NATS server, heartbeats not included.
    pub messages: u64,
    /// Bytes of these messages.
    pub message_bytes: u64,
}

impl NodesReport {
    /// Evaluates the demo from its start until now.
    pub fn of(demo: &NodesDemo<'_>, root: &Path, elapsed: Duration) -> Self {
        let (web, arguments) = (&demo.web, demo.arguments);
        let now = web.now();
        let copies = web.copies();
        let existing =
            (web.web().pages()).filter(|page| page.exists(now) && web.web().is_text(page.number()));
        let existing: Vec<_> = existing.map(|page| page.number()).collect();
        let known = existing
            .iter()
            .filter(|page| copies.first(**page).is_some());
        let fetches = web.fetches();
        let from = arguments.measure_from.map(|from| from.0.as_secs_f64());
        let from = from.unwrap_or(now / 2.0);
        let alike = web.copies_alike();
        let freshness = freshness(web, Some(&alike), &demo.traffic, from..now, SAMPLES);
        let mut kill = demo.nodes.killed().cloned();
        if let Some(kill) = &mut kill {
            kill.count_repeats(web);
        }
        let counts = demo.traffic.counts();
        let heard = demo.heard.all().into_iter();
        let nodes = heard.map(|(beat, alive)| {
            let figures = beat.figures;
            NodeRow {
                name: beat.node.to_string(),
                address: figures.address,
                alive,
                slots: if alive { beat.owned.len() } else { 0 },
                known: figures.known,
                fetched: figures.fetched,
                bytes: figures.bytes,
                messages: figures.messages,
                message_bytes: figures.message_bytes,
            }
        });
        Self {
            seed: arguments.seed,
            speed: arguments.speed,
            seconds: elapsed.as_secs_f64(),
            nodes: nodes.collect(),
            pages: existing.len(),
            known: known.count(),
            fetches,
            requests: fetches.all(),
            freshness,
            searches: counts.searches,
            clicks: counts.clicks,
            failed: counts.failed,
            kill,
            store: root.display().to_string(),
        }
    }
}
