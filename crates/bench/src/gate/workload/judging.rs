//! The workloads `judge-300-pages` and `seal-300-pages`: what a visit does with an answer.
//!
//! The first judges answers for a crawl that keeps neither archive nor index. The second
//! compresses and hashes them for the archive.

use std::hint::black_box;
use std::net::IpAddr;

use anyhow::Result;
use bytes::Bytes;
use crawl::Answer;
use crawl::verdict::{Asked, Details};
use jiff::Timestamp;
use page::{Directives, PageUrl};
use repository::archive::{Capture, Level, seal};

use super::document;

const PAGES: u64 = 300;
const SECTIONS: u64 = 8;
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: nginx\r\n\r\n";

/// Judges 300 answers.
pub fn judge(only_set_up: bool) -> Result<()> {
    let pages = pages()?;
    if only_set_up {
        return Ok(());
    }
    for (url, body) in pages {
        let asked = Asked {
            details: Details::FACTS,
            ..Asked::again(&url)
        };
        let ours = |other: &PageUrl| other.host() == url.host();
        black_box(asked.judge(&answer(body), 26_000, &ours));
    }
    Ok(())
}

/// Seals 300 answers.
pub fn seal_all(only_set_up: bool) -> Result<()> {
    let pages = pages()?;
    if only_set_up {
        return Ok(());
    }
    let at = Timestamp::from_second(1_700_000_000)?;
    let address = IpAddr::from([127, 0, 0, 1]);
    for (url, body) in &pages {
        let capture = Capture::new(url, at, address, HEAD, body, None);
        black_box(seal::response(&capture, Level::default()));
    }
    Ok(())
}

fn pages() -> Result<Vec<(PageUrl, Bytes)>> {
    let page = |number| {
        let html = document::html(number, SECTIONS);
        Ok((document::url(number)?, Bytes::from(html)))
    };
    (0..PAGES).map(page).collect()
}

fn answer(content: Bytes) -> Answer {
    Answer {
        status: 200,
        content_type: Some("text/html".into()),
        etag: None,
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content,
        payload: None,
        truncated: None,
        document: None,
    }
}
