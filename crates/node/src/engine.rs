//! The live driver of the core: it carries out the core's actions with sockets, disk and clock.
//!
//! One task owns the [`Core`]. Requests run on tasks of their own and report to it. All of them are
//! tasks of the runtime: a request begins, and its report is processed, on the thread that is
//! already awake. One [`committer`] thread writes archive, ledger and index. Reads of the ledger
//! run on threads for blocking work. So the core needs no lock, and no step of the core waits for
//! the disk.

pub mod begin;
mod cluster_part;
pub mod collect;
pub mod committer;
mod disk_limit;
mod page_explanation;
#[cfg(test)]
mod paused;
pub mod plan;
mod requests;
mod snapshots;
mod state_files;
pub mod term;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use cluster::log::Mail;
use cluster::measures::PageSample;
use crawl::{Action, ConnectionId, Core, Event, Note, Stored, Summary, TOKEN, VisitId};
use fetch::{Connection, Fetcher, Route};
use frontier::{HostFacts, PageKey, Partition, RobotsFact, Visited};
use ledger::{Ledger, LedgerError};
use page::{HostId, Robots};
use policy::{History, Moment};
use repository::archive::Sealed;
use repository::changes::ChangeLog;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::clock::{Clock, written};
use crate::copies::arrivals::ArrivalWork;
use crate::explain::Explanation;
use crate::live::core_figures::Durations;
use crate::live::meter::{Fetch, TickValues, outcome, priced};
use crate::live::progress::{Figures, Progress};
use crate::live::snapshot::Snapshot;
use crate::live::{Live, RunningCrawl};
use crate::number::counted;
use crate::panics;
use crate::recovery::searches::Searches;
use crate::reports::{ReportKind, ReportTable, report};
use crate::settings::policies::ChosenPolicies;
use crate::slots::Digests;
use crate::store::{self, Store};
use begin::begin;
use cluster_part::ClusterPart;
use committer::publishing::Publishing;
use committer::{CommitResult, CommitWork, Committer};
use disk_limit::{DiskWatch, publish_last_commits};
use plan::EnginePlan;
use requests::Requests;
use snapshots::SnapshotCache;
use state_files::{SOURCES_EVERY, STATE_EVERY};

/// How often the driver updates figures and checks for the pause file and the time limit.
const TICK: Duration = Duration::from_millis(500);

/// A connection and its number. It is boxed to keep messages small.
type NumberedConnection = (ConnectionId, Box<Connection>);

/// A closure that reads the core. The task that owns the core runs it.
type Question = Box<dyn FnOnce(&mut Core<Sealed>) + Send>;

/// A message to the task that owns the core.
enum DriverMessage {
    /// An event for the core.
    Event(Event<Sealed>),
    /// A report of a request. The last report of a request returns its connection, if there is one.
    Done(Option<NumberedConnection>, Event<Sealed>),
    /// The name of a host was resolved to a route, or could not be resolved (`None`).
    Resolved(VisitId, Option<Route>, Event<Sealed>),
    /// A question to the core.
    Question(Question),
    /// Other nodes offer pages.
    Mail(Mail),
    /// Copies of pages that this node has taken over.
    Arrival(ArrivalWork),
    /// A request for the digests of this node's slots.
    Digest(mpsc::Sender<Digests>),
    /// A request for a sample of the pages of other nodes' slots that this node knows.
    Sample(mpsc::Sender<PageSample>),
    /// New lines of the log of searches were read.
    SearchesRead(Box<Searches>),
    /// An internal failure, which stops the crawl.
    Failed(anyhow::Error),
}

/// A running crawl, as other threads see it.
pub struct Engine {
    plan: EnginePlan,
    clock: Clock,
    ledger: Arc<Ledger>,
    messages: UnboundedSender<DriverMessage>,
    live: Arc<Live>,
    snapshots: Mutex<SnapshotCache>,
}

