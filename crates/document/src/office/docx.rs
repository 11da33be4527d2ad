//! Reads Office Open XML texts (`.docx`).
//!
//! Deleted text of tracked changes is no text. Of alternatives for different programs, the first
//! counts. Footnotes and endnotes follow the text.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::read_metadata;
use super::relations::Relations;
use crate::Unreadable;
use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlPart, walk};

pub(super) fn read(package: &mut Package<'_>, html: &mut HtmlWriter) -> Result<(), Unreadable> {
    if let Some(xml) = package.file("docProps/core.xml")? {
        read_metadata(&xml, "dcterms.modified", html);
    }
    let styles = package.file("word/styles.xml")?;
    let levels = styles.map(|xml| heading_styles(&xml)).unwrap_or_default();
    for part in [
        "word/document.xml",
        "word/footnotes.xml",
        "word/endnotes.xml",
    ] {
        let Some(xml) = package.file(part)? else {
            if part == "word/document.xml" {
                return Err(Unreadable::Damaged);
            }
            continue;
        };
        let relations = Relations::of(package, part)?;
        read_text(&xml, &levels, &relations, html);
    }
    Ok(())
}

/// Returns the outline level of each style that is a heading, from 1 on. Word translates the
/// visible names of its styles, and even their ids, so `heading 1` in `w:name` decides.
fn heading_styles(xml: &str) -> HashMap<String, u8> {
    let mut levels = HashMap::new();
    let mut style = None;
    walk(xml, |part| {
        if let XmlPart::Start(element) = part {
            match element.name() {
                "style" => style = element.attribute("styleId"),
                "name" => {
                    let name = element.attribute("val").unwrap_or_default();
                    let level = heading_level(&name);
                    if let (Some(style), Some(level)) = (&style, level) {
                        levels.insert(style.clone(), level);
                    }
                }
                _ => {}
            }
        }
        ControlFlow::Continue(())
    });
    levels
}

fn heading_level(style: &str) -> Option<u8> {
    let style = style.to_lowercase();
    if style == "title" {
        return Some(1);
    }
    let number = style.strip_prefix("heading")?.trim();
    number.parse().ok().filter(|level| (1..=9).contains(level))
}

fn read_text(
    xml: &str,
    levels: &HashMap<String, u8>,
    relations: &Relations,
    html: &mut HtmlWriter,
) {
    let mut in_text = false;
    // Depth within elements whose content is skipped.
    let mut skipped = 0_u32;
    walk(xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "Fallback" => skipped += 1,
                "p" => html.paragraph(),
                "pStyle" => {
                    let style = element.attribute("val").unwrap_or_default();
                    let level = levels.get(&style).copied();
                    if let Some(level) = level.or_else(|| heading_level(&style)) {
                        html.heading(level, None);
                    }
                }
                "t" => in_text = skipped == 0,
                "tab" | "br" | "cr" => html.text(" "),
                "noBreakHyphen" => html.text("-"),
                "hyperlink" => {
                    let id = element.relationship();
                    if let Some(url) = id.as_deref().and_then(|id| relations.url(id)) {
                        html.link(url);
                    }
                }
                _ => {}
            },
            XmlPart::Text(text) if in_text => html.text(text),
            XmlPart::Text(_) => {}
            XmlPart::End(name) => match name {
                "Fallback" => skipped = skipped.saturating_sub(1),
                "t" => in_text = false,
                "hyperlink" => html.end_link(),
                "p" => html.end_block(),
                _ => {}
            },
        }
        match html.is_full() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    html.end_block();
}
