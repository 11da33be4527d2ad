//! The scope of a crawl: which URLs belong to it.
//!
//! A URL belongs to the crawl only if the rules of the user admit it. A link that is out of scope
//! is counted and dropped.

use std::collections::BTreeSet;

use page::PageUrl;
use page::url::traps::{Rules, Trap};
use regex::Regex;
use serde::{Deserialize, Serialize};

pub use crate::blocked::Blocked;
use crate::forgotten::ForgottenPages;

/// How far from the seeds a crawl goes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// The hosts of the seeds.
    #[default]
    Host,
    /// The registrable domains of the seeds, by the public suffix list.
    Domain,
    /// URLs that begin with the URL of a seed up to the last slash of its path.
    Prefix,
    /// Everywhere.
    Any,
}

impl Reach {
    /// All values with their names.
    pub const NAMES: [(&str, Self); 4] = [
        ("host", Self::Host),
        ("domain", Self::Domain),
        ("prefix", Self::Prefix),
        ("any", Self::Any),
    ];
}

/// The scope rules as the user wrote them. The archive stores them, so that the ledger can be
/// rebuilt.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ScopeRules {
    /// The start URLs.
    pub seeds: Vec<String>,
    /// Those of the seeds that the dashboard or the API added. They do not permit access to
    /// private addresses.
    #[serde(default)]
    pub added: Vec<String>,
    /// How far from the seeds the crawl goes.
    pub reach: Reach,
    /// Regular expressions of which one must match a URL, unless the list is empty.
    pub include: Vec<String>,
    /// Regular expressions of which none may match a URL.
    pub exclude: Vec<String>,
    /// Greatest number of links from a seed.
    pub depth: Option<u16>,
    /// Blocked hosts, which are never requested.
    #[serde(default)]
    pub block: Vec<String>,
    /// Rules for single sites, which have priority over `include` and `depth` and are added to
    /// `exclude`. The first that names a host holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<SiteScope>,
    /// Pages that the operator has forgotten. They are in a file of their own in the store, and not
    /// in the archive, which must not name them.
    #[serde(skip)]
    pub forgotten: Vec<String>,
}

impl ScopeRules {
    /// Returns the seeds that the operator named on the command line or in the configuration.
    pub fn named(&self) -> Vec<String> {
        let named = self.seeds.iter().filter(|seed| !self.added.contains(seed));
        named.cloned().collect()
    }
}

/// The scope of single sites.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteScope {
    /// The hosts, as in [`ScopeRules::block`].
    pub hosts: Vec<String>,
    /// Regular expressions of which one must match a URL; if the list is empty, those of the crawl.
    #[serde(default)]
    pub include: Vec<String>,
    /// Regular expressions of which none may match a URL, beside those of the crawl.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Greatest number of links from a seed; `None`: that of the crawl.
    #[serde(default)]
    pub depth: Option<u16>,
}

/// Why a URL is out of scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Its host is blocked.
    Blocked,
    /// It is beyond the reach of the seeds, or the regular expressions exclude it.
    Scope,
    /// Too many links from a seed.
    Depth,
    /// The operator has forgotten it.
    Forgotten,
    /// Its shape is that of a spider trap.
    Trap(Trap),
}

/// The compiled scope rules.
#[derive(Debug, Clone)]
pub struct Scope {
    reach: Reach,
    places: BTreeSet<String>,
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    depth: Option<u16>,
    sites: Vec<CompiledSite>,
    block: Vec<Blocked>,
    forgotten: Vec<ForgottenPages>,
    traps: Rules,
}

/// The compiled scope of single sites.
#[derive(Debug, Clone)]
struct CompiledSite {
    hosts: Vec<Blocked>,
    include: Vec<Regex>,
    exclude: Vec<Regex>,
    depth: Option<u16>,
}

impl CompiledSite {
    fn holds(&self, url: &PageUrl) -> bool {
        self.hosts.iter().any(|host| host.holds(url))
    }
}

