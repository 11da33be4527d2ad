//! Tests of the directory server: each path gives the right file, and no path leads outside.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::symlink;

use tempfile::TempDir;
use testweb::TestwebError;
use testweb::site::directory::{Directory, DirectoryServer};

use crate::client::ByteClient;

const HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 9);

/// Serves a directory, next to a file outside of it that must never be served.
async fn site() -> (TempDir, DirectoryServer) {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("site");
    fs::create_dir_all(root.join("a b/deep")).unwrap();
    fs::create_dir_all(root.join("empty")).unwrap();
    for (path, text) in [
        ("../secret.html", "secret"),
        ("index.html", "home"),
        ("a b/index.html", "section"),
        ("a b/deep/page.html", "deep"),
        ("caf\u{e9}.txt", "coffee"),
        ("plus+100%.css", "style"),
    ] {
        fs::write(root.join(path), text).unwrap();
    }
    symlink(root.join("index.html"), root.join("inside.html")).unwrap();
    symlink(outer.path().join("secret.html"), root.join("outside.html")).unwrap();
    symlink(outer.path(), root.join("outside")).unwrap();
    let directory = Directory::read(&root).unwrap();
    assert_eq!(directory.files(), 6);
    let server = directory.serve(HOST, None).await.unwrap();
    (outer, server)
}

#[tokio::test]
async fn paths_lead_to_their_files() {
    let (_outer, server) = site().await;
    let mut client = ByteClient::connect(server.address()).await;
    let rows = [
        ("/", 200, "home", "text/html"),
        ("/?query", 200, "home", "text/html"),
        ("/index.html", 200, "home", "text/html"),
        ("/inside.html", 200, "home", "text/html"),
        ("/a%20b/", 200, "section", "text/html"),
        ("/a%20b/deep/page.html", 200, "deep", "text/html"),
        ("/a%20b/%64eep/page.html", 200, "deep", "text/html"),
        ("/caf%C3%A9.txt", 200, "coffee", "text/plain"),
        ("/plus+100%25.css", 200, "style", "text/css"),
        ("/empty", 404, "not found\n", "text/plain; charset=utf-8"),
        ("/empty/", 404, "not found\n", "text/plain; charset=utf-8"),
        (
            "/caf%E9.txt",
            404,
            "not found\n",
            "text/plain; charset=utf-8",
        ),
    ];
    for (path, status, text, content_type) in rows {
        let got = client.get(path, "").await.unwrap();
        assert_eq!((got.status, got.text()), (status, text), "{path}");
        assert_eq!(got.header("content-type"), Some(content_type), "{path}");
    }
    let moved = client.get("/a%20b", "").await.unwrap();
    assert_eq!(
        (moved.status, moved.header("location")),
        (301, Some("/a%20b/"))
    );
    assert_eq!(server.requests(), rows.len() as u64 + 1);
    assert_eq!(server.url("/x"), format!("http://{}/x", server.address()));
}

#[tokio::test]
async fn no_path_leads_outside_the_directory() {
    let (_outer, server) = site().await;
    for path in [
        "/../secret.html",
        "/a%20b/../../secret.html",
        "/%2e%2e/secret.html",
        "/..%2fsecret.html",
        "/%2e%2e%2fsecret.html",
        "/..%5csecret.html",
        "//../secret.html",
        "/a%20b/..%2f..%2fsecret.html",
        "/%252e%252e/secret.html",
        "/./../secret.html",
        "/secret.html%00",
        "/..",
        "/outside.html",
        "/outside/secret.html",
        "//etc/passwd",
        "/%2fetc/passwd",
    ] {
        let mut client = ByteClient::connect(server.address()).await;
        if let Some(got) = client.get(path, "").await {
            assert!(matches!(got.status, 400 | 404), "{path}: {}", got.status);
        }
    }
}

#[tokio::test]
async fn a_request_with_a_current_validator_is_answered_with_304() {
    let (_outer, server) = site().await;
    let mut client = ByteClient::connect(server.address()).await;
    let first = client.get("/", "").await.unwrap();
    let tag = first.header("etag").unwrap();
    let date = first.header("last-modified").unwrap();
    for (condition, status) in [
        (format!("If-None-Match: {tag}\r\n"), 304),
        ("If-None-Match: \"other\"\r\n".to_owned(), 200),
        (format!("If-Modified-Since: {date}\r\n"), 304),
        (
            "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n".to_owned(),
            200,
        ),
    ] {
        assert_eq!(
            client.get("/", &condition).await.unwrap().status,
            status,
            "{condition}"
        );
    }
}

#[tokio::test]
async fn a_missing_directory_and_a_public_address_are_refused() {
    let outer = tempfile::tempdir().unwrap();
    let missing = Directory::read(&outer.path().join("missing")).unwrap_err();
    assert!(
        missing.to_string().starts_with("cannot read /"),
        "{missing}"
    );
    let anywhere = Directory::read(outer.path())
        .unwrap()
        .serve(Ipv4Addr::UNSPECIFIED, None)
        .await;
    assert!(matches!(anywhere, Err(TestwebError::NotLoopback { .. })));
}
