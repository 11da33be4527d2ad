//! Tests of the face of a cluster: every node shows, steers and searches all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use cluster::broker::{Broker, BrokerSettings};
use cluster::{Division, Slot};
use frontier::Partition;
use page::PageUrl;
use serde_json::{Value, json};
use tempfile::TempDir;
use testweb::brokers::NatsServers;
use testweb::site::ServedWeb;

use super::processes::has_nats;
use crate::agents::McpAgent;
use crate::program::has;
use crate::running::CrawlProcess;
use crate::webs;

/// Time after which a condition that does not hold fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default number of slots.
const SLOTS: u16 = 16;

/// A NATS server with small streams.
struct SmallBroker {
    servers: NatsServers,
    _directory: TempDir,
}

impl SmallBroker {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let servers = NatsServers::start(directory.path(), 1).unwrap();
        let broker = Self {
            servers,
            _directory: directory,
        };
        let settings = BrokerSettings {
            servers: vec![broker.url()],
            crawl: "face".into(),
            stream_bytes: 64 << 20,
            replicas: Some(1),
            ..BrokerSettings::default()
        };
        let begun = Instant::now();
        while let Err(error) = Broker::connect(&settings).await {
            assert!(begun.elapsed() < PATIENCE, "{error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        broker
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.servers.ports().next().unwrap())
    }

    /// Starts a node that serves.
    async fn node(&self, web: &ServedWeb, name: &str) -> CrawlProcess {
        let nats = self.url();
        let cluster = ["--cluster", &nats, "--name", "face", "--node", name];
        let more = [
            "--silence",
            "3s",
            "--budget",
            "60/s",
            "--refresh",
            "uniform(1)",
        ];
        CrawlProcess::start(web, &[&cluster[..], &more[..]].concat()).await
    }
}

