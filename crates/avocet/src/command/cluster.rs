//! `avocet cluster`: shows and steers a crawl on several machines.
//!
//! These commands need the NATS servers only, not a store: they read the streams of the crawl and
//! send orders to its nodes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use cluster::broker::Broker;
use cluster::error::BrokerError;
use cluster::fold::{Head, SlotDigest};
use cluster::log::SlotLog;
use cluster::measures::{PageSample, TeamMeasures};
use cluster::member::{Assignment, Heartbeat, NodeFigures, Order};
use cluster::message::NodeName;
use cluster::{Division, Slot};
use node::clock::Clock;
use node::membership::{broker_settings, division};
use node::number::{amount, bytes, counted};
use node::settings::{Settings, Usage};
use node::slots::Digests;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::cli::cluster::{ClusterArguments, ClusterCommand};

/// How long the command listens for heartbeats, which come every second.
const LISTEN: Duration = Duration::from_millis(2500);

/// How long a node may take to answer an order.
const ORDERED: Duration = Duration::from_secs(5);

/// How long the nodes may take to draw samples of their pages: they read their whole ledgers.
const SAMPLED: Duration = Duration::from_secs(10);

/// How long a node may take to compute the digests of its slots: it reads its whole ledger.
const DIGESTED: Duration = Duration::from_secs(120);

/// Attempts to read logs that their owners trim meanwhile.
const ATTEMPTS: u32 = 5;

/// Runs a subcommand.
pub fn run(root: &Path, json: bool, command: &ClusterCommand) -> Result<()> {
    let arguments = match command {
        ClusterCommand::Status(arguments) | ClusterCommand::Verify(arguments) => arguments,
        ClusterCommand::Drain(arguments) => &arguments.cluster,
        ClusterCommand::Move(arguments) => &arguments.cluster,
    };
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let view = ClusterView::connect(root, arguments).await?;
        match command {
            ClusterCommand::Status(_) => view.status(json).await,
            ClusterCommand::Verify(_) => view.verify(json).await,
            ClusterCommand::Drain(drain) => {
                let order = Order::Drain(!drain.undo);
                view.order(&drain.target, &order).await?;
                let did = if drain.undo {
                    "takes slots again"
                } else {
                    "gives its slots away"
                };
                say(
                    json,
                    &format!("{} {did}", drain.target),
                    json!({"node": drain.target, "draining": !drain.undo}),
                );
                Ok(())
            }
            ClusterCommand::Move(moved) => view.assign(json, Slot(moved.slot), &moved.target).await,
        }
    })
}

/// Prints a line of text, or a JSON document.
fn say(json: bool, text: &str, document: Value) {
    match json {
        true => outln!("{document}"),
        false => outln!("{text}"),
    }
}

/// A slot by its owner's ledger and by its log.
struct FoldedSlot {
    slot: Slot,
    /// The message of the log up to which both are compared.
    sequence: u64,
    found: SlotDigest,
    logged: SlotDigest,
    refused: u64,
}

/// The cluster, seen from outside.
struct ClusterView {
    broker: Broker,
    division: Division,
    beats: Vec<Heartbeat>,
}

impl ClusterView {
    /// Connects to the broker and listens for the heartbeats of the nodes.
    async fn connect(root: &Path, arguments: &ClusterArguments) -> Result<Self> {
        let file = Settings::file(arguments.config.as_deref(), root)?;
        let settings = arguments.settings.layer.over(&file).settings()?.cluster;
        if settings.servers.is_empty() {
            let why = "name the NATS servers: --cluster nats://HOST:4222, or [cluster] servers in avocet.toml";
            return Err(Usage(why.into()).into());
        }
        let broker = Broker::connect(&broker_settings(&settings)?).await?;
        let beats = broker.nodes(LISTEN).await?;
        Ok(Self {
            broker,
            division: division(&settings)?,
            beats,
        })
    }

    /// Returns the owner of each slot by its log.
    async fn heads(&self) -> Result<BTreeMap<Slot, Head>> {
        let mut heads = BTreeMap::new();
        for slot in self.division.slots() {
            heads.insert(slot, self.broker.head(slot).await?);
        }
        Ok(heads)
    }

