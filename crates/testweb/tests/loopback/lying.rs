//! Tests of the hostile server: each lie sends the bytes that its row describes.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

use testweb::lying::{HONEST, HostileServer, LIES, Nature, Pace, SMUGGLED};

use crate::client::{ByteClient, links};

const HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 10);

/// Floods end after 256 KiB; drips continue until the client disconnects.
const PACE: Pace = Pace {
    pause: Duration::from_millis(1),
    longest: Duration::from_secs(600),
    most_bytes: 256 << 10,
};

async fn start(pace: Pace) -> HostileServer {
    HostileServer::start(HOST, Nature::Lies, pace)
        .await
        .unwrap()
}

/// The bytes of one answer.
struct AnswerBytes {
    bytes: Vec<u8>,
    reset: bool,
}

impl AnswerBytes {
    async fn of(server: &HostileServer, path: &str, enough: usize) -> Self {
        let (bytes, reset) = ByteClient::raw(server.address(), path, enough).await;
        Self { bytes, reset }
    }

    fn head(&self) -> String {
        let end = self
            .bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        String::from_utf8(self.bytes[..end + 2].to_vec()).unwrap()
    }

    fn body(&self) -> &[u8] {
        &self.bytes[self.head().len() + 2..]
    }

    fn header(&self, name: &str) -> Option<String> {
        let prefix = format!("{name}: ");
        self.head()
            .lines()
            .find_map(|line| Some(line.strip_prefix(&prefix)?.to_owned()))
    }

    /// Returns the stated content length.
    fn promised(&self) -> usize {
        self.header("Content-Length").unwrap().parse().unwrap()
    }

    fn count(&self, needle: impl AsRef<[u8]>) -> usize {
        let needle = needle.as_ref();
        self.bytes
            .windows(needle.len())
            .filter(|part| *part == needle)
            .count()
    }

    fn has(&self, needle: impl AsRef<[u8]>) -> bool {
        let needle = needle.as_ref();
        self.bytes.windows(needle.len()).any(|part| part == needle)
    }

    fn smuggles(&self) -> bool {
        self.body()[self.promised()..]
            .windows(8)
            .any(|part| part == SMUGGLED.as_bytes())
    }

    fn flooded(&self) -> bool {
        // The last piece may exceed the limit by 64 KiB.
        let (least, most) = (
            PACE.most_bytes as usize,
            PACE.most_bytes as usize + (65 << 10),
        );
        (least..=most).contains(&self.bytes.len())
    }
}

