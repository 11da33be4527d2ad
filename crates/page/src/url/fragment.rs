//! Builds the URL of a section: a page's URL with a fragment.

use std::fmt::Write;

/// Returns the URL of a page with the fragment that names a section.
///
/// An id may hold any character but white space (HTML, 3.2.6). Characters that a fragment cannot
/// hold (RFC 3986, 3.5) are percent-encoded; browsers decode them before they look for the id.
pub fn with_fragment(url: &str, id: Option<&str>) -> String {
    let page = url.split('#').next().unwrap_or_default();
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return page.to_owned();
    };
    let mut target = format!("{page}#");
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&()*+,;=:@/?".contains(&byte) {
            target.push(byte.into());
        } else {
            write!(target, "%{byte:02X}").expect("a string takes any text");
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_fragments() {
        for (id, fragment) in [
            ("install", "#install"),
            ("a.b:c-d_e", "#a.b:c-d_e"),
            ("100%", "#100%25"),
            ("käse", "#k%C3%A4se"),
            ("\"><script>'#", "#%22%3E%3Cscript%3E%27%23"),
            ("\r\nSet-Cookie: a", "#%0D%0ASet-Cookie:%20a"),
            ("", ""),
        ] {
            let wanted = format!("http://e.org/a?b{fragment}");
            assert_eq!(with_fragment("http://e.org/a?b", Some(id)), wanted, "{id}");
        }
        assert_eq!(with_fragment("http://e.org/", None), "http://e.org/");
    }
}
