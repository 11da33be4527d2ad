//! Parses the refreshes of `meta` elements.

/// Returns the target of a refresh (`5; url='/next'`), by the shared declarative refresh steps
/// of the WHATWG standard (4.2.5.3).
///
/// Returns `None` if the content names no target, so that the page reloads itself, or is invalid.
pub(super) fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start();
    let after_time = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if after_time.len() == rest.len() {
        return None;
    }
    let target = after_time
        .trim_start()
        .trim_start_matches([';', ','])
        .trim_start();
    if after_time.starts_with(|c: char| !c.is_ascii_whitespace() && c != ';' && c != ',') {
        return None;
    }
    let target = match target.get(..3) {
        Some(url) if url.eq_ignore_ascii_case("url") => {
            match target[3..].trim_start().strip_prefix('=') {
                Some(target) => target.trim_start(),
                None => target,
            }
        }
        _ => target,
    };
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => target[1..].split(quote).next().unwrap_or_default(),
        _ => target,
    };
    Some(target.trim()).filter(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_names_its_target_in_many_ways() {
        let check = |content: &str, target: Option<&str>| {
            assert_eq!(refresh_target(content), target, "{content:?}")
        };
        check("5; url=next.html", Some("next.html"));
        check("0;URL='a b'", Some("a b"));
        check(" 0.5 , Url = \"x\"garbage", Some("x"));
        check("1;next.html", Some("next.html"));
        check("1 next.html", Some("next.html"));
        check("0; url", Some("url")); // No `=`: the word is the target.
        check("5", None);
        check("5;", None);
        check("url=next.html", None); // No time, no refresh.
        check("5x; url=a", None);
        check("", None);
        check("0;url=é", Some("é"));
        check("0;é", Some("é"));
    }
}
