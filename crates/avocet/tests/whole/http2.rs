//! Test of a site that speaks HTTP/2 only and resets the stream of one page every time.

use std::convert::Infallible;

use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream};

use crate::program::TestProgram;

/// Number of pages, without the home page and the broken page.
const PAGES: usize = 40;

async fn serve(tcp: TcpStream) -> Result<Infallible, h2::Error> {
    let mut session = h2::server::handshake(tcp).await?;
    loop {
        let Some(request) = session.accept().await else {
            return Err(h2::Reason::NO_ERROR.into());
        };
        let (request, mut respond) = request?;
        let page = match request.uri().path() {
            "/robots.txt" => None,
            "/broken" => {
                respond.send_reset(h2::Reason::INTERNAL_ERROR);
                continue;
            }
            "/" => {
                let links = (0..PAGES).map(|page| format!("<a href=/{page}>page</a>"));
                Some(format!(
                    "<a href=/broken>x</a>{}",
                    links.collect::<String>()
                ))
            }
            path => Some(format!("<title>{path}</title><p>The page {path}.")),
        };
        let head = http::Response::builder()
            .status(if page.is_some() { 200 } else { 404 })
            .header("content-type", "text/html")
            .body(())
            .unwrap();
        let mut body = respond.send_response(head, false)?;
        body.send_data(Bytes::from(page.unwrap_or_default()), true)?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_reset_stream_costs_one_page() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let home = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            tokio::spawn(serve(tcp));
        }
    });
    let program = TestProgram::new();
    let ended = program.json(&["crawl", &home, "--http", "2", "--delay", "0s"]);
    assert_eq!(ended["pages"], PAGES + 1, "{ended}");
    let urls = program.lines(&["export", "urls"]);
    let broken = format!("{home}broken");
    let broken = urls.iter().find(|line| line["url"] == broken.as_str());
    assert_eq!(broken.unwrap()["error"], "http2", "{urls:?}");
}