impl Engine {
    /// Runs a question on the task that owns the core; `None` if the crawl has ended.
    ///
    /// Blocks the thread, so it must not be called on an async task.
    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Core<Sealed>) -> T + Send + 'static,
    ) -> Option<T> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(DriverMessage::Question(Box::new(move |core| {
            // The asking thread may have stopped waiting.
            reply.send(question(core)).ok();
        })));
        answer.recv().ok()
    }

    /// Returns the result of a ledger read. A failure stops the crawl.
    fn ok_or_stop<T>(&self, read: Result<T, LedgerError>) -> Option<T> {
        read.map_err(|error| self.send(DriverMessage::Failed(error.into())))
            .ok()
    }

    fn send(&self, message: DriverMessage) {
        // After the end of the crawl the receiver is closed.
        self.messages.send(message).ok();
    }
}

/// Crawls until no work is left, a limit is reached, or `interrupted` completes.
pub async fn crawl(
    store: &Store,
    plan: EnginePlan,
    choice: ChosenPolicies,
    progress: impl Progress + 'static,
    live: &Arc<Live>,
    interrupted: impl Future<Output = ()>,
) -> Result<Summary> {
    let crawled = start(store, plan, choice, progress, live, interrupted).await;
    crawled.map_err(|error| store.explain(error))
}

async fn start(
    store: &Store,
    plan: EnginePlan,
    choice: ChosenPolicies,
    progress: impl Progress + 'static,
    live: &Arc<Live>,
    interrupted: impl Future<Output = ()>,
) -> Result<Summary> {
    let clock = Clock::start();
    let ledger = store.ledger()?;
    let reserve = store.hold_reserve();
    let (archive, index) = begin::writers(store, &ledger, &plan)?;
    let (core, notes) = begin(store, &plan, choice, &ledger, clock.now())?;
    notes.iter().for_each(|note| progress.note(note));
    let (messages, inbox) = unbounded_channel();
    let (work, queue) = mpsc::channel();
    let disk = DiskWatch::new(plan.min_free);
    let requests = Requests {
        fetcher: Fetcher::new(plan.fetch.clone())?,
        ledger: ledger.clone(),
        clock,
        messages: messages.clone(),
        level: plan.archive.then_some(plan.level),
        brake: disk.brake.clone(),
    };
    let changes = ChangeLog::open(&store::changes(store.root()))?;
    let committing = {
        let (ledger, messages) = (ledger.clone(), messages.clone());
        let watching = live.clone();
        let buffered = plan.rules.buffer.is_some();
        let publishing = plan
            .term
            .as_ref()
            .filter(|term| !term.independent)
            .map(|term| Publishing::new(term, &ledger));
        let publishing = publishing.transpose()?;
        let uploads = plan.term.as_ref().and_then(|term| term.uploads.clone());
        std::thread::Builder::new()
            .name("committer".into())
            .spawn(move || {
                let committer = Committer::new(&ledger, clock, archive, index)
                    .logging(changes)
                    .buffered(buffered)
                    .publishing(publishing)
                    .uploading(uploads)
                    .with_reserve(reserve);
                let committed = |done: CommitResult| {
                    watching.meter().core.commits.record(done.took);
                    for event in Event::committed(done.facts, done.requests, done.gains) {
                        messages.send(DriverMessage::Event(event)).ok();
                    }
                };
                if let Err(error) = committer.run(&queue, committed) {
                    messages.send(DriverMessage::Failed(error)).ok();
                }
            })?
    };
    let engine = Arc::new(Engine {
        plan,
        clock,
        ledger: ledger.clone(),
        messages,
        live: live.clone(),
        snapshots: Mutex::default(),
    });
    live.runs(engine.clone());
    let mut driver = CoreDriver {
        core,
        engine,
        requests,
        inbox,
        work: Some(work),
        tasks: JoinSet::new(),
        connections: HashMap::new(),
        routes: HashMap::new(),
        wake: None,
        finished: false,
        failure: None,
        disk,
        searches: None,
        last_state: None,
        last_sources: None,
        steps: Durations::default(),
        cluster: ClusterPart::new(),
    };
    let term = driver.engine.plan.term.clone();
    let receiving = term.filter(|term| !term.independent).map(|term| {
        let messages = driver.engine.messages.clone();
        tokio::spawn(term.receive(messages, driver.cluster.permits.clone()))
    });
    let reading = driver.engine.read_arrivals()?;
    let (stop, stopped) = oneshot::channel();
    let root = store.root().to_owned();
    let mut driving = JoinSet::new();
    driving.spawn(async move {
        let ended = driver.run(progress, stopped, &root).await;
        (driver, ended)
    });
    let driven = tokio::select! {
        driven = driving.join_next() => driven,
        () = interrupted => {
            // The driver may have ended meanwhile.
            stop.send(()).ok();
            driving.join_next().await
        }
    };
    let Some(Ok((mut driver, ended))) = driven else {
        // The queue of the committer was closed when the driver panicked.
        tokio::task::spawn_blocking(move || committing.join())
            .await?
            .ok();
        return Err(panics::first().unwrap_or_else(|| anyhow!("the driver of the core panicked")));
    };
    if let Some(receiving) = receiving {
        receiving.abort();
    }
    let summary = Summary {
        store: store.root().display().to_string(),
        ..live.whole(driver.core.summary(clock.elapsed()))
    };
    let mut failure = driver.end().await;
    tokio::task::spawn_blocking(move || committing.join())
        .await?
        .ok()
        .context("the committer panicked")?;
    let closing = ledger.clone();
    tokio::task::spawn_blocking(move || closing.close_checkpoint()).await?;
    driver.drain(&mut failure);
    if let Some(reading) = reading {
        reading.end().await?;
    }
    if let Some(error) = failure {
        if driver.engine.plan.rules.index && store.is_full(&error) {
            publish_last_commits(store, &ledger);
        }
        return Err(error);
    }
    store.release_reserve();
    if ended {
        ledger.mark_run(None)?;
    }
    live.sums_up(&summary);
    Ok(summary)
}

