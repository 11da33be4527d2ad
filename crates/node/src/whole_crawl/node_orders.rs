//! Orders of operators to all nodes, or to one of them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use cluster::agent::Agent;
use cluster::log::SlotLog;
use cluster::view::NodeView;
use futures_util::StreamExt;
use futures_util::future::join_all;
use tokio::runtime::Handle;

use super::RETRY;
use crate::live::Live;
use crate::live::controls::Applied;
use crate::live::orders::CrawlOrder;

/// How long a node may take to carry out an order: it writes one file.
const PATIENCE: Duration = Duration::from_secs(3);

/// An order names a node that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoSuchNode(String);

impl NoSuchNode {
    /// Returns the error for a crawl on one machine.
    pub fn alone() -> Self {
        Self("this crawl runs on one machine: leave out the name of the node".into())
    }
}

/// What became of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderResult {
    /// Whether it changed anything on any node.
    pub changed: bool,
    /// A description for the operator.
    pub message: String,
    /// In a cluster: the answers of the nodes that the order was for, by name.
    pub nodes: Vec<NodeAnswer>,
}

/// The answer of a node to an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeAnswer {
    /// The node.
    pub node: String,
    /// What it did.
    pub outcome: NodeOutcome,
}

/// What a node did with an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeOutcome {
    /// It carried the order out.
    Done(Applied),
    /// It could not, for this reason.
    Refused(String),
    /// It is dead, or did not answer in time.
    Silent,
}

impl From<Applied> for OrderResult {
    fn from(Applied { changed, message }: Applied) -> Self {
        Self {
            changed,
            message,
            nodes: Vec::new(),
        }
    }
}

impl OrderResult {
    /// Sums up the answers. Without a confirmation, the message says so.
    fn of(nodes: Vec<NodeAnswer>) -> Self {
        let done = nodes.iter().filter_map(|answer| match &answer.outcome {
            NodeOutcome::Done(applied) => Some((answer.node.as_str(), applied)),
            _ => None,
        });
        let done: Vec<(&str, &Applied)> = done.collect();
        let names: Vec<&str> = done.iter().map(|(node, _)| *node).collect();
        let mut message = match done.first() {
            Some((_, applied)) => {
                format!("{} – confirmed by {}", applied.message, names.join(", "))
            }
            None => "no node has confirmed the order".to_owned(),
        };
        for NodeAnswer { node, outcome } in &nodes {
            match outcome {
                NodeOutcome::Done(_) => {}
                NodeOutcome::Refused(why) => message += &format!("; {node} refused: {why}"),
                NodeOutcome::Silent => {
                    message +=
                        &format!("; {node} did not confirm: repeat the order when {node} is back");
                }
            }
        }
        Self {
            changed: done.iter().any(|(_, applied)| applied.changed),
            message,
            nodes,
        }
    }

    /// Returns the names of the nodes that did not confirm the order.
    pub fn unconfirmed(&self) -> Vec<&str> {
        let nodes = self.nodes.iter();
        let unconfirmed = nodes.filter(|answer| !matches!(answer.outcome, NodeOutcome::Done(_)));
        unconfirmed.map(|answer| answer.node.as_str()).collect()
    }
}

/// Passes an order to all nodes, or to the one with this name.
pub(super) fn pass(
    agent: &Agent,
    runtime: &Handle,
    order: &CrawlOrder,
    node: Option<&str>,
    own: impl FnOnce() -> Result<Applied>,
) -> Result<OrderResult> {
    let addressed = addressed(agent.nodes(), node)?;
    let here = addressed.iter().any(|node| node.is_own);
    let mut own_answer = here.then(own).transpose()?;
    let message = serde_json::to_vec(order)?;
    let answers = addressed.into_iter().map(|node| {
        let applied = node.is_own.then(|| own_answer.take()).flatten();
        let message = message.clone();
        async move {
            let outcome = match applied {
                Some(applied) => NodeOutcome::Done(applied),
                None if !node.is_alive => NodeOutcome::Silent,
                None => ask(agent, node.beat.node.as_str(), message).await,
            };
            NodeAnswer {
                node: node.beat.node.to_string(),
                outcome,
            }
        }
    });
    let answers: Vec<_> = answers.collect();
    Ok(OrderResult::of(runtime.block_on(join_all(answers))))
}

