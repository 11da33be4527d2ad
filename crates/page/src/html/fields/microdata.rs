//! Reads microdata: elements with `itemprop`.
//!
//! The value of a property is its `content`, its `datetime` or its text (WHATWG, 5.2.4). For a
//! property that holds an object (`itemscope`), it is the `name` inside that object.
//!
//! **Invariant:** at most one open property and one open object are tracked. A property that
//! starts inside another replaces it. Inside an object only `name` counts.

use super::super::attribute::{CONTENT, DATETIME, ITEMSCOPE, ITEMTYPE, attribute};
use super::super::tag::NameKey;
use super::super::tokenizer::Attribute;
use super::{FieldKind, Fields, is_void, property, schema};

/// The state of the microdata reader.
#[derive(Default)]
pub(super) struct Microdata {
    /// The property whose text is being read, the start of the text, and its element.
    reading: Option<(FieldKind, u32, ItemElement)>,
    /// The property whose object is open, and its element.
    within: Option<(FieldKind, ItemElement)>,
}

/// An open element. It counts elements of the same name inside it, to find its own end tag.
#[derive(Clone, Copy)]
struct ItemElement {
    tag: NameKey,
    depth: u32,
}

impl ItemElement {
    fn of(tag: NameKey) -> Self {
        Self { tag, depth: 1 }
    }

    fn start(&mut self, tag: NameKey) {
        self.depth += u32::from(self.tag == tag);
    }

    /// Handles an end tag. Returns whether it is the element's own.
    fn end(&mut self, tag: NameKey) -> bool {
        self.depth -= u32::from(self.tag == tag);
        self.depth == 0
    }
}

impl Microdata {
    pub(super) fn start(
        &mut self,
        tag: NameKey,
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
                fields.add(FieldKind::Kind, kind);
            }
            return;
        };
        let kind = match (name, &self.within) {
            ("name", Some((kind, _))) => Some(*kind),
            // Other properties of a nested object do not describe the page.
            (_, Some(_)) => None,
            (name, None) => schema(name),
        };
        let Some(kind) = kind else {
            return;
        };
        let value = attribute(attributes, CONTENT).or_else(|| attribute(attributes, DATETIME));
        if let Some(value) = value {
            fields.add(kind, &value.value());
        } else if !is_void(tag) {
            match scope {
                true => self.within = Some((kind, ItemElement::of(tag))),
                false => self.reading = Some((kind, at, ItemElement::of(tag))),
            }
        }
    }

    pub(super) fn end(&mut self, tag: NameKey, text: &str, fields: &mut Fields) {
        if let Some((kind, from, element)) = &mut self.reading
            && element.end(tag)
        {
            fields.add(*kind, text.get(*from as usize..).unwrap_or_default());
            self.reading = None;
        }
        if let Some((_, element)) = &mut self.within
            && element.end(tag)
        {
            self.within = None;
        }
    }
}