/// The task that owns the core.
struct CoreDriver {
    core: Core<Sealed>,
    engine: Arc<Engine>,
    requests: Requests,
    inbox: UnboundedReceiver<DriverMessage>,
    /// The queue of the committer; `None` after the end of the crawl.
    work: Option<mpsc::Sender<CommitWork>>,
    /// Requests and reads under way.
    tasks: JoinSet<()>,
    /// Idle connections.
    connections: HashMap<ConnectionId, Box<Connection>>,
    /// Routes to servers that are resolved but not connected yet.
    routes: HashMap<VisitId, Route>,
    /// The wake-up time that the core requested last.
    wake: Option<Moment>,
    finished: bool,
    failure: Option<anyhow::Error>,
    /// The limit on free disk space.
    disk: DiskWatch,
    /// The follower of the logs of searches and clicks; `None` while a thread reads them, and in a
    /// crawl that is not continuous.
    searches: Option<Box<Searches>>,
    /// When the state file was last written. This is real time, even under a paused clock, because
    /// other processes live in real time.
    last_state: Option<Instant>,
    /// When the file of sources was last written, in real time.
    last_sources: Option<Instant>,
    /// Durations of the steps since the last tick.
    steps: Durations,
    /// What the driver keeps for a cluster.
    cluster: ClusterPart,
}

