//! Tests of sources: they are polled, their new pages are found, and clicks raise their profit.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lab::loopback::Press;
use lab::world::{LinkPeriod, News};
use policy::Moment;
use serde_json::{Value, json};

use crate::program::{TestProgram, holds};

const HOUR: u64 = 3600;

pub fn at(seconds: u64) -> Moment {
    Moment::from_micros(seconds * 1_000_000)
}

/// Returns a world of three sources: one publishes an article every minute, one every 20 minutes,
/// and one never. Each has two older articles.
pub fn news() -> News {
    let (mut articles, mut links) = (Vec::new(), Vec::new());
    let mut publish = |source, from| {
        articles.push(format!(
            "http://s{source}.example/article-{}",
            articles.len()
        ));
        links.push(LinkPeriod {
            source,
            article: articles.len() as u32 - 1,
            from: at(from),
            until: at(1000 * HOUR),
        });
    };
    for source in 0..3 {
        (0..2).for_each(|_| publish(source, 0));
    }
    (1..600).for_each(|minute| publish(0, 100 * HOUR + minute * 60));
    (1..30).for_each(|turn| publish(1, 100 * HOUR + turn * HOUR / 3));
    let sources = [
        "http://s0.example/",
        "http://s1.example/",
        "http://s2.example/",
    ];
    let articles: Vec<&str> = articles.iter().map(String::as_str).collect();
    News::new(sources.into_iter(), articles.into_iter(), links, Vec::new())
}

pub fn row<'a>(listed: &'a Value, url: &str) -> &'a Value {
    let rows = listed["sources"].as_array().unwrap();
    let found = rows.iter().find(|row| row["url"] == url);
    found.unwrap_or_else(|| panic!("{url} in {listed}"))
}

/// Permits polls of a source in quick succession, because the test world's time passes faster than
/// real time.
pub fn poll_without_rest(program: &TestProgram) {
    program.configure("[source]\nleast = \"0s\"\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn articles_of_a_busy_source_are_found_and_clicks_raise_the_profit_of_a_slow_one() {
    // Ten minutes of this world pass in one second.
    let press = Arc::new(Press::new(news(), at(100 * HOUR), 600.0));
    let listening = press.listen(None).await.unwrap();
    let place = listening.url();
    let program = TestProgram::new();
    poll_without_rest(&program);
    let mut arguments = vec!["run", "http://s0.example/", "http://s1.example/"];
    arguments.extend(["http://s2.example/", "--proxy", &place, "--delay", "0s"]);
    // The budget exceeds what the busy source needs. The rest goes to sources that are worth far
    // less to poll.
    arguments.extend(["--budget", "400/s", "--time", "12s"]);
    program.json(&arguments);

    let (delays, _) = press.delays(press.now());
    assert!(
        delays.len() > 20,
        "{} of what is new was fetched",
        delays.len()
    );
    let listed = program.json(&["sources", "--all"]);
    let busy = row(&listed, "http://s0.example/");
    let silent = row(&listed, "http://s2.example/");
    assert!(busy["found"].as_u64().unwrap() > 20, "{busy}");
    assert_eq!(silent["found"], 0, "{silent}");
    let rate = |row: &Value| row["new_a_day"].as_f64().unwrap();
    assert!(rate(busy) > 10.0 * rate(silent), "{listed}");
    holds(busy, &json!({ "kind": "main", "clicked": false }));
    assert_eq!(listed["cover"]["for_80_percent"], 1, "{listed}");
    let found = program.json(&["search", "number40"]);
    assert_eq!(
        found["results"][0]["url"], "http://s0.example/article-40",
        "{found}"
    );

    // Clicks on articles of the slow source make its pages worth more.
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let clicked: Vec<Value> = program
        .lines(&["export", "urls"])
        .into_iter()
        .filter(|page| {
            let url = page["url"].as_str().unwrap();
            let number = url.strip_prefix("http://s1.example/article-");
            number.is_some_and(|number| number.len() == 3)
        })
        .collect();
    assert!(!clicked.is_empty(), "an article of the slow source was new");
    let line = |page: &Value| {
        format!(
            "{}\t{}\t500\n",
            page["url"].as_str().unwrap(),
            now.as_secs()
        )
    };
    let table = program.path("clicks.tsv");
    fs::write(
        &table,
        clicked.iter().map(line).collect::<String>() + "nonsense\t1\t1\n",
    )
    .unwrap();
    let taken = program.json(&["import", "clicks", table.to_str().unwrap()]);
    holds(&taken, &json!({ "taken": clicked.len(), "passed_over": 1 }));
    let listed = program.json(&["sources", "--all"]);
    let profit = |url: &str| row(&listed, url)["profit"].as_f64().unwrap();
    assert_eq!(
        row(&listed, "http://s1.example/")["clicked"],
        true,
        "{listed}"
    );
    assert!(
        profit("http://s1.example/") > profit("http://s0.example/"),
        "{listed}"
    );
    let why = program.json(&["explain", "http://s1.example/"]);
    assert!(why.to_string().contains("profit of a new page"), "{why}");
}

/// The sources of a running crawl are those that it last wrote to the store.
#[tokio::test(flavor = "multi_thread")]
async fn sources_of_a_running_crawl_are_listed() {
    let press = Arc::new(Press::new(news(), at(100 * HOUR), 600.0));
    let listening = press.listen(None).await.unwrap();
    let place = listening.url();
    let program = TestProgram::new();
    let mut arguments = vec!["run", "http://s0.example/", "--proxy", &place];
    arguments.extend(["--delay", "0s", "--budget", "20/s"]);
    let mut running = program.start(&arguments);
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if program.store().join("sources.json").exists() {
            break;
        }
    }
    let listed = program.json(&["sources", "--all"]);
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(
        listed["sources"].is_array() && listed["cover"].is_null(),
        "{listed}"
    );
}

#[test]
fn listing_sources_fails_before_a_crawl() {
    let program = TestProgram::new();
    let (code, why) = program.fail(&["sources"]);
    assert_eq!(code, Some(1), "{why}");
}
