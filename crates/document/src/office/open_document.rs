//! Reads OpenDocument texts, presentations and spreadsheets (`.odt`, `.odp`, `.ods`).
//!
//! Deleted text of tracked changes and comments are no text.

use std::ops::ControlFlow;

use super::read_metadata;
use crate::Unreadable;
use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlElement, XmlPart, walk};

/// Most times that a repeated cell or space is written. Sheets repeat their last cell to the end
/// of the row.
const REPEATS: usize = 100;

pub(super) fn read(package: &mut Package<'_>, html: &mut HtmlWriter) -> Result<(), Unreadable> {
    if let Some(manifest) = package.file("META-INF/manifest.xml")?
        && is_encrypted(&manifest)
    {
        return Err(Unreadable::Encrypted);
    }
    if let Some(xml) = package.file("meta.xml")? {
        read_metadata(&xml, "dcterms.modified", html);
    }
    let xml = package.required("content.xml")?;
    // Depth within elements whose content is skipped.
    let mut skipped = 0_u32;
    // Depth within paragraphs and headings. Text elsewhere is no content.
    let mut paragraphs = 0_u32;
    // Depth within rows of tables. A row becomes one paragraph.
    let mut rows = 0_u32;
    walk(&xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "tracked-changes" | "annotation" => skipped += 1,
                _ if skipped > 0 => {}
                "h" => {
                    paragraphs += 1;
                    let level = element.attribute("outline-level");
                    let level = level.and_then(|level| level.parse().ok());
                    html.heading(level.unwrap_or(1), None);
                }
                "p" => paragraphs += 1,
                "table-row" => {
                    rows += 1;
                    html.paragraph();
                }
                "table" => {
                    if let Some(name) = element.attribute("name") {
                        html.heading(2, None);
                        html.text(&name);
                        html.end_block();
                    }
                }
                "s" => html.text(&" ".repeat(repeats(element, "c"))),
                "tab" | "line-break" => html.text(" "),
                "a" => {
                    if let Some(url) = element.attribute("href") {
                        html.link(&url);
                    }
                }
                _ => {}
            },
            XmlPart::Text(text) if paragraphs > 0 && skipped == 0 => html.text(text),
            XmlPart::Text(_) => {}
            XmlPart::End(name) => match name {
                "tracked-changes" | "annotation" => skipped = skipped.saturating_sub(1),
                _ if skipped > 0 => {}
                "h" | "p" => {
                    paragraphs = paragraphs.saturating_sub(1);
                    match rows {
                        0 => html.end_block(),
                        _ => html.text(" "),
                    }
                }
                "table-row" => {
                    rows = rows.saturating_sub(1);
                    html.end_block();
                }
                "a" => html.end_link(),
                _ => {}
            },
        }
        match html.is_full() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    Ok(())
}

fn is_encrypted(manifest: &str) -> bool {
    let mut found = false;
    walk(manifest, |part| match part {
        XmlPart::Start(element) if element.name() == "encryption-data" => {
            found = true;
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found
}

fn repeats(element: &XmlElement<'_>, attribute: &str) -> usize {
    let count = element.attribute(attribute);
    count
        .and_then(|count| count.parse().ok())
        .unwrap_or(1)
        .min(REPEATS)
}
