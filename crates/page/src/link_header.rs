//! Finds the WebSub hub in the `Link` header fields of a response.
//!
//! Format (RFC 8288, 3): `<target>; rel="hub self"; …, <target>; …`. Targets and quoted values
//! may contain commas and semicolons.
//!
//! **Invariant:** time is linear in the length of the fields. Nothing is an error: what cannot
//! be parsed is skipped.

use crate::PageUrl;

/// Maximum number of links examined per response. Real responses have far fewer.
const LINKS: usize = 100;

/// Returns the first hub named in the fields of a response from `base` (W3C Recommendation
/// WebSub, §4).
pub fn hub<'a>(fields: impl IntoIterator<Item = &'a str>, base: &PageUrl) -> Option<PageUrl> {
    let links = fields
        .into_iter()
        .flat_map(|field| HeaderLinks { rest: field });
    let mut hubs = links.take(LINKS).filter(|link| link.is("hub"));
    hubs.find_map(|link| base.join(link.target).ok())
}

/// A target and the parameters that follow it.
struct HeaderLink<'a> {
    target: &'a str,
    parameters: &'a str,
}

impl HeaderLink<'_> {
    /// Returns whether the first `rel` parameter contains this relation. Later `rel` parameters
    /// are ignored (RFC 8288, 3.3).
    fn is(&self, relation: &str) -> bool {
        let mut rest = self.parameters;
        while let Some(end) = unquoted(rest, b';') {
            rest = &rest[end + 1..];
            let own = &rest[..unquoted(rest, b';').unwrap_or(rest.len())];
            let Some((name, value)) = own.split_once('=') else {
                continue;
            };
            if name.trim().eq_ignore_ascii_case("rel") {
                let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
                return relations.any(|own| own.eq_ignore_ascii_case(relation));
            }
        }
        false
    }
}

/// Iterates over the links of one field.
struct HeaderLinks<'a> {
    rest: &'a str,
}

impl<'a> Iterator for HeaderLinks<'a> {
    type Item = HeaderLink<'a>;

    fn next(&mut self) -> Option<HeaderLink<'a>> {
        let (_, rest) = self.rest.split_once('<')?;
        let (target, rest) = rest.split_once('>')?;
        let (parameters, rest) = rest.split_at(unquoted(rest, b',').unwrap_or(rest.len()));
        self.rest = rest;
        Some(HeaderLink { target, parameters })
    }
}

/// Returns the offset of the first `wanted` byte outside of quotes.
fn unquoted(text: &str, wanted: u8) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.bytes().position(|byte| {
        let found = byte == wanted && !quoted;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(fields: &[&str], expected: Option<&str>) {
        let base = PageUrl::parse("http://e.org/dir/feed").unwrap();
        let hub = hub(fields.iter().copied(), &base);
        assert_eq!(hub.as_ref().map(PageUrl::as_str), expected, "{fields:?}");
    }

    #[test]
    fn the_first_hub_is_taken_wherever_it_stands() {
        let hub = Some("https://hub.e.net/");
        check(&[], None);
        check(&["<https://hub.e.net/>; rel=\"hub\""], hub);
        check(
            &["<http://e.org/dir/feed>; rel=self, <https://hub.e.net/>;REL = HUB"],
            hub,
        );
        check(
            &[
                "</a,b;c>; title=\"x; rel=hub, <y>\"; rel=self",
                "<https://hub.e.net/>; x; rel=\"self hub\"",
            ],
            hub,
        );
        check(&["<../hub>; rel=hub"], Some("http://e.org/hub"));
        check(&["<https://hub.e.net/>; rel=next; rel=hub"], None);
        check(
            &[
                "<https://hub.e.net/>; rel=hubs",
                "https://hub.e.net/; rel=hub",
                "<https://hub.e.net/",
            ],
            None,
        );
        check(
            &["<mailto:hub@e.net>; rel=hub, <https://hub.e.net/>; rel=hub"],
            hub,
        );
        check(
            &["</a>; title=\"never ends, <https://hub.e.net/>; rel=hub"],
            None,
        );
        check(
            &["</a>; title=\"a \\\" b, <c>\", <https://hub.e.net/>; rel=hub"],
            hub,
        );
    }

    proptest! {
        #[test]
        fn no_field_causes_a_panic(field in "[<>;,=\"\\\\a-c rel hub/é]*") {
            hub([field.as_str()], &PageUrl::parse("http://e.org/").unwrap());
        }
    }
}
