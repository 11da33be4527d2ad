//! Tests which addresses the fetcher refuses, and what it sends to which server.
//!
//! **Invariant:** rows 22 to 28 and 71 of hostile-web.md. The test's own name server lies.
//! Whatever it answers, no private address is reached without permission.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::scripted::{ScriptedServer, TestClient, open_settings, send, summary};
use fetch::{
    AllowPrivate, FetchLimits, FetchOptions, FetchRequest, Fetcher, HostSettings, Ports,
    ProxySettings,
};
use page::url::PageUrl;
use tokio::net::UdpSocket;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

/// The answer of the name server.
enum DnsRecords {
    /// These addresses, with a TTL of 0.
    Addresses(Vec<Ipv4Addr>),
    NoSuchName,
    Failure,
    Silence,
}

/// Starts a name server. It calls `answer` with the name and with the number of earlier queries for
/// IPv4 addresses. It has no IPv6 addresses. Returns its address and the count of IPv4 queries.
async fn name_server(
    answer: impl Fn(&str, usize) -> DnsRecords + Send + Sync + 'static,
) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut packet = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            let (name, end) = question_name(&packet[..length]);
            let is_ipv4 = packet[end + 1] == 1;
            let number = if is_ipv4 {
                count.fetch_add(1, Ordering::SeqCst)
            } else {
                usize::MAX
            };
            let records = match answer(&name, number) {
                // The name exists, but has no IPv6 address.
                DnsRecords::Addresses(_) if !is_ipv4 => at(&[]),
                records => records,
            };
            if let Some(reply) = reply(&packet[..end + 4], &records) {
                socket.send_to(&reply, from).await.unwrap();
            }
        }
    });
    (address, asked)
}

/// Returns the queried name and the offset of its end.
fn question_name(packet: &[u8]) -> (String, usize) {
    let mut at = 12;
    let mut labels = Vec::new();
    while packet[at] != 0 {
        let end = at + 1 + usize::from(packet[at]);
        labels.push(
            String::from_utf8(packet[at + 1..end].to_vec())
                .unwrap()
                .to_lowercase(),
        );
        at = end;
    }
    (labels.join("."), at + 1)
}

fn reply(question: &[u8], records: &DnsRecords) -> Option<Vec<u8>> {
    let (code, addresses) = match records {
        DnsRecords::Addresses(addresses) => (0, &addresses[..]),
        DnsRecords::NoSuchName => (3, &[][..]),
        DnsRecords::Failure => (2, &[][..]),
        DnsRecords::Silence => return None,
    };
    let mut reply = question.to_vec();
    reply[2..4].copy_from_slice(&[0x81, 0x80 | code]);
    reply[6..8].copy_from_slice(&u16::try_from(addresses.len()).unwrap().to_be_bytes());
    reply[8..12].fill(0);
    for address in addresses {
        // A pointer to the name in the question, type A, class IN, TTL, length.
        reply.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
        reply.extend_from_slice(&address.octets());
    }
    if matches!(records, DnsRecords::NoSuchName) {
        // The zone's SOA record, without which a negative answer may not be cached (RFC 2308,
        // 5). Its TTL is 0: type SOA, class IN, TTL, length, two root names, five numbers.
        reply[9] = 1;
        reply.extend_from_slice(&[0xc0, 12, 0, 6, 0, 1, 0, 0, 0, 0, 0, 22]);
        reply.extend_from_slice(&[0; 22]);
    }
    Some(reply)
}

fn at(addresses: &[[u8; 4]]) -> DnsRecords {
    DnsRecords::Addresses(addresses.iter().copied().map(Ipv4Addr::from).collect())
}

fn fetcher(name_server: SocketAddr, settings: FetchOptions) -> Fetcher {
    let limits = FetchLimits {
        dns: Duration::from_secs(2),
        ..FetchLimits::default()
    };
    Fetcher::new(FetchOptions {
        name_servers: vec![name_server],
        limits,
        ..settings
    })
    .unwrap()
}

async fn verdict(fetcher: &Fetcher, text: &str) -> String {
    match fetcher.route(&url(text)).await {
        Ok(route) => route.address().unwrap().to_string(),
        Err(trouble) => trouble.kind().to_owned(),
    }
}

