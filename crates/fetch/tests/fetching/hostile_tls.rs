//! Tests of TLS, certificates and HTTP/2 over TLS.
//!
//! **Invariant:** rows 18 and 70 of hostile-web.md. Every fault of a certificate has a name, every
//! handshake has a deadline, and a server that violates HTTP/2 gets HTTP/1.1.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::scripted::{ScriptedServer, TestClient, open_settings, send, summary};
use fetch::{FetchLimits, FetchOptions};
use http::Version;
use page::url::PageUrl;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::server::TlsStream;

/// A certificate authority of the test.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

pub type Begun = Pin<Box<dyn Future<Output = Option<TlsStream<TcpStream>>> + Send>>;

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).unwrap().der().clone();
        Self {
            issuer: Issuer::new(params, key),
            root,
        }
    }

    /// Issues a certificate for these names, valid in these years.
    pub fn sign(
        &self,
        names: &[&str],
        years: std::ops::Range<i32>,
    ) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (
            certificate.der().clone(),
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
    }
}

pub fn acceptor(
    (certificate, key): (CertificateDer<'static>, PrivateKeyDer<'static>),
    protocols: &[&str],
) -> TlsAcceptor {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    TlsAcceptor::from(Arc::new(config))
}

pub fn begin(acceptor: TlsAcceptor) -> impl Fn(TcpStream) -> Begun + Send + Sync + 'static {
    move |tcp| {
        let acceptor = acceptor.clone();
        Box::pin(async move { acceptor.accept(tcp).await.ok() })
    }
}

pub fn secure(server: &ScriptedServer, path: &str) -> PageUrl {
    PageUrl::parse(&format!(
        "https://127.0.0.1:{}{path}",
        server.address.port()
    ))
    .unwrap()
}

pub fn settings(authority: &Authority) -> FetchOptions {
    FetchOptions {
        extra_roots: vec![authority.root.clone()],
        ..open_settings()
    }
}

/// Row 70: a certificate is accepted only if it is valid and its authority is trusted.
#[tokio::test]
async fn invalid_certificates_are_refused_with_the_name_of_their_fault() {
    let (trusted, unknown) = (Authority::new("trusted"), Authority::new("unknown"));
    let self_signed = {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        (
            certificate.der().clone(),
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        )
    };
    let cases = [
        ("good", trusted.sign(&["127.0.0.1"], 2020..2090), "200"),
        (
            "expired",
            trusted.sign(&["127.0.0.1"], 2001..2002),
            "tls:expired",
        ),
        (
            "not yet valid",
            trusted.sign(&["127.0.0.1"], 2080..2090),
            "tls:not-yet-valid",
        ),
        (
            "for another name",
            trusted.sign(&["example.org"], 2020..2090),
            "tls:wrong-name",
        ),
        (
            "of an unknown authority",
            unknown.sign(&["127.0.0.1"], 2020..2090),
            "tls:untrusted",
        ),
        ("self-signed", self_signed, "tls:untrusted"),
    ];
    for (name, certificate, wanted) in cases {
        let server =
            ScriptedServer::start_with(|_| vec![], begin(acceptor(certificate, &["http/1.1"])))
                .await;
        let mut client = TestClient::new(settings(&trusted));
        let answer = client.get(&secure(&server, "/next")).await;
        assert_eq!(
            summary(&answer),
            wanted,
            "{name}: {:?}",
            answer.outcome.err()
        );
        // Without the user's root certificate, none of them is trusted.
        let answer = TestClient::new(FetchOptions {
            extra_roots: vec![],
            ..settings(&trusted)
        })
        .get(&secure(&server, "/next"))
        .await;
        assert!(summary(&answer).starts_with("tls:"), "{name}");
    }
}

/// Row 70: a server that sends nothing, bytes that are not TLS, or a fatal alert.
#[tokio::test]
async fn failed_and_endless_handshakes_are_reported() {
    let authority = Authority::new("trusted");
    let hasty = FetchLimits {
        tls: Duration::from_secs(1),
        ..FetchLimits::default()
    };
    let ask = async |reply: &'static [u8], close: bool| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let page = PageUrl::parse(&format!("https://{}/", listener.local_addr().unwrap())).unwrap();
        let served = tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut tcp, _) = listener.accept().await.unwrap();
            let _ = tcp.read(&mut [0; 4096]).await;
            let _ = tcp.write_all(reply).await;
            if !close {
                std::future::pending::<()>().await;
            }
        });
        let answer = TestClient::new(FetchOptions {
            limits: hasty.clone(),
            ..settings(&authority)
        })
        .get(&page)
        .await;
        served.abort();
        summary(&answer)
    };
    assert_eq!(ask(b"", false).await, "tls:timeout");
    assert_eq!(
        ask(b"HTTP/1.1 400 Bad Request\r\n\r\n", false).await,
        "tls:handshake"
    );
    assert_eq!(ask(b"", true).await, "tls:handshake");
    // A fatal alert: protocol version (the server is older than TLS 1.2).
    assert_eq!(ask(&[21, 3, 1, 0, 2, 2, 70], true).await, "tls:handshake");
}

/// HTTP/1.1 over TLS: the connection is kept open, and stray bytes are detected.
#[tokio::test]
async fn http11_over_tls_keeps_its_connection_and_detects_stray_bytes() {
    let authority = Authority::new("trusted");
    let certificate = authority.sign(&["127.0.0.1"], 2020..2090);
    let script = |_: &crate::scripted::ReceivedRequest| {
        vec![send(
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfairHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL",
        )]
    };
    let server =
        ScriptedServer::start_with(script, begin(acceptor(certificate, &["http/1.1"]))).await;
    let mut client = TestClient::new(settings(&authority));
    for _ in 0..3 {
        let next = client.get(&secure(&server, "/next")).await;
        assert_eq!(&next.outcome.unwrap().content[..], b"next");
    }
    assert_eq!(client.connection.as_ref().unwrap().served(), 3);
    assert_eq!(
        client.connection.as_ref().unwrap().version(),
        Version::HTTP_11
    );
    let fair = client.get(&secure(&server, "/stray")).await;
    assert_eq!(&fair.outcome.unwrap().content[..], b"fair");
    let next = client.get(&secure(&server, "/next")).await;
    assert_eq!(&next.outcome.unwrap().content[..], b"next");
}

