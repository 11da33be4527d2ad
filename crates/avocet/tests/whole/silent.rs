//! Tests of clients that send nothing or do not read: the server closes their connections, and
//! still answers other requests, even from the same address.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::http;
use crate::program::TestProgram;
use crate::server::{AvocetServer, Leaf, put};

/// Time-out of a health check. A server that works answers within milliseconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time-out of a wait that ends only if the server works.
const FOREVER: Duration = Duration::from_secs(60);

/// Ways in which a client wastes a connection.
#[derive(Debug, Clone, Copy)]
enum Silence {
    /// It sends nothing.
    Nothing,
    /// It sends half of a request head.
    HalfHead,
    /// It sends a request head byte by byte.
    Drip,
    /// It sends a request head and only a part of the body.
    NoBody,
    /// It requests a large response again and again, and reads none.
    Unread,
}

const SILENCES: [Silence; 5] = [
    Silence::Nothing,
    Silence::HalfHead,
    Silence::Drip,
    Silence::NoBody,
    Silence::Unread,
];

fn store(config: &str) -> TestProgram {
    let program = TestProgram::new();
    put(
        &program,
        &[Leaf::new("http://a.example/", "Avocet", "A wader.")],
    );
    program.configure(config);
    program
}

/// Raises the limit of open files for this process and its children.
fn open_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
}

/// Connects from 127.0.0.`last`.
async fn connect(last: u8, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    // A small buffer: the kernel takes in little for a client that does not read.
    socket.set_recv_buffer_size(2048).unwrap();
    let from = Ipv4Addr::new(127, 0, 0, last);
    socket.bind((from, 0).into()).unwrap();
    timeout(FOREVER, socket.connect(to)).await.unwrap().unwrap()
}