/// Row 24.
#[tokio::test]
async fn private_addresses_are_refused_in_every_notation() {
    let (server, asked) = name_server(|_, _| DnsRecords::NoSuchName).await;
    let strict = fetcher(server, FetchOptions::default());
    let hosts = "127.0.0.1 127.0.0.1. 127.1 2130706433 0x7f000001 0177.0.0.1 0x7f.0.0.0x1 0.0.0.0 0 \
        [::] [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [2002:7f00:1::] \
        169.254.169.254/latest/meta-data 10.0.0.1 192.168.1.1 [fe80::1] [fc00::1] \
        １２７.０.０.１ 127。0。0。1 100.100.100.200";
    for host in hosts.split_whitespace() {
        let verdict = verdict(&strict, &format!("http://{host}/")).await;
        assert_eq!(verdict, "refused:private-address", "{host}");
    }
    assert_eq!(verdict(&strict, "http://1.1.1.1/").await, "1.1.1.1:80");
    assert_eq!(
        verdict(&strict, "https://[2606:4700::1111]/").await,
        "[2606:4700::1111]:443"
    );
    assert_eq!(
        asked.load(Ordering::SeqCst),
        0,
        "an address is not looked up"
    );
}

/// Rows 22, 23, 71.
#[tokio::test]
async fn names_of_private_addresses_are_refused() {
    let (server, asked) = name_server(|name, _| match name {
        "public.example" => at(&[[1, 1, 1, 1]]),
        "private.example" => at(&[[10, 0, 0, 1]]),
        "metadata.example" => at(&[[169, 254, 169, 254]]),
        "mixed.example" => at(&[[127, 0, 0, 1], [9, 9, 9, 9]]),
        "many.example" => at(&std::array::from_fn::<_, 60, _>(|n| [10, 0, 0, n as u8])),
        "broken.example" => DnsRecords::Failure,
        "silent.example" => DnsRecords::Silence,
        "empty.example" => at(&[]),
        _ => DnsRecords::NoSuchName,
    })
    .await;
    let strict = fetcher(server, FetchOptions::default());
    let cases = [
        ("http://public.example/", "1.1.1.1:80"),
        ("https://public.example./", "1.1.1.1:443"),
        ("http://public.example:22/", "refused:port"),
        ("http://private.example/", "refused:private-address"),
        ("http://metadata.example/", "refused:private-address"),
        ("http://mixed.example/", "9.9.9.9:80"),
        ("http://many.example/", "refused:private-address"),
        ("http://absent.example/", "dns:nxdomain"),
        ("http://empty.example/", "dns:no-address"),
        ("http://broken.example/", "dns:failed"),
        ("http://silent.example/", "dns:timeout"),
        ("http://localhost/", "refused:private-address"),
        ("http://sub.localhost/", "refused:private-address"),
    ];
    for (text, wanted) in cases {
        assert_eq!(verdict(&strict, text).await, wanted, "{text}");
    }
    // Row 71: only 16 of the 60 addresses are considered.
    let open = fetcher(server, open_settings());
    let route = open.route(&url("http://many.example/")).await.unwrap();
    assert_eq!(format!("{route:?}").matches("10.0.0.").count(), 16);
    // Row 71: a TTL of 0 counts as a minute, and missing names are cached.
    let before = asked.load(Ordering::SeqCst);
    verdict(&strict, "http://public.example/").await;
    verdict(&strict, "http://private.example/").await;
    assert_eq!(
        verdict(&strict, "http://absent.example/").await,
        "dns:nxdomain"
    );
    assert_eq!(asked.load(Ordering::SeqCst), before, "answers are kept");
}