/// HTTP/2 with a correct server: several pages over one connection, and a head for the archive.
#[tokio::test]
async fn http2_serves_several_pages_and_a_head_for_the_archive() {
    let authority = Authority::new("trusted");
    let accept = acceptor(authority.sign(&["127.0.0.1"], 2020..2090), &["h2"]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        let tls = accept.accept(tcp).await.unwrap();
        let mut connection = h2::server::handshake(tls).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let found = http::Response::builder().header("content-type", "text/html");
            match request.uri().path() {
                "/reset" => respond.send_reset(h2::Reason::INTERNAL_ERROR),
                "/large" => {
                    let mut body = respond
                        .send_response(found.body(()).unwrap(), false)
                        .unwrap();
                    body.send_data(vec![b'x'; 1 << 20].into(), true).unwrap();
                }
                path => {
                    let text = format!("{path} of {}", request.uri().authority().unwrap());
                    let mut body = respond
                        .send_response(found.body(()).unwrap(), false)
                        .unwrap();
                    body.send_data(text.into(), true).unwrap();
                }
            }
        }
    });
    let page = |path: &str| PageUrl::parse(&format!("https://127.0.0.1:{port}{path}")).unwrap();
    let limits = FetchLimits {
        body: 1 << 20,
        ..FetchLimits::default()
    };
    let mut client = TestClient::new(FetchOptions {
        limits,
        ..settings(&authority)
    });
    for path in ["/a", "/b?c=d"] {
        let answer = client.get(&page(path)).await;
        let response = answer.outcome.unwrap();
        let path = path.split('?').next().unwrap();
        assert_eq!(response.content, format!("{path} of 127.0.0.1:{port}"));
        assert_eq!(
            response.head,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n"
        );
        assert_eq!(
            answer.wire_bytes,
            (response.head.len() + response.body.len()) as u64
        );
    }
    let large = client.get(&page("/large")).await.outcome.unwrap();
    assert_eq!((large.body.len(), large.truncated), (1 << 20, None));
    let connection = client.connection.as_mut().unwrap();
    assert_eq!(
        (
            connection.version(),
            connection.served(),
            connection.is_open()
        ),
        (Version::HTTP_2, 3, true)
    );
    assert_eq!(summary(&client.get(&page("/reset")).await), "http2");
}

/// Row 18: a server that violates HTTP/2 is asked again in HTTP/1.1.
#[tokio::test]
async fn a_server_that_violates_http2_is_asked_in_http11() {
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    let hello = frame(4, 0, 0, &[]);
    // A header block without end: HEADERS without END_HEADERS, then CONTINUATION forever
    // (RUSTSEC-2024-0332). Byte 0x40 and a literal make a field.
    let field = [&[0x40, 1, b'a', 100][..], &[b'b'; 100]].concat();
    let continuation = [
        hello.clone(),
        frame(1, 0, 1, &[0x88]),
        frame(9, 0, 1, &field.repeat(100)).repeat(300),
    ]
    .concat();
    let cases = [
        ("no HTTP/2 at all", b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        (
            "a frame that is too large",
            [hello.clone(), frame(0, 0, 1, &vec![0; 70_000])].concat(),
        ),
        ("endless continuation", continuation),
        (
            "a window beyond all bounds",
            [
                hello.clone(),
                frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]).repeat(3),
            ]
            .concat(),
        ),
        (
            "data for a stream that is not there",
            [hello.clone(), frame(0, 1, 77, b"x")].concat(),
        ),
    ];
    for (name, bytes) in cases {
        let authority = Authority::new("trusted");
        let accept = acceptor(
            authority.sign(&["127.0.0.1"], 2020..2090),
            &["h2", "http/1.1"],
        );
        let lies = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&lies);
        let start = move |tcp: TcpStream| -> Begun {
            let (accept, bytes, count) = (accept.clone(), bytes.clone(), Arc::clone(&count));
            Box::pin(async move {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let mut tls = accept.accept(tcp).await.ok()?;
                if tls.get_ref().1.alpn_protocol() != Some(b"h2") {
                    return Some(tls);
                }
                count.fetch_add(1, Ordering::SeqCst);
                let _ = tls.read(&mut [0; 4096]).await;
                let _ = tls.write_all(&bytes).await;
                let _ = tokio::io::copy(&mut tls, &mut tokio::io::sink()).await;
                None
            })
        };
        let server = ScriptedServer::start_with(|_| vec![], start).await;
        let limits = FetchLimits {
            first_byte: Duration::from_secs(2),
            ..FetchLimits::default()
        };
        let mut client = TestClient::new(FetchOptions {
            limits,
            ..settings(&authority)
        });
        let page = secure(&server, "/next");
        let first = summary(&client.get(&page).await);
        assert!(
            ["http2", "timeout:first-byte"].contains(&first.as_str()),
            "{name}: {first}"
        );
        assert_eq!(
            summary(&client.get(&page).await),
            "200",
            "{name}: the second try"
        );
        assert_eq!(lies.load(Ordering::SeqCst), 1, "{name}");
        assert_eq!(
            client.connection.unwrap().version(),
            Version::HTTP_11,
            "{name}"
        );
    }
}
