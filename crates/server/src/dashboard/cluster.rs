//! The page of the dashboard that shows all nodes of a cluster.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::events::follow;
use super::figures::{amount, bytes, percent, short, span};
use super::view::Tile;
use crate::control::access::ViewAccess;
use crate::{App, assets, pages};
use node::number::counted;
use node::whole_crawl::{ClusterOverview, ClusterTotals, NodeOverview};

#[derive(Template)]
#[template(path = "cluster.html")]
struct ClusterPage {
    view: ClusterView,
    /// CSRF token for the forms of an operator.
    form: Option<String>,
    notice: Option<String>,
    names: Vec<String>,
}

#[derive(Template)]
#[template(path = "cluster_live.html")]
struct ClusterParts {
    view: ClusterView,
}

/// The parts of the page that change.
struct ClusterView {
    name: String,
    /// `running` or `idle`; also the CSS class.
    mode: &'static str,
    doing: String,
    tiles: Vec<Tile>,
    nodes: Vec<NodeCells>,
    slots: Vec<OwnedSlots>,
}

/// A row of the table of nodes.
struct NodeCells {
    name: String,
    /// The address of its dashboard.
    dashboard: Option<String>,
    is_own: bool,
    state: &'static str,
    class: &'static str,
    heard: String,
    slots: usize,
    per_mille: usize,
    known: String,
    fetched: String,
    bytes: String,
    price: String,
    messages: String,
    message_bytes: String,
    unpublished: String,
    fenced: String,
}

/// The slots of a node, as text.
struct OwnedSlots {
    /// The name of the node; `None`: no living node has announced these slots.
    owner: Option<String>,
    slots: Vec<String>,
}

