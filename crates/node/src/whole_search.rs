//! Search over the indexes of all nodes of a cluster: scatter and gather.
//!
//! A node that is asked sends the query to all living nodes, itself included, in two or three
//! rounds: the statistics of the words, those of corrected words if there are any, and the search
//! with the sum of all statistics. So the ranking does not depend on how the pages are divided. A
//! node that does not answer in time is left out, and the answer says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use cluster::agent::Agent;
use cluster::broker::MESSAGE_LIMIT;
use cluster::log::SlotLog;
use frontier::PageKey;
use futures_util::StreamExt;
use jiff::Timestamp;
use ledger::{decode, encode};
use page::{PageId, PageUrl};
use repository::index::{Hits, HitsPart, Index, OwnedQuery, QueryStatistics, SearchQuery, merge};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tracing::warn;

use crate::live::Live;
use crate::page_freshness::{ChangePace, PageFreshness};
use crate::page_text::PageText;
use crate::panics::POISONED;
use crate::searcher_choices::SearcherChoices;
use crate::store::{self, index_refresh, search_index};

/// How long the nodes may take to answer one round. A search takes a few milliseconds; a node that
/// needs longer is busy or gone.
const PATIENCE: Duration = Duration::from_millis(1000);

/// The subject of requests to all nodes.
const SUBJECT: &str = "search";

/// A request to the index of a node.
#[derive(Serialize, Deserialize)]
enum IndexRequest {
    /// The statistics of the words of a query.
    Statistics(Box<OwnedQuery>),
    /// The statistics of further words.
    Frequencies(Vec<String>),
    /// The best pages, by the statistics of all nodes.
    Part {
        query: Box<OwnedQuery>,
        statistics: Box<QueryStatistics>,
        /// Whether pages that searchers chose are raised. Clicks are logged on the node that has
        /// the page, so each node raises its own pages.
        clicks: bool,
    },
    /// The URL of a page.
    Url(PageId),
    /// The text of the page at a URL.
    Page(String),
    /// How current the copies of the pages at these URLs are.
    Freshness(Vec<String>),
    /// The statistics of words that are spelled like those of a query.
    Spelling(String),
}

/// How current the copy of a page is: its place in the request, when it was last known to equal the
/// page (in microseconds since 1970), and how often the page changes.
type SentFreshness = (usize, Option<i64>, ChangePace);

/// Searches all nodes.
pub struct WholeSearch {
    agent: Arc<Agent>,
    runtime: Handle,
}

/// The result of a search over all nodes.
pub struct WholeHits {
    /// The hits.
    pub hits: Hits,
    /// Number of living nodes whose pages are missing, because they did not answer in time.
    pub silent_nodes: usize,
    /// Number of nodes that have taken pages over and have not indexed all of them yet.
    pub indexing_nodes: usize,
}

impl WholeSearch {
    /// Creates the search of a node. The calling task must run on the runtime that drives the
    /// agent.
    pub fn new(agent: Arc<Agent>) -> Self {
        Self {
            agent,
            runtime: Handle::current(),
        }
    }

    /// Searches all nodes. `clicks`: whether pages that searchers chose are raised. Blocks the
    /// thread, so it must not be called on an async task.
    pub fn search(&self, query: &SearchQuery<'_>, clicks: bool) -> Result<WholeHits> {
        let owned = Box::new(OwnedQuery::from(query));
        let mut sum = QueryStatistics::default();
        let nodes = self.nodes();
        let request = IndexRequest::Statistics(owned.clone());
        let first: Vec<QueryStatistics> = self.ask_some(&request, nodes)?;
        // A node that has just died is waited for in the first round only.
        let answering = first.len();
        first.into_iter().for_each(|statistics| sum.add(statistics));
        let further = sum.missing_words(query);
        if !further.is_empty() {
            let second: Vec<QueryStatistics> =
                self.ask_some(&IndexRequest::Frequencies(further), answering)?;
            second
                .into_iter()
                .for_each(|statistics| sum.add(statistics));
        }
        let request = IndexRequest::Part {
            query: owned,
            statistics: Box::new(sum),
            clicks,
        };
        let parts: Vec<HitsPart> = self.ask_some(&request, answering)?;
        let silent_nodes = nodes.saturating_sub(parts.len());
        Ok(WholeHits {
            hits: merge(parts, query.limit, query.offset),
            silent_nodes,
            indexing_nodes: self.agent.indexing_nodes(),
        })
    }

    /// Returns another spelling that a searcher may have meant. `silent` is the number of nodes
    /// that have just not answered, for which this does not wait. Blocks the thread.
    pub fn meant(&self, text: &str, silent: usize) -> Result<Option<String>> {
        let mut sum = QueryStatistics::default();
        let request = IndexRequest::Spelling(text.to_owned());
        let nodes = self.nodes().saturating_sub(silent);
        let all: Vec<QueryStatistics> = self.ask_some(&request, nodes)?;
        all.into_iter().for_each(|statistics| sum.add(statistics));
        Ok(sum.meant(text))
    }

