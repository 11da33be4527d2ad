//! Tests of what operators see of single pages while the crawl runs: explanations and versions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::files::Files;
use crate::running::CrawlProcess;
use crate::upkeep::page;
use crate::webs;

#[tokio::test(flavor = "multi_thread")]
async fn a_running_crawl_explains_the_same_facts_as_at_rest() {
    let serving = webs::serve(webs::plain(10, 2, 20)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "40/s"]).await;
    let there = serving
        .web()
        .pages()
        .filter(|page| page.exists(serving.now()))
        .count();
    running
        .until("all is known", |state| {
            state["urls_seen"].as_u64() >= Some(there as u64)
        })
        .await;
    running.program.json(&["pause"]);
    let home = serving.homes().remove(0);
    let asked = running.program.json(&["explain", &home]);
    let over_http = running.get(&format!("/api/v1/explain?url={home}")).json();
    let page = running.get(&format!("/dashboard/page?url={home}"));
    assert!(
        page.status == 200 && page.body.contains("Timeline"),
        "{}",
        page.body
    );
    let unknown = running
        .program
        .json(&["explain", "http://127.0.0.1:9/never"]);
    assert!(unknown["discovered"].is_null() && unknown["not_fetched"].is_string());
    let program = running.stop().await;
    let rests = program.json(&["explain", &home]);
    for fact in [
        "url",
        "blocked",
        "discovered",
        "links",
        "visited",
        "not_fetched",
    ] {
        assert_eq!(asked[fact], rests[fact], "{fact}");
        assert_eq!(over_http[fact], rests[fact], "{fact}");
    }
    for fact in ["order", "refresh"] {
        assert_eq!(asked["worth"][fact], rests["worth"][fact]);
    }
    assert_eq!(asked["server"]["requests"], rests["server"]["requests"]);
}

/// Hostile text of pages is shown as text and never runs as a script.
#[tokio::test(flavor = "multi_thread")]
async fn versions_are_compared_and_hostile_text_never_runs() {
    let files = Files::default();
    let address = files.serve().await;
    let evil = "<a href=\"/x?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E\">&lt;script&gt;alert(2)&lt;/script&gt; &quot;&gt;&lt;img src=x onerror=alert(3)&gt;</a>";
    let story = "<p>The whole story of the red fox is written here at some length, so that it counts as a text.</p>";
    files.put("/", "text/html", page("Home", &format!("{evil} {story}")));
    files.put(
        "*",
        "text/html",
        page("Other", "nothing much, and yet a page"),
    );
    let home = format!("http://{address}/");
    let running = CrawlProcess::crawl(
        std::slice::from_ref(&home),
        &["--budget", "20/s", "--refresh", "uniform"],
    )
    .await;
    running
        .until("it refreshes", |state| {
            state["unchanged"].as_u64() > Some(0)
        })
        .await;
    let grey = story.replace("red fox", "grey fox &lt;script&gt;alert(4)&lt;/script&gt;");
    files.put("/", "text/html", page("Home", &format!("{evil} {grey}")));
    let inspected = format!("/dashboard/page?url={home}");
    let mut shown = running.get(&inspected);
    for _ in 0..200 {
        if shown.body.contains("class=\"diff\"") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        shown = running.get(&inspected);
    }
    assert_eq!(shown.status, 200);
    assert!(
        shown.body.contains("class=\"diff\"") && shown.body.contains("grey"),
        "{}",
        shown.body
    );
    // The page with the hostile URL, which the hostile link names.
    let linked = format!("{inspected}x%3Fa%3D%2522%253E%253Cscript%253Ealert(1)%253C/script%253E");
    let linked = running.get(&linked);
    assert!(
        linked.body.contains("alert(2)"),
        "its link is shown: {}",
        linked.body
    );
    let board = running.get("/dashboard");
    let odd = running.get("/dashboard/page?url=%3Cscript%3Ealert(5)%3C/script%3E");
    assert_eq!(odd.status, 400);
    for page in [&shown, &linked, &board, &odd] {
        let text = page.body.to_lowercase();
        assert!(
            !text.contains("<script>alert") && !text.contains("<img src=x"),
            "{text}"
        );
        assert!(
            !text.contains(" style=") && !text.contains(" onerror=\""),
            "{text}"
        );
        let policy = &page.head["content-security-policy"];
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
    }

    // The event stream delivers updates.
    let place = running.address;
    let mut stream = TcpStream::connect(place).unwrap();
    write!(
        stream,
        "GET /dashboard/events HTTP/1.1\r\nHost: {place}\r\n\r\n"
    )
    .unwrap();
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    while String::from_utf8_lossy(&received)
        .matches("event: live")
        .count()
        < 2
    {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&received));
        received.extend(&buffer[..count]);
    }
    assert!(String::from_utf8_lossy(&received).contains("data-part=\"tiles\""));
    // An open event stream does not keep the program from ending.
    running.stop().await;
}