/// Returns whether the bytes are those of the lie at this path.
fn matches_lie(path: &str, wire: &AnswerBytes) -> bool {
    let coding = || wire.header("Content-Encoding");
    match path {
        "/gzip-bomb" => {
            coding().unwrap() == "gzip" && (500_000..1_200_000).contains(&wire.body().len())
        }
        "/brotli-bomb" => coding().unwrap() == "br" && wire.body().len() < 14_000,
        "/zstd-bomb" => coding().unwrap() == "zstd" && wire.body().len() < 33_000,
        "/zstd-window" => coding().unwrap() == "zstd" && wire.body().len() < 50,
        "/layered" => {
            coding().unwrap() == "gzip, gzip, gzip" && wire.body().starts_with(b"\x1f\x8b")
        }
        "/wrong-encoding" => coding().unwrap() == "gzip" && wire.body().starts_with(b"<!doctype"),
        "/unknown-encoding" => coding().unwrap() == "x-made-up",
        "/endless" => wire.flooded() && !wire.has("\r\n0\r\n"),
        "/endless-length" => wire.flooded() && wire.promised() == 1 << 60,
        "/drip" => wire.body().ends_with(b"aaaa") && wire.body().len() < wire.promised(),
        "/slow-headers" => wire.bytes.ends_with(b"aaaa") && !wire.has("\r\n\r\n"),
        "/silence" => wire.bytes.is_empty(),
        "/header-flood" => wire.head().lines().count() > 10_000,
        "/header-forever" => wire.flooded() && !wire.has("\r\n\r\n"),
        "/one-long-header" => wire.head().lines().any(|line| line.len() > 10_000_000),
        "/obs-fold" => wire.has("\r\n two\r\n\tthree\r\n"),
        "/nul-header" => wire.has("X-Nul: a\0b\r\n"),
        "/bare-cr" => wire.has("a\rX-Hidden: b\r\n"),
        "/two-lengths" => wire.count("Content-Length: ") == 2,
        "/length-and-chunked" => {
            wire.promised() == 5 && wire.has("Transfer-Encoding: chunked") && wire.smuggles()
        }
        "/bad-chunk" => wire.has("\r\nnot-a-size\r\n"),
        "/chunk-overflow" => wire.has("\r\n10000000000000005\r\n"),
        "/endless-extension" => wire.flooded() && wire.has("\r\n5;x=xxxx"),
        "/endless-trailers" => wire.flooded() && wire.has("\r\n0\r\nX-Trailer: more\r\n"),
        "/short-body" => wire.body().len() < wire.promised() && wire.body().ends_with(b"</html>\n"),
        "/long-body" => wire.smuggles(),
        "/http-0-9" => wire.bytes.starts_with(b"<!doctype"),
        "/banner" => wire.bytes == b"SSH-2.0-OpenSSH_9.6\r\n",
        "/informational-flood" => {
            wire.count(" 100 Continue\r\n\r\n") == 1_000 && wire.count(" 200 OK") == 1
        }
        "/endless-hints" => wire.flooded() && !wire.has(" 200 OK"),
        "/204-with-body" | "/304-with-body" => {
            wire.bytes[9..12] == path.as_bytes()[1..4] && wire.body().len() == wire.promised()
        }
        "/reset" => wire.reset && wire.body().ends_with(b"a prefix"),
        "/fin" => !wire.reset && wire.body() == b"1a\r\n<title>fin</title>a prefix\r\n",
        "/early-bytes" => wire.smuggles(),
        "/close-lies" => wire.smuggles() && wire.header("Connection").unwrap() == "close",
        "/keep-alive-lies" => wire.header("Connection").unwrap() == "keep-alive",
        "/redirect-self" => wire.header("Location").unwrap() == path,
        "/redirect-loop/" => wire.header("Location").unwrap() == "/redirect-loop/a",
        "/redirect-chain/" => wire.header("Location").unwrap() == "/redirect-chain/1",
        "/redirect-forever/" => wire.header("Location").unwrap() == "/redirect-forever/1",
        "/redirect-nowhere" => wire.header("Location").is_none() && wire.has(" 302 "),
        _ if path.starts_with("/redirect-") => {
            leads_astray(path, &wire.header("Location").unwrap())
        }
        "/data-url" => wire.body().len() > 50_000_000,
        "/data-url-within-limits" => (4_000_000..8_000_000).contains(&wire.body().len()),
        "/deep-nesting" => wire.count("<div>") == 64_000,
        "/many-attributes" => wire.count("=1") == 64_000,
        "/adoption" => wire.count("<a><b><i><p>") == 8_000,
        "/foster-parents" => wire.count("<table><b>text") == 16_000,
        "/million-links" => wire.count("<a href=/nowhere/") == 1_000_000,
        "/huge-text" => wire.count("<") < 12 && wire.body().len() > 7_900_000,
        "/huge-comment" => wire.body().len() > 7_800_000 && !wire.has("-->"),
        "/huge-script" => wire.body().len() > 7_900_000 && !wire.has("</script"),
        "/hostile-base" => wire.count("<base href=") == 4,
        "/refresh-self" => wire.has("url=/refresh-self\""),
        "/refresh-private" => wire.has("url=http://169.254.169.254/\""),
        "/canonical-elsewhere" => wire.has("\"canonical\" href=\"http://10.0.0.1/\""),
        "/bad-charset" => wire.header("Content-Type").unwrap().ends_with("made-up-99"),
        "/utf-7" => wire.header("Content-Type").unwrap().ends_with("utf-7") && wire.has("+ADw-"),
        "/utf-16" => {
            wire.body().starts_with(b"<\0!\0d\0")
                && wire.header("Content-Type").unwrap() == "text/html"
        }
        "/mixed-charset" => wire.has(b"caf\xc3\xa9 caf\xe9 "),
        "/invalid-utf-8" => std::str::from_utf8(wire.body()).is_err(),
        "/bidi" => wire.has("\u{202e}gpj.exe"),
        "/combining-marks" => wire.count("\u{301}") >= 1_000_000,
        "/binary-as-html" => wire.body().starts_with(b"\x7fELF"),
        "/polyglot" => wire.body().starts_with(b"GIF89a") && wire.has("<script>"),
        "/regex-hostile" => wire.has("a".repeat(1_000) + "!"),
        "/laughs.xml" => wire.count("<!ENTITY a") == 10 && wire.has("<loc>&a9;</loc>"),
        "/packed-sitemap.xml.gz" => {
            wire.body().starts_with(b"\x1f\x8b") && wire.body().len() < 2 << 20
        }
        "/huge-sitemap.xml" => wire.body().len() > 75_000_000,
        "/index-of-indexes/" => wire.has("<loc>/index-of-indexes/1</loc>"),
        "/calendar/" => wire.has("\"/calendar/2025/12\"") && wire.has("\"/calendar/2026/2\""),
        "/session/" => wire.count("?sid=") == 3,
        "/a/" => wire.has("href=\"a/\""),
        "/endless-text/" => wire.count("href=\"/endless-text/") == 10,
        "/long-url" => wire.has("x".repeat(1_000_000)),
        "/control-urls" => wire.has("/nul/\0/") && wire.has("\r\nX-Injected: 1\r\n"),
        "/future-modified" => wire.header("Last-Modified").unwrap().contains("2999"),
        "/ancient-modified" => wire.header("Last-Modified").unwrap().contains("1900"),
        "/etag-never-changes" => wire.header("ETag").unwrap() == "\"same\"",
        "/etag-always-changes" => wire.header("ETag").unwrap() == "\"0\"",
        "/nonce" => wire.has("nonce=\"0\""),
        "/cloaked" => wire.has("for crawlers"),
        _ => panic!("no check for {path}"),
    }
}