/// Wastes a connection until the server closes it.
async fn waste(mut stream: TcpStream, how: Silence, large: &str) {
    let to = stream.peer_addr().unwrap();
    let head = format!("GET / HTTP/1.1\r\nHost: {to}\r\n");
    match how {
        Silence::Nothing => {}
        Silence::HalfHead => _ = stream.write_all(head.as_bytes()).await,
        Silence::Drip => {
            for byte in head.bytes() {
                if stream.write_all(&[byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        Silence::NoBody => {
            let form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9";
            let head = format!("POST /dashboard/login HTTP/1.1\r\nHost: {to}\r\n{form}\r\n\r\nto");
            stream.write_all(head.as_bytes()).await.ok();
        }
        Silence::Unread => {
            let request = format!("GET {large} HTTP/1.1\r\nHost: {to}\r\n\r\n");
            // Writing fails when the server closes the connection.
            while stream.write_all(request.as_bytes()).await.is_ok() {}
            return;
        }
    }
    while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
}

/// Returns the status of a health check from 127.0.0.`last`, or 0 on a time-out.
async fn health(last: u8, to: SocketAddr) -> u16 {
    let asked = async {
        let mut stream = connect(last, to).await;
        let request = format!("GET /health HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        let status = answer.split(' ').nth(1).unwrap_or("0");
        Ok::<u16, std::io::Error>(status.parse().unwrap())
    };
    timeout(PATIENCE, asked)
        .await
        .map_or(0, |answer| answer.unwrap_or(0))
}

async fn checks(last: u8, to: SocketAddr) -> Vec<u16> {
    let mut answers = Vec::new();
    for _ in 0..19 {
        answers.push(health(last, to).await);
    }
    answers
}

/// Returns the path of the largest asset. Assets have no rate limit.
fn large(server: &AvocetServer) -> String {
    let page = server.get("/").body;
    let paths = page.split('"').filter(|text| text.starts_with("/assets/"));
    let size = |path: &&str| server.get(path).body.len();
    paths.max_by_key(size).unwrap().to_owned()
}

/// Opens `count` connections from these addresses in turn, and wastes them in all ways.
async fn attack(count: usize, from: &[u8], to: SocketAddr, large: &str) {
    for number in 0..count {
        let how = SILENCES[number % SILENCES.len()];
        let (stream, large) = (
            connect(from[number % from.len()], to).await,
            large.to_owned(),
        );
        tokio::spawn(async move { waste(stream, how, &large).await });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_do_not_block_others() {
    open_many_files();
    let program = store("");
    let server = AvocetServer::start(&program, &[]);
    let (to, large) = (server.address, large(&server));
    // From one address: more connections than the server accepts in total.
    attack(1100, &[1], to, &large).await;
    assert_eq!(checks(2, to).await, [200; 19], "from another address");
    assert_eq!(checks(1, to).await, [200; 19], "from the same address");
    // From many addresses, each with its maximum: all connections are taken.
    let many: Vec<u8> = (10..28).collect();
    attack(64 * many.len(), &many, to, &large).await;
    assert_eq!(checks(2, to).await, [200; 19], "from one address more");
    assert_eq!(checks(10, to).await, [200; 19], "from one of them");
    assert_eq!(server.interrupt(), Some(0));
}

/// A time-out ends each silent connection, even if the server has free connections.
#[tokio::test(flavor = "multi_thread")]
async fn the_server_closes_silent_connections() {
    let program = store("");
    let server = AvocetServer::start(&program, &[]);
    let (to, large) = (server.address, large(&server));
    let mut wasted = Vec::new();
    for how in SILENCES {
        let (stream, large) = (connect(1, to).await, large.clone());
        let ended = async move { timeout(FOREVER, waste(stream, how, &large)).await.is_ok() };
        wasted.push((how, tokio::spawn(ended)));
    }
    for (how, ended) in wasted {
        assert!(ended.await.unwrap(), "{how:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_go_by_the_client_that_a_trusted_proxy_names() {
    let program = store(
        "[serve]\nrate = 0.01\nconnections_per_client = 2\ntrusted_proxies = [\"127.0.0.1\"]\n",
    );
    let server = AvocetServer::start(&program, &[]);
    let to = server.address;
    let search = |fields: &[&str]| {
        let path = "/api/v1/search?q=avocet";
        http::ask(to, "GET", path, fields, "").status
    };
    // The token bucket of a client holds one request.
    assert_eq!(search(&["X-Forwarded-For: 6.6.6.6, 1.2.3.4"]), 200);
    assert_eq!(search(&["X-Forwarded-For: 7.7.7.7, 1.2.3.4"]), 429);
    assert_eq!(search(&["X-Forwarded-For: 6.6.6.6"]), 200);
    // The proxy itself has no limit of connections.
    let mut kept = Vec::new();
    for _ in 0..10 {
        let mut stream = connect(1, to).await;
        let request = format!("GET /health HTTP/1.1\r\nHost: {to}\r\n\r\n");
        for _ in 0..2 {
            stream.write_all(request.as_bytes()).await.unwrap();
            let read = timeout(FOREVER, stream.read(&mut [0; 4096])).await;
            assert!(read.unwrap().unwrap() > 0);
        }
        kept.push(stream);
    }
    for stream in &mut kept {
        let request = format!("GET /health HTTP/1.1\r\nHost: {to}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let read = timeout(FOREVER, stream.read(&mut [0; 4096])).await;
        assert!(read.unwrap().unwrap() > 0, "it is still open");
    }
    // Another peer may have two connections, and its header is ignored.
    let mut first = connect(2, to).await;
    let _others = (connect(2, to).await, connect(2, to).await);
    let read = timeout(FOREVER, first.read(&mut [0; 64])).await.unwrap();
    assert_eq!(read.unwrap_or(0), 0, "it was closed for the third");
    for (fields, status) in [("X-Forwarded-For: 8.8.8.8\r\n", "200"), ("", "429")] {
        let mut stream = connect(2, to).await;
        let head = "GET /api/v1/search?q=avocet HTTP/1.1";
        let request = format!("{head}\r\nHost: {to}\r\nConnection: close\r\n{fields}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer.split(' ').nth(1), Some(status), "{fields}");
    }
}
