//! Looks up the attributes of a tag.
//!
//! **Invariant:** of two attributes with the same name the first counts, as in browsers.

use super::tag::NameKey;
use super::tokenizer::Attribute;

pub(super) const ALT: NameKey = NameKey::of(b"alt");
pub(super) const CLASS: NameKey = NameKey::of(b"class");
pub(super) const CONTENT: NameKey = NameKey::of(b"content");
pub(super) const DATETIME: NameKey = NameKey::of(b"datetime");
pub(super) const HREF: NameKey = NameKey::of(b"href");
pub(super) const HREFLANG: NameKey = NameKey::of(b"hreflang");
pub(super) const HTTP_EQUIV: NameKey = NameKey::of(b"http-equiv");
pub(super) const ID: NameKey = NameKey::of(b"id");
pub(super) const ITEMPROP: NameKey = NameKey::of(b"itemprop");
pub(super) const ITEMSCOPE: NameKey = NameKey::of(b"itemscope");
pub(super) const ITEMTYPE: NameKey = NameKey::of(b"itemtype");
pub(super) const LANG: NameKey = NameKey::of(b"lang");
pub(super) const NAME: NameKey = NameKey::of(b"name");
pub(super) const PROPERTY: NameKey = NameKey::of(b"property");
pub(super) const REL: NameKey = NameKey::of(b"rel");
pub(super) const ROLE: NameKey = NameKey::of(b"role");
pub(super) const SRC: NameKey = NameKey::of(b"src");
pub(super) const TYPE: NameKey = NameKey::of(b"type");
pub(super) const XML_LANG: NameKey = NameKey::of(b"xml:lang");

/// Returns the first attribute called `name`.
#[inline]
pub(super) fn attribute<'t, 'a>(
    attributes: &'t [Attribute<'a>],
    name: NameKey,
) -> Option<&'t Attribute<'a>> {
    attributes.iter().find(|attribute| attribute.name == name)
}

/// Returns whether the value of the attribute `name` contains `word`, in any case.
#[inline]
pub(super) fn has_word(attributes: &[Attribute<'_>], name: NameKey, word: &str) -> bool {
    attribute(attributes, name).is_some_and(|value| {
        let mut words = value.raw.split_ascii_whitespace();
        words.any(|other| other.eq_ignore_ascii_case(word))
    })
}