/// Shows the page. Without a cluster there is none.
pub async fn page(State(app): State<Arc<App>>, access: ViewAccess) -> Response {
    let Some(overview) = overview(&app) else {
        return no_cluster();
    };
    let page = ClusterPage {
        names: overview
            .nodes
            .iter()
            .map(|node| node.name.clone())
            .collect(),
        view: ClusterView::of(overview),
        form: access
            .operator
            .map(|operator| app.token.form(operator.session.as_deref())),
        notice: app.take_notice(),
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}

/// Sends the changing parts of the page whenever they change.
pub async fn events(State(app): State<Arc<App>>, _: ViewAccess) -> Response {
    if overview(&app).is_none() {
        return no_cluster();
    }
    follow(app, |app| {
        let view = ClusterView::of(overview(app)?);
        ClusterParts { view }.render().ok()
    })
}

fn overview(app: &App) -> Option<ClusterOverview> {
    Some(app.node.whole_crawl()?.overview())
}

fn no_cluster() -> Response {
    pages::message(
        StatusCode::NOT_FOUND,
        "No cluster",
        "This crawl runs on one machine.",
    )
}

impl ClusterView {
    fn of(cluster: ClusterOverview) -> Self {
        let contact = &cluster.contact;
        let (mode, doing) = match contact.is_connected {
            true => (
                "running",
                format!(
                    "{} alive; the NATS servers answered {} {} ago",
                    counted(cluster.totals.alive, "node"),
                    cluster.node,
                    span(contact.acknowledged_seconds)
                ),
            ),
            false => (
                "idle",
                format!(
                    "{} has no connection to the NATS servers for {}: it makes no requests, and this page is out of date",
                    cluster.node,
                    span(contact.acknowledged_seconds)
                ),
            ),
        };
        let all = cluster.slots.len().max(1);
        let mut slots: Vec<OwnedSlots> = Vec::new();
        let owners = cluster.nodes.iter().map(|node| Some(node.name.clone()));
        for owner in owners.chain([None]) {
            let owned = cluster.slots.iter().filter(|slot| slot.owner == owner);
            let owned: Vec<String> = owned
                .map(|slot| match slot.epoch {
                    Some(epoch) => format!("{} ({epoch})", slot.slot),
                    None => slot.slot.to_string(),
                })
                .collect();
            if !owned.is_empty() {
                slots.push(OwnedSlots {
                    owner,
                    slots: owned,
                });
            }
        }
        Self {
            name: cluster.name,
            mode,
            doing,
            tiles: tiles(&cluster.totals, cluster.nodes.len(), cluster.slots.len()),
            nodes: (cluster.nodes.into_iter())
                .map(|node| NodeCells::of(node, all))
                .collect(),
            slots,
        }
    }
}

fn tiles(totals: &ClusterTotals, nodes: usize, slots: usize) -> Vec<Tile> {
    let tile = |name, value: String, note: String| Tile { name, value, note };
    vec![
        tile(
            "Nodes alive",
            totals.alive.to_string(),
            format!("of {nodes} heard since this one started"),
        ),
        tile(
            "Slots with an owner",
            (slots - totals.slots_without_owner).to_string(),
            format!("of {slots}"),
        ),
        tile(
            "Pages known",
            amount(totals.known),
            "by living nodes".into(),
        ),
        tile(
            "Fetches",
            amount(totals.fetched),
            format!("{} received", bytes(totals.bytes as f64)),
        ),
        tile(
            "Price ω",
            totals.price.map_or("–".into(), short),
            "the median of the living nodes".into(),
        ),
        tile(
            "Messages",
            amount(totals.messages),
            totals
                .messages_per_page()
                .map_or("to the NATS servers".into(), |each| {
                    format!("{} for each fetch", short(each))
                }),
        ),
        tile(
            "Bytes of messages",
            bytes(totals.message_bytes as f64),
            totals
                .byte_share()
                .map_or("to the NATS servers".into(), |share| {
                    format!("{} of the bytes received", percent(share))
                }),
        ),
        tile(
            "Slots without an owner",
            totals.slots_without_owner.to_string(),
            "are claimed after the time of silence".into(),
        ),
    ]
}

impl NodeCells {
    fn of(node: NodeOverview, all: usize) -> Self {
        let (state, class) = match (node.is_alive, node.is_draining, node.is_paused) {
            (false, true, _) if node.slots == 0 => ("left", "plain"),
            (false, ..) => ("dead", "bad"),
            (true, true, _) => ("gives its slots away", "wait"),
            (true, false, true) => ("paused", "wait"),
            (true, false, false) => ("alive", "good"),
        };
        Self {
            dashboard: node.address.map(|address| format!("{address}/dashboard")),
            is_own: node.is_own,
            state,
            class,
            heard: format!("{} ago", span(node.silent_seconds)),
            slots: node.slots,
            per_mille: node.slots * 1000 / all,
            known: amount(node.known),
            fetched: amount(node.fetched),
            bytes: bytes(node.bytes as f64),
            price: node.price.map_or("–".into(), short),
            messages: amount(node.messages),
            message_bytes: bytes(node.message_bytes as f64),
            unpublished: amount(node.unpublished),
            fenced: amount(node.fenced),
            name: node.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use node::whole_crawl::SlotOverview;

    use super::*;

    #[test]
    fn the_page_shows_dead_nodes_and_slots_without_an_owner() {
        let node = |name: &str, is_alive, slots| NodeOverview {
            name: name.into(),
            is_own: name == "a",
            is_alive,
            slots,
            address: Some("http://10.0.0.1:8321".into()),
            ..NodeOverview::default()
        };
        let slot = |slot, owner: Option<&str>| SlotOverview {
            slot,
            owner: owner.map(str::to_owned),
            epoch: owner.map(|_| 7),
        };
        let view = ClusterView::of(ClusterOverview {
            node: "a".into(),
            nodes: vec![node("a", true, 2), node("<b>", false, 1)],
            slots: vec![slot(0, Some("a")), slot(1, Some("a")), slot(2, None)],
            ..ClusterOverview::default()
        });
        let states: Vec<_> = view
            .nodes
            .iter()
            .map(|node| (node.state, node.per_mille))
            .collect();
        assert_eq!(states, [("alive", 666), ("dead", 333)]);
        let owned: Vec<_> = (view.slots.iter())
            .map(|row| (row.owner.as_deref(), row.slots.join(" ")))
            .collect();
        assert_eq!(
            owned,
            [
                (Some("a"), "0 (7) 1 (7)".to_owned()),
                (None, "2".to_owned())
            ]
        );
        let html = ClusterParts { view }.render().unwrap();
        assert!(
            html.contains("href=\"http://10.0.0.1:8321/dashboard\""),
            "{html}"
        );
        assert!(!html.contains("<b>"), "names of other nodes are escaped");
    }
}
