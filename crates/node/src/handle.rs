//! The interface between a server and a store with its crawl.
//!
//! A [`NodeHandle`] reads snapshots, facts about pages, copies and the index, and applies controls.
//! If a crawl runs in this process, the handle asks the crawl. Otherwise it reads the ledger. If a
//! crawl of another process has locked the store, the handle asks it through its
//! [socket](crate::socket), and reads the files that it writes.
//!
//! **Invariant:** a server never blocks a crawl, or any other command, from opening the store.

mod lease;
mod memo;
mod versions;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use frontier::{PageKey, Visited};
use jiff::{SignedDuration, Timestamp};
use ledger::LedgerReader;
use page::{PageId, PageUrl};
use repository::archive::Level;
use repository::changes::{self, PageChange};
use repository::index::Index;
use repository::log::{Click, EventLog, Search};
use serde_json::Value;
use tokio::sync::watch;

use crate::access::explain_running;
use crate::clock::{Clock, timestamp};
use crate::cluster_seat::ClusterSeat;
use crate::dry_run::{PageCheck, check_page};
use crate::engine::plan::EnginePlan;
use crate::explain::sources::{self, SourceSummary};
use crate::explain::{self, Explanation};
use crate::live::controls;
use crate::live::orders::CrawlOrder;
use crate::live::snapshot::{CrawlState, Snapshot};
use crate::live::{self, Live};
use crate::page_links::PageLinks;
use crate::page_text::PageText;
use crate::panics::POISONED;
use crate::readable;
use crate::reports::{ReportKind, ReportTable, report};
use crate::searcher_choices::SearcherChoices;
use crate::settings::last_crawl::{LastCrawl, NeverCrawled};
use crate::settings::{Layer, SettingInForce, Settings, in_force};
use crate::sites::{SiteSummary, sites};
use crate::socket::StoreClient;
use crate::store;
use crate::store::holdings::Holdings;
use crate::topics::Topics;
use crate::webhooks::Deliveries;
use crate::whole_crawl::{NoSuchNode, OrderResult, WholeCrawl};
use crate::whole_search::WholeSearch;
use crawl::Answer;
use crawl::scope::ScopeRules;
use lease::Lease;
use memo::Memo;

pub use crate::page_freshness::{ChangePace, PageFreshness};
pub use versions::{PageVersion, Timeline};

/// A crawl whose last snapshot is older than this has ended: a running crawl writes a snapshot
/// every two seconds.
const SNAPSHOT_EXPIRY: SignedDuration = SignedDuration::from_secs(15);

/// The sites are summarized again when the summary is older than this.
const SITES_EXPIRY: Duration = Duration::from_secs(30);

/// The pause between two attempts to ask a crawl that is restarting, and the number of attempts.
const RETRIES: (Duration, usize) = (Duration::from_millis(100), 50);

/// A served store, and its crawl in this process, if one runs.
pub struct NodeHandle {
    root: PathBuf,
    /// The configuration file that the crawl watches, and into which controls are written.
    config: PathBuf,
    live: Option<Arc<Live>>,
    seat: Arc<ClusterSeat>,
    lease: Arc<Lease>,
    index: Index,
    topics: Topics,
    choices: SearcherChoices,
    holdings: Memo<Holdings>,
    sources: Memo<Vec<SourceSummary>>,
    sites: Mutex<Option<(Instant, Arc<Vec<SiteSummary>>)>>,
}

/// The status of a store: its contents, or the state of the crawl that has locked it.
#[derive(Debug)]
pub enum StoreStatus {
    /// No crawl runs.
    AtRest(Holdings),
    /// The state of the running crawl, as in `state.json`; `null` if the crawl of another process
    /// has not written that file yet.
    Crawled(Value),
}

/// The copy of a page in the archive.
#[derive(Debug)]
pub struct ArchivedCopy {
    /// Its URL, in normal form.
    pub url: PageUrl,
    /// The answer of the server.
    pub answer: Answer,
    /// When it was fetched.
    pub fetched: Timestamp,
}

/// The result of a lookup of the copy of a page.
#[derive(Debug)]
pub enum CopyLookup {
    /// The archive has a copy.
    Found(Box<ArchivedCopy>),
    /// The page was visited, and the archive has no copy of it.
    NotArchived,
    /// The ledger has no visit to the page, or cannot be asked now: another process has locked it,
    /// or the crawl is restarting.
    NotVisited,
}

