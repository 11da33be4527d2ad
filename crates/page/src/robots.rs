//! Parses robots.txt (RFC 9309) and decides which pages of a host it allows.
//!
//! Existing crates end a group at `Crawl-delay`, miss the product token in `avocet/1.0`, drop
//! relative sitemaps, or hang on a rule of 400 wildcards. Therefore this module has its own
//! parser and matcher.
//!
//! **Invariant:** parsing takes time linear in the size of the file, apart from the sorting of the
//! rules. Matching a rule takes time linear in its length and that of the URL. Neither can fail:
//! what cannot be parsed is skipped.

mod lines;
mod pattern;

use std::time::Duration;

use crate::url::PageUrl;

use lines::{RobotsLine, lines};
use pattern::Pattern;

/// RFC 9309, 2.5: a parser must accept at least 500 KiB. The rest of a longer file is ignored.
pub const ROBOTS_LIMIT: usize = 500 * 1024;
/// Maximum number of rules kept (hostile-web.md, row 47).
const RULES: usize = 10_000;
/// Maximum number of sitemaps kept. The largest of 2,000 real files names fewer.
const SITEMAPS: usize = 1_000;
/// Upper bound of the crawl delay (hostile-web.md, row 49). A server that asks for more is
/// visited every five minutes.
const LONGEST_DELAY: Duration = Duration::from_secs(300);

/// The rules of a robots.txt for our crawler.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Robots {
    /// Sorted by precedence: the first match decides.
    rules: Vec<RobotsRule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RobotsRule {
    pattern: Pattern,
    allow: bool,
}

/// The rules for one set of user agents, while the file is parsed.
#[derive(Default)]
struct RuleGroup {
    named: bool,
    rules: Vec<RobotsRule>,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Parses a file for the crawler with this product token (`avocet`).
    ///
    /// All groups that name the token are combined. If there are none, the groups for `*` apply
    /// (RFC 9309, 2.2.1).
    pub fn parse(text: &[u8], token: &str) -> Self {
        let mut ours = RuleGroup::default();
        let mut all = RuleGroup::default();
        let mut sitemaps = Vec::new();
        // Whether the current group is for us, for all, and still in its `User-agent` lines.
        let (mut for_us, mut for_all, mut addressing) = (false, false, false);
        lines(text, |line| match line {
            RobotsLine::Agent(name) => {
                if !addressing {
                    (for_us, for_all, addressing) = (false, false, true);
                }
                if is_everyone(name) {
                    (for_all, all.named) = (true, true);
                } else if product_token(name).eq_ignore_ascii_case(token.as_bytes()) {
                    (for_us, ours.named) = (true, true);
                }
            }
            RobotsLine::Rule { allow, path } => {
                addressing = false;
                let rule = Pattern::read(path).map(|pattern| RobotsRule { pattern, allow });
                if for_us {
                    ours.add(rule.clone());
                }
                if for_all {
                    all.add(rule);
                }
            }
            // RFC 9309, 2.2.4: other records must not end the group, so `addressing` stays.
            RobotsLine::Delay(value) => {
                let delay = read_delay(value);
                if for_us {
                    ours.crawl_delay = ours.crawl_delay.max(delay);
                }
                if for_all {
                    all.crawl_delay = all.crawl_delay.max(delay);
                }
            }
            RobotsLine::Sitemap(value) => {
                let value = String::from_utf8_lossy(value);
                if sitemaps.len() < SITEMAPS && !sitemaps.iter().any(|known| *known == value) {
                    sitemaps.push(value.into_owned());
                }
            }
        });
        let RuleGroup {
            mut rules,
            crawl_delay,
            ..
        } = if ours.named { ours } else { all };
        // RFC 9309, 2.2.2: the longest match wins; of two equally long ones, the one that
        // allows.
        rules.sort_by_key(|rule| std::cmp::Reverse((rule.pattern.len(), rule.allow)));
        Self {
            rules,
            crawl_delay,
            sitemaps,
        }
    }

    /// Returns the rules for a host without a robots.txt.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Returns the rules for a host whose robots.txt cannot be fetched.
    pub fn disallow_all() -> Self {
        let rules = Pattern::read(b"/").map(|pattern| RobotsRule {
            pattern,
            allow: false,
        });
        Self {
            rules: rules.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Returns whether a page may be fetched. `/robots.txt` may always be fetched.
    pub fn allows(&self, url: &PageUrl) -> bool {
        if self.rules.is_empty() || url.path() == "/robots.txt" {
            return true;
        }
        let path = pattern::normal_path(url.path_and_query());
        self.rules
            .iter()
            .find(|rule| rule.pattern.matches(&path))
            .is_none_or(|rule| rule.allow)
    }

    /// Returns the requested delay between two requests, at most five minutes; `None` if the file
    /// requests none.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Returns the sitemaps that the file names. Relative ones are resolved against `base`.
    pub fn sitemaps(&self, base: &PageUrl) -> Vec<PageUrl> {
        self.sitemaps
            .iter()
            .filter_map(|text| base.join(text).ok())
            .collect()
    }
}

impl RuleGroup {
    fn add(&mut self, rule: Option<RobotsRule>) {
        if self.rules.len() < RULES {
            self.rules.extend(rule);
        }
    }
}

/// Returns whether a name is `*`, alone or followed by white space.
fn is_everyone(name: &[u8]) -> bool {
    matches!(name, [b'*'] | [b'*', b' ' | b'\t', ..])
}

/// Returns the product token at the beginning of a user-agent name.
///
/// RFC 9309, 2.2.1 allows letters, `_` and `-`; a version may follow. Digits are accepted too,
/// because real names contain them (`360Spider`), and `avocet2` is not us.
fn product_token(name: &[u8]) -> &[u8] {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = name
        .iter()
        .position(|byte| !is_token(byte))
        .unwrap_or(name.len());
    &name[..end]
}

/// Parses seconds, possibly with a fraction, and clamps them; `None` if the value is not a
/// number.
fn read_delay(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    // The value must begin with a digit or a point, because Rust also parses `-1`, `NaN` and
    // `inf`.
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | 'e' | 'E'))
        .unwrap_or(text.len());
    let seconds: f64 = text[..end]
        .parse()
        .ok()
        .filter(|_| text.starts_with(|c: char| c.is_ascii_digit() || c == '.'))?;
    Some(Duration::from_secs_f64(
        seconds.clamp(0.0, LONGEST_DELAY.as_secs_f64()),
    ))
}
