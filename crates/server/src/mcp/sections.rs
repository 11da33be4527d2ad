//! The tool `section`: the sections of a page, and the text of one.

use node::page_text::PageText;
use page::url::with_fragment;
use repository::index::section_text;
use serde_json::{Value, json};

use super::PIECE;

/// Returns the section with this heading or id, or the list of all sections if none is named.
/// Returns `None` if there is no such section.
pub fn read(page: PageText, named: Option<&str>) -> Option<Value> {
    let kept = page.indexed.unwrap_or_default();
    let headings = kept
        .sections
        .iter()
        .map(|section| section.title(&kept.text));
    let Some(named) = named else {
        let entries = headings.zip(&kept.sections).map(|(heading, section)| {
            json!({ "heading": heading, "id": section.id, "level": section.level })
        });
        let entries: Vec<Value> = entries.collect();
        return Some(json!({ "url": page.url, "title": page.title, "sections": entries }));
    };
    let is_named = |heading: &str| heading.trim().eq_ignore_ascii_case(named.trim());
    let by_id = kept
        .sections
        .iter()
        .position(|section| section.id.as_deref() == Some(named));
    let number = by_id.or_else(|| headings.into_iter().position(is_named))?;
    let text = section_text(&kept.text, &kept.sections, number)?;
    let piece: String = text.chars().take(PIECE).collect();
    let section = &kept.sections[number];
    Some(json!({
        "url": with_fragment(&page.url, section.id.as_deref()),
        "title": page.title,
        "heading": section.title(&kept.text),
        "fetched_at": page.fetched_at,
        "is_cut": piece.len() < text.len(),
        "text": piece,
    }))
}