/// Returns the nodes that an order is for. A node that has left the cluster cleanly gets no orders.
fn addressed(nodes: Vec<NodeView>, name: Option<&str>) -> Result<Vec<NodeView>> {
    let has_left =
        |node: &NodeView| !node.is_alive && node.beat.draining && node.beat.owned.is_empty();
    let Some(name) = name else {
        let present = nodes.into_iter().filter(|node| !has_left(node));
        return Ok(present.collect());
    };
    let names: Vec<&str> = nodes.iter().map(|node| node.beat.node.as_str()).collect();
    let unknown = format!("there is no node {name:?}; there are: {}", names.join(", "));
    let named = nodes
        .into_iter()
        .find(|node| node.beat.node.as_str() == name);
    Ok(vec![named.ok_or(NoSuchNode(unknown))?])
}

async fn ask(agent: &Agent, node: &str, order: Vec<u8>) -> NodeOutcome {
    let subject = format!("controls.{node}");
    let answers = agent.broker().ask(&subject, order, 1, PATIENCE).await;
    let answer = answers.ok().and_then(|answers| answers.into_iter().next());
    let answer = answer.and_then(|answer| serde_json::from_slice(&answer).ok());
    match answer {
        Some(Ok(applied)) => NodeOutcome::Done(applied),
        Some(Err(why)) => NodeOutcome::Refused(why),
        None => NodeOutcome::Silent,
    }
}

/// Obeys the orders that come from other nodes, until the task is aborted.
pub(super) async fn obey(agent: Arc<Agent>, live: Arc<Live>) {
    let subject = format!("controls.{}", agent.name());
    loop {
        if let Ok(mut orders) = agent.broker().requests(&subject).await {
            while let Some((order, reply)) = orders.next().await {
                let live = live.clone();
                let done = tokio::task::spawn_blocking(move || carry_out(&live, &order)).await;
                let done = done.unwrap_or_else(|error| Err(error.to_string()));
                if let (Some(reply), Ok(answer)) = (reply, serde_json::to_vec(&done)) {
                    agent.broker().answer(reply, answer).await.ok();
                }
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

fn carry_out(live: &Live, order: &[u8]) -> Result<Applied, String> {
    let order: CrawlOrder = serde_json::from_slice(order)
        .map_err(|_| "it does not know this order: all nodes must run the same version")?;
    let done = order.carry_out(live.root(), &live.config(), Some(live));
    match &done {
        Ok(applied) => tracing::info!("an operator at another node: {}", applied.message),
        Err(error) => tracing::warn!("an order from another node: {error:#}"),
    }
    done.map_err(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cluster::Slot;
    use cluster::member::{Heartbeat, NodeFigures};
    use cluster::message::NodeName;

    use super::*;

    fn node(name: &str, is_alive: bool, draining: bool, slots: u16) -> NodeView {
        NodeView {
            beat: Heartbeat {
                node: NodeName::new(name).unwrap(),
                incarnation: 1,
                namesake: None,
                capacity: 1.0,
                draining,
                owned: (0..slots).map(|slot| (Slot(slot), 1)).collect(),
                assigned: Vec::new(),
                figures: NodeFigures::default(),
            },
            is_own: false,
            is_alive,
            silent: Duration::ZERO,
        }
    }

    #[test]
    fn orders_are_for_all_nodes_that_have_not_left_or_for_the_named_one() {
        let nodes = || {
            vec![
                node("alive", true, false, 2),
                node("dead", false, false, 2),
                node("draining", true, true, 0),
                node("left", false, true, 0),
            ]
        };
        let names = |name| {
            let addressed = addressed(nodes(), name)?.into_iter();
            Ok(addressed.map(|node| node.beat.node.to_string()).collect())
        };
        let all: Result<Vec<String>> = names(None);
        assert_eq!(all.unwrap(), ["alive", "dead", "draining"]);
        assert_eq!(names(Some("dead")).unwrap(), ["dead"]);
        let error = names(Some("x")).unwrap_err();
        assert!(
            error.is::<NoSuchNode>() && error.to_string().contains("alive, dead"),
            "{error}"
        );
    }

    #[test]
    fn the_result_names_the_nodes_that_did_not_confirm() {
        let applied = Applied {
            changed: true,
            message: "the budget is 4/s".into(),
        };
        let answer = |node: &str, outcome| NodeAnswer {
            node: node.into(),
            outcome,
        };
        let result = OrderResult::of(vec![
            answer("a", NodeOutcome::Done(applied)),
            answer("b", NodeOutcome::Silent),
            answer("c", NodeOutcome::Refused("its disk is full".into())),
        ]);
        assert!(result.changed);
        assert_eq!(result.unconfirmed(), ["b", "c"]);
        assert_eq!(
            result.message,
            "the budget is 4/s – confirmed by a; b did not confirm: repeat the order when b is back; c refused: its disk is full"
        );
        let none = OrderResult::of(vec![answer("b", NodeOutcome::Silent)]);
        assert!(!none.changed && none.message.starts_with("no node has confirmed"));
    }
}