/// The error for a question that this process cannot answer now: another process has locked the
/// store, or the crawl is restarting.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Elsewhere(String);

impl NodeHandle {
    /// Opens the store at `root`.
    ///
    /// `live` is the store's crawl in this process, if one runs. `config` is the configuration file
    /// that a crawl watches.
    pub fn open(root: &Path, live: Option<Arc<Live>>, config: PathBuf) -> Result<Self> {
        Self::in_cluster(root, live, config, Arc::default())
    }

    /// Opens the store at `root` as [`NodeHandle::open`] does. `seat` is the place of its crawl in
    /// a cluster, which the crawl may take later.
    pub fn in_cluster(
        root: &Path,
        live: Option<Arc<Live>>,
        config: PathBuf,
        seat: Arc<ClusterSeat>,
    ) -> Result<Self> {
        let index = store::search_index(root)?;
        store::index_refresh::start(&index, &store::index(root))?;
        Ok(Self {
            root: root.to_owned(),
            config,
            live,
            seat,
            lease: Lease::start(root)?,
            index,
            topics: Topics::of(root),
            choices: SearcherChoices::of(root),
            holdings: Memo::default(),
            sources: Memo::default(),
            sites: Mutex::default(),
        })
    }

    /// Returns the directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the search index. It is reopened within half a second after a commit of the index.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the search over all nodes of a cluster; `None` if the crawl runs on one machine.
    pub fn whole_search(&self) -> Option<Arc<WholeSearch>> {
        self.seat.search()
    }

    /// Returns the crawl of all nodes of a cluster; `None` if the crawl runs on one machine.
    pub fn whole_crawl(&self) -> Option<Arc<WholeCrawl>> {
        self.seat.crawl()
    }

    /// Returns the topics that pages can be judged by.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// Opens the log of searches.
    fn searches(&self) -> EventLog<Search> {
        EventLog::open(&store::log(&self.root))
    }

    /// Returns at most `most` changes of pages with numbers above `since`, in order.
    pub fn changes(&self, since: u64, most: usize) -> Result<Vec<PageChange>> {
        let changes = changes::read(&store::changes(&self.root), since, most);
        changes.context("cannot read the log of changes")
    }

    /// Returns the number of the last change; 0 if there is none.
    pub fn last_change(&self) -> Result<u64> {
        changes::last(&store::changes(&self.root)).context("cannot read the log of changes")
    }

    /// Returns the number of the last change before a time.
    pub fn change_before(&self, time: Timestamp) -> Result<u64> {
        let number = changes::number_before(&store::changes(&self.root), &time.to_string());
        number.context("cannot read the log of changes")
    }

    /// Opens the state of the webhooks; `None` if another process delivers them.
    pub fn deliveries(&self) -> Result<Option<Deliveries>> {
        Deliveries::open(&self.root)
    }

    /// Opens the log of clicks.
    fn clicks(&self) -> EventLog<Click> {
        EventLog::open(&store::log(&self.root))
    }

