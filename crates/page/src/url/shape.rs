//! Computes the pattern of a URL: an approximation of the template that made it.
//!
//! **Invariant:** the pattern depends on the URL alone. URLs that differ only in numbers, in the
//! name of the last segment or in the values of the query have the same pattern. Two exceptions
//! give different patterns: a last segment that begins with a number and one that begins with a
//! name, and last segments with different extensions.

use xxhash_rust::xxh3::xxh3_64;

use super::PageUrl;

/// Hexadecimal runs of at least this length that contain a digit count as ids. Short commit ids
/// often have 8 digits.
const HEX_RUN: usize = 8;

/// Maximum number of characters of a file extension: `html`, `shtml`, `php`, `aspx`.
const EXTENSION: usize = 5;

/// Returns the hash of the pattern.
pub(super) fn pattern(url: &PageUrl) -> u64 {
    xxh3_64(shape(url).as_bytes())
}

/// Returns the pattern as text: `http://a.example/blog/#/#/*.html?page&q&`.
fn shape(url: &PageUrl) -> String {
    let mut shape = String::with_capacity(url.as_str().len());
    shape.push_str(url.origin());
    let path = url.path();
    let stem = path.trim_end_matches('/');
    let (parents, last) = stem.rsplit_once('/').unwrap_or(("", stem));
    for segment in parents.split('/').skip(1) {
        shape.push('/');
        collapse(segment, &mut shape);
    }
    shape.push('/');
    if !last.is_empty() {
        // Numbers are kept apart from names: `/2024/` differs from `/about/`.
        let mut name = String::new();
        collapse(last, &mut name);
        shape.push_str(if name.starts_with('#') { "#" } else { "*" });
        if let Some((_, extension)) = last.rsplit_once('.')
            && (1..=EXTENSION).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            shape.push('.');
            shape.push_str(extension);
        }
        shape.push_str(&path[stem.len()..]);
    }
    if let Some(query) = url.query() {
        let mut keys: Vec<&str> = query
            .split('&')
            .map(|pair| pair.split('=').next().unwrap_or_default())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        shape.push('?');
        for key in keys {
            collapse(key, &mut shape);
            shape.push('&');
        }
    }
    shape
}

/// Writes the segment with `#` for each run of digits and each long run of hexadecimal digits.
fn collapse(segment: &str, into: &mut String) {
    let mut rest = segment;
    while let Some(first) = rest.chars().next() {
        let hex = run(rest, |byte| byte.is_ascii_hexdigit());
        let digits = run(rest, |byte| byte.is_ascii_digit());
        let is_id = hex >= HEX_RUN && rest[..hex].bytes().any(|byte| byte.is_ascii_digit());
        let length = if is_id { hex } else { digits };
        if length > 0 {
            into.push('#');
            rest = &rest[length..];
            continue;
        }
        // A hexadecimal run is only recognized from the start of a word: `deadbeef1`, but not
        // `beef1` within it.
        let word = run(rest, |byte| byte.is_ascii_alphabetic()).max(first.len_utf8());
        into.push_str(&rest[..word]);
        rest = &rest[word..];
    }
}

fn run(text: &str, is: impl Fn(u8) -> bool) -> usize {
    text.bytes()
        .position(|byte| !is(byte))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ids_names_and_values_are_replaced() {
        let check = |url: &str, expected: &str| {
            let shape = shape(&PageUrl::parse(&format!("http://a.example{url}")).unwrap());
            assert_eq!(shape, format!("http://a.example{expected}"), "{url}");
        };
        check("/", "/");
        check("/about", "/*");
        check("/about/", "/*/");
        check("/a.html", "/*.html");
        check("/blog/2024/01/31/my-title.html", "/blog/#/#/#/*.html");
        check("/calendar/2024-01-31", "/calendar/#");
        check("/commit/deadbeef01/diff", "/commit/#/*");
        check("/facade/x", "/facade/*"); // Six letters a to f are a word.
        check("/defaced-0/x", "/defaced-#/*");
        check("/p7/x", "/p#/*");
        check("/a?b=1&a=2&b=3", "/*?a&b&");
        check("/a?b=9&a=1", "/*?a&b&");
        check("/a?item12=9", "/*?item#&");
        check("/a?", "/*?&");
        check("/é/x.y", "/%C#%A#/*.y");
    }

    #[test]
    fn pages_of_one_template_share_a_pattern_and_others_do_not() {
        let pattern = |url: &str| PageUrl::parse(url).unwrap().pattern();
        for (one, other, equal) in [
            ("http://a/c?d=2024-01-01", "http://a/c?d=2024-01-02", true),
            ("http://a/p/12", "http://a/p/7", true),
            ("http://a/p/12", "http://b/p/12", false),
            ("http://a/p/12", "http://a/q/12", false),
            ("http://a/p?a=1", "http://a/p?b=1", false),
        ] {
            assert_eq!(pattern(one) == pattern(other), equal, "{one} {other}");
        }
    }
}
