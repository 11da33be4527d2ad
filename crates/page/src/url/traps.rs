//! Rejects URLs that look like those of a spider trap, and removes session ids and tracking tags.
//!
//! **Invariant:** a URL is judged by itself alone, in one pass. Traps that only many URLs
//! together reveal, such as an endless calendar, are found by counting per [`PageUrl::pattern`].

use serde::{Deserialize, Serialize};

use super::{PageUrl, session};

/// The limits that a URL must respect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Maximum bytes of a URL.
    pub max_length: usize,
    /// Maximum number of segments of a path.
    pub max_depth: usize,
    /// How often a segment, or a cycle of up to four segments, may occur in a row: `/a/b/a/b` is
    /// 2.
    pub max_repeats: usize,
    /// Whether session ids are removed. They name a visitor and not a resource, and a site that
    /// assigns a new one per visit has no end.
    pub strip_sessions: bool,
    /// Whether campaign tags (`utm_source`, `gclid` …) are removed. Off by default: unlike
    /// session ids they yield only a few copies of a page, and the server may evaluate them.
    /// Fetching a page twice costs less than losing one.
    pub strip_tracking: bool,
}

impl Default for Rules {
    /// The limits of hostile-web.md: 2,048 bytes (row 60), 20 segments and fewer than 3 repeats
    /// (row 57).
    fn default() -> Self {
        Self {
            max_length: 2_048,
            max_depth: 20,
            max_repeats: 2,
            strip_sessions: true,
            strip_tracking: false,
        }
    }
}

/// The limit that a URL exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Trap {
    /// It is too long.
    #[error("URL too long")]
    Length,
    /// Its path has too many segments.
    #[error("URL too deep")]
    Depth,
    /// Its path repeats itself.
    #[error("URL repeats its segments")]
    Repeats,
}

impl Trap {
    /// Returns the name used in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "trap:length",
            Self::Depth => "trap:depth",
            Self::Repeats => "trap:repeats",
        }
    }
}

/// Longest cycle of segments that is recognized. Relative links that nest by mistake repeat one
/// or two directories.
const LONGEST_CYCLE: usize = 4;

impl Rules {
    /// Returns the URL without the parts that these rules strip, or the limit that it exceeds.
    pub fn admit(&self, url: PageUrl) -> Result<PageUrl, Trap> {
        self.judge(&url)?;
        Ok(session::strip(
            url,
            self.strip_sessions,
            self.strip_tracking,
        ))
    }

    /// Checks a URL against the limits.
    pub fn judge(&self, url: &PageUrl) -> Result<(), Trap> {
        if url.as_str().len() > self.max_length {
            return Err(Trap::Length);
        }
        let path = url.path().trim_end_matches('/');
        let depth = memchr::memchr_iter(b'/', path.as_bytes()).count();
        if depth > self.max_depth {
            return Err(Trap::Depth);
        }
        // A path with fewer segments cannot exceed the limit of repeats.
        if depth > self.max_repeats && repeats(path) > self.max_repeats {
            return Err(Trap::Repeats);
        }
        Ok(())
    }
}

/// Returns how often in a row the most repeated segment, or cycle of segments, occurs.
fn repeats(path: &str) -> usize {
    let segments: smallvec::SmallVec<[&str; 24]> = path.split('/').skip(1).collect();
    let mut most = 1;
    for length in 1..=LONGEST_CYCLE.min(segments.len()) {
        let mut equal = 0;
        for at in length..segments.len() {
            equal = if segments[at] == segments[at - length] {
                equal + 1
            } else {
                0
            };
            most = most.max(equal / length + 1);
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://a.example{path}")).unwrap()
    }

    #[test]
    fn repetition_is_counted_over_cycles() {
        let check = |path: &str, expected: usize| assert_eq!(repeats(path), expected, "{path}");
        check("", 1);
        check("/a", 1);
        check("/a/a", 2);
        check("/a/a/a", 3);
        check("/b/a/a/a/b", 3);
        check("/a/b/a/b", 2);
        check("/a/b/a/b/a/b", 3);
        check("/x/a/b/c/a/b/c/a/b/c/y", 3);
        check("/a/b/a/c/a/d", 1); // Not in a row, so not a cycle.
        check("/2024/01/01", 2);
        check("//", 2);
    }

    #[test]
    fn urls_at_a_limit_pass_and_urls_beyond_it_do_not() {
        let rules = Rules::default();
        let check = |path: &str, expected: Result<(), Trap>| {
            assert_eq!(rules.judge(&url(path)), expected, "{path}")
        };
        let distinct = |n: usize| (0..n).map(|i| format!("/s{i}")).collect::<String>();
        check("/", Ok(()));
        check(&distinct(20), Ok(()));
        check(&format!("{}/", distinct(20)), Ok(()));
        check(&distinct(21), Err(Trap::Depth));
        check("/a/a/b", Ok(()));
        check("/a/a/a", Err(Trap::Repeats));
        check("/a/b/a/b/a/b/index.html", Err(Trap::Repeats));
        let long = |n: usize| format!("/?{}", "x".repeat(n - "http://a.example/?".len()));
        check(&long(2_048), Ok(()));
        check(&long(2_049), Err(Trap::Length));
        check(&long(1_000_000), Err(Trap::Length));
    }

    #[test]
    fn admitting_removes_sessions_and_on_request_tracking_tags() {
        let check = |rules: &Rules, path: &str, admitted: &str| {
            assert_eq!(rules.admit(url(path)), Ok(url(admitted)), "{path}");
        };
        let rules = Rules::default();
        check(&rules, "/a;jsessionid=1F?b=1", "/a?b=1");
        check(&rules, "/a?utm_source=x", "/a?utm_source=x");
        assert_eq!(rules.admit(url("/a/a/a")), Err(Trap::Repeats));
        let all = Rules {
            strip_tracking: true,
            ..Rules::default()
        };
        check(&all, "/a?utm_source=x&b=1&gclid=2", "/a?b=1");
        let none = Rules {
            strip_sessions: false,
            ..Rules::default()
        };
        check(&none, "/a;jsessionid=1F", "/a;jsessionid=1F");
    }

    #[test]
    fn traps_have_names() {
        assert_eq!(
            [Trap::Length, Trap::Depth, Trap::Repeats].map(Trap::name),
            ["trap:length", "trap:depth", "trap:repeats"]
        );
    }
}
