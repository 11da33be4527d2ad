//! An ordering by URL: host, path and depth of the path.
//!
//! IL of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998):
//! importance is a function of the URL alone. Here it is the product of the factors of all
//! matching rules.
//!
//! | rule | matches | factor |
//! |---|---|---|
//! | `host:.edu=2` | hosts that end in `.edu`; `host:a.org=2`: a.org and its subdomains | 2 |
//! | `path:/docs/=3` | paths that begin with `/docs/` | 3 |
//! | `depth=0.8` | every path | 0.8 for each of its segments |
//!
//! A page that gets the factor 0 from a rule is never fetched.

use std::fmt;
use std::str::FromStr;

use crate::estimate::Column;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// A rule: a factor for the URLs that it matches.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationRule {
    target: RuleTarget,
    factor: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum RuleTarget {
    Host(String),
    Path(String),
    Depth,
}

/// The error for a malformed rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The rule.
    pub rule: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the rule `{}` {}", self.rule, self.why)
    }
}

impl std::error::Error for RuleError {}

impl FromStr for LocationRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |why| RuleError {
            rule: text.to_owned(),
            why,
        };
        let (target, factor) = text
            .rsplit_once('=')
            .ok_or_else(|| wrong("has no factor"))?;
        let factor: f64 = factor
            .trim()
            .parse()
            .ok()
            .filter(|factor: &f64| factor.is_finite() && *factor >= 0.0)
            .ok_or_else(|| wrong("has a factor that is not a number of at least 0"))?;
        let target = match target.trim().split_once(':') {
            None if target.trim() == "depth" => RuleTarget::Depth,
            Some(("host", host)) if !host.is_empty() => RuleTarget::Host(host.to_ascii_lowercase()),
            Some(("path", path)) if path.starts_with('/') => RuleTarget::Path(path.to_owned()),
            Some(("path", _)) => return Err(wrong("has a path that does not begin with /")),
            _ => return Err(wrong("names neither host, path nor depth")),
        };
        Ok(Self { target, factor })
    }
}

impl LocationRule {
    fn factor(&self, host: &str, path: &str) -> f64 {
        let matches = match &self.target {
            RuleTarget::Host(suffix) => ends_in(host, suffix),
            RuleTarget::Path(prefix) => path.starts_with(prefix.as_str()),
            RuleTarget::Depth => return self.factor.powf(segments(path)),
        };
        if matches { self.factor } else { 1.0 }
    }
}

fn ends_in(host: &str, suffix: &str) -> bool {
    host.strip_suffix(suffix)
        .is_some_and(|before| before.is_empty() || before.ends_with('.') || suffix.starts_with('.'))
}

fn segments(path: &str) -> f64 {
    path.split('/')
        .filter(|segment| !segment.is_empty())
        .count() as f64
}

/// Returns the host and path of a URL, without port, query and fragment.
fn host_and_path(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let port = host.rfind(':').filter(|_| !host.ends_with(']'));
    (&host[..port.unwrap_or(host.len())], path)
}

/// Worth is the product of the factors of all matching rules; 1 if none matches.
#[derive(Debug, Clone)]
pub struct Location {
    rules: Vec<LocationRule>,
    pages: Column<f32>,
}

impl Location {
    /// Creates an ordering by these rules.
    pub fn new(rules: Vec<LocationRule>) -> Self {
        Self {
            rules,
            pages: Column::default(),
        }
    }

    fn value(&self, url: &str) -> f64 {
        let (host, path) = host_and_path(url);
        self.rules
            .iter()
            .map(|rule| rule.factor(host, path))
            .product()
    }

    /// Returns whether a rule gives this URL the factor 0. The product alone does not tell, because
    /// small factors can underflow to 0.
    fn is_shut(&self, url: &str) -> bool {
        let (host, path) = host_and_path(url);
        self.rules
            .iter()
            .any(|rule| rule.factor == 0.0 && rule.factor(host, path) == 0.0)
    }
}

impl Policy for Location {
    fn needs(&self) -> Needs {
        Needs {
            words: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, _moves: &mut Moves) {
        if let Fact::Discovered(discovered) = fact {
            let url = discovered.url;
            let least = Worth::LEAST.value();
            let value = if self.is_shut(url) {
                0.0
            } else {
                self.value(url).clamp(least, f64::from(f32::MAX))
            };
            self.pages.add(discovered.page, value as f32);
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        match self.pages.get(page.number) {
            Some(0.0) => Worth::NONE,
            value => Worth::new(f64::from(value.unwrap_or(0.0))).max(Worth::LEAST),
        }
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let product = self.pages.get(page.number).unwrap_or(0.0);
        vec![Term::new("product of the rules", f64::from(product))]
    }
}