/// Returns whether the target has another scheme than HTTP, or is an address that is not public,
/// in any notation.
fn leads_astray(path: &str, target: &str) -> bool {
    match page::PageUrl::parse(target) {
        Err(refusal) => refusal == page::Refusal::Scheme && path.len() < 16,
        Ok(url) => [
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "[fd00::1]",
            "[::ffff:a00:1]",
            "[64:ff9b::a00:1]",
        ]
        .contains(&url.host_name()),
    }
}

#[tokio::test]
async fn every_lie_sends_what_its_row_describes() {
    let server = start(PACE).await;
    // Silence lasts until the time limit, so this server has a short one.
    let hasty = start(Pace {
        longest: Duration::from_millis(100),
        ..PACE
    })
    .await;
    for lie in LIES {
        // Drips are abandoned after 150 bytes.
        let enough = if matches!(lie.row, 6 | 7) {
            150
        } else {
            usize::MAX
        };
        let server = if lie.path == "/silence" {
            &hasty
        } else {
            &server
        };
        let wire = AnswerBytes::of(server, lie.path, enough).await;
        assert!(
            matches_lie(lie.path, &wire),
            "{} ({}): {} bytes",
            lie.path,
            lie.what,
            wire.bytes.len()
        );
        assert_eq!(server.hits(lie.path), 1, "{}", lie.path);
        if lie.row >= 20 {
            assert_eq!(
                wire.body().len(),
                wire.promised(),
                "{} is framed well",
                lie.path
            );
        }
        let next = ByteClient::get_once(server.address(), "/honest/1").await;
        assert_eq!(next.status, 200, "after {}", lie.path);
    }
}

#[tokio::test]
async fn slow_lies_end_at_the_time_limit() {
    let server = start(Pace {
        longest: Duration::from_millis(100),
        ..PACE
    })
    .await;
    for path in ["/drip", "/slow-headers", "/silence"] {
        // This read ends when the lie ends.
        let wire = AnswerBytes::of(&server, path, usize::MAX).await;
        assert!(!wire.reset && wire.bytes.len() < 10_000, "{path}");
    }
}

