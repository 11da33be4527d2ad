//! The workload `read-300-pages`: parses HTML pages as a visit does.
//!
//! It covers encoding, links, text, sections, fields, fingerprint and language.

use std::hint::black_box;

use anyhow::Result;
use page::{ReadLimits, charset, language};

use super::document;

const PAGES: u64 = 300;
const SECTIONS: u64 = 8;

/// Parses 300 pages.
pub fn read(only_set_up: bool) -> Result<()> {
    let mut pages = Vec::new();
    for number in 0..PAGES {
        pages.push((document::url(number)?, document::html(number, SECTIONS)));
    }
    if only_set_up {
        return Ok(());
    }
    for (url, body) in &pages {
        let (html, _) = charset::decode(body.as_bytes(), Some("text/html"));
        let reading = page::read(&html, url, &ReadLimits::default());
        let language = language::detect(&reading.text, reading.language.as_deref());
        black_box((reading, language));
    }
    Ok(())
}