    /// Returns the measures of the nodes that answer in time, and how many do not.
    async fn measures(&self) -> Result<(Option<TeamMeasures>, usize)> {
        let nodes = self.beats.iter().map(|beat| beat.node.as_str());
        let asked = nodes.map(|node| self.broker.ask_node("sample", node, SAMPLED));
        let answers = futures_util::future::try_join_all(asked).await?;
        let samples = answers.iter().flatten();
        let samples = samples.map(|answer| ledger::decode(answer, || "a sample of pages".into()));
        let samples: Vec<PageSample> = samples.collect::<Result<_, _>>()?;
        let silent = self.beats.len() - samples.len();
        Ok((TeamMeasures::of(&samples), silent))
    }

    async fn status(&self, json: bool) -> Result<()> {
        let (measures, silent) = self.measures().await?;
        let heads = self.heads().await?;
        let free: Vec<u16> = heads
            .iter()
            .filter(|(slot, _)| !self.beats.iter().any(|beat| owns(beat, **slot)))
            .map(|(slot, _)| slot.0)
            .collect();
        if json {
            let slots = heads.iter().map(|(slot, head)| {
                json!({
                    "slot": slot.0,
                    "owner": head.owner.as_ref().map(NodeName::as_str),
                    "epoch": head.epoch,
                    "sequence": head.sequence,
                })
            });
            let nodes = self.beats.iter().map(|beat| {
                let figures = &beat.figures;
                json!({
                    "node": beat.node.as_str(),
                    "slots": beat.owned.len(),
                    "draining": beat.draining,
                    "capacity": beat.capacity,
                    "address": figures.address,
                    "known": figures.known,
                    "fetched": figures.fetched,
                    "bytes": figures.bytes,
                    "messages": figures.messages,
                    "message_bytes": figures.message_bytes,
                    "offered": figures.offered,
                    "fenced": figures.fenced,
                })
            });
            let document = json!({
                "nodes": nodes.collect::<Vec<_>>(),
                "slots": slots.collect::<Vec<_>>(),
                "without_owner": free,
                "measures": measures,
                "without_sample": silent,
            });
            outln!("{document}");
            return Ok(());
        }
        if self.beats.is_empty() {
            outln!("no node answers");
        }
        for beat in &self.beats {
            let figures = &beat.figures;
            let state = if beat.draining {
                ", gives its slots away"
            } else {
                ""
            };
            outln!(
                "{}: {}{state}; {} known, {} fetched ({}); {} to the broker ({}), {} offered to others",
                beat.node,
                counted(beat.owned.len(), "slot"),
                counted(figures.known, "page"),
                amount(figures.fetched as f64),
                bytes(figures.bytes as f64),
                counted(figures.messages, "message"),
                bytes(figures.message_bytes as f64),
                counted(figures.offered, "page"),
            );
        }
        let figures = self.beats.iter().map(|beat| &beat.figures);
        let sum = |of: fn(&NodeFigures) -> u64| figures.clone().map(of).sum::<u64>();
        let (fetched, messages) = (sum(|of| of.fetched), sum(|of| of.messages));
        if messages > 0 {
            outln!(
                "all: {:.1} pages for each message; the broker gets {:.2} % of the fetched bytes",
                fetched as f64 / messages as f64,
                100.0 * sum(|of| of.message_bytes) as f64 / sum(|of| of.bytes).max(1) as f64
            );
        }
        if let Some(measures) = measures {
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let quality = measures.quality.map_or("unknown".to_owned(), percent);
            outln!(
                "overlap {}, coverage of the known pages {}, quality {quality} of the best choice{}",
                percent(measures.overlap),
                percent(measures.coverage),
                match silent {
                    0 => String::new(),
                    silent => format!(" (without {} that did not answer)", counted(silent, "node")),
                }
            );
        }
        match free.len() {
            0 => outln!("every slot has an owner"),
            without => outln!(
                "{} without a living owner: {free:?}",
                counted(without, "slot")
            ),
        }
        Ok(())
    }

