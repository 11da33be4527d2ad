//! Which attribute of a tag is meant?
//!
//! **Invariant:** of two attributes with one name the first counts, as in browsers.

use super::tag::Name;
use super::tokenizer::Attribute;

pub(super) const ALT: Name = Name::of(b"alt");
pub(super) const CLASS: Name = Name::of(b"class");
pub(super) const CONTENT: Name = Name::of(b"content");
pub(super) const DATETIME: Name = Name::of(b"datetime");
pub(super) const HREF: Name = Name::of(b"href");
pub(super) const HREFLANG: Name = Name::of(b"hreflang");
pub(super) const HTTP_EQUIV: Name = Name::of(b"http-equiv");
pub(super) const ID: Name = Name::of(b"id");
pub(super) const ITEMPROP: Name = Name::of(b"itemprop");
pub(super) const ITEMSCOPE: Name = Name::of(b"itemscope");
pub(super) const ITEMTYPE: Name = Name::of(b"itemtype");
pub(super) const LANG: Name = Name::of(b"lang");
pub(super) const NAME: Name = Name::of(b"name");
pub(super) const PROPERTY: Name = Name::of(b"property");
pub(super) const REL: Name = Name::of(b"rel");
pub(super) const ROLE: Name = Name::of(b"role");
pub(super) const SRC: Name = Name::of(b"src");
pub(super) const TYPE: Name = Name::of(b"type");
pub(super) const XML_LANG: Name = Name::of(b"xml:lang");

/// The attribute of that name.
#[inline]
pub(super) fn attribute<'t, 'a>(
    attributes: &'t [Attribute<'a>],
    name: Name,
) -> Option<&'t Attribute<'a>> {
    attributes.iter().find(|attribute| attribute.name == name)
}

/// Whether the attribute's value has that word among its words.
#[inline]
pub(super) fn has_word(attributes: &[Attribute<'_>], name: Name, word: &str) -> bool {
    attribute(attributes, name).is_some_and(|value| {
        let mut words = value.raw.split_ascii_whitespace();
        words.any(|other| other.eq_ignore_ascii_case(word))
    })
}