impl CoreDriver {
    /// Drives the core to its end. Returns `false` if it was interrupted before the end.
    async fn run(
        &mut self,
        mut progress: impl Progress,
        mut interrupted: oneshot::Receiver<()>,
        root: &Path,
    ) -> bool {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let continuous = self.engine.plan.rules.is_continuous();
        self.searches = continuous.then(|| Box::new(Searches::of(root)));
        self.look_for_pause(root, &progress);
        self.step(Event::Woken);
        let (mut interrupts, mut alarmed) = (false, false);
        while !self.finished {
            let clock = self.engine.clock;
            let wake = clock.instant(self.wake.unwrap_or(clock.now() + Duration::from_secs(3600)));
            tokio::select! {
                Some(message) = self.inbox.recv() => {
                    self.handle(message);
                    // Tasks that have ended are joined here: to be woken by each of them would
                    // double the number of turns of this loop.
                    while self.tasks.try_join_next().is_some() {}
                }
                Some(_) = self.tasks.join_next(), if self.failure.is_some() => {}
                () = tokio::time::sleep_until(wake) => self.step(Event::Woken),
                () = panics::alarm(), if !alarmed => {
                    alarmed = true;
                    self.fail(panics::first().unwrap_or_else(|| anyhow!("a panic")));
                }
                Ok(()) = &mut interrupted, if !interrupts => {
                    interrupts = true;
                    progress.note("stopping: waiting for requests under way");
                    self.step(Event::Stopped);
                }
                _ = tick.tick() => {
                    self.report_closed();
                    self.look_for_pause(root, &progress);
                    let full = self.disk.check(root, |note| progress.note(note));
                    full.unwrap_or_else(|full| self.fail(full));
                    progress.show(&self.figures());
                    self.tick();
                    self.record(root);
                    let time = self.engine.plan.time;
                    if time.is_some_and(|time| clock.elapsed() >= time) {
                        self.step(Event::Stopped);
                    }
                }
            }
            if self.failure.is_some() && self.tasks.is_empty() {
                // A panic can lose requests. Their visits would never be settled.
                break;
            }
        }
        progress.finish();
        let left = self.core.left_for_later();
        if left > 0 {
            let most = self.engine.plan.rules.rest().as_secs();
            progress.note(&format!(
                "{} not fetched: servers asked for pauses of more than {most} s; the same command fetches the rest later",
                counted(left, "page")
            ));
        }
        !interrupts
    }

    /// Takes the last snapshot and closes the committer's queue and the inbox. Returns the failure
    /// that stopped the crawl, if any.
    async fn end(&mut self) -> Option<anyhow::Error> {
        let engine = self.engine.clone();
        // Other processes read the files after the crawl has ended.
        let mut last = tokio::task::spawn_blocking(move || {
            engine.forget_snapshot();
            engine.record_state(engine.live.root());
            engine.snapshot()
        });
        let last = loop {
            tokio::select! {
                Some(message) = self.inbox.recv() => self.handle(message),
                last = &mut last => break last,
            }
        };
        self.work = None;
        // Refuses later questions, so that the threads that ask do not wait for ever.
        self.inbox.close();
        if let Ok(last) = last {
            self.engine.live.ends(last);
        }
        self.failure.take()
    }

    /// Reads the messages that came after the end. Only a failure still matters.
    fn drain(&mut self, failure: &mut Option<anyhow::Error>) {
        while let Ok(message) = self.inbox.try_recv() {
            if let DriverMessage::Failed(error) = message {
                failure.get_or_insert(error);
            }
        }
    }

    fn handle(&mut self, message: DriverMessage) {
        if self.is_cut_off() && self.core.mode() == crawl::Mode::Running {
            // The process may have stood still for longer than the time until the next tick.
            self.step(Event::Paused(true));
        }
        match message {
            DriverMessage::Event(event) => self.step(event),
            DriverMessage::Done(connection, event) => {
                self.connections.extend(connection);
                self.step(event);
            }
            DriverMessage::Resolved(visit, route, event) => {
                self.note_address(&event);
                self.routes.extend(route.map(|route| (visit, route)));
                self.step(event);
            }
            DriverMessage::Question(question) => question(&mut self.core),
            DriverMessage::Mail(mail) => self.take_mail(mail),
            DriverMessage::Arrival(work) => self.send(CommitWork::Arrival(work)),
            DriverMessage::Digest(reply) => self.send(CommitWork::Digest(reply)),
            // The asking thread may have stopped waiting.
            DriverMessage::Sample(reply) => drop(reply.send(self.foreign_sample())),
            DriverMessage::SearchesRead(searches) => self.take_searches(searches),
            DriverMessage::Failed(error) => self.fail(error),
        }
    }

