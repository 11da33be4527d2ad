//! Pages by where they are.
//!
//! IL of Cho, Garcia-Molina & Page, "Efficient crawling through URL ordering" (1998): importance is a
//! function of the URL alone. Here it is a product of the factors of all rules that match.
//!
//! | rule | matches | factor |
//! |---|---|---|
//! | `host:.edu=2` | hosts that end in `.edu`; `host:a.org=2`: a.org and what is under it | 2 |
//! | `path:/docs/=3` | paths that begin with `/docs/` | 3 |
//! | `depth=0.8` | every path | .8 for each of its segments |
//!
//! A factor of zero keeps what matches from being fetched at all.

use std::fmt;
use std::str::FromStr;

use crate::estimate::Column;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// What a part of the web is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    place: Place,
    factor: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Place {
    Host(String),
    Path(String),
    Depth,
}

/// A rule that cannot be read.
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

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |why| RuleError {
            rule: text.to_owned(),
            why,
        };
        let (place, factor) = text
            .rsplit_once('=')
            .ok_or_else(|| wrong("has no factor"))?;
        let factor: f64 = factor
            .trim()
            .parse()
            .ok()
            .filter(|factor: &f64| factor.is_finite() && *factor >= 0.0)
            .ok_or_else(|| wrong("its factor is no number from 0 up"))?;
        let place = match place.trim().split_once(':') {
            None if place.trim() == "depth" => Place::Depth,
            Some(("host", host)) if !host.is_empty() => Place::Host(host.to_ascii_lowercase()),
            Some(("path", path)) if path.starts_with('/') => Place::Path(path.to_owned()),
            Some(("path", _)) => return Err(wrong("a path begins with /")),
            _ => return Err(wrong("is about neither host, path nor depth")),
        };
        Ok(Self { place, factor })
    }
}

impl Rule {
    fn factor(&self, host: &str, path: &str) -> f64 {
        let matches = match &self.place {
            Place::Host(suffix) => ends_in(host, suffix),
            Place::Path(prefix) => path.starts_with(prefix.as_str()),
            Place::Depth => return self.factor.powf(segments(path)),
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

/// Host and path of a URL, without port, query and fragment.
fn host_and_path(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let port = host.rfind(':').filter(|_| !host.ends_with(']'));
    (&host[..port.unwrap_or(host.len())], path)
}

/// Worth is the product of the rules; 1 where none matches.
#[derive(Debug, Clone)]
pub struct Location {
    rules: Vec<Rule>,
    pages: Column<f32>,
}

impl Location {
    /// An ordering by these rules.
    pub fn new(rules: Vec<Rule>) -> Self {
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
