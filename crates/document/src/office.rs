//! Reads Office Open XML, OpenDocument and EPUB files.

mod docx;
mod epub;
mod open_document;
mod pptx;
mod relations;
mod xlsx;

use std::ops::ControlFlow;

use crate::html::HtmlWriter;
use crate::package::Package;
use crate::xml::{XmlPart, walk};
use crate::{DocumentFormat, Unreadable};

/// Reads the document in a package.
pub(crate) fn read(
    format: DocumentFormat,
    package: &mut Package<'_>,
    html: &mut HtmlWriter,
) -> Result<(), Unreadable> {
    match format {
        DocumentFormat::Docx => docx::read(package, html),
        DocumentFormat::Pptx => pptx::read(package, html),
        DocumentFormat::Xlsx => xlsx::read(package, html),
        DocumentFormat::Odt | DocumentFormat::Odp | DocumentFormat::Ods => {
            open_document::read(package, html)
        }
        DocumentFormat::Epub => epub::read(package, html),
        DocumentFormat::Pdf => Err(Unreadable::Unsupported),
    }
}

/// Reads the metadata that Office Open XML, OpenDocument and EPUB files share: elements of Dublin
/// Core, and the two dates of each. `date` is the name that HTML pages use for what the element
/// `date` means: when an OpenDocument file was changed, or when a book was published.
fn read_metadata(xml: &str, date: &str, html: &mut HtmlWriter) {
    let mut element = String::new();
    let mut text = String::new();
    walk(xml, |part| {
        match part {
            XmlPart::Start(start) => {
                element = start.name().to_owned();
                text.clear();
            }
            XmlPart::Text(words) => text.push_str(words),
            XmlPart::End(name) if name == element => {
                if name == "title" {
                    html.title(&text);
                } else if name == "date" {
                    html.meta(date, &text);
                } else if let Some(meta) = meta_name(name) {
                    html.meta(meta, &text);
                }
                text.clear();
            }
            XmlPart::End(_) => {}
        }
        ControlFlow::Continue(())
    });
}

/// Returns the name under which HTML pages state a property.
fn meta_name(element: &str) -> Option<&'static str> {
    Some(match element {
        "creator" | "initial-creator" => "author",
        "created" | "creation-date" => "dcterms.created",
        "modified" => "dcterms.modified",
        "description" => "description",
        "keywords" | "keyword" => "keywords",
        "publisher" => "dc.publisher",
        "identifier" => "dc.identifier",
        _ => return None,
    })
}