    /// Returns the URL of a page that a node has in its index; `None` if no node has it. Blocks the
    /// thread.
    pub fn url(&self, page: PageId) -> Result<Option<String>> {
        let found: Vec<Option<String>> = self.ask(&IndexRequest::Url(page))?;
        Ok(found.into_iter().flatten().next())
    }

    /// Returns the text of a page that a node has; `None` if no node has it. Blocks the thread.
    pub fn page(&self, url: &PageUrl) -> Result<Option<PageText>> {
        let request = IndexRequest::Page(url.as_str().to_owned());
        let found: Vec<Option<PageText>> = self.ask(&request)?;
        Ok(found.into_iter().flatten().next())
    }

    /// Returns how current the copies of pages of other nodes are, by URL. `silent` is the number
    /// of nodes that have just not answered, for which this does not wait. Blocks the thread.
    pub fn freshness(
        &self,
        urls: Vec<String>,
        silent: usize,
    ) -> Result<HashMap<String, PageFreshness>> {
        let nodes = self.nodes().saturating_sub(silent);
        let request = IndexRequest::Freshness(urls.clone());
        let answers: Vec<Vec<SentFreshness>> = self.ask_some(&request, nodes)?;
        let known = answers.into_iter().flatten();
        let known = known.filter_map(|(place, checked, pace)| {
            let checked = checked.and_then(|at| Timestamp::from_microsecond(at).ok());
            Some((urls.get(place)?.clone(), PageFreshness { checked, pace }))
        });
        Ok(known.collect())
    }

    /// Number of living nodes, this one included.
    fn nodes(&self) -> usize {
        self.agent.living_peers().len() + 1
    }

    /// Returns the answers of all nodes that answer in time.
    fn ask<T: DeserializeOwned>(&self, request: &IndexRequest) -> Result<Vec<T>> {
        self.ask_some(request, self.nodes())
    }

    /// Returns the first answers in time, of this number of nodes at most. An answer that cannot be
    /// read counts as none.
    fn ask_some<T: DeserializeOwned>(
        &self,
        request: &IndexRequest,
        nodes: usize,
    ) -> Result<Vec<T>> {
        let asked = self
            .agent
            .broker()
            .ask(SUBJECT, encode(request), nodes, PATIENCE);
        let answers = self.runtime.block_on(asked)?;
        let read = answers
            .iter()
            .filter_map(|answer| decode(answer, || "an answer".into()).ok());
        Ok(read.collect())
    }
}

/// The pages of this node, as other nodes search them.
struct OwnPages {
    live: Arc<Live>,
    /// Opened by the first request after the crawl has created the index.
    index: Mutex<Option<Index>>,
    choices: SearcherChoices,
}

impl OwnPages {
    fn of(live: Arc<Live>) -> Self {
        Self {
            choices: SearcherChoices::of(live.root()),
            index: Mutex::default(),
            live,
        }
    }

    /// Returns the index; `None` if there is none yet. It follows the commits of the crawl.
    fn index(&self) -> Result<Option<Index>> {
        let mut opened = self.index.lock().expect(POISONED);
        if opened.is_none()
            && let Ok(index) = search_index(self.live.root())
        {
            index_refresh::start(&index, &store::index(self.live.root()))?;
            *opened = Some(index);
        }
        Ok(opened.clone())
    }

    /// Returns how current the copies of those of these pages are that this node has visited.
    fn freshness(&self, urls: &[String]) -> Vec<SentFreshness> {
        let visited = |url: &String| {
            let key = PageKey::of(&PageUrl::parse(url).ok()?);
            self.live.ask(|crawl| crawl.visited(key)).flatten()
        };
        let known = urls.iter().enumerate().filter_map(|(place, url)| {
            let PageFreshness { checked, pace } = PageFreshness::of(&visited(url)?);
            Some((place, checked.map(Timestamp::as_microsecond), pace))
        });
        known.collect()
    }

    /// Returns the text of a page, cut so that it fits into a message.
    fn page(&self, index: &Index, url: &PageUrl) -> Result<Option<PageText>> {
        let asked = self.live.ask(|crawl| crawl.visited(PageKey::of(url)));
        let visited = asked.flatten();
        let mut page = PageText::read(self.live.root(), index, url, visited.as_ref())?;
        if let Some(page) = &mut page {
            page.cut(MESSAGE_LIMIT / 2);
        }
        Ok(page)
    }

