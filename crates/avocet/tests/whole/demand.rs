//! Tests that searches and clicks influence scheduling under the default policies.

use std::sync::Arc;
use std::time::Duration;

use lab::loopback::Press;
use serde_json::Value;

use crate::files::Files;
use crate::program::{TestProgram, words};
use crate::server::AvocetServer;
use crate::sources;

/// The kinds of birds in the test site, a guide whose texts change with each edition.
const KINDS: [&str; 2] = ["avocet", "plover"];
/// Pages of each kind.
const EACH: usize = 8;

fn edition(files: &Files, number: usize) {
    for kind in KINDS {
        for page in 0..EACH {
            let words = format!("{kind} ").repeat(1 + (number + page) % 7);
            let text = format!(
                "<title>Sighting {page}</title><p>Seen in the estuary, edition {number}: {words} and nothing else.</p>"
            );
            files.put(&format!("/{kind}/{page}"), "text/html", text);
        }
    }
}

fn guide() -> Files {
    let files = Files::default();
    let links: String = KINDS
        .iter()
        .flat_map(|kind| (0..EACH).map(move |page| format!("<a href=/{kind}/{page}>{page}</a> ")))
        .collect();
    files.put("/", "text/html", format!("<title>Guide</title>{links}"));
    edition(&files, 0);
    files
}

/// Runs `avocet run` for 9 s, while a new edition appears every 400 ms.
async fn keep(program: &TestProgram, files: &Files, home: &str, first: usize) {
    let line = "--budget 12/s --delay 0s --time 9s --no-serve --allow-private";
    let mut child = program.start(&words(&format!("run {home} {line}")));
    let mut number = first;
    while child.try_wait().unwrap().is_none() {
        number += 1;
        edition(files, number);
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
}

/// Returns a term of a page's worth.
fn term(explained: &Value, name: &str) -> f64 {
    let terms = explained["worth"]["terms"].as_array().unwrap();
    let term = terms.iter().find(|term| term["name"] == name);
    term.unwrap_or_else(|| panic!("{name} in {explained}"))["value"]
        .as_f64()
        .unwrap()
}

/// Returns means over the pages of a kind: the gain of a change, and the seconds from a visit
/// until the next one is due.
fn estimates(program: &TestProgram, home: &str, kind: &str) -> (f64, f64) {
    let each = (0..EACH).map(|page| {
        let why = program.json(&["explain", &format!("{home}{kind}/{page}")]);
        let at = |place: &str| -> jiff::Timestamp {
            let time = why.pointer(place).and_then(Value::as_str);
            time.unwrap_or_else(|| panic!("{place} in {why}"))
                .parse()
                .unwrap()
        };
        let rest = at("/worth/due").duration_since(at("/visited/at"));
        (term(&why, "gain of a change"), rest.as_secs_f64())
    });
    let (gain, rest) = each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (gain / EACH as f64, rest / EACH as f64)
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_many_search_for_are_worth_more_to_refresh() {
    let files = guide();
    let address = files.serve().await;
    let home = format!("http://{address}/");
    let program = TestProgram::new();
    keep(&program, &files, &home, 0).await;
    let [asked, other] = KINDS.map(|kind| estimates(&program, &home, kind));
    // Without searches only the share of the text that changes distinguishes the pages, and this
    // share is nearly the same for all pages.
    let apart = (asked.0 / other.0 - 1.0).abs();
    assert!(apart < 0.1, "no search yet: {asked:?} {other:?}");

    let server = AvocetServer::start(&program, &[]);
    for _ in 0..20 {
        assert!(server.get("/?q=avocet").body.contains("/avocet/"));
    }
    assert_eq!(server.interrupt(), Some(0));
    // The gain of a change is measured when a visit finds a change.
    keep(&program, &files, &home, 100).await;
    let [asked, other] = KINDS.map(|kind| estimates(&program, &home, kind));
    assert!(asked.0 > 1.3 * other.0, "{asked:?} {other:?}");
    assert!(asked.1 < other.1, "and is due earlier: {asked:?} {other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_a_page_raises_the_profit_of_its_source() {
    let press = Arc::new(Press::new(sources::news(), sources::at(100 * 3600), 600.0));
    let listening = press.listen(None).await.unwrap();
    let place = listening.url();
    let program = TestProgram::new();
    sources::poll_without_rest(&program);
    let homes = ["http://s0.example/", "http://s1.example/"];
    let mut arguments = vec![
        "run", homes[0], homes[1], "--proxy", &place, "--delay", "0s",
    ];
    // The budget exceeds what the fast source needs. The rest goes to the slow one, which is
    // worth far less to poll.
    arguments.extend(["--budget", "400/s", "--time", "12s", "--no-serve"]);
    program.json(&arguments);
    let known = program.lines(&["export", "urls"]);
    // Articles with a three-digit number appeared during the crawl.
    let new = known.iter().find_map(|page| {
        let number = page["url"]
            .as_str()?
            .strip_prefix("http://s1.example/article-")?;
        (number.len() == 3 && page["status"] == 200).then(|| number.to_owned())
    });
    let new = new.expect("an article of the slow source was new");
    let profits = || {
        let listed = program.json(&["sources", "--all"]);
        homes.map(|home| {
            let row = sources::row(&listed, home);
            assert_eq!(row["on"], true, "{listed}");
            row["profit"].as_f64().unwrap()
        })
    };
    let before = profits();

    let server = AvocetServer::start(&program, &[]);
    let found = server.get(&format!("/?q=number{new}"));
    let click = found.body.split(" ping=\"").nth(1).unwrap();
    let click = click.split('"').next().unwrap().replace("&#38;", "&");
    let led = server.get(&click);
    assert_eq!(
        led.head["location"],
        format!("http://s1.example/article-{new}")
    );
    assert_eq!(server.interrupt(), Some(0));
    let after = profits();
    let grown = [0, 1].map(|source| after[source] / before[source]);
    assert!(
        grown[1] > 1.2 && grown[1] > 1.2 * grown[0],
        "{before:?}, then {after:?}"
    );
    let why = program.json(&["explain", homes[1]]);
    assert_eq!(term(&why, "profit of a new page"), after[1], "{why}");
}