/// Row 23: the second lookup of the name would return a private address.
#[tokio::test]
async fn a_name_is_not_looked_up_again_before_connecting() {
    let trap =
        ScriptedServer::start(|_| vec![send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret")])
            .await;
    let (server, _) = name_server(|_, asked| match asked {
        0 => at(&[[192, 0, 2, 1]]),
        _ => at(&[[127, 0, 0, 1]]),
    })
    .await;
    // A documentation address stands for a public one. It is allowed because it is a seed.
    let page = url(&format!("http://rebind.example:{}/", trap.address.port()));
    let settings = FetchOptions {
        allow_private: AllowPrivate::of_seeds([&page]),
        ports: Ports::Any,
        ..FetchOptions::default()
    };
    let limits = FetchLimits {
        connect: Duration::from_millis(200),
        ..FetchLimits::default()
    };
    let fetcher = Fetcher::new(FetchOptions {
        name_servers: vec![server],
        limits,
        ..settings
    })
    .unwrap();
    let route = fetcher.route(&page).await.unwrap();
    assert_eq!(route.address().unwrap().ip().to_string(), "192.0.2.1");
    assert!(
        fetcher.connect(&page, &route).await.is_err(),
        "no server is at 192.0.2.1"
    );
    assert!(
        trap.asked.lock().unwrap().is_empty(),
        "the name was not looked up again"
    );
}

/// A server with several addresses is always reached at the same one.
#[tokio::test]
async fn the_order_of_addresses_does_not_matter() {
    let (server, _) = name_server(|name, _| match name {
        "b.example" => at(&[[8, 8, 8, 8], [1, 1, 1, 1], [9, 9, 9, 9]]),
        _ => at(&[[9, 9, 9, 9], [1, 1, 1, 1], [8, 8, 8, 8]]),
    })
    .await;
    let fetcher = fetcher(server, FetchOptions::default());
    assert_eq!(verdict(&fetcher, "http://a.example/").await, "1.1.1.1:80");
    assert_eq!(verdict(&fetcher, "http://b.example/").await, "1.1.1.1:80");
}

/// Row 26: our own listener is refused by name and by address, whatever is allowed.
#[tokio::test]
async fn our_own_listener_is_refused() {
    let own = ScriptedServer::start(|_| vec![]).await;
    let (server, _) = name_server(|_, _| at(&[[127, 0, 0, 1]])).await;
    let settings = FetchOptions {
        own_listeners: vec![own.address],
        ..open_settings()
    };
    let fetcher = fetcher(server, settings);
    let port = own.address.port();
    for host in ["127.0.0.1", "us.example", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        assert_eq!(
            verdict(&fetcher, &format!("http://{host}:{port}/")).await,
            "refused:own-listener",
            "{host}"
        );
    }
}

#[tokio::test]
async fn when_an_address_does_not_answer_the_next_is_tried() {
    let there = ScriptedServer::start(|_| vec![]).await;
    let (server, _) = name_server(|_, _| at(&[[127, 0, 0, 1], [127, 0, 0, 0]])).await;
    let fetcher = fetcher(server, open_settings());
    let page = url(&format!("http://two.example:{}/next", there.address.port()));
    let route = fetcher.route(&page).await.unwrap();
    assert_eq!(
        route.address().unwrap().ip().to_string(),
        "127.0.0.0",
        "where no server listens"
    );
    let connection = fetcher.connect(&page, &route).await.unwrap();
    assert_eq!(connection.address(), there.address);
}

/// Row 28: credentials for an origin are sent to that origin only.
#[tokio::test]
async fn credentials_are_sent_only_to_their_origin() {
    let ok = |_: &crate::scripted::ReceivedRequest| {
        vec![send(
            "HTTP/1.1 200 OK\r\nSet-Cookie: k=v\r\nContent-Length: 0\r\n\r\n",
        )]
    };
    let (ours, other) = (
        ScriptedServer::start(ok).await,
        ScriptedServer::start(ok).await,
    );
    let host = HostSettings {
        headers: vec![
            ("x-extra".parse().unwrap(), "yes".parse().unwrap()),
            ("user-agent".parse().unwrap(), "special".parse().unwrap()),
        ],
        basic_auth: Some(("user".to_owned(), "pass".to_owned())),
    };
    let hosts = [(ours.url("/").origin().to_owned(), host)].into();
    let settings = FetchOptions {
        hosts,
        cookies: true,
        user_agent: "avocet/9 (+x)".to_owned(),
        ..open_settings()
    };
    let mut client = TestClient::new(settings);
    let page = ours.url("/a?b=%20|`c");
    client.get(&page).await.outcome.unwrap();
    let again = FetchRequest {
        url: &page,
        etag: Some("\"tag\""),
        last_modified: Some("Wed, 21 Oct 2015 07:28:00 GMT"),
    };
    client.ask(&again).await.outcome.unwrap();
    client.connection = None;
    client
        .ask(&FetchRequest {
            etag: Some("no\nheader"),
            ..FetchRequest {
                url: &other.url("/"),
                ..again
            }
        })
        .await
        .outcome
        .unwrap();
    let heads = [
        ours.asked.lock().unwrap().clone(),
        other.asked.lock().unwrap().clone(),
    ]
    .concat();
    let has = |head: &str, field: &str| {
        head.to_lowercase()
            .contains(&format!("\r\n{}\r\n", field.to_lowercase()))
    };
    for head in &heads[..2] {
        assert!(head.starts_with("GET /a?b=%20|`c HTTP/1.1\r\n"), "{head}");
        for field in [
            "Authorization: Basic dXNlcjpwYXNz",
            "X-Extra: yes",
            "User-Agent: special",
            "Accept-Encoding: gzip, deflate, br, zstd",
            &format!("Host: {}", ours.address),
        ] {
            assert!(has(head, field), "{field} in {head}");
        }
        assert_eq!(head.to_lowercase().matches("user-agent").count(), 1);
    }
    assert!(!has(&heads[0], "Cookie: k=v") && has(&heads[1], "Cookie: k=v"));
    assert!(!heads[0].contains("if-none") && has(&heads[1], "If-None-Match: \"tag\""));
    assert!(has(
        &heads[1],
        "If-Modified-Since: Wed, 21 Oct 2015 07:28:00 GMT"
    ));
    let foreign = heads[2].to_lowercase();
    for word in [
        "authorization",
        "x-extra",
        "special",
        "cookie",
        "if-none-match",
    ] {
        // A cookie does not distinguish ports (RFC 6265, 8.5), so both servers are the same host
        // to it.
        assert!(
            word == "cookie" || !foreign.contains(word),
            "{word} in {foreign}"
        );
    }
    assert!(has(&foreign, "User-Agent: avocet/9 (+x)"));
}

/// Row 27: a proxy gets whole URLs and its credentials; an IP address is still checked.
#[tokio::test]
async fn an_http_proxy_gets_whole_urls_and_no_private_address() {
    let target = ScriptedServer::start(|_| vec![]).await;
    let proxy = ScriptedServer::start(|asked| {
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        if asked.path.starts_with("http://") {
            vec![send(ok)]
        } else {
            vec![send("HTTP/1.1 407 Who?\r\n\r\n")]
        }
    })
    .await;
    let through = ProxySettings::parse(&format!("http://u:p@{}", proxy.address)).unwrap();
    let mut client = TestClient::new(FetchOptions {
        proxy: Some(through.clone()),
        ..FetchOptions::default()
    });
    // The proxy resolves names; an IP address is checked as always.
    let page = url("http://only.known.to.proxy.example/x?y");
    assert_eq!(client.fetcher.route(&page).await.unwrap().address(), None);
    assert_eq!(summary(&client.get(&page).await), "200");
    let head = proxy.asked.lock().unwrap()[0].to_lowercase();
    assert!(
        head.starts_with("get http://only.known.to.proxy.example/x?y http/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nproxy-authorization: basic dtpw\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\nhost: only.known.to.proxy.example\r\n"),
        "{head}"
    );
    client.connection = None;
    assert_eq!(
        summary(&client.get(&url("http://127.0.0.1/")).await),
        "refused:private-address"
    );
    let secure = client.get(&url("https://only.known.example/")).await;
    assert_eq!(summary(&secure), "proxy");
    assert!(
        proxy.asked.lock().unwrap()[1].starts_with("CONNECT only.known.example:443 HTTP/1.1\r\n")
    );
    assert!(target.asked.lock().unwrap().is_empty());
    drop(proxy);
    // No proxy listens on port 1.
    let absent = ProxySettings { port: 1, ..through };
    let mut client = TestClient::new(FetchOptions {
        proxy: Some(absent),
        ..FetchOptions::default()
    });
    assert_eq!(summary(&client.get(&page).await), "proxy");
}

/// SOCKS 5 (RFC 1928) by hand: no authentication, connect by name.
#[tokio::test]
async fn a_socks_proxy_gets_the_name() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let target = ScriptedServer::start(|_| vec![]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy =
        ProxySettings::parse(&format!("socks5://{}", listener.local_addr().unwrap())).unwrap();
    let leads_to = target.address;
    let served = tokio::spawn(async move {
        let (mut tcp, _) = listener.accept().await.unwrap();
        let mut greeting = [0; 3];
        tcp.read_exact(&mut greeting).await.unwrap();
        tcp.write_all(&[5, 0]).await.unwrap();
        let mut request = [0; 5];
        tcp.read_exact(&mut request).await.unwrap();
        let mut name = vec![0; usize::from(request[4]) + 2];
        tcp.read_exact(&mut name).await.unwrap();
        tcp.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            .await
            .unwrap();
        let mut onward = tokio::net::TcpStream::connect(leads_to).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut tcp, &mut onward).await;
        name
    });
    let mut client = TestClient::new(FetchOptions {
        proxy: Some(proxy),
        ..FetchOptions::default()
    });
    let answer = client.get(&url("http://hidden.example/next")).await;
    assert_eq!(&answer.outcome.unwrap().content[..], b"next");
    drop(client);
    let name = served.await.unwrap();
    assert_eq!(
        &name[..name.len() - 2],
        b"hidden.example",
        "the proxy is given the name"
    );
}