    /// Steps the core and carries out the actions that it returns.
    fn step(&mut self, event: Event<Sealed>) {
        let mut actions = Vec::new();
        if matches!(event, Event::Stopped) && self.engine.plan.term.is_some() {
            self.send(CommitWork::Hurry);
        }
        // Each step returns a new wake-up time, if the core needs one.
        self.wake = None;
        let begun = Instant::now();
        self.core.step(event, self.engine.clock.now(), &mut actions);
        self.steps.record(begun.elapsed());
        for action in actions {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action<Sealed>) {
        match action {
            Action::LoadPages { visit, pages, host } => {
                self.read(move |engine| engine.load_pages(visit, &pages, host));
            }
            Action::LoadHistories(pages) => {
                self.engine.live.meter().core.histories += pages.len() as u64;
                self.read(move |engine| {
                    let histories = pages.iter().map(|key| Ok((*key, engine.history(*key)?)));
                    Ok(Event::HistoriesLoaded(histories.collect::<Result<_>>()?))
                });
            }
            Action::LoadVisits(pages) => self.read(move |engine| {
                let visits = pages
                    .iter()
                    .map(|key| Ok((*key, engine.ledger.visited(*key)?)));
                Ok(Event::VisitsLoaded(visits.collect::<Result<_>>()?))
            }),
            Action::Resolve { visit, url } => {
                self.tasks.spawn(self.requests.clone().resolve(visit, url));
            }
            Action::Connect {
                visit,
                connection,
                url,
            } => {
                let route = self.routes.remove(&visit);
                let route = route.expect("the core connects only to a server that it has resolved");
                let connect = self.requests.clone().connect(visit, connection, url, route);
                self.tasks.spawn(connect);
            }
            Action::Abandon(visit) => drop(self.routes.remove(&visit)),
            Action::AskRules {
                visit,
                connection: id,
                url,
                distance,
            } => {
                let connection = (id, self.connections.remove(&id));
                let requests = self.requests.clone();
                self.note_request(distance);
                (self.tasks).spawn(requests.rules(visit, connection, url, distance));
            }
            Action::Probe {
                visit,
                connection: id,
                url,
                distance,
            } => {
                let connection = (id, self.connections.remove(&id));
                let requests = self.requests.clone();
                self.note_request(distance);
                (self.tasks).spawn(requests.probe(visit, connection, url, distance));
            }
            Action::Get(get) => {
                let connection = self.connections.remove(&get.connection);
                self.note_request(get.distance);
                self.tasks.spawn(self.requests.clone().get(get, connection));
            }
            Action::Close(connection) => drop(self.connections.remove(&connection)),
            Action::Keep(distance) => {
                self.note_refusal(distance);
                self.send(CommitWork::Keep(distance));
            }
            Action::Commit(work) => self.send(CommitWork::Core(work)),
            Action::Offer(offers) => self.offer(offers),
            Action::Reached(number) => self.reached(number),
            Action::Note(note) => self.note(&note),
            Action::WakeAt(moment) => self.wake = Some(moment),
            Action::Finish => self.finished = true,
        }
    }

    /// Reads the ledger on a thread for blocking work and sends the event back.
    fn read(&mut self, read: impl FnOnce(&Engine) -> Result<Event<Sealed>> + Send + 'static) {
        let engine = self.engine.clone();
        self.tasks.spawn_blocking(move || {
            engine.send(read(&engine).map_or_else(DriverMessage::Failed, DriverMessage::Event));
        });
    }

    fn send(&self, work: CommitWork) {
        if let Some(sender) = &self.work {
            // The committer stops early only after an error, and that error ends the crawl.
            sender.send(work).ok();
            // A paused clock must not jump while the committer works on its own thread: tokio
            // stops the clock while a blocking task runs.
            #[cfg(test)]
            {
                let (hold, released) = mpsc::channel();
                sender.send(CommitWork::Hold(hold)).ok();
                tokio::task::spawn_blocking(move || released.recv());
            }
        }
    }

    /// Stops the crawl because of an internal failure.
    fn fail(&mut self, error: anyhow::Error) {
        self.failure.get_or_insert(error);
        self.step(Event::Stopped);
    }

    /// Reports to the core the idle connections that their servers have closed.
    fn report_closed(&mut self) {
        let closed = (self.connections.iter()).filter(|(_, connection)| !connection.is_open());
        let mut closed: Vec<ConnectionId> = closed.map(|(id, _)| *id).collect();
        closed.sort_unstable();
        for id in closed {
            self.connections.remove(&id);
            self.step(Event::ConnectionClosed(id));
        }
    }

    fn look_for_pause(&mut self, root: &Path, progress: &impl Progress) {
        if self.core.mode() == crawl::Mode::Stopping {
            return;
        }
        let wanted = crate::live::pause::is_wanted(root);
        let paused = self.core.mode() == crawl::Mode::Paused;
        let cut_off = self.is_cut_off();
        if cut_off && !paused {
            progress.note(
                "paused: the NATS servers do not answer, and another node may replace this one",
            );
        } else if wanted && !paused {
            progress.note(&format!(
                "paused: nothing new is fetched until `avocet resume --store {}`",
                root.display()
            ));
        }
        if (wanted || cut_off) != paused {
            self.step(Event::Paused(!paused));
        }
    }

    fn figures(&mut self) -> Figures {
        let plan = &self.engine.plan;
        let left = |time: Duration| time.saturating_sub(self.engine.clock.elapsed());
        let time_left = plan.time.map(left);
        let continuous = plan.rules.is_continuous();
        let core = &mut self.core;
        let price = core.frontier().price().value();
        Figures {
            visits: core.visits(),
            idle_connections: core.idle_connections(),
            due: core.frontier().bench.waiting(),
            price: continuous.then_some(price),
            pages_left: core.pages_left(),
            time_left,
            pages: core.tally().pages + core.tally().unchanged,
            bytes: core.tally().bytes,
            errors: core.tally().errors.clone(),
        }
    }

    /// Counts a request in the meter.
    fn note(&self, note: &Note) {
        let mut meter = self.engine.live.meter();
        match note {
            Note::Overhead { bytes } => meter.overhead(*bytes),
            Note::Fetched {
                claim,
                purpose,
                found,
            } => {
                let worth = claim.worth.and_then(|worth| priced(worth.value()));
                let fetch = Fetch {
                    url: claim.url.as_str().to_owned(),
                    at: written(found.at),
                    kind: *purpose,
                    status: found.status,
                    bytes: found.bytes,
                    ms: (found.took.as_secs_f64() * 1e4).round() / 10.0,
                    outcome: outcome(found.outcome).to_owned(),
                    worth,
                    error: found.error.clone(),
                };
                meter.fetched(*purpose, fetch);
            }
        }
    }

    /// Updates the meter and notifies the subscribers of the crawl.
    fn tick(&mut self) {
        let now = self.engine.clock.now();
        let values = TickValues {
            price: self
                .core
                .budget()
                .map(|_| self.core.frontier().price().value()),
            known: self.core.frontier().known(),
        };
        let mut meter = self.engine.live.meter();
        meter.core.steps.add(&std::mem::take(&mut self.steps));
        meter.core.events_waiting = self.inbox.len() as u64;
        meter.tick(now, values);
        drop(meter);
        self.engine.live.tick();
        if self.engine.plan.term.is_some() {
            self.take_part();
        }
    }

    /// Starts the periodic background work: files for other processes, and the log of searches.
    fn record(&mut self, root: &Path) {
        let due = |last: Option<Instant>, every| last.is_none_or(|last| last.elapsed() >= every);
        if due(self.last_state, STATE_EVERY) {
            self.last_state = Some(Instant::now());
            let (engine, root) = (self.engine.clone(), root.to_owned());
            self.tasks
                .spawn_blocking(move || engine.record_state(&root));
        }
        if self.engine.plan.rules.is_continuous() && due(self.last_sources, SOURCES_EVERY) {
            self.last_sources = Some(Instant::now());
            let (engine, root) = (self.engine.clone(), root.to_owned());
            self.tasks
                .spawn_blocking(move || engine.record_sources(&root));
        }
        let now = self.engine.clock.now();
        if let Some(mut searches) = self.searches.take_if(|searches| searches.is_due(now)) {
            let engine = self.engine.clone();
            self.tasks.spawn_blocking(move || {
                searches.follow(now);
                engine.send(DriverMessage::SearchesRead(searches));
            });
        }
    }

    /// Passes new searches to the core, and the new workload to the committer if it is due.
    fn take_searches(&mut self, mut searches: Box<Searches>) {
        let met = searches.take_met();
        if !met.is_empty() {
            self.step(Event::Searched(met));
        }
        if let Some(workload) = searches.workload(self.engine.clock.now()) {
            self.send(CommitWork::Measure(workload));
        }
        self.searches = Some(searches);
    }
}

impl Engine {
    /// Loads the ledger's records of pages that are about to be fetched, and of their host.
    fn load_pages(
        &self,
        visit: VisitId,
        pages: &[PageKey],
        host: Option<(Partition, HostId)>,
    ) -> Result<Event<Sealed>> {
        let stored = |key: &PageKey| -> Result<Stored> {
            Ok(Stored {
                key: *key,
                discovery: self.ledger.discovery(*key)?,
                visited: self.ledger.visited(*key)?,
            })
        };
        let facts = match host {
            Some(key) => self.ledger.host(key)?,
            None => None,
        };
        Ok(Event::PagesLoaded {
            visit,
            pages: pages.iter().map(stored).collect::<Result<_>>()?,
            host: facts.map(|facts| {
                let rules = rules_of(&facts);
                (facts, rules)
            }),
        })
    }

