//! Tests what each answer to a request for robots.txt means.
//!
//! Covers rows 43 to 46 of hostile-web.md, and that robots.txt is subject to the same gate as a
//! page.

use std::time::Duration;

use crate::scripted::{ScriptedServer, ServerAction, TestClient, open_settings, send, summary};
use fetch::{AllowPrivate, FetchLimits, FetchOptions, RobotsVerdict};
use page::robots::ROBOTS_LIMIT;

fn reply(status: &str, fields: &str, body: &str) -> ServerAction {
    send(format!(
        "HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    ))
}

#[tokio::test]
async fn each_answer_has_its_verdict() {
    use RobotsVerdict::{Missing, Unavailable};
    let found = |text: &str| RobotsVerdict::Found(text.to_owned().into());
    let rules = "User-agent: *\nDisallow: /x\n";
    let answered = |status: &str, wanted| (vec![reply(status, "", rules)], wanted);
    let moved = |fields: &str| (vec![reply("302 Found", fields, "")], Missing);
    let half = send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\n");
    let ssh = send("SSH-2.0\r\n");
    let cases = vec![
        answered("200 OK", found(rules)),
        (vec![send("HTTP/1.1 204 No Content\r\n\r\n")], found("")),
        answered("404 Not Found", Missing),
        answered("401 Unauthorized", Missing),
        answered("403 Forbidden", Missing),
        answered("410 Gone", Missing),
        answered("429 Too Many Requests", Unavailable),
        answered("500 Oops", Unavailable),
        answered("503 Busy", Unavailable),
        moved(""),
        moved("Location: file:///etc/passwd\r\n"),
        moved("Location: /loop\r\n"),
        (vec![ServerAction::Reset], Unavailable),
        (vec![ssh, ServerAction::Hang], Unavailable),
        (vec![half, ServerAction::Close], Unavailable),
        (vec![ServerAction::Hang], Unavailable),
    ];
    for (number, (steps, wanted)) in cases.into_iter().enumerate() {
        let server = ScriptedServer::start(move |_| steps.clone()).await;
        let limits = FetchLimits {
            first_byte: Duration::from_secs(2),
            ..FetchLimits::default()
        };
        let mut client = TestClient::new(FetchOptions {
            limits,
            ..open_settings()
        });
        let answer = client.robots(&server.url("/a/page")).await;
        assert_eq!(answer.verdict, wanted, "case {number}: {answer:?}");
        let next = client.get(&server.url("/next")).await;
        assert_eq!(summary(&next), "200", "case {number}");
    }
}

/// Row 45: a server that cannot be reached disallows everything, and the cause is reported.
#[tokio::test]
async fn an_unreachable_host_disallows_everything() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url =
        page::url::PageUrl::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let mut client = TestClient::new(open_settings());
    let answer = client.robots(&url).await;
    assert_eq!(answer.verdict, RobotsVerdict::Unavailable);
    assert_eq!(answer.trouble.unwrap().kind(), "connect:refused");
    let mut strict = TestClient::new(FetchOptions {
        allow_private: AllowPrivate::Never,
        ..open_settings()
    });
    let refused = strict.robots(&url).await;
    assert_eq!(refused.verdict, RobotsVerdict::Unavailable);
    assert_eq!(refused.trouble.unwrap().kind(), "refused:private-address");
}

/// Row 43: a file without end is cut at the limit of 500 KiB.
#[tokio::test]
async fn an_endless_file_is_cut_at_the_limit() {
    let server = ScriptedServer::start(|_| {
        let start = "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /x\n";
        vec![
            send(start),
            ServerAction::Flood(b"# and so on\n".repeat(1000)),
        ]
    })
    .await;
    let mut client = TestClient::new(open_settings());
    let answer = client.robots(&server.url("/")).await;
    let RobotsVerdict::Found(text) = answer.verdict else {
        panic!("{answer:?}")
    };
    assert_eq!(text.len(), ROBOTS_LIMIT);
    assert!(!page::Robots::parse(&text, "avocet").allows(&server.url("/x")));
}

/// Row 46: five redirects are followed, also to other servers; the connection to the first is
/// kept.
#[tokio::test]
async fn five_redirects_are_followed() {
    let last =
        ScriptedServer::start(|_| vec![reply("200 OK", "", "User-agent: *\nDisallow: /moved\n")])
            .await;
    let target = last.url("/elsewhere").to_string();
    let first = ScriptedServer::start(move |asked| {
        let hop: u32 = asked.path.rsplit('-').next().unwrap().parse().unwrap_or(0);
        let next = if hop == 4 {
            target.clone()
        } else {
            format!("/hop-{}", hop + 1)
        };
        vec![reply("301 Moved", &format!("Location: {next}\r\n"), "")]
    })
    .await;
    let mut client = TestClient::new(open_settings());
    let answer = client.robots(&first.url("/page")).await;
    let RobotsVerdict::Found(text) = answer.verdict else {
        panic!("{answer:?}")
    };
    assert!(text.ends_with(b"/moved\n"));
    assert_eq!(first.asked.lock().unwrap().len(), 5);
    let kept = client.connection.as_ref().unwrap();
    assert!(kept.leads_to(&first.url("/")));
    assert_eq!(kept.served(), 5, "one connection for all hops");
    let endless = ScriptedServer::start(|asked| {
        vec![reply(
            "301 Moved",
            &format!("Location: {}x\r\n", asked.path),
            "",
        )]
    })
    .await;
    let mut client = TestClient::new(open_settings());
    let answer = client.robots(&endless.url("/")).await;
    assert_eq!(answer.verdict, RobotsVerdict::Missing);
    assert_eq!(endless.asked.lock().unwrap().len(), 6);
}

/// Row 22, through robots.txt (Crawl4AI CVE-2026-109239).
#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    let inside = ScriptedServer::start(|_| vec![reply("200 OK", "", "secret")]).await;
    let target = inside.url("/secret").to_string();
    let outside = ScriptedServer::start(move |_| {
        vec![reply("302 Found", &format!("Location: {target}\r\n"), "")]
    })
    .await;
    let allow_private = AllowPrivate::of_seeds(&[outside.url("/")]);
    let mut client = TestClient::new(FetchOptions {
        allow_private,
        ..open_settings()
    });
    let answer = client.robots(&outside.url("/")).await;
    assert_eq!(answer.verdict, RobotsVerdict::Unavailable);
    assert_eq!(answer.trouble.unwrap().kind(), "refused:private-address");
    assert!(
        inside.asked.lock().unwrap().is_empty(),
        "nothing was sent inside"
    );
}
