//! Walks over the elements and texts of an XML file, tolerantly.
//!
//! Names are reported without their namespace prefix. Entities other than those of XML and HTML are
//! dropped, and a document type declaration defines none.

use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deepest nesting that is followed. Office files nest a few dozen elements.
const NESTING: usize = 512;

/// What [`walk`] reports.
pub(crate) enum XmlPart<'a> {
    /// The start of an element.
    Start(&'a XmlElement<'a>),
    /// The end of the element of this name.
    End(&'a str),
    /// Text.
    Text(&'a str),
}

/// The start of an element.
pub(crate) struct XmlElement<'a> {
    tag: &'a BytesStart<'a>,
}

impl XmlElement<'_> {
    /// Returns the name without its prefix.
    pub fn name(&self) -> &str {
        let name = self.tag.name().into_inner();
        name.rsplit(':').next().unwrap_or(name)
    }

    /// Returns the value of the first attribute of this name, whatever its prefix.
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.rsplit(':').next() == Some(name))
    }

    /// Returns the id of a relationship, which is an `id` with a prefix.
    pub fn relationship(&self) -> Option<String> {
        self.find(|key| key.ends_with(":id"))
    }

    fn find(&self, fits: impl Fn(&str) -> bool) -> Option<String> {
        let mut attributes = self.tag.attributes();
        let attributes = attributes.with_checks(false).flatten();
        let mut fitting = attributes.filter(|attribute| fits(attribute.key.into_inner()));
        let value = fitting.next()?.value;
        Some(htmlize::unescape_attribute(&*value).into_owned())
    }
}

/// Reports the parts of a file in their order until `visit` breaks or the file ends. A damaged rest
/// is dropped.
pub(crate) fn walk(xml: &str, mut visit: impl FnMut(XmlPart<'_>) -> ControlFlow<()>) {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut depth = 0_usize;
    loop {
        let flow = match reader.read_event() {
            Ok(Event::Start(tag)) => {
                depth += 1;
                if depth > NESTING {
                    return;
                }
                visit(XmlPart::Start(&XmlElement { tag: &tag }))
            }
            Ok(Event::Empty(tag)) => {
                let element = XmlElement { tag: &tag };
                match visit(XmlPart::Start(&element)) {
                    ControlFlow::Continue(()) => visit(XmlPart::End(element.name())),
                    stop => stop,
                }
            }
            Ok(Event::End(tag)) => {
                depth = depth.saturating_sub(1);
                let name = tag.name().into_inner();
                visit(XmlPart::End(name.rsplit(':').next().unwrap_or(name)))
            }
            Ok(Event::Text(text)) => visit(XmlPart::Text(&text)),
            Ok(Event::CData(text)) => visit(XmlPart::Text(&text)),
            Ok(Event::GeneralRef(name)) => {
                let reference = format!("&{};", &*name);
                let text = htmlize::unescape(reference.as_str());
                match *text == *reference {
                    true => ControlFlow::Continue(()),
                    false => visit(XmlPart::Text(&text)),
                }
            }
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(xml: &str) -> String {
        let mut parts = String::new();
        walk(xml, |part| {
            match part {
                XmlPart::Start(element) => parts.push_str(&format!("<{}>", element.name())),
                XmlPart::End(name) => parts.push_str(&format!("</{name}>")),
                XmlPart::Text(text) => parts.push_str(text),
            }
            ControlFlow::Continue(())
        });
        parts
    }

    #[test]
    fn prefixes_are_dropped_and_references_resolved() {
        let xml = "<w:p><w:t>a &amp; b&nbsp;c &#x41;<![CDATA[<d>]]></w:t><w:br/></w:p>";
        assert_eq!(parts(xml), "<p><t>a & b\u{a0}c A<d></t><br></br></p>");
    }

    #[test]
    fn entities_of_a_document_type_expand_to_nothing() {
        let xml = "<!DOCTYPE x [<!ENTITY lol \"lollollol\">]><x>a&lol;b</x>";
        assert_eq!(parts(xml), "<x>ab</x>");
    }

    #[test]
    fn a_damaged_file_yields_its_beginning() {
        assert_eq!(parts("<a>one<b>two</a"), "<a>one<b>two");
    }

    #[test]
    fn nesting_is_bounded() {
        let xml = "<a>".repeat(100_000);
        assert_eq!(parts(&xml).matches("<a>").count(), NESTING);
    }

    #[test]
    fn attributes_are_found_by_their_local_name() {
        let xml = "<s id=\"256\" r:id=\"rId2\" x:href='a&amp;b'/>";
        let mut found = Vec::new();
        walk(xml, |part| {
            if let XmlPart::Start(element) = part {
                found.push(element.attribute("id"));
                found.push(element.relationship());
                found.push(element.attribute("href"));
                found.push(element.attribute("none"));
            }
            ControlFlow::Continue(())
        });
        let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
        assert_eq!(found, [Some("256"), Some("rId2"), Some("a&b"), None]);
    }
}
