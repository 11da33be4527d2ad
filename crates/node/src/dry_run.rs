//! What a crawl would do with one URL: a dry run that needs no store and keeps nothing.
//!
//! The same code as in a crawl judges the URL, its robots.txt and its answer, so the result is that
//! of a first visit. Two things differ: no page is requested to learn how the host answers for
//! missing pages, and a URL out of scope is requested, because the operator named it.
//!
//! **Invariant:** a URL that robots.txt forbids, or whose host is blocked, is not requested.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use crawl::scope::{Outside, Scope};
use crawl::verdict::{Asked, Details, Verdict};
use crawl::{Answer, AnswerText, TOKEN};
use fetch::{Connection, FetchAnswer, FetchRequest, Fetcher, RobotsVerdict, Trouble};
use page::article::article;
use page::listing::ListingKind;
use page::{PageReading, PageUrl, Robots, language};
use serde::Serialize;

use crate::answer;
use crate::clock::Clock;
use crate::documents;
use crate::engine::plan::EnginePlan;
use crate::readable::stated::Stated;

/// Maximum number of redirects that are followed. A crawl follows ten, each as a page of its own.
const REDIRECTS: usize = 5;
/// Number of hosts out of scope that the result names.
const NAMED_HOSTS: usize = 5;

/// What a crawl would do with one URL.
#[derive(Debug, Clone, Serialize)]
pub struct PageCheck {
    /// The URL in its normal form, after redirects.
    pub url: String,
    /// The URLs that redirected, in order.
    pub redirects: Vec<String>,
    /// Whether the URL is in scope.
    pub in_scope: bool,
    /// Why the URL is out of scope.
    pub outside: Option<String>,
    /// What robots.txt of the host says. `None`: it was not requested.
    pub robots: Option<RobotsCheck>,
    /// Why there is no page: an error code.
    pub error: Option<String>,
    /// The same in words.
    pub why: Option<String>,
    /// The HTTP status. `None`: there was no answer.
    pub status: Option<u16>,
    /// Bytes received for the page.
    pub bytes: u64,
    /// Time from the request to the end of the answer, in milliseconds.
    pub took_ms: u64,
    /// The `Content-Type`.
    pub content_type: Option<String>,
    /// The `Last-Modified` date of the server.
    pub last_modified: Option<String>,
    /// The format of a document that was read, such as `pdf`. `None`: it is none.
    pub document: Option<&'static str>,
    /// The kind, if the page lists others: `sitemap`, `index` (of sitemaps) or `feed`.
    pub listing: Option<&'static str>,
    /// Its links. `None`: no page was read.
    pub links: Option<LinkCheck>,
    /// Its text. `None`: it has none.
    pub text: Option<TextCheck>,
    /// Whether search would find it.
    pub indexed: bool,
    /// The reasons why search would not find it.
    pub why_not_indexed: Vec<String>,
}

/// What a robots.txt says about a URL.
#[derive(Debug, Clone, Serialize)]
pub struct RobotsCheck {
    /// `found`, `missing` (everything is allowed) or `unavailable` (everything is forbidden).
    pub file: &'static str,
    /// Whether the URL may be requested.
    pub allowed: bool,
    /// Its `Crawl-delay` in seconds.
    pub crawl_delay: Option<f64>,
    /// The sitemaps that it names.
    pub sitemaps: Vec<String>,
}

/// The links of a page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LinkCheck {
    /// Links that a crawl would follow.
    pub in_scope: usize,
    /// Links out of scope.
    pub outside: usize,
    /// The hosts that most of these lead to, each with the number of links.
    pub outside_hosts: Vec<(String, usize)>,
    /// Links that the page asks not to follow (`nofollow`).
    pub nofollow: usize,
}

/// The text of a page.
#[derive(Debug, Clone, Serialize)]
pub struct TextCheck {
    /// Its title; may be empty.
    pub title: String,
    /// Characters of its visible text, navigation included.
    pub characters: usize,
    /// Characters of its main text.
    pub main_characters: usize,
    /// How the main text was found: `article`, `whole` or `fallback`.
    pub extraction: &'static str,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// Its metadata: authors, dates and others.
    pub fields: Stated,
}

impl PageCheck {
    /// Returns whether an answer with a page was received.
    pub fn has_page(&self) -> bool {
        self.status
            .is_some_and(|status| (200..300).contains(&status))
    }