impl Scope {
    /// Compiles the rules.
    pub fn new(rules: &ScopeRules, traps: Rules) -> Result<Self, regex::Error> {
        let compile = |list: &[String]| -> Result<Vec<Regex>, regex::Error> {
            list.iter().map(|text| Regex::new(text)).collect()
        };
        let hosts = |list: &[String]| -> Vec<Blocked> {
            // Invalid hosts are ignored here; the check of the settings reports them.
            list.iter()
                .filter_map(|host| Blocked::parse(host).ok())
                .collect()
        };
        let sites = rules.sites.iter().map(|site| {
            Ok(CompiledSite {
                hosts: hosts(&site.hosts),
                include: compile(&site.include)?,
                exclude: compile(&site.exclude)?,
                depth: site.depth,
            })
        });
        let mut scope = Self {
            sites: sites.collect::<Result<_, regex::Error>>()?,
            reach: rules.reach,
            places: BTreeSet::new(),
            include: compile(&rules.include)?,
            exclude: compile(&rules.exclude)?,
            depth: rules.depth,
            block: hosts(&rules.block),
            // `avocet forget` stores only what it could parse.
            forgotten: (rules.forgotten.iter())
                .filter_map(|pages| ForgottenPages::parse(pages).ok())
                .collect(),
            traps,
        };
        for seed in rules
            .seeds
            .iter()
            .filter_map(|seed| PageUrl::parse(seed).ok())
        {
            scope.add_seed(&seed);
        }
        Ok(scope)
    }

    /// Adds the host, domain or prefix of a seed to the scope.
    pub fn add_seed(&mut self, seed: &PageUrl) {
        let place = match self.reach {
            Reach::Host => seed.origin().to_owned(),
            Reach::Domain => seed.registrable_domain().to_owned(),
            Reach::Prefix => prefix(seed).to_owned(),
            Reach::Any => return,
        };
        self.places.insert(place);
    }

    /// Checks a URL found `depth` links from a seed. Returns the URL to request, without
    /// session ids, or why it is out of scope.
    pub fn admit(&self, url: &PageUrl, depth: u16) -> Result<PageUrl, Outside> {
        self.judge(url, depth)?;
        self.traps.admit(url.clone()).map_err(Outside::Trap)
    }

    /// Checks whether a URL found `depth` links from a seed is in scope.
    pub fn judge(&self, url: &PageUrl, depth: u16) -> Result<(), Outside> {
        if self.block.iter().any(|host| host.holds(url)) {
            return Err(Outside::Blocked);
        }
        if self.forgotten.iter().any(|pages| pages.has(url)) {
            return Err(Outside::Forgotten);
        }
        let site = self.sites.iter().find(|site| site.holds(url));
        let most = site.and_then(|site| site.depth).or(self.depth);
        if most.is_some_and(|most| depth > most) {
            return Err(Outside::Depth);
        }
        let inside = match self.reach {
            Reach::Host => self.places.contains(url.origin()),
            Reach::Domain => self.places.contains(url.registrable_domain()),
            Reach::Prefix => self
                .places
                .iter()
                .any(|place| url.as_str().starts_with(place.as_str())),
            Reach::Any => true,
        };
        let text = url.as_str();
        let of_site = site.map(|site| &site.include);
        let include = of_site.filter(|list| !list.is_empty());
        let include = include.unwrap_or(&self.include);
        let included = include.is_empty() || include.iter().any(|one| one.is_match(text));
        let of_site = site.into_iter().flat_map(|site| &site.exclude);
        let mut exclude = self.exclude.iter().chain(of_site);
        if !inside || !included || exclude.any(|one| one.is_match(text)) {
            return Err(Outside::Scope);
        }
        self.traps.judge(url).map_err(Outside::Trap)
    }

    /// Returns whether a redirect from a seed to `target` makes the target a seed. A site that
    /// moved within its own domain (`http` to `https`, or to `www.`) is the site that the user
    /// meant.
    pub fn follows_seed(&self, seed: &PageUrl, target: &PageUrl) -> bool {
        seed.registrable_domain() == target.registrable_domain()
    }
}