#[tokio::test]
async fn the_index_leads_to_all_lies_and_honest_pages() {
    let server = start(PACE).await;
    let mut client = ByteClient::connect(server.address()).await;
    let index = client.get("/", "").await.unwrap();
    let found: BTreeSet<&str> = links(index.text()).collect();
    let honest: Vec<String> = (1..=HONEST).map(|n| format!("/honest/{n}")).collect();
    let lies = LIES.iter().map(|lie| lie.path);
    assert_eq!(
        found,
        lies.chain(honest.iter().map(String::as_str)).collect()
    );
    let mut texts = BTreeSet::new();
    for path in &honest {
        let got = client.get(path, "").await.unwrap();
        assert_eq!(got.status, 200);
        texts.insert(got.body);
        assert_eq!(server.hits(path), 1);
    }
    assert_eq!(texts.len(), HONEST);
    for path in ["/honest/0", "/honest/21", "/robots.txt", "/nowhere/1"] {
        assert_eq!(client.get(path, "").await.unwrap().status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_connection_stays_open_where_the_lie_allows() {
    let server = start(PACE).await;
    let mut client = ByteClient::connect(server.address()).await;
    for lie in LIES
        .iter()
        .filter(|lie| lie.row < 5 || (20..30).contains(&lie.row) || lie.row > 54)
    {
        assert!(client.get(lie.path, "").await.is_some(), "{}", lie.path);
    }
}

#[tokio::test]
async fn traps_have_no_end_and_are_the_same_each_time() {
    let server = start(PACE).await;
    let mut client = ByteClient::connect(server.address()).await;
    for trap in ["/calendar/", "/session/", "/a/", "/endless-text/"] {
        let mut seen = BTreeSet::new();
        let mut path = trap.to_owned();
        for _ in 0..40 {
            let got = client.get(&path, "").await.unwrap();
            assert_eq!(got.body, client.get(&path, "").await.unwrap().body);
            let next = links(got.text()).last().unwrap();
            let next = match next.starts_with('/') {
                true => next.to_owned(),
                false => format!("{path}{next}"),
            };
            assert!(next.starts_with(trap) && seen.insert(std::mem::replace(&mut path, next)));
        }
        assert_eq!(server.hits_below(trap), 80);
    }
}

#[tokio::test]
async fn redirects_loop_end_or_go_on_for_ever() {
    let server = start(PACE).await;
    let mut client = ByteClient::connect(server.address()).await;
    for (start, distinct, end) in [
        ("/redirect-self", 1, None),
        ("/redirect-loop/", 4, None),
        ("/redirect-chain/", 17, Some("/honest/1")),
        ("/redirect-forever/", 40, None),
    ] {
        let mut path = start.to_owned();
        let mut seen = BTreeSet::new();
        let mut ended = None;
        for _ in 0..40 {
            let got = client.get(&path, "").await.unwrap();
            seen.insert(path.clone());
            match got.header("location") {
                Some(next) => path = next.to_owned(),
                None => {
                    ended = Some(path.as_str());
                    break;
                }
            }
        }
        assert_eq!((seen.len(), ended), (distinct, end), "{start}");
    }
}

#[tokio::test]
async fn validators_change_independently_of_the_body_and_browsers_get_another_text() {
    let server = start(PACE).await;
    let mut client = ByteClient::connect(server.address()).await;
    let mut visits = Vec::new();
    for path in ["/etag-never-changes", "/etag-always-changes", "/nonce"] {
        for _ in 0..2 {
            visits.push(client.get(path, "").await.unwrap());
        }
    }
    let tag = |n: usize| visits[n].header("etag");
    assert!(tag(0) == tag(1) && visits[0].body != visits[1].body);
    assert!(tag(2) != tag(3) && visits[2].body == visits[3].body);
    assert_ne!(visits[4].body, visits[5].body);
    let known = "If-None-Match: \"same\"\r\n";
    assert_eq!(
        client
            .get("/etag-never-changes", known)
            .await
            .unwrap()
            .status,
        304
    );
    let browser = client
        .get("/cloaked", "User-Agent: Mozilla/5.0\r\n")
        .await
        .unwrap();
    assert!(browser.text().contains("for people"));
}

#[tokio::test]
async fn the_banner_is_sent_before_any_request() {
    let server = HostileServer::start(HOST, Nature::Banner, PACE)
        .await
        .unwrap();
    assert_eq!(
        ByteClient::greeting(server.address()).await,
        b"SSH-2.0-OpenSSH_9.6\r\n"
    );
}