    fn new(url: &PageUrl, outside: Option<Outside>) -> Self {
        Self {
            url: url.as_str().to_owned(),
            redirects: Vec::new(),
            in_scope: outside.is_none(),
            outside: outside.map(described),
            robots: None,
            error: None,
            why: None,
            status: None,
            bytes: 0,
            took_ms: 0,
            content_type: None,
            last_modified: None,
            document: None,
            listing: None,
            links: None,
            text: None,
            indexed: false,
            why_not_indexed: Vec::new(),
        }
    }

    fn failed(mut self, error: &str, why: String) -> Self {
        self.error = Some(error.to_owned());
        self.why = Some(why);
        self
    }
}

/// Checks a URL by the settings of a crawl. Makes at most one request for robots.txt and one for
/// the page to each host, with the delay that the host wants.
pub async fn check_page(url: &PageUrl, plan: &EnginePlan) -> Result<PageCheck> {
    let mut scope =
        Scope::new(&plan.scope, plan.traps.clone()).context("--include or --exclude")?;
    let mut dry_run = DryRun {
        plan,
        fetcher: Fetcher::new(plan.fetch.clone())?,
        connection: None,
        robots: None,
    };
    let mut url = url.clone();
    let mut redirects = Vec::new();
    loop {
        let mut check = PageCheck::new(&url, scope.judge(&url, 0).err());
        check.redirects.clone_from(&redirects);
        let (check, target) = dry_run.visit(&url, &scope, check).await;
        let known = |target: &PageUrl| redirects.iter().any(|known| known == target.as_str());
        let Some(target) = target.filter(|target| *target != url && !known(target)) else {
            return Ok(check);
        };
        if redirects.len() == REDIRECTS {
            let why = format!("more than {REDIRECTS} redirects in a row");
            return Ok(check.failed("redirect:too-many", why));
        }
        if scope.follows_seed(&url, &target) && check.in_scope {
            scope.add_seed(&target);
        }
        redirects.push(url.as_str().to_owned());
        url = target;
    }
}

/// The state of a dry run between two redirects.
struct DryRun<'a> {
    plan: &'a EnginePlan,
    fetcher: Fetcher,
    connection: Option<Connection>,
    /// The rules of the host that was asked last.
    robots: Option<(page::HostId, Robots, RobotsCheck)>,
}