fn prefix(seed: &PageUrl) -> &str {
    let text = seed.as_str();
    let path = text.find('?').unwrap_or(text.len());
    let last = text[..path].rfind('/').map_or(path, |slash| slash + 1);
    &text[..last]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(reach: Reach, seed: &str) -> Scope {
        let rules = ScopeRules {
            seeds: vec![seed.into()],
            reach,
            ..ScopeRules::default()
        };
        Scope::new(&rules, Rules::default()).unwrap()
    }

    #[test]
    fn a_site_has_its_own_depth_and_expressions() {
        let rules = ScopeRules {
            reach: Reach::Any,
            include: vec!["/guide/".into()],
            exclude: vec!["print".into()],
            depth: Some(3),
            sites: vec![SiteScope {
                hosts: vec!["*.example.org".into()],
                include: vec!["/news/".into()],
                exclude: vec!["old".into()],
                depth: Some(1),
            }],
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, Rules::default()).unwrap();
        let judge = |url: &str, depth| scope.judge(&PageUrl::parse(url).unwrap(), depth);
        assert_eq!(judge("http://example.org/guide/", 3), Ok(()));
        assert_eq!(judge("http://a.example.org/guide/", 1), Err(Outside::Scope));
        assert_eq!(judge("http://a.example.org/news/", 1), Ok(()));
        assert_eq!(judge("http://a.example.org/news/", 2), Err(Outside::Depth));
        for out in ["old", "print"] {
            let url = format!("http://a.example.org/news/{out}");
            assert_eq!(judge(&url, 1), Err(Outside::Scope), "{url}");
        }
    }

    #[test]
    fn each_reach_admits_urls_within_its_limit_and_no_others() {
        let cases = [
            (
                Reach::Host,
                "http://a.example.org/x/",
                "http://a.example.org/y",
                true,
            ),
            (
                Reach::Host,
                "http://a.example.org/x/",
                "http://b.example.org/x/",
                false,
            ),
            (
                Reach::Host,
                "http://a.example.org/x/",
                "https://a.example.org/x/",
                false,
            ),
            (
                Reach::Domain,
                "http://a.example.co.uk/",
                "https://b.example.co.uk:8443/",
                true,
            ),
            (
                Reach::Domain,
                "http://a.example.co.uk/",
                "http://other.co.uk/",
                false,
            ),
            (
                Reach::Prefix,
                "http://e.org/docs/index.html?x=/y",
                "http://e.org/docs/a",
                true,
            ),
            (
                Reach::Prefix,
                "http://e.org/docs/index.html",
                "http://e.org/docs-old/a",
                false,
            ),
            (Reach::Any, "http://e.org/", "http://elsewhere.net/", true),
        ];
        for (reach, seed, url, inside) in cases {
            let judged = scope(reach, seed).judge(&PageUrl::parse(url).unwrap(), 0);
            assert_eq!(judged.is_ok(), inside, "{reach:?} {seed} {url}");
        }
    }

    #[test]
    fn blocked_hosts_match_by_name_port_or_subdomain_and_are_out_of_scope() {
        let blocks = |text: &str, url: &str| {
            let blocked = Blocked::parse(text).unwrap();
            assert_eq!(Blocked::parse(&blocked.to_string()), Ok(blocked.clone()));
            blocked.holds(&PageUrl::parse(url).unwrap())
        };
        assert!(blocks("E.org", "https://e.org/x") && blocks("e.org", "http://e.org:81/"));
        assert!(!blocks("e.org", "http://www.e.org/") && !blocks("e.org", "http://he.org/"));
        assert!(blocks("e.org:81", "http://e.org:81/") && !blocks("e.org:81", "http://e.org/"));
        assert!(blocks("*.e.org", "http://a.b.e.org/") && !blocks("*.e.org", "http://e.org/"));
        assert!(
            blocks("[::1]", "http://[::1]:81/") && blocks("127.0.0.1:9", "http://127.0.0.1:9/")
        );
        for wrong in ["", "*", "a b", "http://e.org/", "e.org/x", "u@e.org"] {
            assert!(Blocked::parse(wrong).is_err(), "{wrong}");
        }
        let rules = ScopeRules {
            reach: Reach::Any,
            block: vec!["e.org".into()],
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, Rules::default()).unwrap();
        let judge = |url| scope.judge(&PageUrl::parse(url).unwrap(), 0);
        assert_eq!(judge("http://e.org/"), Err(Outside::Blocked));
        assert_eq!(judge("http://f.org/"), Ok(()));
        let rules = ScopeRules {
            forgotten: vec!["http://f.org/a*".into()],
            ..rules
        };
        let scope = Scope::new(&rules, Rules::default()).unwrap();
        let judge = |url| scope.judge(&PageUrl::parse(url).unwrap(), 0);
        assert_eq!(judge("http://f.org/ab"), Err(Outside::Forgotten));
        assert_eq!(judge("http://f.org/"), Ok(()));
    }

    #[test]
    fn expressions_depth_and_traps_narrow_the_scope() {
        let rules = ScopeRules {
            seeds: vec!["http://e.org/".into()],
            include: vec!["/docs/".into(), "/blog/".into()],
            exclude: vec![r"\.pdf$".into()],
            depth: Some(2),
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, Rules::default()).unwrap();
        let judge = |url, depth| scope.judge(&PageUrl::parse(url).unwrap(), depth);
        assert_eq!(judge("http://e.org/docs/a", 2), Ok(()));
        assert_eq!(judge("http://e.org/docs/a", 3), Err(Outside::Depth));
        assert_eq!(judge("http://e.org/docs/a.pdf", 0), Err(Outside::Scope));
        assert_eq!(judge("http://e.org/other", 0), Err(Outside::Scope));
        let long = format!("http://e.org/docs/{}", "x".repeat(3000));
        assert!(matches!(judge(&long, 0), Err(Outside::Trap(_))));
    }
}