    async fn order(&self, node: &str, order: &Order) -> Result<()> {
        let known = self.beats.iter().any(|beat| beat.node.as_str() == node);
        if !known {
            let names: Vec<&str> = self.beats.iter().map(|beat| beat.node.as_str()).collect();
            bail!("no node {node:?} is alive; there are: {}", names.join(", "));
        }
        let answers = self.broker.order(node, order, ORDERED).await?;
        if answers == 0 {
            bail!(
                "the node {node} did not answer within {} s",
                ORDERED.as_secs()
            );
        }
        Ok(())
    }

    async fn assign(&self, json: bool, slot: Slot, node: &str) -> Result<()> {
        if !self.division.slots().any(|known| known == slot) {
            let most = self.division.slots().count() - 1;
            return Err(Usage(format!("there is no slot {}: they are 0 to {most}", slot.0)).into());
        }
        let Some(name) = NodeName::new(node) else {
            return Err(Usage(format!("{node:?} is no name of a node")).into());
        };
        let assignment = Assignment {
            slot,
            node: name,
            at: Clock::start().now(),
        };
        self.order(node, &Order::Assign(assignment)).await?;
        let text = format!("slot {} goes to {node} within some seconds", slot.0);
        say(json, &text, json!({"slot": slot.0, "node": node}));
        Ok(())
    }

    /// Asks a node for the digests of its slots, and folds their logs up to the same messages. Asks
    /// again if a log is trimmed meanwhile.
    async fn folds(&self, beat: &Heartbeat) -> Result<Vec<FoldedSlot>> {
        let mut attempts = 0;
        loop {
            let answer = self
                .broker
                .ask_node("digests", beat.node.as_str(), DIGESTED)
                .await?;
            let Some(answer) = answer else {
                bail!(
                    "the node {} did not answer within {} s",
                    beat.node,
                    DIGESTED.as_secs()
                );
            };
            let digests: Vec<(Slot, (u64, SlotDigest))> =
                ledger::decode(&answer, || format!("the digests of {}", beat.node))?;
            let digests: Digests = digests.into_iter().collect();
            match self.fold_all(digests).await {
                Err(BrokerError::Trimmed { .. }) if attempts < ATTEMPTS => attempts += 1,
                folds => return Ok(folds?),
            }
        }
    }

    async fn fold_all(&self, digests: Digests) -> Result<Vec<FoldedSlot>, BrokerError> {
        let mut folds = Vec::new();
        for (slot, (sequence, found)) in digests {
            let fold = self.broker.fold(slot, sequence).await?;
            folds.push(FoldedSlot {
                slot,
                sequence,
                found,
                logged: fold.digest(),
                refused: fold.refused(),
            });
        }
        Ok(folds)
    }

    /// Folds the log of every slot again and compares it with the ledger of its owner.
    async fn verify(&self, json: bool) -> Result<()> {
        let (mut rows, mut wrong, mut pages) = (Vec::new(), 0, 0);
        for beat in &self.beats {
            for folded in self.folds(beat).await? {
                let FoldedSlot {
                    slot,
                    sequence,
                    found,
                    logged,
                    refused,
                } = folded;
                let same = logged == found;
                wrong += usize::from(!same);
                pages += found.pages;
                if !same && !json {
                    outln!(
                        "slot {} of {}: the ledger has {} pages ({} visited), the log has {} ({} visited)",
                        slot.0,
                        beat.node,
                        found.pages,
                        found.visited,
                        logged.pages,
                        logged.visited
                    );
                }
                rows.push(json!({
                    "slot": slot.0, "node": beat.node.as_str(), "sequence": sequence, "same": same,
                    "pages": found.pages, "visited": found.visited, "refused": refused,
                }));
            }
        }
        let slots = rows.len();
        say(
            json,
            &format!(
                "{} with {} compared: {wrong} differ",
                counted(slots, "slot"),
                counted(pages, "page")
            ),
            json!({"slots": rows, "different": wrong}),
        );
        if wrong > 0 {
            bail!(
                "{} from the log: stop its node and start it with an empty store",
                counted(wrong, "ledger differs")
            );
        }
        Ok(())
    }
}

fn owns(beat: &Heartbeat, slot: Slot) -> bool {
    beat.owned.iter().any(|(owned, _)| *owned == slot)
}
