//! The directives for robots in `X-Robots-Tag` fields and `meta` elements: what may be done with a
//! page after it was fetched.
//!
//! **Invariant:** only directives that restrict are read, and only those addressed to all
//! crawlers or to this one (hostile-web.md, row 85).

use std::ops::BitOr;

/// The restrictions that a server or a page states for robots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directives {
    /// The page must not be indexed.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
    /// No cached copy of the page may be shown.
    pub noarchive: bool,
}

/// Directives with a value after a colon, which must not be mistaken for the name of a crawler.
const WITH_VALUE: [&str; 4] = [
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
];

impl Directives {
    /// Parses the content of a robots `meta` element.
    pub(crate) fn of_meta(content: &str) -> Self {
        let mut directives = Self::default();
        for word in content.split([',', ' ', ';']) {
            directives.add(word.trim());
        }
        directives
    }

    /// Parses the values of all `X-Robots-Tag` fields.
    ///
    /// A field may begin with the product token of a crawler (`otherbot: noindex`). The token
    /// applies to the directives after it, up to the next token.
    pub fn of<'v>(values: impl IntoIterator<Item = &'v str>, token: &str) -> Self {
        let mut directives = Self::default();
        for text in values {
            let mut meant = true;
            for part in text.split(',') {
                let word = match part.split_once(':') {
                    Some((name, _))
                        if WITH_VALUE
                            .iter()
                            .any(|with| with.eq_ignore_ascii_case(name.trim())) =>
                    {
                        continue;
                    }
                    Some((name, word)) => {
                        meant = name.trim().eq_ignore_ascii_case(token);
                        word
                    }
                    None => part,
                };
                if meant {
                    directives.add(word.trim());
                }
            }
        }
        directives
    }

    fn add(&mut self, word: &str) {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
        self.noarchive |= is("noarchive") || is("nocache");
    }
}

impl BitOr for Directives {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the restrictions.
    fn names(directives: Directives) -> String {
        let Directives {
            noindex,
            nofollow,
            noarchive,
        } = directives;
        let all = [
            (noindex, "noindex"),
            (nofollow, "nofollow"),
            (noarchive, "noarchive"),
        ];
        let set = all.iter().filter(|(is_set, _)| *is_set);
        set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_directives_for_all_or_for_us_count() {
        let check = |fields: &[&str], wanted: &str| {
            let found = Directives::of(fields.iter().copied(), "avocet");
            assert_eq!(names(found), wanted, "{fields:?}");
        };
        check(&[], "");
        check(&["noindex"], "noindex");
        check(&["NoIndex , NOFOLLOW"], "noindex nofollow");
        check(&["none"], "noindex nofollow");
        check(&["noarchive", "nofollow"], "nofollow noarchive");
        check(&["avocet: noindex"], "noindex");
        check(&["Avocet:noindex, nofollow"], "noindex nofollow");
        check(&["otherbot: noindex, nofollow"], "");
        check(&["otherbot: noindex, avocet: noarchive"], "noarchive");
        check(&["otherbot: none", "nofollow"], "nofollow");
        let dated = "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex";
        check(&[dated], "noindex");
        check(&["max-snippet: 20, nofollow"], "nofollow");
        check(&["all", "index, follow", "", ":", ",,:,"], "");
    }

    #[test]
    fn directives_of_a_page_only_restrict() {
        let check = |content: &str, wanted: &str| {
            assert_eq!(names(Directives::of_meta(content)), wanted, "{content:?}");
        };
        check("", "");
        check("index, follow, all", "");
        check("NOINDEX,follow", "noindex");
        check("none", "noindex nofollow");
        check("noarchive , nofollow", "nofollow noarchive");
        check("nofollowed noindexes", "");
        let both = Directives::of_meta("noindex") | Directives::of_meta("noarchive");
        assert_eq!(names(both), "noindex noarchive");
    }
}
