//! Logs searches and clicks on the nodes that own the shown and clicked pages, because each node's
//! policy and index learn from its own log.
//!
//! The node that answered a search logs it with those results that are pages of its own. Every
//! owner of other results gets the search with its pages, at their ranks. A click goes to the owner
//! of its page. A search never waits for this: lines wait in a bounded queue, and are sent once a
//! second.
//!
//! **Invariant:** no line is lost while this process runs. A line that cannot be sent for
//! [`ATTEMPTS`] seconds, or for which the queue has no room, is logged on this node. The receiver
//! remembers the lines that it has logged, so that a repeated message counts once.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result};
use cluster::Slot;
use cluster::agent::Agent;
use cluster::broker::MESSAGE_LIMIT;
use cluster::log::SlotLog;
use frontier::Partition;
use futures_util::StreamExt;
use ledger::{decode, encode};
use page::PageUrl;
use repository::log::{Click, EventLog, LogEntry, Search};
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;

use super::RETRY;
use crate::panics::POISONED;
use crate::store;

/// Time between two messages to the same node.
const EVERY: Duration = Duration::from_secs(1);

/// How long a node may take to confirm that it has logged a message.
const PATIENCE: Duration = Duration::from_secs(2);

/// Lines that wait at most. A line has about 1 KB.
const QUEUE: usize = 4096;

/// Attempts to send a line before it is logged on this node. They take longer than the silence
/// after which a dead owner is replaced.
const ATTEMPTS: u32 = 30;

/// Largest size of the lines of one message, in bytes.
const BATCH: usize = MESSAGE_LIMIT / 2;

/// Lines that a receiver remembers, so that it logs no line twice.
const REMEMBERED: usize = 100_000;

/// The log of a node, and the way to the logs of the others.
pub struct LogRouting {
    searches: EventLog<Search>,
    clicks: EventLog<Click>,
    /// Lines for other nodes, the oldest first.
    waiting: Mutex<VecDeque<WaitingLine>>,
    received: Mutex<ReceivedLines>,
    next: AtomicU64,
    sent: AtomicU64,
    closed: AtomicBool,
}

/// A line of a log, in the format of its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum LoggedLine {
    Search(String),
    Click(String),
}

/// A line for the owner of a slot.
#[derive(Debug, Clone)]
struct WaitingLine {
    number: u64,
    slot: Slot,
    line: LoggedLine,
    attempts: u32,
}

/// Lines that one node sends to another.
#[derive(Debug, Serialize, Deserialize)]
struct LineMessage {
    /// The process that sends them, by node and incarnation.
    from: (String, u64),
    /// The lines, with numbers that are unique for the process.
    lines: Vec<(u64, LoggedLine)>,
}

/// The lines that were logged last, by process and number, with their order for eviction.
#[derive(Default)]
struct ReceivedLines {
    known: HashSet<(u64, u64)>,
    order: VecDeque<(u64, u64)>,
}

impl ReceivedLines {
    fn has(&self, line: (u64, u64)) -> bool {
        self.known.contains(&line)
    }