impl DryRun<'_> {
    /// Requests one URL, if that is allowed. Returns what was found, and the target if the answer
    /// is a redirect.
    async fn visit(
        &mut self,
        url: &PageUrl,
        scope: &Scope,
        mut check: PageCheck,
    ) -> (PageCheck, Option<PageUrl>) {
        if scope.judge(url, 0) == Err(Outside::Blocked) {
            let why = "its host is in [crawl] block".to_owned();
            return (check.failed("blocked", why), None);
        }
        if let Err(trouble) = self.plan.fetch.check_url(url) {
            return (refused(check, &trouble), None);
        }
        let rules = match self.rules(url).await {
            Ok((rules, found)) => {
                check.robots = Some(RobotsCheck {
                    allowed: rules.allows(url),
                    ..found
                });
                rules
            }
            Err(trouble) => {
                let unavailable = RobotsCheck {
                    file: "unavailable",
                    allowed: false,
                    crawl_delay: None,
                    sitemaps: Vec::new(),
                };
                check.robots = Some(unavailable);
                return (refused(check, &trouble), None);
            }
        };
        if check
            .robots
            .as_ref()
            .is_some_and(|robots| robots.file == "unavailable")
        {
            let why = "robots.txt cannot be fetched now, and without it nothing may be requested";
            return (check.failed("robots:unavailable", why.into()), None);
        }
        if !rules.allows(url) {
            let why = format!("robots.txt of {} forbids it", url.origin());
            return (check.failed("robots", why), None);
        }
        let answer = match self.get(url, rules.crawl_delay()).await {
            Ok(answer) => answer,
            Err(trouble) => return (refused(check, &trouble), None),
        };
        check.bytes = answer.wire_bytes;
        check.took_ms = u64::try_from(answer.total.as_millis()).unwrap_or(u64::MAX);
        match answer.outcome {
            Ok(response) => {
                let mut answer = answer::live(&response, url, TOKEN, None);
                documents::read(&mut answer);
                let target = answer.location.clone().and_then(Result::ok);
                let target = target.filter(|_| (300..400).contains(&answer.status));
                (judged(check, url, scope, &answer), target)
            }
            Err(trouble) => (refused(check, &trouble), None),
        }
    }

    /// Returns the rules of a host, and what its robots.txt says.
    async fn rules(&mut self, url: &PageUrl) -> Result<(Robots, RobotsCheck), Trouble> {
        if let Some((host, rules, found)) = &self.robots
            && *host == url.host()
        {
            return Ok((rules.clone(), found.clone()));
        }
        self.connection = None;
        let answer = self.fetcher.robots(url, &mut self.connection).await;
        if let (RobotsVerdict::Unavailable, Some(trouble)) = (&answer.verdict, answer.trouble) {
            return Err(trouble);
        }
        let (file, rules) = match &answer.verdict {
            RobotsVerdict::Found(text) => ("found", Robots::parse(text, TOKEN)),
            RobotsVerdict::Missing => ("missing", Robots::allow_all()),
            RobotsVerdict::Unavailable => ("unavailable", Robots::disallow_all()),
        };
        let sitemaps = rules.sitemaps(url).into_iter();
        let found = RobotsCheck {
            file,
            allowed: false,
            crawl_delay: rules.crawl_delay().map(|delay| delay.as_secs_f64()),
            sitemaps: sitemaps.map(|url| url.as_str().to_owned()).collect(),
        };
        self.robots = Some((url.host(), rules.clone(), found.clone()));
        Ok((rules, found))
    }

    /// Requests a page, after the delay that its server wants.
    async fn get(
        &mut self,
        url: &PageUrl,
        crawl_delay: Option<Duration>,
    ) -> Result<FetchAnswer, Trouble> {
        let request = FetchRequest {
            url,
            etag: None,
            last_modified: None,
        };
        // A kept connection may turn out to be closed: then the request is repeated once.
        for last in [false, true] {
            let kept = self.connection.take();
            let kept = kept.filter(|open| open.is_open() && open.leads_to(url));
            let mut connection = match kept {
                Some(open) => open,
                None => self.connect(url).await?,
            };
            let loopback = connection.address().ip().is_loopback();
            tokio::time::sleep(self.plan.rules.pace(url, loopback, crawl_delay).delay).await;
            let answer = connection.get(&request).await;
            let again = answer.outcome.as_ref().is_err_and(Trouble::is_repeatable);
            if last || !again {
                self.connection = Some(connection);
                return Ok(answer);
            }
        }
        Err(Trouble::Stale)
    }

    async fn connect(&self, url: &PageUrl) -> Result<Connection, Trouble> {
        let route = self.fetcher.route(url).await?;
        match self.fetcher.connect(url, &route).await {
            // The fetcher has remembered the HTTP version of this server.
            Err(Trouble::NotHttp2 | Trouble::NotHttp1) => self.fetcher.connect(url, &route).await,
            done => done,
        }
    }
}

fn refused(check: PageCheck, trouble: &Trouble) -> PageCheck {
    let hint = match trouble {
        Trouble::PrivateAddress(_) | Trouble::Port(_) => " (--allow-private permits it)",
        _ => "",
    };
    check.failed(trouble.kind(), format!("{trouble}{hint}"))
}

fn described(outside: Outside) -> String {
    match outside {
        Outside::Blocked => "its host is blocked".into(),
        Outside::Scope => "it is beyond --scope, or --include and --exclude leave it out".into(),
        Outside::Forgotten => "the operator has forgotten it (avocet forget)".into(),
        Outside::Depth => "it is deeper than --depth".into(),
        Outside::Trap(trap) => trap.to_string(),
    }
}

