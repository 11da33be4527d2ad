//! Parses robots directives and refreshes of `meta` elements.
//!
//! **Invariant:** only documented directives are honoured, and only those that restrict us
//! (hostile-web.md, row 85).

use std::ops::BitOr;

/// The restrictions that a page states for robots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RobotsMeta {
    /// The page must not be indexed.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
    /// No cached copy of the page may be shown.
    pub noarchive: bool,
}

impl RobotsMeta {
    /// Parses a list of directives: the content of a robots `meta` element, or an `X-Robots-Tag`
    /// header without the name of the robot.
    pub fn parse(directives: &str) -> Self {
        let mut meta = Self::default();
        for directive in directives.split([',', ' ', ';']).map(str::trim) {
            let is = |name: &str| directive.eq_ignore_ascii_case(name);
            meta.noindex |= is("noindex") || is("none");
            meta.nofollow |= is("nofollow") || is("none");
            meta.noarchive |= is("noarchive") || is("nocache");
        }
        meta
    }
}

impl BitOr for RobotsMeta {
    type Output = Self;

    /// Combines the restrictions of both.
    fn bitor(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
            noarchive: self.noarchive || other.noarchive,
        }
    }
}

/// Returns the target of a refresh (`5; url='/next'`), by the shared declarative refresh steps
/// of the WHATWG standard (4.2.5.3).
///
/// `None` if the page reloads itself or the content is invalid.
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

    #[test]
    fn directives_only_take_away() {
        let check = |directives: &str, noindex, nofollow, noarchive| {
            assert_eq!(
                RobotsMeta::parse(directives),
                RobotsMeta {
                    noindex,
                    nofollow,
                    noarchive
                },
                "{directives:?}"
            );
        };
        check("", false, false, false);
        check("index, follow, all", false, false, false);
        check("NOINDEX,follow", true, false, false);
        check("none", true, true, false);
        check("noarchive , nofollow", false, true, true);
        check("nofollowed noindexes", false, false, false);
    }

    #[test]
    fn two_metas_forbid_what_either_forbids() {
        let both = RobotsMeta::parse("noindex") | RobotsMeta::parse("noarchive");
        assert_eq!(
            both,
            RobotsMeta {
                noindex: true,
                nofollow: false,
                noarchive: true
            }
        );
    }
}
