//! Test that the metrics of a running crawl equal the state that it reports.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use crate::program::words;
use crate::running::CrawlProcess;
use crate::server::AvocetServer;
use crate::webs;

const FRESHNESS: &str = "avocet_crawl_expected_freshness";

/// Parses metrics, by name and labels.
fn numbers(text: &str) -> BTreeMap<String, f64> {
    assert!(text.ends_with("# EOF\n"), "{text}");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').expect(line))
        .map(|(name, value)| (name.to_owned(), value.parse().expect(value)))
        .collect()
}

/// Returns the differences between the state of a crawl and its metrics.
fn differences(state: &Value, said: &BTreeMap<String, f64>) -> Vec<String> {
    let mut pairs = [
        ("urls", "/urls_seen"),
        ("queued", "/queued"),
        ("due", "/due"),
        ("visits", "/visits"),
        ("price", "/price"),
        ("budget_per_second", "/budget"),
        ("fetches_total{purpose=\"new\"}", "/fetches/new"),
        ("fetches_total{purpose=\"refresh\"}", "/fetches/refresh"),
        ("fetches_total{purpose=\"source\"}", "/fetches/source"),
        ("fetches_total{purpose=\"overhead\"}", "/fetches/overhead"),
    ]
    .map(|(name, place)| (name.to_owned(), state.pointer(place)))
    .to_vec();
    for (kind, count) in state["errors"].as_object().expect("errors by kind") {
        pairs.push((format!("errors_total{{kind=\"{kind}\"}}"), Some(count)));
    }
    let differs = |(name, told): &(String, Option<&Value>)| {
        let found = said.get(&format!("avocet_crawl_{name}")).copied();
        let told = told.and_then(Value::as_f64);
        // The two formats may differ in the last digit.
        let same = |(found, told): (f64, f64)| (found - told).abs() <= 1e-12 * told.abs();
        let is_same = found.zip(told).is_some_and(same);
        (!is_same).then(|| format!("{name}: {found:?}, not {told:?}"))
    };
    pairs.iter().filter_map(differs).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_of_a_crawl_equal_the_state_that_it_reports() {
    let serving = webs::serve(webs::plain(12, 2, 20)).await;
    // The last seed does not answer.
    let mut homes = serving.homes();
    homes.push("http://127.0.0.1:9/".into());
    let running = CrawlProcess::crawl(&homes, &["--budget", "30/s"]).await;
    running
        .until("it fetches, refreshes and fails", |state| {
            let errors = state["errors"].as_object();
            let fetches = &state["fetches"];
            errors.is_some_and(|errors| !errors.is_empty())
                && fetches["new"].as_u64() > Some(5)
                && fetches["refresh"].as_u64() > Some(5)
        })
        .await;
    // Some metrics are measured only every few seconds, and the index follows the ledger.
    let measured = |said: &BTreeMap<String, f64>| {
        let some = |name: &str| said.get(name).is_some_and(|number| *number > 5.0);
        some("avocet_crawl_archive_bytes")
            && some("avocet_indexed_pages")
            && said.contains_key(FRESHNESS)
    };
    while !measured(&numbers(&running.get("/metrics").body)) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // State and metrics are written at different times. While the crawl is paused they become
    // equal.
    running.program.json(&["pause"]);
    let mut said = BTreeMap::new();
    let mut differing = Vec::new();
    for _ in 0..50 {
        said = numbers(&running.get("/metrics").body);
        differing = differences(&running.state(), &said);
        if differing.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(differing.is_empty(), "{differing:#?}");
    let number = |name: &str| said[&format!("avocet_crawl_{name}")];
    assert_eq!(number("running"), 1.0);
    for name in [
        "ledger_bytes",
        "archive_bytes",
        "index_bytes",
        "disk_free_bytes",
        "memory_bytes",
    ] {
        assert!(number(name) > 0.0, "{name}");
    }
    // Every fetch takes several steps of the core, and a commit.
    let steps = number("core_step_duration_seconds_count");
    assert!(steps > number("fetches_total{purpose=\"new\"}"), "{steps}");
    let buckets = said
        .keys()
        .filter(|name| name.contains("core_step_duration_seconds_bucket"));
    assert!(buckets.count() > 10, "{said:#?}");
    assert!(number("core_step_duration_seconds_sum") > 0.0);
    assert!(number("answers_total{status=\"200\"}") > 5.0, "{said:#?}");
    assert!(said["process_resident_memory_bytes"] > 1e6 && said["process_open_fds"] > 3.0);
    assert!(said["process_cpu_seconds_total"] > 0.0);
    let version = format!(
        "avocet_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(said[&version], 1.0);
    let requests = "avocet_requests_total{route=\"/metrics\",status=\"200\"}";
    assert!(said[requests] >= 1.0, "{said:#?}");
    assert!(number("core_commit_duration_seconds_count") > 0.0);
    assert!(number("core_histories_loaded_total") > 0.0);
    assert!(said.contains_key("avocet_crawl_core_events_waiting"));
    assert!((0.0..=1.0).contains(&said[FRESHNESS]));
    assert!(said["avocet_indexed_pages"] > 5.0, "{said:#?}");

    // SIGHUP, sent when the terminal closes, is a clean stop too. Afterwards the metrics say only
    // that no crawl runs.
    let program = running.end(rustix::process::Signal::HUP).await;
    let server = AvocetServer::start(&program, &[]);
    let ended = server.get("/metrics");
    let said = numbers(&ended.body);
    assert_eq!(said["avocet_crawl_running"], 0.0);
    let of_crawl = said.keys().filter(|name| name.starts_with("avocet_crawl_"));
    assert_eq!(of_crawl.count(), 1, "{said:#?}");
    assert!(server.get("/dashboard").body.contains("No crawl runs"));

    // A server that was already running notices the start and the end of a crawl.
    let line = format!("run {} --allow-private --no-serve --budget 30/s", homes[0]);
    let mut crawl = program.start(&words(&line));
    server.until("/metrics", |answer| {
        numbers(&answer.body)["avocet_crawl_running"] == 1.0
    });
    crawl.kill().unwrap();
    crawl.wait().unwrap();
    server.until("/api/v1/status", |answer| answer.json()["running"] == false);
    let said = numbers(&server.get("/metrics").body);
    assert_eq!(said["avocet_crawl_running"], 0.0);
}
