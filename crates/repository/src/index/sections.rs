//! The sections of a page, as the index stores them.
//!
//! **Invariant:** headings are ranges of the body, in order. A section reaches from its heading
//! to the next one. Text before the first heading belongs to no section.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a page that has a heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedSection {
    /// Its heading, as a range of the body in bytes.
    pub heading: Range<u32>,
    /// 1 to 6 for a heading, 7 for an entry of a definition list.
    pub level: u8,
    /// The fragment that links to it.
    pub id: Option<String>,
}

impl IndexedSection {
    /// Returns the text of its heading.
    pub fn title<'a>(&self, body: &'a str) -> &'a str {
        let range = self.heading.start as usize..self.heading.end as usize;
        body.get(range).unwrap_or_default()
    }
}

/// Returns the text of a section with its heading. Returns `None` if there is no such section.
pub fn section_text<'a>(
    body: &'a str,
    sections: &[IndexedSection],
    number: usize,
) -> Option<&'a str> {
    let start = sections.get(number)?.heading.start as usize;
    let next = sections.get(number + 1);
    let end = next.map_or(body.len(), |next| next.heading.start as usize);
    body.get(start..end).map(str::trim_end)
}

pub(super) fn encode(sections: &[IndexedSection]) -> Vec<u8> {
    postcard::to_stdvec(sections).expect("numbers and strings can be encoded")
}

/// Decodes sections. Damaged data gives no sections, because a page without sections is still
/// useful.
pub(super) fn decode(bytes: &[u8]) -> Vec<IndexedSection> {
    postcard::from_bytes(bytes).unwrap_or_default()
}