    /// Returns a snapshot of the crawl in this process. If none runs here, returns the last one
    /// that a crawl wrote into the store.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        match &self.live {
            Some(live) => live.snapshot(),
            None => {
                let read: Option<Snapshot> = store::read_json(&store::snapshot(&self.root));
                read.map(Arc::new).unwrap_or_default()
            }
        }
    }

    /// Returns a channel that changes when the crawl may have news; `None` if no crawl runs in this
    /// process.
    pub fn watch(&self) -> Option<watch::Receiver<()>> {
        self.live.as_ref().map(|live| live.watch())
    }

    /// Returns whether a crawl runs, in this process or another.
    ///
    /// A crawl writes a snapshot every two seconds, also while it is paused. While this process
    /// holds the ledger no crawl runs, however recent the snapshot `last` is.
    pub fn is_crawling(&self, last: &Snapshot) -> bool {
        let at = last.state.at.parse::<Timestamp>();
        let is_recent = |at: &Timestamp| Timestamp::now().duration_since(*at) < SNAPSHOT_EXPIRY;
        self.live.is_some() || !self.lease.is_held() && at.as_ref().is_ok_and(is_recent)
    }

    /// Returns the contents of the store, or the state of its crawl.
    pub fn status(&self) -> Result<StoreStatus> {
        let holdings = self.lease.ask(|ledger, _| {
            let sequence = ledger.sequence()?;
            self.holdings.of(sequence, || Ok(Holdings::of(ledger)?))
        });
        if let Some(holdings) = holdings {
            return Ok(StoreStatus::AtRest(holdings?));
        }
        Ok(StoreStatus::Crawled(match &self.live {
            Some(live) => serde_json::to_value(&live.snapshot().state)?,
            // A crawl that has just started has not written its state yet.
            None => live::running(&self.root).unwrap_or_default(),
        }))
    }

    /// Returns the sources as the running crawl last wrote them. If none runs, returns those that
    /// the next crawl would start with.
    pub fn sources(&self) -> Result<Vec<SourceSummary>> {
        if !LastCrawl::exists(&self.root) {
            return Ok(Vec::new());
        }
        let here = self.lease.ask(|ledger, store| {
            let sequence = ledger.sequence()?;
            let listed = || Ok(sources::at_rest(store, ledger)?.sources);
            self.sources.of(sequence, listed)
        });
        match here {
            Some(rows) => rows,
            // A crawl that has just started, or that polls nothing, has written none.
            None => Ok(sources::running(&self.root).map_or_else(|_| Vec::new(), |it| it.sources)),
        }
    }

    /// Returns how current the copy of a page is; `None` if the page was never visited or the
    /// ledger cannot be asked now.
    pub fn freshness(&self, url: &str) -> Option<PageFreshness> {
        let visited = self.visited(&PageUrl::parse(url).ok()?)?;
        Some(PageFreshness::of(&visited))
    }

    /// Reads the text of a page. In a cluster, the page of another node is read there, and its text
    /// may be cut. Returns `None` if no node has the page.
    pub fn page_text(&self, url: &PageUrl) -> Result<Option<PageText>> {
        let visited = self.visited(url);
        let here = PageText::read(&self.root, &self.index, url, visited.as_ref())?;
        match (here, self.whole_search()) {
            (None, Some(whole)) => whole.page(url),
            (here, _) => Ok(here),
        }
    }

    /// Reads the copy of a page.
    pub fn copy(&self, url: &PageUrl) -> Result<CopyLookup> {
        let Some(visited) = self.visited(url) else {
            return Ok(CopyLookup::NotVisited);
        };
        let kept = readable::kept(&store::archive(&self.root), url.as_str(), &visited)?;
        let fetched = visited.copy.as_ref().map(|copy| timestamp(copy.at));
        Ok(match kept {
            Some((url, answer)) => CopyLookup::Found(Box::new(ArchivedCopy {
                url,
                answer,
                fetched: fetched.unwrap_or_default(),
            })),
            None => CopyLookup::NotArchived,
        })
    }

    /// Returns the answers of a page that the archive keeps.
    pub fn versions(&self, url: &PageUrl) -> Result<Timeline> {
        Timeline::read(&self.root, url).context("cannot read the archive")
    }

    /// Reads an archived answer of a page.
    pub fn version(&self, url: &PageUrl, version: &PageVersion) -> Result<Answer> {
        version.answer(&self.root, url)
    }

    /// Explains a page: asks the crawl of this process, or else the ledger if it is not locked.
    pub fn explain(&self, url: &str) -> Result<Explanation> {
        explain::parse(url)?;
        if let Some(live) = &self.live {
            // A crawl that restarts with other policies cannot answer for a short time.
            let (pause, times) = RETRIES;
            for _ in 0..times {
                if let Some(explanation) = live.ask(|crawl| crawl.explain(url)) {
                    return explanation;
                }
                std::thread::sleep(pause);
            }
            let why = "the crawl is restarting with other policies; try again in a few seconds";
            return Err(Elsewhere(why.into()).into());
        }
        let now = Clock::start().now();
        let asked = (self.lease).ask(|ledger, store| explain::explain(store, ledger, url, now));
        if let Some(explained) = asked {
            return explained;
        }
        let answer = explain_running(&self.root, url)?.ok_or_else(|| self.elsewhere())?;
        Ok(serde_json::from_value(answer)?)
    }

    /// Makes a report: asks the crawl of this process, or else the ledger if it is not locked.
    pub fn report(&self, kind: ReportKind) -> Result<ReportTable> {
        if let Some(live) = &self.live
            && let Some(table) = live.ask(|crawl| crawl.report(kind))
        {
            return table;
        }
        let asked = self.lease.ask(|ledger, _| report(kind, &self.root, ledger));
        asked.unwrap_or_else(|| match self.running_ledger() {
            Some(ledger) => report(kind, &self.root, &ledger),
            None => Err(self.elsewhere()),
        })
    }

    /// Returns a reader of the ledger of the crawl that another process runs on the store; `None`
    /// if there is none.
    fn running_ledger(&self) -> Option<LedgerReader> {
        let client = StoreClient::connect(&self.root)?;
        let reader = client.read();
        // The crawl may have ended meanwhile.
        reader.ok()
    }

    /// Runs a question on the ledger: of the crawl in this process, of the store if no crawl runs,
    /// or of the crawl in another process.
    fn ask_ledger<T>(&self, question: impl FnOnce(&LedgerReader) -> Result<T>) -> Result<T> {
        if let Some(live) = &self.live {
            let ledger = live.ask(|crawl| crawl.ledger());
            let ledger = ledger.context("the crawl is restarting; try again in a few seconds")?;
            return question(&ledger);
        }
        let mut question = Some(question);
        let mut ask = |ledger: &LedgerReader| {
            let question = question.take().expect("the question is asked once");
            question(ledger)
        };
        if let Some(answer) = self.lease.ask(|ledger, _| ask(ledger)) {
            return answer;
        }
        match self.running_ledger() {
            Some(ledger) => ask(&ledger),
            None => Err(self.elsewhere()),
        }
    }

    /// Returns the sites of the store, those with the most URLs first, as they were at most half a
    /// minute ago. Reads the whole ledger if it was not read since.
    pub fn sites(&self) -> Result<Arc<Vec<SiteSummary>>> {
        // Concurrent callers wait for one scan.
        let mut kept = self.sites.lock().expect(POISONED);
        if let Some((made, sites)) = &*kept
            && made.elapsed() < SITES_EXPIRY
        {
            return Ok(sites.clone());
        }
        let now = Clock::start().now();
        let sites = Arc::new(self.ask_ledger(|ledger| sites(ledger, now))?);
        *kept = Some((Instant::now(), sites.clone()));
        Ok(sites)
    }

    /// Returns what a crawl would do with a URL if it were a seed: its robots.txt, its answer and
    /// its links. Makes the requests.
    pub async fn preview(&self, url: &PageUrl) -> Result<PageCheck> {
        let file = match self.config.exists() {
            true => Layer::read(&self.config)?,
            false => Layer::default(),
        };
        let flags = self.live.as_ref().map(|live| live.flags_in_force());
        let settings = Settings::controls(&self.root, &file)?.over(&file);
        let settings = flags.unwrap_or_default().over(&settings).settings()?;
        let mut scope = self.scope()?;
        scope.seeds.push(url.as_str().to_owned());
        let mut fetch = settings.requests()?;
        let last = LastCrawl::read(&self.root);
        let private = settings.fetch.allow_private || last.is_ok_and(|last| last.allow_private);
        // As for a seed that a control adds: only seeds of the operator's file open the gate.
        let named: Vec<PageUrl> = (settings.crawl.seeds.iter())
            .filter_map(|seed| PageUrl::parse(seed).ok())
            .collect();
        fetch.open_gate(private, &named);
        let delay = settings.crawl.delay.map(|delay| delay.0);
        let plan = EnginePlan {
            rules: crawl::Plan {
                delay,
                ..crawl::Plan::default()
            },
            scope,
            traps: settings.limits.url_rules(),
            fetch,
            pages: None,
            time: None,
            min_free: None,
            archive: false,
            level: Level::new(1).context("a compression of 1 exists")?,
            term: None,
        };
        check_page(url, &plan).await
    }

    /// Returns the links from a page and to it, at most `most` of each kind. Reads the links of the
    /// whole ledger. Returns `None` if the page is unknown.
    pub fn links(&self, url: &PageUrl, most: usize) -> Result<Option<PageLinks>> {
        let archive = store::archive(&self.root);
        self.ask_ledger(|ledger| PageLinks::read(ledger, &archive, url, most))
    }

    /// Returns the error for a question that only another process can answer.
    fn elsewhere(&self) -> anyhow::Error {
        let state: Option<CrawlState> = store::read_json(&store::state(&self.root));
        let address = state.and_then(|state| state.address);
        let why = match address {
            Some(address) => format!("another process has the store: ask it at {address}"),
            None => "another command has the store: ask again when it is done".into(),
        };
        Elsewhere(why).into()
    }

    /// Carries out an order of an operator. In a cluster, all nodes get the order, or only `node`.
    ///
    /// Blocks the thread until the other nodes have answered, so it must not be called on an async
    /// task.
    pub fn order(&self, order: &CrawlOrder, node: Option<&str>) -> Result<OrderResult> {
        let own = || order.carry_out(&self.root, &self.config, self.live.as_deref());
        match (self.whole_crawl(), node) {
            (Some(whole), _) => whole.order(order, node, own),
            (None, None) => Ok(own()?.into()),
            (None, Some(_)) => Err(NoSuchNode::alone().into()),
        }
    }

    /// Logs a search. In a cluster, the owners of its results log it too.
    pub fn log_search(&self, search: &Search) -> Result<()> {
        match self.whole_crawl() {
            Some(whole) => whole.log_search(search),
            None => Ok(self.searches().append(search)?),
        }
    }

    /// Logs a click. In a cluster, the owner of the page logs it.
    pub fn log_click(&self, click: &Click) -> Result<()> {
        match self.whole_crawl() {
            Some(whole) => whole.log_click(click),
            None => Ok(self.clicks().append(click)?),
        }
    }

    /// Returns the pages clicked for a query, each with the factor that multiplies its score.
    pub fn choices(&self, query: &str) -> Vec<(PageId, f32)> {
        self.choices.factors(query)
    }

    /// Returns the scope of the crawl, with the seeds and the blocked hosts that the configuration
    /// has now, even if the crawl has not applied them yet. Seeds on the command line take
    /// precedence until a control changes the seeds.
    pub fn scope(&self) -> Result<ScopeRules> {
        let scope = LastCrawl::read(&self.root).map(|last| last.scope);
        let unset = |error: anyhow::Error| match error.is::<NeverCrawled>() {
            true => Ok(ScopeRules::default()),
            false => Err(error),
        };
        let mut scope = scope.or_else(unset)?;
        let named = self.config.exists().then_some(self.config.as_path());
        let config = Settings::load(named, &self.root).unwrap_or_default();
        let by_flags = self.live.as_ref().is_some_and(|live| {
            let seeds = controls::SEEDS;
            !live.flags(&[seeds]).is_empty() && !live.controlled().contains(&seeds)
        });
        let seeds = config.crawl.all_seeds();
        if !seeds.is_empty() && !by_flags {
            scope.seeds = seeds;
        }
        scope.block = config.crawl.block;
        Ok(scope)
    }

    /// Returns all settings in force: flags of the crawl in this process, then the file, then
    /// defaults.
    pub fn settings(&self) -> Result<Vec<SettingInForce>> {
        let flags = self.live.as_ref().map(|live| live.flags_in_force());
        let file = match self.config.exists() {
            true => Layer::read(&self.config)?,
            false => Layer::default(),
        };
        let controls = Settings::controls(&self.root, &file)?;
        Ok(in_force(&flags.unwrap_or_default(), &controls, &file))
    }

    /// Returns the record of the last visit to a page; `None` if there is none or the ledger cannot
    /// be asked now.
    fn visited(&self, url: &PageUrl) -> Option<Visited> {
        let key = PageKey::of(url);
        if let Some(live) = &self.live {
            return live.ask(|crawl| crawl.visited(key))?;
        }
        let visited = self.lease.ask(|ledger, _| ledger.visited(key));
        let visited = match visited {
            Some(visited) => visited,
            None => self.running_ledger()?.visited(key),
        };
        visited.unwrap_or_else(|error| {
            tracing::warn!(%error, "the ledger cannot be read");
            None
        })
    }
}
