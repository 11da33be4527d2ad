//! Reads electronic books (`.epub`): the chapters in the order of the book's spine.
//!
//! Only headings, paragraphs and links of the chapters are kept, so a script in a book is no text.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::read_metadata;
use super::relations::within;
use crate::Unreadable;
use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlPart, walk};

pub(super) fn read(package: &mut Package<'_>, html: &mut HtmlWriter) -> Result<(), Unreadable> {
    let container = package.required("META-INF/container.xml")?;
    if package
        .file("META-INF/encryption.xml")?
        .is_some_and(|xml| hides_text(&xml))
    {
        return Err(Unreadable::Encrypted);
    }
    let mut root = None;
    walk(&container, |part| {
        if let XmlPart::Start(element) = part
            && element.name() == "rootfile"
        {
            root = element.attribute("full-path");
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    let root = root.ok_or(Unreadable::Damaged)?;
    let book = package.required(&root)?;
    read_metadata(&book, "dcterms.created", html);
    let directory = root.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut files = HashMap::new();
    let mut chapters = Vec::new();
    walk(&book, |part| {
        if let XmlPart::Start(element) = part {
            match element.name() {
                "item" => {
                    let file = element.attribute("href").unwrap_or_default();
                    files.insert(element.attribute("id").unwrap_or_default(), file);
                }
                "itemref" => chapters.push(element.attribute("idref").unwrap_or_default()),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    });
    for chapter in chapters {
        if html.is_full() {
            break;
        }
        let Some(file) = files.get(&chapter) else {
            continue;
        };
        if let Some(xml) = package.file(&within(directory, file))? {
            read_chapter(&xml, html);
        }
    }
    Ok(())
}

/// Returns whether more than fonts are encrypted.
fn hides_text(encryption: &str) -> bool {
    let mut hides = false;
    walk(encryption, |part| {
        if let XmlPart::Start(element) = part
            && element.name() == "CipherReference"
        {
            let file = element.attribute("URI").unwrap_or_default().to_lowercase();
            let is_font = [".ttf", ".otf", ".woff", ".woff2"];
            hides |= !is_font.iter().any(|extension| file.ends_with(extension));
        }
        ControlFlow::Continue(())
    });
    hides
}

fn read_chapter(xml: &str, html: &mut HtmlWriter) {
    // Depth within elements whose content is skipped.
    let mut skipped = 0_u32;
    walk(xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "head" | "script" | "style" | "nav" => skipped += 1,
                _ if skipped > 0 => {}
                "h1" => html.heading(1, None),
                "h2" => html.heading(2, None),
                "h3" => html.heading(3, None),
                "h4" => html.heading(4, None),
                "h5" => html.heading(5, None),
                "h6" => html.heading(6, None),
                "p" | "li" | "dt" | "dd" | "tr" | "blockquote" | "pre" | "div" | "section" => {
                    html.end_block();
                }
                "br" | "td" | "th" => html.text(" "),
                "a" => {
                    if let Some(url) = element.attribute("href") {
                        html.link(&url);
                    }
                }
                _ => {}
            },
            XmlPart::Text(text) if skipped == 0 => html.text(text),
            XmlPart::Text(_) => {}
            XmlPart::End(name) => match name {
                "head" | "script" | "style" | "nav" => skipped = skipped.saturating_sub(1),
                _ if skipped > 0 => {}
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "li" | "dt" | "dd" | "tr"
                | "blockquote" | "pre" | "div" | "section" => html.end_block(),
                "a" => html.end_link(),
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