/// Waits until a condition holds, and returns what it returned.
async fn until<T>(what: &str, is: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = is() {
            return found;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn cluster(node: &CrawlProcess) -> Value {
    let answer = node.get("/api/v1/cluster");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// Waits until two nodes own all slots.
async fn divided(node: &CrawlProcess) -> Value {
    until("two nodes own all slots", || {
        // A node serves before it has joined.
        let told = node.get("/api/v1/cluster");
        let told = (told.status == 200).then(|| told.json())?;
        let nodes = told["nodes"].as_array().unwrap();
        let share = nodes.iter().all(|node| node["slots"].as_u64() > Some(0));
        let whole = told["totals"]["slots_without_owner"] == 0;
        (nodes.len() == 2 && share && whole).then_some(told)
    })
    .await
}

fn slot(url: &str) -> Slot {
    let url = PageUrl::parse(url).unwrap();
    Division::new(SLOTS).unwrap().slot(Partition::of(&url))
}

/// Returns the node that owns a page.
fn owner(cluster: &Value, url: &str) -> String {
    let slots = cluster["slots"].as_array().unwrap();
    slots[usize::from(slot(url).0)]["owner"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// The results of a search by a node: the URL of each, with the path that counts a click.
fn search(node: &CrawlProcess, words: &str) -> BTreeMap<String, String> {
    let answer = node.get(&format!("/api/v1/search?limit=100&q={words}"));
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told = answer.json();
    assert_eq!(told["silent_nodes"], 0, "{told}");
    let results = told["results"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    results
        .map(|row| (text(&row["url"]), text(&row["click"])))
        .collect()
}

/// Returns the URLs that the searches in the log of a node have shown for a query, and their ranks.
fn logged(node: &CrawlProcess, words: &str) -> Vec<(String, Option<u64>)> {
    let searches = node.program.log("queries").into_iter();
    let searches = searches.filter(|search| search["query"] == *words);
    let rows = searches.flat_map(|search| {
        let shown = search["shown"].as_array().unwrap().clone();
        let ranks = search["ranks"].as_array().cloned();
        (0..).zip(shown).map(move |(place, url)| {
            let rank = match &ranks {
                Some(ranks) => ranks[place].as_u64(),
                None => Some(place as u64 + 1),
            };
            (url.as_str().unwrap().to_owned(), rank)
        })
    });
    rows.collect()
}

/// Returns a word that many pages have.
fn common_word(node: &CrawlProcess, url: &str) -> Option<String> {
    let page = node.get(&format!("/api/v1/page?url={url}"));
    let page = (page.status == 200).then(|| page.json())?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let letter = |letter: char| letter.is_ascii_alphabetic();
    for word in page["text"].as_str()?.split(|other| !letter(other)) {
        *counts.entry(word).or_default() += usize::from(word.len() > 3);
    }
    let common = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some(common.0.to_lowercase())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_searches_all_and_the_owners_of_the_pages_log_searches_and_clicks() {
    if !has_nats() {
        return;
    }
    let web = webs::serve(webs::plain(17, 8, 120)).await;
    let broker = SmallBroker::start().await;
    let (one, two) = tokio::join!(broker.node(&web, "n1"), broker.node(&web, "n2"));
    let told = divided(&one).await;
    let homes = web.homes();
    let own = homes
        .iter()
        .find(|home| owner(&told, home) == "n1")
        .unwrap();
    let word = until("a page", || common_word(&one, own)).await;
    // From the first search on, every node has open readers of its index. They must follow it.
    search(&one, &word);
    search(&two, &word);
    let pages = |node: &CrawlProcess| node.get("/api/v1/status").json()["documents"].as_u64();
    until("all pages indexed", || {
        let sum = pages(&one).zip(pages(&two)).map(|(one, two)| one + two);
        (sum >= Some(80)).then_some(())
    })
    .await;
    let found = until("both nodes find the same pages of both", || {
        let (one, two) = (search(&one, &word), search(&two, &word));
        let urls: BTreeSet<&String> = one.keys().collect();
        let owners: BTreeSet<String> = urls.iter().map(|url| owner(&told, url)).collect();
        let same = urls == two.keys().collect();
        (same && owners.len() == 2).then_some(one)
    })
    .await;

    // The ledgers of the owners say how current each copy is.
    let answer = two.get(&format!("/api/v1/search?limit=100&q={word}"));
    for row in answer.json()["results"].as_array().unwrap() {
        assert!(row["checked_at"].is_string(), "{row}");
    }

    // Each page that was shown is logged where it is, at its rank.
    for node in [&one, &two] {
        let name = cluster(node)["node"].as_str().unwrap().to_owned();
        until("searches in the log of the owner", || {
            let shown = logged(node, &word);
            let urls: BTreeSet<&String> = shown.iter().map(|(url, _)| url).collect();
            let missing = found
                .keys()
                .filter(|url| owner(&told, url) == name && !urls.contains(url));
            (missing.count() == 0).then_some(())
        })
        .await;
        for (url, rank) in logged(node, &word) {
            assert_eq!(owner(&told, &url), name, "{url} is logged by {name}");
            assert!(rank > Some(0));
        }
    }
    let ranks: BTreeSet<u64> = logged(&two, &word)
        .into_iter()
        .filter_map(|(_, rank)| rank)
        .collect();
    assert!(
        ranks.last() > Some(&(ranks.len() as u64)),
        "ranks of the whole list: {ranks:?}"
    );

    // What only the owner of a page knows is shown there.
    let (away, _) = found
        .iter()
        .find(|(url, _)| owner(&told, url) == "n2")
        .unwrap();
    let nodes = told["nodes"].as_array().unwrap().iter();
    let address = nodes
        .clone()
        .find(|node| node["name"] == "n2")
        .and_then(|node| node["address"].as_str())
        .unwrap();
    for path in ["/cached", "/similar", "/dashboard/page"] {
        let path = format!("{path}?url={away}");
        let answer = one.get(&path);
        assert_eq!(answer.status, 307, "{path}: {}", answer.body);
        assert_eq!(answer.head["location"], format!("{address}{path}"));
        let answer = two.get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }

    // A click on a page of another node leads to the page, and is in the log of its owner.
    let (url, click) = found
        .iter()
        .find(|(url, _)| owner(&told, url) == "n2")
        .unwrap();
    let answer = one.get(click);
    assert_eq!(answer.status, 302, "{}", answer.body);
    assert_eq!(&answer.head["location"], url);
    let line = until("the click in the log of the owner", || {
        two.program
            .log("clicks")
            .into_iter()
            .find(|line| line["url"] == **url)
    })
    .await;
    assert_eq!(line["query"], *word, "{line}");
    assert!(line["rank"].as_u64() > Some(0), "{line}");
    assert!(one.program.log("clicks").is_empty());
    let metrics = one.get("/metrics").body;
    let sent = metrics
        .lines()
        .find_map(|line| line.strip_prefix("avocet_cluster_sent_log_lines_total "));
    assert!(sent.unwrap().parse::<u64>().unwrap() > 0);

    // Agents search all nodes and read pages of all.
    let call = |tool: &str, arguments: Value| {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        let headers = [
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        let answer = one.ask("POST", "/mcp", &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()["result"].clone()
    };
    let of_all = |result: &Value| {
        let results = result["structuredContent"]["results"].as_array();
        let urls = results.unwrap_or_else(|| panic!("{result}")).iter();
        let owners: BTreeSet<String> = urls
            .map(|row| owner(&told, row["url"].as_str().unwrap()))
            .collect();
        assert_eq!(owners.len(), 2, "{result}");
    };
    let words = json!({ "query": word, "limit": 50 });
    of_all(&call("search", words.clone()));
    let mut agent = McpAgent::start(&one.program);
    of_all(&agent.call("search", &words));
    assert_eq!(agent.end(), Some(0));
    let page = call("fetch_page", json!({ "url": url }));
    let text = page["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains(url.as_str()) && text.contains("last known to be current"),
        "{text}"
    );
    has(&text.to_lowercase(), &word);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_node_shows_and_steers_all() {
    if !has_nats() {
        return;
    }
    let web = webs::serve(webs::plain(19, 6, 60)).await;
    let broker = SmallBroker::start().await;
    let (one, two) = tokio::join!(broker.node(&web, "n1"), broker.node(&web, "n2"));
    let told = divided(&one).await;
    for (node, other) in [(&one, &two), (&two, &one)] {
        let address = format!("http://{}", other.address);
        until("the address of the other node", || {
            let told = cluster(node);
            let mut nodes = told["nodes"].as_array().unwrap().iter();
            nodes.any(|row| row["address"] == *address).then_some(())
        })
        .await;
        let board = node.get("/dashboard/cluster").body;
        has(&board, &format!("http://{}/dashboard", other.address));
        has(&node.get("/dashboard").body, "href=\"/dashboard/cluster\"");
        has(
            &node.get("/dashboard/page").body,
            "href=\"/dashboard/cluster\"",
        );
    }
    assert!(
        told["slots"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["epoch"].as_u64() > Some(0))
    );

    // The metrics are those of the reference.
    let reference = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/metrics.md"
    );
    let reference = std::fs::read_to_string(reference).unwrap();
    let metrics = one.get("/metrics").body;
    let names = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE avocet_cluster_"));
    let names: Vec<&str> = names.map(|rest| rest.split(' ').next().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        has(&reference, &format!("| `avocet_cluster_{name}` |"));
    }
    has(&metrics, "avocet_cluster_nodes_alive 2.0");
    has(&metrics, "avocet_cluster_broker_connected 1.0");

    // A control that one node gets is for all.
    let answer = one
        .control("control/budget", &json!({ "rate": "123/s" }))
        .json();
    assert_eq!(answer["changed"], true, "{answer}");
    assert_eq!(answer["unconfirmed"], Value::Null, "{answer}");
    let nodes = answer["nodes"].as_array().unwrap();
    assert!(
        nodes.iter().all(|row| row["confirmed"] == true) && nodes.len() == 2,
        "{answer}"
    );
    for node in [&one, &two] {
        until("the new budget on every node", || {
            let told = cluster(node);
            let nodes = told["nodes"].as_array().unwrap();
            nodes.iter().all(|row| row["budget"] == 123.0).then_some(())
        })
        .await;
        let written = std::fs::read_to_string(node.program.store().join("controls.toml")).unwrap();
        has(&written, "fetches_per_second = 123.0");
    }
    // Or for one of them.
    let paused = |node: &str| {
        let told = cluster(&one);
        let nodes = told["nodes"].as_array().unwrap().iter();
        let mut named = nodes.filter(|row| row["name"] == node);
        named.next().unwrap()["paused"] == true
    };
    let answer = one.control("control/pause?node=n2", &json!({})).json();
    assert_eq!(answer["nodes"][0]["node"], "n2", "{answer}");
    until("the pause of n2", || paused("n2").then_some(())).await;
    assert!(!paused("n1"));
    one.control("control/resume", &json!({}));
    until("the end of the pause", || (!paused("n2")).then_some(())).await;
    let wrong = one.control("control/pause?node=n3", &json!({}));
    assert_eq!(wrong.status, 404);
    has(&wrong.body, "there are: n1, n2");
    // What this node refuses, no node gets.
    assert_eq!(
        one.control("control/budget", &json!({ "rate": "much" }))
            .status,
        400
    );
    let strangers = one.ask("POST", "/api/v1/control/pause", &[], "");
    assert_eq!(strangers.status, 401, "the token is needed as before");

    // A dead node does not confirm, and its slots go to the other one.
    drop(two);
    let answer = one
        .control("control/budget", &json!({ "rate": "77/s" }))
        .json();
    assert_eq!(answer["unconfirmed"], json!(["n2"]), "{answer}");
    assert_eq!(answer["changed"], true, "{answer}");
    has(answer["message"].as_str().unwrap(), "n2 did not confirm");
    let told = until("the takeover", || {
        let told = cluster(&one);
        let nodes = told["nodes"].as_array().unwrap();
        (nodes[1]["alive"] == false && nodes[0]["slots"] == SLOTS).then_some(told)
    })
    .await;
    assert_eq!(told["totals"]["alive"], 1, "{told}");
    let claimed = told["slots"].as_array().unwrap().iter();
    assert!(
        claimed.clone().any(|row| row["epoch"].as_u64() > Some(1)),
        "{told}"
    );
    has(&one.get("/dashboard/cluster").body, "dead");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_on_one_machine_shows_no_cluster() {
    let web = webs::serve(webs::plain(3, 1, 4)).await;
    let running = CrawlProcess::start(&web, &["--budget", "50/s"]).await;
    assert_eq!(running.get("/api/v1/cluster").status, 404);
    assert_eq!(running.get("/dashboard/cluster").status, 404);
    assert_eq!(running.get("/dashboard/cluster/events").status, 404);
    for page in ["/dashboard", "/dashboard/page"] {
        let body = running.get(page).body;
        assert!(!body.contains("/dashboard/cluster"), "{body}");
    }
    assert!(!running.get("/metrics").body.contains("avocet_cluster_"));
    let answer = running.control("control/pause?node=n1", &json!({}));
    assert_eq!(answer.status, 404);
    has(&answer.body, "this crawl runs on one machine");
    let answer = running.control("control/pause", &json!({})).json();
    assert_eq!(answer["nodes"], Value::Null, "{answer}");
}
