//! What do elements with `itemprop` say?
//!
//! The value of a property is its `content`, its `datetime`, or its words (WHATWG, 5.2.4). A property that holds an object
//! (`itemscope`) is called by the `name` in it. **Invariant:** one property and one object around it are followed at a
//! time: what a page nests deeper is not read.

use super::super::attribute::{CONTENT, DATETIME, ITEMSCOPE, ITEMTYPE, attribute};
use super::super::tag::Name;
use super::super::tokenizer::Attribute;
use super::{Fields, What, is_void, property, schema};

/// Follows elements.
#[derive(Default)]
pub(super) struct Microdata {
    /// The property whose words are being read: from where on, and until which end.
    reading: Option<(What, u32, Element)>,
    /// The object of a property that is open.
    within: Option<(What, Element)>,
}

/// An element that is open: it ends with its own end tag, not with that of one of its name inside.
#[derive(Clone, Copy)]
struct Element {
    tag: Name,
    depth: u32,
}

impl Element {
    fn of(tag: Name) -> Self {
        Self { tag, depth: 1 }
    }

    fn start(&mut self, tag: Name) {
        self.depth += u32::from(self.tag == tag);
    }

    /// Whether this is its end.
    fn end(&mut self, tag: Name) -> bool {
        self.depth -= u32::from(self.tag == tag);
        self.depth == 0
    }
}

impl Microdata {
    pub(super) fn start(
        &mut self,
        tag: Name,
        attributes: &[Attribute<'_>],
        at: u32,
        fields: &mut Fields,
    ) {
        let scope = attribute(attributes, ITEMSCOPE).is_some();
        if !is_void(tag) {
            let open = self.reading.iter_mut().map(|(_, _, element)| element);
            let open = open.chain(self.within.iter_mut().map(|(_, element)| element));
            open.for_each(|element| element.start(tag));
        }
        let Some(name) = property(attributes) else {
            if let Some(kind) = attribute(attributes, ITEMTYPE).filter(|_| scope) {
                let kind = kind.raw.trim().rsplit('/').next().unwrap_or_default();
                fields.say(What::Kind, kind);
            }
            return;
        };
        let what = match (name, &self.within) {
            ("name", Some((what, _))) => Some(*what),
            // What an object inside says of itself is not of the page.
            (_, Some(_)) => None,
            (name, None) => schema(name),
        };
        let Some(what) = what else {
            return;
        };
        let value = attribute(attributes, CONTENT).or_else(|| attribute(attributes, DATETIME));
        if let Some(value) = value {
            fields.say(what, &value.value());
        } else if !is_void(tag) {
            match scope {
                true => self.within = Some((what, Element::of(tag))),
                false => self.reading = Some((what, at, Element::of(tag))),
            }
        }
    }

    pub(super) fn end(&mut self, tag: Name, text: &str, fields: &mut Fields) {
        if let Some((what, from, element)) = &mut self.reading
            && element.end(tag)
        {
            fields.say(*what, text.get(*from as usize..).unwrap_or_default());
            self.reading = None;
        }
        if let Some((_, element)) = &mut self.within
            && element.end(tag)
        {
            self.within = None;
        }
    }
}
