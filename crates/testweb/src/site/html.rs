//! The HTML of a page at a moment.
//!
//! **Invariant:** the text depends only on the seed, the page and its version. Each version
//! replaces one paragraph of the first text and leaves the others. So two versions of a page differ
//! in at most two paragraphs, and two versions of a long page are near-duplicates.

use std::fmt::Write;

use rand::{Rng, RngExt};

use super::web::{InventedPage, PageAnswer, PageNumber, TextSource, Web};
use crate::chance::{For, stream};

/// Number of distinct words of the invented language.
const WORDS: usize = 4_096;

/// Words per paragraph; about 430 bytes.
const PARAGRAPH: usize = 60;

/// Approximate bytes of a paragraph with its markup.
const PARAGRAPH_BYTES: u32 = 440;

const SYLLABLES: [&str; 16] = [
    "ba", "ren", "tol", "mi", "ska", "ve", "dor", "li", "pan", "gu", "nes", "ro", "chi", "fal",
    "or", "tem",
];

/// The vocabulary of a web.
#[derive(Debug)]
pub(super) struct Prose {
    words: Vec<String>,
}

impl Prose {
    pub fn new(seed: u64) -> Self {
        let mut rng = stream(seed, For::Vocabulary, 0, 0);
        let word = |_| {
            let syllables = rng.random_range(1..5);
            (0..syllables)
                .map(|_| SYLLABLES[rng.random_range(0..SYLLABLES.len())])
                .collect()
        };
        Self {
            words: (0..WORDS).map(word).collect(),
        }
    }

    /// Draws a word. The first words of the list are drawn far more often than the last, as in
    /// natural languages.
    fn word(&self, rng: &mut impl Rng) -> &str {
        let chance: f64 = rng.random();
        &self.words[(chance.powi(3) * WORDS as f64) as usize]
    }

    fn write(&self, count: usize, rng: &mut impl Rng, out: &mut String) {
        for n in 0..count {
            if n > 0 {
                out.push(' ');
            }
            out.push_str(self.word(rng));
        }
    }
}

impl Web {
    /// Returns the HTML of a page as served at this port; empty for a page without text.
    pub fn html(&self, page: PageNumber, at: f64, port: u16) -> String {
        let page = self.original(self.page(page));
        let prose = match &self.text_source {
            TextSource::Prose(prose) => prose,
            TextSource::Town(records) => return records.body(self, page, at, port),
        };
        if !matches!(page.kind, PageAnswer::Ordinary | PageAnswer::Busy) {
            return String::new();
        }
        let mut html = String::with_capacity(page.size as usize + 1_024);
        let own = title(prose, self.seed, page);
        html.push_str("<!doctype html>\n<html lang=\"la\"><head><meta charset=\"utf-8\"><title>");
        let _ = write!(html, "{own}</title></head>\n<body><h1>{own}</h1>\n");
        self.write_text(prose, page, at, &mut html);
        html.push_str("<ul>\n");
        if &*page.path == "/" && self.server(page.server).calendar {
            html.push_str("<li><a href=\"/calendar/2026/1\">calendar</a></li>\n");
        }
        for link in self.links(page, at) {
            html.push_str("<li><a href=\"");
            if link.server != page.server {
                let _ = write!(html, "http://{}:{port}", self.address(link.server));
            }
            let _ = writeln!(
                html,
                "{}\">{}</a></li>",
                link.path,
                title(prose, self.seed, link)
            );
        }
        html.push_str("</ul></body></html>\n");
        html
    }

    fn write_text(&self, prose: &Prose, page: &InventedPage, at: f64, html: &mut String) {
        let version = self.version(page, at);
        let paragraphs = u64::from(page.size / PARAGRAPH_BYTES).max(1);
        for n in 0..paragraphs {
            let part = version.part(n, paragraphs);
            let mut rng = stream(self.seed, For::Text, u64::from(page.number.0), part);
            html.push_str("<p>");
            prose.write(PARAGRAPH, &mut rng, html);
            html.push_str(".</p>\n");
        }
    }
}

fn title(prose: &Prose, seed: u64, page: &InventedPage) -> String {
    let mut title = String::new();
    let mut rng = stream(seed, For::Title, u64::from(page.number.0), 0);
    prose.write(4, &mut rng, &mut title);
    title
}
