//! Reads robots.txt, and says which pages of a server it allows.
//!
//! RFC 9309, read and matched here: the crates that do it end a group at `Crawl-delay`, do not see the
//! product token in `avocet/1.0`, drop relative sitemaps, or hang on a rule of 400 wildcards.
//!
//! **Invariant:** reading and matching take time linear in the size of the file and the length of the
//! URL, and no file can make them fail: what cannot be understood is skipped.

mod lines;
mod pattern;

use std::time::Duration;

use crate::url::PageUrl;

use lines::{Line, lines};
use pattern::Pattern;

/// RFC 9309, 2.5: a parser must take at least 500 KiB. The rest of a longer file is ignored.
pub const ROBOTS_LIMIT: usize = 500 * 1024;
/// hostile-web.md, row 47.
const RULES: usize = 10_000;
/// Sitemaps taken from one file. The largest of 2,000 real files names fewer.
const SITEMAPS: usize = 1_000;
/// hostile-web.md, row 49: a server that asks for more is met every five minutes.
const LONGEST_DELAY: Duration = Duration::from_secs(300);

/// What a robots.txt says to us.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Robots {
    /// The rule that wins comes first.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    allow: bool,
}

/// The rules for one audience, as they gather.
#[derive(Default)]
struct Gathered {
    named: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Reads a file, as the crawler with this product token (`avocet`). All groups that name the token
    /// count together; if there is none, those for `*` do (RFC 9309, 2.2.1).
    pub fn parse(text: &[u8], token: &str) -> Self {
        let mut ours = Gathered::default();
        let mut all = Gathered::default();
        let mut sitemaps = Vec::new();
        // Whether the group at hand is for us, for all, and still being addressed.
        let (mut for_us, mut for_all, mut addressing) = (false, false, false);
        lines(text, |line| match line {
            Line::Agent(name) => {
                if !addressing {
                    (for_us, for_all, addressing) = (false, false, true);
                }
                if is_everyone(name) {
                    (for_all, all.named) = (true, true);
                } else if product_token(name).eq_ignore_ascii_case(token.as_bytes()) {
                    (for_us, ours.named) = (true, true);
                }
            }
            Line::Rule { allow, path } => {
                addressing = false;
                let rule = Pattern::read(path).map(|pattern| Rule { pattern, allow });
                if for_us {
                    ours.add(rule.clone());
                }
                if for_all {
                    all.add(rule);
                }
            }
            // RFC 9309, 2.2.4: other records must not end the group, so `addressing` stays.
            Line::Delay(value) => {
                let delay = read_delay(value);
                if for_us {
                    ours.crawl_delay = ours.crawl_delay.max(delay);
                }
                if for_all {
                    all.crawl_delay = all.crawl_delay.max(delay);
                }
            }
            Line::Sitemap(value) => {
                let value = String::from_utf8_lossy(value);
                if sitemaps.len() < SITEMAPS && !sitemaps.iter().any(|known| *known == value) {
                    sitemaps.push(value.into_owned());
                }
            }
        });
        let Gathered {
            mut rules,
            crawl_delay,
            ..
        } = if ours.named { ours } else { all };
        // RFC 9309, 2.2.2: the longest match wins; of two as long, the one that allows.
        rules.sort_by_key(|rule| std::cmp::Reverse((rule.pattern.len(), rule.allow)));
        Self {
            rules,
            crawl_delay,
            sitemaps,
        }
    }

    /// For a server without a robots.txt.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// For a server whose robots.txt is out of reach.
    pub fn disallow_all() -> Self {
        let rules = Pattern::read(b"/").map(|pattern| Rule {
            pattern,
            allow: false,
        });
        Self {
            rules: rules.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Whether a page may be fetched. The robots.txt itself always may.
    pub fn allows(&self, url: &PageUrl) -> bool {
        if self.rules.is_empty() || url.as_url().path() == "/robots.txt" {
            return true;
        }
        let path = pattern::normal_path(url.path_and_query());
        self.rules
            .iter()
            .find(|rule| rule.pattern.matches(&path))
            .is_none_or(|rule| rule.allow)
    }

    /// The time to leave between two requests, if the server asks for one; at most five minutes.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps it names, relative ones resolved against the server's URL.
    pub fn sitemaps(&self, base: &PageUrl) -> Vec<PageUrl> {
        self.sitemaps
            .iter()
            .filter_map(|text| base.join(text).ok())
            .collect()
    }
}

impl Gathered {
    fn add(&mut self, rule: Option<Rule>) {
        if self.rules.len() < RULES {
            self.rules.extend(rule);
        }
    }
}

/// `*`, alone or before anything that is not part of it.
fn is_everyone(name: &[u8]) -> bool {
    matches!(name, [b'*'] | [b'*', b' ' | b'\t', ..])
}

/// RFC 9309, 2.2.1: a product token is made of letters, `_` and `-`, and what follows is a version. Digits
/// are in names all the same (`360Spider`), and `avocet2` is not us.
fn product_token(name: &[u8]) -> &[u8] {
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let end = name
        .iter()
        .position(|byte| !is_token(byte))
        .unwrap_or(name.len());
    &name[..end]
}

/// Seconds, possibly with a fraction, clamped to what we keep; `None` for what is no number.
fn read_delay(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    // Only digits may begin it: `-1`, `NaN` and `inf` are numbers to Rust as well.
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