    /// Returns the history of a page, visited or only discovered; `None` if it is unknown.
    fn history(&self, key: PageKey) -> Result<Option<History>> {
        if let Some(visited) = self.ledger.visited(key)? {
            return Ok(Some(visited.history));
        }
        let found = self.ledger.discovery(key)?;
        Ok(found.map(|found| History::discovered(found.at, found.depth)))
    }
}

/// Parses the robots.txt that the ledger stores for a host.
fn rules_of(facts: &HostFacts) -> Option<Arc<Robots>> {
    let rules = facts.robots.as_ref().map(|fact| match fact {
        RobotsFact::Found { text, .. } => Robots::parse(text.as_bytes(), TOKEN),
        RobotsFact::Missing { .. } => Robots::allow_all(),
    });
    rules.map(Arc::new)
}

impl RunningCrawl for Engine {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot()
    }

    fn visited(&self, key: PageKey) -> Option<Visited> {
        self.visited(key)
    }

    fn explain(&self, url: &str) -> Result<Explanation> {
        self.explain(url)
    }

    fn ledger(&self) -> Arc<Ledger> {
        self.ledger.clone()
    }

    fn report(&self, kind: ReportKind) -> Result<ReportTable> {
        report(kind, self.live.root(), &self.ledger)
    }

    fn afford(&self, per_second: f64) {
        match &self.plan.term {
            // The next share of this node follows from it.
            Some(term) => term.afford(per_second),
            None => self.send(DriverMessage::Event(Event::BudgetChanged(per_second))),
        }
    }

    fn digests(&self) -> Option<Digests> {
        let (reply, answer) = mpsc::channel();
        self.send(DriverMessage::Digest(reply));
        answer.recv().ok()
    }

    fn page_sample(&self) -> Option<PageSample> {
        self.page_sample()
    }
}