    fn add(&mut self, line: (u64, u64)) {
        if self.known.insert(line) {
            self.order.push_back(line);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

impl LogRouting {
    /// Opens the log of the store at `root`.
    pub fn new(root: &Path) -> Self {
        let directory = store::log(root);
        Self {
            searches: EventLog::open(&directory),
            clicks: EventLog::open(&directory),
            waiting: Mutex::default(),
            received: Mutex::default(),
            next: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns the number of lines that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.lines().len()
    }

    /// Returns the number of lines that other nodes have confirmed.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Logs a search here, and sends it to the owners of its results.
    pub fn search(&self, agent: &Agent, search: &Search) -> Result<()> {
        let own = agent.name();
        self.divide(search, |url| {
            let slot = agent.division().slot(Partition::of(url));
            let away = agent.owner(slot).as_ref() != Some(&own);
            away.then_some(slot)
        })
    }

    /// Logs a click on the node that owns the page.
    pub fn click(&self, agent: &Agent, click: &Click) -> Result<()> {
        let url = PageUrl::parse(&click.url).context("the URL of a result cannot be parsed")?;
        let slot = agent.division().slot(Partition::of(&url));
        if agent.owner(slot) == Some(agent.name()) {
            return Ok(self.clicks.append(click)?);
        }
        self.queue(slot, LoggedLine::Click(click.written()))
    }

    /// Logs a search with the results for which `away` returns no slot. Queues the others for the
    /// owners of their slots.
    fn divide(&self, search: &Search, away: impl Fn(&PageUrl) -> Option<Slot>) -> Result<()> {
        let slot_of = |url: &str| PageUrl::parse(url).ok().and_then(|url| away(&url));
        let slots: BTreeSet<Slot> = search.shown.iter().filter_map(|url| slot_of(url)).collect();
        if slots.is_empty() {
            return Ok(self.searches.append(search)?);
        }
        self.searches
            .append(&search.only(|url| slot_of(url).is_none()))?;
        for slot in slots {
            let part = search.only(|url| slot_of(url) == Some(slot));
            self.queue(slot, LoggedLine::Search(part.written()))?;
        }
        Ok(())
    }

    /// Queues a line. Without room, or at the end of the program, logs it here.
    fn queue(&self, slot: Slot, line: LoggedLine) -> Result<()> {
        let mut waiting = self.lines();
        if waiting.len() >= QUEUE || self.closed.load(Ordering::Relaxed) {
            drop(waiting);
            return self.write(&[line]);
        }
        waiting.push_back(WaitingLine {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            slot,
            line,
            attempts: 0,
        });
        Ok(())
    }

    /// Logs lines on this node. A line that cannot be read is skipped.
    fn write(&self, lines: &[LoggedLine]) -> Result<()> {
        let searches = lines.iter().filter_map(|line| match line {
            LoggedLine::Search(line) => Search::read(line.as_bytes()),
            LoggedLine::Click(_) => None,
        });
        let clicks = lines.iter().filter_map(|line| match line {
            LoggedLine::Click(line) => Click::read(line.as_bytes()),
            LoggedLine::Search(_) => None,
        });
        self.searches.append_all(&searches.collect::<Vec<_>>())?;
        Ok(self.clicks.append_all(&clicks.collect::<Vec<_>>())?)
    }

    /// Sends the waiting lines to the owners of their slots, until the task is aborted.
    pub async fn send(&self, agent: &Agent) {
        loop {
            tokio::time::sleep(EVERY).await;
            let own = agent.name();
            let mut batches: BTreeMap<String, Vec<(u64, LoggedLine)>> = BTreeMap::new();
            let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
            let (mut here, mut tried) = (BTreeSet::new(), BTreeSet::new());
            for line in self.lines().iter() {
                let owner = agent.owner(line.slot);
                if owner.as_ref() == Some(&own) || line.attempts >= ATTEMPTS {
                    here.insert(line.number);
                    continue;
                }
                tried.insert(line.number);
                let Some(owner) = owner else { continue };
                let size = sizes.entry(owner.to_string()).or_default();
                *size += line.line.size();
                if *size <= BATCH || *size == line.line.size() {
                    let batch = batches.entry(owner.to_string()).or_default();
                    batch.push((line.number, line.line.clone()));
                } else {
                    // The next message has it.
                    tried.remove(&line.number);
                }
            }
            let logged = (!here.is_empty()).then(|| block_in_place(|| self.log_here(&here)));
            if let Some(Err(error)) = logged {
                tracing::warn!("searches and clicks cannot be logged: {error:#}");
            }
            for (owner, lines) in batches {
                let numbers: BTreeSet<u64> = lines.iter().map(|(number, _)| *number).collect();
                let message = LineMessage {
                    from: (own.to_string(), agent.incarnation()),
                    lines,
                };
                let subject = format!("log.{owner}");
                let asked = agent.broker().ask(&subject, encode(&message), 1, PATIENCE);
                if asked.await.is_ok_and(|answers| !answers.is_empty()) {
                    self.remove(&numbers);
                    let count = numbers.len() as u64;
                    self.sent.fetch_add(count, Ordering::Relaxed);
                }
            }
            for line in self.lines().iter_mut() {
                line.attempts += u32::from(tried.contains(&line.number));
            }
        }
    }

    /// Logs the lines of other nodes, until the task is aborted.
    pub async fn receive(&self, agent: &Agent) {
        let subject = format!("log.{}", agent.name());
        loop {
            if let Ok(mut messages) = agent.broker().requests(&subject).await {
                while let Some((message, Some(reply))) = messages.next().await {
                    match block_in_place(|| self.take(&message)) {
                        Ok(()) => {
                            agent.broker().answer(reply, encode(&true)).await.ok();
                        }
                        // The sender tries again.
                        Err(error) => {
                            tracing::warn!("searches of another node cannot be logged: {error:#}")
                        }
                    }
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Logs the lines of a message that were not logged before.
    fn take(&self, message: &[u8]) -> Result<()> {
        let message: LineMessage = decode(message, || "searches of another node".into())?;
        let (_, process) = message.from;
        let mut received = self.received.lock().expect(POISONED);
        let news = message.lines.iter();
        let news = news.filter(|(number, _)| !received.has((process, *number)));
        let lines: Vec<LoggedLine> = news.map(|(_, line)| line.clone()).collect();
        self.write(&lines)?;
        for (number, _) in message.lines {
            received.add((process, number));
        }
        Ok(())
    }

    /// The program is about to end: what waits is logged on this node, and what comes as well.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        let all = self.lines().iter().map(|line| line.number).collect();
        if let Err(error) = self.log_here(&all) {
            tracing::warn!("searches and clicks cannot be logged: {error:#}");
        }
    }

    /// Logs waiting lines on this node. They wait further if the log cannot be written.
    fn log_here(&self, numbers: &BTreeSet<u64>) -> Result<()> {
        let lines = self.lines();
        let chosen = lines.iter().filter(|line| numbers.contains(&line.number));
        let chosen: Vec<LoggedLine> = chosen.map(|line| line.line.clone()).collect();
        drop(lines);
        self.write(&chosen)?;
        self.remove(numbers);
        Ok(())
    }

    fn remove(&self, numbers: &BTreeSet<u64>) {
        self.lines().retain(|line| !numbers.contains(&line.number));
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<WaitingLine>> {
        self.waiting.lock().expect(POISONED)
    }
}

impl LoggedLine {
    fn size(&self) -> usize {
        let (Self::Search(line) | Self::Click(line)) = self;
        line.len()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use repository::log::Position;

    use super::*;

    fn searches(routing: &LogRouting) -> Vec<Search> {
        let mut found = Vec::new();
        let read = routing
            .searches
            .read(&Position::default(), |line| found.push(line));
        read.unwrap();
        found
    }

    fn shown(urls: &[&str]) -> Search {
        let mut search = Search::new(Timestamp::UNIX_EPOCH, "red fox");
        search.shown = urls.iter().map(|url| (*url).to_owned()).collect();
        search
    }

    /// The slot of a page of another node: the number of its host.
    fn away(url: &PageUrl) -> Option<Slot> {
        match url.as_str() {
            url if url.starts_with("http://one.org") => Some(Slot(1)),
            url if url.starts_with("http://two.org") => Some(Slot(2)),
            _ => None,
        }
    }

    #[test]
    fn a_search_is_divided_among_the_owners_of_its_results() {
        let root = tempfile::tempdir().unwrap();
        let routing = LogRouting::new(root.path());
        let all = shown(&[
            "http://one.org/a",
            "http://own.org/b",
            "http://two.org/c",
            "http://one.org/d",
        ]);
        routing.divide(&all, away).unwrap();
        let logged = searches(&routing);
        assert_eq!(logged.len(), 1);
        assert_eq!(logged[0].shown, ["http://own.org/b"]);
        assert_eq!(logged[0].ranks, [2]);
        // The queue sends the rest; another node logs it once, although the message is repeated.
        let lines: Vec<(u64, LoggedLine)> = (routing.lines().iter())
            .map(|line| (line.number, line.line.clone()))
            .collect();
        let slots: Vec<Slot> = routing.lines().iter().map(|line| line.slot).collect();
        assert_eq!(slots, [Slot(1), Slot(2)]);
        let other_root = tempfile::tempdir().unwrap();
        let other = LogRouting::new(other_root.path());
        let message = |process, lines| {
            encode(&LineMessage {
                from: ("a".into(), process),
                lines,
            })
        };
        other.take(&message(7, lines.clone())).unwrap();
        other.take(&message(7, lines.clone())).unwrap();
        let logged = searches(&other);
        let places: Vec<(Vec<String>, Vec<u32>)> = logged
            .into_iter()
            .map(|search| (search.shown, search.ranks))
            .collect();
        let one = ["http://one.org/a", "http://one.org/d"].map(String::from);
        let two = ["http://two.org/c"].map(String::from);
        assert_eq!(
            places,
            [(one.to_vec(), vec![1, 4]), (two.to_vec(), vec![3])]
        );
        // A later process of the sender counts from 0 again.
        other.take(&message(8, lines)).unwrap();
        assert_eq!(searches(&other).len(), 4);
        assert!(other.take(b"damaged").is_err());
    }

    #[test]
    fn a_search_without_results_of_others_is_logged_as_it_is() {
        let root = tempfile::tempdir().unwrap();
        let routing = LogRouting::new(root.path());
        for urls in [&["http://own.org/"][..], &[]] {
            routing.divide(&shown(urls), away).unwrap();
        }
        assert_eq!(
            searches(&routing),
            [shown(&["http://own.org/"]), shown(&[])]
        );
        assert_eq!(routing.waiting(), 0);
    }

    #[test]
    fn what_cannot_be_sent_is_logged_here() {
        let root = tempfile::tempdir().unwrap();
        let routing = LogRouting::new(root.path());
        let click = Click {
            time: Timestamp::UNIX_EPOCH,
            url: "http://one.org/".into(),
            count: 1,
            query: None,
            rank: None,
        };
        let line = || LoggedLine::Click(click.written());
        for _ in 0..QUEUE + 2 {
            routing.queue(Slot(1), line()).unwrap();
        }
        let logged = || {
            let mut count = 0;
            let read = routing.clicks.read(&Position::default(), |_| count += 1);
            read.unwrap();
            count
        };
        assert_eq!((routing.waiting(), logged()), (QUEUE, 2), "no room for two");
        routing.close();
        assert_eq!((routing.waiting(), logged()), (0, QUEUE + 2));
        routing.queue(Slot(1), line()).unwrap();
        assert_eq!(
            (routing.waiting(), logged()),
            (0, QUEUE + 3),
            "after the end"
        );
    }
}