    /// Returns the answer to a request. A node without an index has no pages.
    fn answer(&self, request: &[u8]) -> Result<Vec<u8>> {
        let request = decode(request, || "a search of another node".into())?;
        let Some(index) = self.index()? else {
            return Ok(match request {
                IndexRequest::Part { .. } => encode(&HitsPart::default()),
                IndexRequest::Url(_) => encode(&None::<String>),
                IndexRequest::Page(_) => encode(&None::<PageText>),
                IndexRequest::Freshness(_) => encode(&Vec::<SentFreshness>::new()),
                _ => encode(&QueryStatistics::default()),
            });
        };
        Ok(match request {
            IndexRequest::Statistics(query) => {
                encode(&query.with(|query| index.statistics(query))?)
            }
            IndexRequest::Frequencies(words) => encode(&index.frequencies(&words)?),
            IndexRequest::Part {
                mut query,
                statistics,
                clicks,
            } => {
                if clicks {
                    query.choose(self.choices.factors(query.text()));
                }
                encode(&query.with(|query| index.search_part(query, &statistics))?)
            }
            IndexRequest::Spelling(text) => encode(&index.spelling_statistics(&text)?),
            IndexRequest::Url(page) => encode(&index.kept(page)?.map(|kept| kept.url)),
            IndexRequest::Freshness(urls) => encode(&self.freshness(&urls)),
            IndexRequest::Page(url) => encode(&self.page(&index, &PageUrl::parse(&url)?)?),
        })
    }
}

/// Answers the searches of all nodes from the index of this one, until the task is aborted.
pub async fn answer(agent: Arc<Agent>, live: Arc<Live>) {
    let pages = Arc::new(OwnPages::of(live));
    loop {
        if let Ok(mut requests) = agent.broker().requests(SUBJECT).await {
            while let Some((request, Some(reply))) = requests.next().await {
                let (pages, agent) = (pages.clone(), agent.clone());
                tokio::spawn(async move {
                    let answered = tokio::task::spawn_blocking(move || pages.answer(&request));
                    // A node whose index fails counts as silent.
                    match answered.await {
                        Ok(Ok(answer)) => {
                            agent.broker().answer(reply, answer).await.ok();
                        }
                        Ok(Err(error)) => warn!("a search of another node failed: {error:#}"),
                        Err(error) => warn!("a search of another node failed: {error}"),
                    }
                });
            }
        }
        tokio::time::sleep(PATIENCE).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use repository::index::{Document, HEAP};
    use repository::log::{Click, EventLog};

    use super::*;
    use crate::store::Store;

    /// The first page of the index that answers.
    fn first(pages: &OwnPages, text: &str, clicks: bool) -> Option<String> {
        let query = SearchQuery {
            text,
            limit: 10,
            ..SearchQuery::default()
        };
        let query = Box::new(OwnedQuery::from(&query));
        let statistics = IndexRequest::Statistics(query.clone());
        let statistics = pages.answer(&encode(&statistics)).unwrap();
        let statistics = Box::new(decode(&statistics, || "statistics".into()).unwrap());
        let request = IndexRequest::Part {
            query,
            statistics,
            clicks,
        };
        let answer = pages.answer(&encode(&request)).unwrap();
        let part: HitsPart = decode(&answer, || "hits".into()).unwrap();
        let hits = merge(vec![part], 10, 0).hits;
        hits.into_iter().next().map(|hit| hit.url)
    }

    #[test]
    fn other_nodes_search_every_commit_and_the_clicks_of_this_one() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let pages = OwnPages::of(Live::of(root));
        let none = pages
            .answer(&encode(&IndexRequest::Url(PageId(1))))
            .unwrap();
        assert_eq!(none, encode(&None::<String>), "there is no index yet");
        let store = Store::create(root).unwrap();
        let index = Index::open(&store.index()).unwrap();
        let mut writer = index.writer(HEAP).unwrap();
        let mut put = |id: u128, text: &str| {
            let url = format!("http://e.org/{id}");
            let url = PageUrl::parse(&url).unwrap();
            let document = Document {
                text,
                ..Document::new(url.id(), url.as_str(), "e.org")
            };
            writer.put(&document).unwrap();
            writer.commit(u64::try_from(id).unwrap()).unwrap();
            url
        };
        let one = put(1, "the pied avocet on its island");
        assert_eq!(
            first(&pages, "avocet", false).as_deref(),
            Some(one.as_str())
        );
        // The reader is open now, and follows the next commit.
        let two = put(2, "a stilt on its island");
        let begun = Instant::now();
        while first(&pages, "stilt", false).as_deref() != Some(two.as_str()) {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "the index is stale"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        let known = pages.answer(&encode(&IndexRequest::Url(two.id()))).unwrap();
        assert_eq!(known, encode(&Some(two.to_string())));
        // Clicks in the log of this node raise its page, if the asking node wants that.
        let before = first(&pages, "island", false).unwrap();
        let other = [&one, &two].into_iter().find(|url| url.as_str() != before);
        let click = Click {
            time: Timestamp::UNIX_EPOCH,
            url: other.unwrap().to_string(),
            count: 1_000_000,
            query: Some("island".into()),
            rank: Some(2),
        };
        let log = EventLog::open(&store::log(root));
        log.append(&click).unwrap();
        assert_eq!(first(&pages, "island", true), Some(click.url));
        assert_eq!(first(&pages, "island", false), Some(before));
    }
}