/// Fills in what an answer means for a first visit.
fn judged(mut check: PageCheck, url: &PageUrl, scope: &Scope, answer: &Answer) -> PageCheck {
    let asked = Asked {
        at: Clock::start().now(),
        details: Details::ALL,
        ..Asked::again(url)
    };
    let ours = |url: &PageUrl| scope.judge(url, 0).is_ok();
    let verdict = asked.judge(answer, check.bytes, &ours);
    check.status = Some(answer.status);
    check.error.clone_from(&verdict.visited.error);
    check.content_type.clone_from(&answer.content_type);
    check.last_modified.clone_from(&answer.last_modified);
    check.listing = verdict.listing.map(|kind| match kind {
        ListingKind::Sitemap => "sitemap",
        ListingKind::Index => "index",
        ListingKind::Feed => "feed",
    });
    check.indexed = verdict.text.is_some();
    if !(200..300).contains(&answer.status) {
        check.why_not_indexed = vec![format!("its status is {}", answer.status)];
        return check;
    }
    check.document = answer.document_format();
    check.why = check
        .error
        .as_deref()
        .and_then(documents::explained)
        .map(str::to_owned);
    let text = answer.text();
    let html = match &text {
        Some(AnswerText::Html(html)) => Some(page::read(html, url, &page::ReadLimits::default())),
        _ => None,
    };
    check.links = Some(links(&verdict, html.as_ref(), scope));
    if verdict.listing.is_none() {
        check.text = match (&html, &text) {
            (Some(reading), Some(AnswerText::Html(html))) => {
                Some(html_text(reading, html, url, answer))
            }
            (_, Some(AnswerText::Plain(text))) => Some(plain_text(text, answer)),
            _ => None,
        };
    }
    if !check.indexed {
        check.why_not_indexed = reasons(&check, answer, html.as_ref(), url, &ours);
    }
    check
}

fn links(verdict: &Verdict, html: Option<&PageReading>, scope: &Scope) -> LinkCheck {
    let mut links = LinkCheck::default();
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for lead in &verdict.leads {
        match scope.judge(&lead.url, 1) {
            Ok(()) => links.in_scope += 1,
            Err(_) => {
                links.outside += 1;
                *hosts.entry(lead.url.host_name()).or_default() += 1;
            }
        }
    }
    let mut hosts: Vec<(String, usize)> = (hosts.into_iter())
        .map(|(host, links)| (host.to_owned(), links))
        .collect();
    hosts.sort_by_key(|(_, links)| std::cmp::Reverse(*links));
    hosts.truncate(NAMED_HOSTS);
    links.outside_hosts = hosts;
    links.nofollow = html.map_or(0, |reading| match verdict.leads.is_empty() {
        // The page or its header forbids to follow any link, or it has none.
        true => reading.links.len(),
        false => reading.links.iter().filter(|link| link.nofollow).count(),
    });
    links
}

fn html_text(reading: &PageReading, html: &str, url: &PageUrl, answer: &Answer) -> TextCheck {
    let article = article(html, url);
    let claim = reading.language.as_deref().or(answer.language.as_deref());
    TextCheck {
        title: reading.title.clone(),
        characters: reading.text.chars().count(),
        main_characters: article.text.chars().count(),
        extraction: article.extraction.name(),
        language: language::detect(&reading.text, claim),
        fields: reading.fields.clone().into(),
    }
}

fn plain_text(text: &str, answer: &Answer) -> TextCheck {
    let characters = text.chars().count();
    TextCheck {
        title: String::new(),
        characters,
        main_characters: characters,
        extraction: "whole",
        language: language::detect(text, answer.language.as_deref()),
        fields: Stated::default(),
    }
}

/// Returns the reasons why a page with a 2xx answer is not indexed.
fn reasons(
    check: &PageCheck,
    answer: &Answer,
    html: Option<&PageReading>,
    url: &PageUrl,
    ours: &dyn Fn(&PageUrl) -> bool,
) -> Vec<String> {
    let mut reasons = Vec::new();
    if answer.directives.noindex {
        reasons.push("its X-Robots-Tag header says noindex".to_owned());
    }
    if html.is_some_and(|reading| reading.robots.noindex) {
        reasons.push("its meta element \"robots\" says noindex".to_owned());
    }
    let canonical = html.and_then(|reading| reading.canonical.as_ref());
    if let Some(other) = canonical.filter(|other| *other != url && ours(other)) {
        reasons.push(format!("it names {other} as its canonical URL"));
    }
    if let Some(kind) = check.listing {
        reasons.push(format!("it is a {kind}, which names pages and is none"));
    } else if let Some(Err(code)) = answer.document {
        reasons.extend(documents::explained(code).map(str::to_owned));
    } else if check.text.is_none() {
        let kind = answer.content_type.as_deref().unwrap_or("no type stated");
        reasons.push(format!(
            "it is neither HTML, plain text nor a document that is read ({kind})"
        ));
    }
    if reasons.is_empty() {
        reasons.push(format!(
            "its answer has status {} and no text",
            answer.status
        ));
    }
    reasons
}
