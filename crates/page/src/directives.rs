//! The `X-Robots-Tag` directives: what may be done with a page after it was fetched.
//!
//! **Invariant:** only directives that restrict are read, and only those addressed to all
//! crawlers or to this one.

/// The restrictions that a server sets in `X-Robots-Tag`.
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

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn only_directives_for_all_or_for_us_count() {
        let check = |fields: &[&str], noindex, nofollow, noarchive| {
            let wanted = Directives {
                noindex,
                nofollow,
                noarchive,
            };
            assert_eq!(
                Directives::of(fields.iter().copied(), "avocet"),
                wanted,
                "{fields:?}"
            );
        };
        check(&[], false, false, false);
        check(&["noindex"], true, false, false);
        check(&["NoIndex , NOFOLLOW"], true, true, false);
        check(&["none"], true, true, false);
        check(&["noarchive", "nofollow"], false, true, true);
        check(&["avocet: noindex"], true, false, false);
        check(&["Avocet:noindex, nofollow"], true, true, false);
        check(&["otherbot: noindex, nofollow"], false, false, false);
        check(
            &["otherbot: noindex, avocet: noarchive"],
            false,
            false,
            true,
        );
        check(&["otherbot: none", "nofollow"], false, true, false);
        check(
            &["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"],
            true,
            false,
            false,
        );
        check(&["max-snippet: 20, nofollow"], false, true, false);
        check(
            &["all", "index, follow", "", ":", ",,:,"],
            false,
            false,
            false,
        );
    }
}
