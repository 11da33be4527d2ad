//! Search over the indexes of all nodes of a cluster: scatter and gather.
//!
//! A node that is asked sends the query to all living nodes, itself included, in two or three
//! rounds: the statistics of the words, those of corrected words if there are any, and the search
//! with the sum of all statistics. So the ranking does not depend on how the pages are divided. A
//! node that does not answer in time is left out, and the answer says so.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use cluster::agent::Agent;
use cluster::log::SlotLog;
use futures_util::StreamExt;
use ledger::{decode, encode};
use repository::index::{Hits, HitsPart, Index, OwnedQuery, QueryStatistics, SearchQuery, merge};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;

use crate::store::search_index;

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
    Part(Box<OwnedQuery>, Box<QueryStatistics>),
    /// The statistics of words that are spelled like those of a query.
    Spelling(String),
}

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

    /// Searches all nodes. Blocks the thread, so it must not be called on an async task.
    pub fn search(&self, query: &SearchQuery<'_>) -> Result<WholeHits> {
        let owned = Box::new(OwnedQuery::from(query));
        let mut sum = QueryStatistics::default();
        let first: Vec<QueryStatistics> = self.ask(&IndexRequest::Statistics(owned.clone()))?;
        first.into_iter().for_each(|statistics| sum.add(statistics));
        let further = sum.missing_words(query);
        if !further.is_empty() {
            let second: Vec<QueryStatistics> = self.ask(&IndexRequest::Frequencies(further))?;
            second
                .into_iter()
                .for_each(|statistics| sum.add(statistics));
        }
        let parts: Vec<HitsPart> = self.ask(&IndexRequest::Part(owned, Box::new(sum)))?;
        let silent_nodes = self.nodes().saturating_sub(parts.len());
        Ok(WholeHits {
            hits: merge(parts, query.limit, query.offset),
            silent_nodes,
        })
    }

    /// Returns another spelling that a searcher may have meant. Blocks the thread.
    pub fn meant(&self, text: &str) -> Result<Option<String>> {
        let mut sum = QueryStatistics::default();
        let all: Vec<QueryStatistics> = self.ask(&IndexRequest::Spelling(text.to_owned()))?;
        all.into_iter().for_each(|statistics| sum.add(statistics));
        Ok(sum.meant(text))
    }

    /// Number of living nodes, this one included.
    fn nodes(&self) -> usize {
        self.agent.living_peers().len() + 1
    }

    /// Returns the answers of all nodes that answer in time. An answer that cannot be read counts
    /// as none.
    fn ask<T: DeserializeOwned>(&self, request: &IndexRequest) -> Result<Vec<T>> {
        let nodes = self.nodes();
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

/// Answers the searches of all nodes from the index of this one, until the task is aborted.
pub async fn answer(agent: Arc<Agent>, root: PathBuf) {
    let mut index = None;
    loop {
        if let Ok(mut requests) = agent.broker().requests(SUBJECT).await {
            while let Some((request, Some(reply))) = requests.next().await {
                if index.is_none() {
                    index = search_index(&root).ok();
                }
                let (index, agent) = (index.clone(), agent.clone());
                tokio::spawn(async move {
                    let answered =
                        tokio::task::spawn_blocking(move || found(index.as_ref(), &request));
                    // A node whose index fails counts as silent.
                    if let Ok(Ok(answer)) = answered.await {
                        agent.broker().answer(reply, answer).await.ok();
                    }
                });
            }
        }
        tokio::time::sleep(PATIENCE).await;
    }
}

/// Returns the answer of an index. A node without an index has no pages.
fn found(index: Option<&Index>, request: &[u8]) -> Result<Vec<u8>> {
    let request = decode(request, || "a search of another node".into())?;
    let Some(index) = index else {
        return Ok(match request {
            IndexRequest::Part(..) => encode(&HitsPart::default()),
            _ => encode(&QueryStatistics::default()),
        });
    };
    Ok(match request {
        IndexRequest::Statistics(query) => encode(&query.with(|query| index.statistics(query))?),
        IndexRequest::Frequencies(words) => encode(&index.frequencies(&words)?),
        IndexRequest::Part(query, statistics) => {
            encode(&query.with(|query| index.search_part(query, &statistics))?)
        }
        IndexRequest::Spelling(text) => encode(&index.spelling_statistics(&text)?),
    })
}
