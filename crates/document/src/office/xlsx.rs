//! Reads Office Open XML spreadsheets (`.xlsx`): each sheet with its name as a heading and a
//! paragraph per row. Cells have the values that were computed when the file was saved.

use std::ops::ControlFlow;

use super::read_metadata;
use super::relations::Relations;
use crate::Unreadable;
use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlPart, walk};

const WORKBOOK: &str = "xl/workbook.xml";

pub(super) fn read(package: &mut Package<'_>, html: &mut HtmlWriter) -> Result<(), Unreadable> {
    if let Some(xml) = package.file("docProps/core.xml")? {
        read_metadata(&xml, "dcterms.modified", html);
    }
    let workbook = package.required(WORKBOOK)?;
    let relations = Relations::of(package, WORKBOOK)?;
    let shared = package.file("xl/sharedStrings.xml")?;
    let shared = shared.map(|xml| shared_strings(&xml)).unwrap_or_default();
    let mut sheets = Vec::new();
    walk(&workbook, |part| {
        if let XmlPart::Start(element) = part
            && element.name() == "sheet"
            && let Some(file) = element.relationship().and_then(|id| relations.file(&id))
        {
            sheets.push((element.attribute("name").unwrap_or_default(), file));
        }
        ControlFlow::Continue(())
    });
    for (name, file) in sheets {
        if html.is_full() {
            break;
        }
        let Some(xml) = package.file(&file)? else {
            continue;
        };
        html.heading(2, None);
        html.text(&name);
        html.end_block();
        read_sheet(&xml, &shared, html);
    }
    Ok(())
}

/// Returns the texts that cells refer to by their position.
fn shared_strings(xml: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut text = String::new();
    let mut in_text = false;
    // Depth within phonetic hints, which repeat the text in another script.
    let mut phonetic = 0_u32;
    walk(xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "rPh" => phonetic += 1,
                "t" => in_text = phonetic == 0,
                _ => {}
            },
            XmlPart::Text(words) if in_text => text.push_str(words),
            XmlPart::Text(_) => {}
            XmlPart::End("rPh") => phonetic = phonetic.saturating_sub(1),
            XmlPart::End("t") => in_text = false,
            XmlPart::End("si") => strings.push(std::mem::take(&mut text)),
            XmlPart::End(_) => {}
        }
        ControlFlow::Continue(())
    });
    strings
}

fn read_sheet(xml: &str, shared: &[String], html: &mut HtmlWriter) {
    let mut is_shared = false;
    let mut in_value = false;
    let mut value = String::new();
    walk(xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "row" => html.paragraph(),
                "c" => is_shared = element.attribute("t").as_deref() == Some("s"),
                "v" | "t" => in_value = true,
                _ => {}
            },
            XmlPart::Text(text) if in_value => value.push_str(text),
            XmlPart::Text(_) => {}
            XmlPart::End("v" | "t") => {
                in_value = false;
                let text = std::mem::take(&mut value);
                match text.trim().parse::<usize>() {
                    Ok(place) if is_shared => {
                        html.text(shared.get(place).map_or("", String::as_str));
                    }
                    _ => html.text(&text),
                }
                html.text(" ");
            }
            XmlPart::End("row") => html.end_block(),
            XmlPart::End(_) => {}
        }
        match html.is_full() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    html.end_block();
}
