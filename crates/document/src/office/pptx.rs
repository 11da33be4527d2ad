//! Reads Office Open XML presentations (`.pptx`): the slides in their order, each title as a
//! heading.

use std::ops::ControlFlow;

use super::read_metadata;
use super::relations::Relations;
use crate::Unreadable;
use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlPart, walk};

const PRESENTATION: &str = "ppt/presentation.xml";

pub(super) fn read(package: &mut Package<'_>, html: &mut HtmlWriter) -> Result<(), Unreadable> {
    if let Some(xml) = package.file("docProps/core.xml")? {
        read_metadata(&xml, "dcterms.modified", html);
    }
    let presentation = package.required(PRESENTATION)?;
    let relations = Relations::of(package, PRESENTATION)?;
    let mut slides = Vec::new();
    walk(&presentation, |part| {
        if let XmlPart::Start(element) = part
            && element.name() == "sldId"
            && let Some(file) = element.relationship().and_then(|id| relations.file(&id))
        {
            slides.push(file);
        }
        ControlFlow::Continue(())
    });
    for (number, slide) in slides.iter().enumerate() {
        if html.is_full() {
            break;
        }
        // A presentation may name a slide that it lacks; programs leave it out too.
        let Some(xml) = package.file(slide)? else {
            continue;
        };
        let relations = Relations::of(package, slide)?;
        read_slide(number + 1, &xml, &relations, html);
    }
    Ok(())
}

fn read_slide(number: usize, xml: &str, relations: &Relations, html: &mut HtmlWriter) {
    let mut is_title = false;
    let mut in_text = false;
    let mut is_linked = false;
    walk(xml, |part| {
        match part {
            XmlPart::Start(element) => match element.name() {
                "sp" => is_title = false,
                "ph" => {
                    let kind = element.attribute("type");
                    is_title = matches!(kind.as_deref(), Some("title" | "ctrTitle"));
                }
                "p" if is_title => html.heading(2, Some(&format!("slide={number}"))),
                "p" => html.paragraph(),
                "hlinkClick" => {
                    let id = element.relationship();
                    if let Some(url) = id.as_deref().and_then(|id| relations.url(id)) {
                        html.link(url);
                        is_linked = true;
                    }
                }
                "t" => in_text = true,
                "br" | "tab" => html.text(" "),
                _ => {}
            },
            XmlPart::Text(text) if in_text => html.text(text),
            XmlPart::Text(_) => {}
            XmlPart::End(name) => match name {
                "t" => in_text = false,
                // A run has one link, which its properties name before its text.
                "r" if is_linked => {
                    html.end_link();
                    is_linked = false;
                }
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
