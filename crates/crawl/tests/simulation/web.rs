//! An invented web: a few sites whose pages change, move, vanish, refuse requests and lie.
//!
//! The answer of a page is a function of the seed and the time, apart from the refusals of busy
//! servers, which are drawn for each request. Faults of the network are in `network.rs`.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;
use std::time::Duration;

use page::{HostId, PageId, PageUrl, TextDigest};
use policy::Moment;

use crate::random::{SimRandom, mixed};

/// Number of different texts. There are few, so that each digest is computed only once.
const TEXTS: u64 = 256;

/// A word that every third text contains, and that focused crawls look for.
pub const TOPIC: &str = "topical";

static DIGESTS: LazyLock<Vec<(String, TextDigest)>> = LazyLock::new(|| {
    let word = |bits: u64| format!("w{}", mixed(bits) % 997);
    let text = |number: u64| {
        let mut words: Vec<String> = (0..12).map(|place| word(number * 100 + place)).collect();
        words.extend(number.is_multiple_of(3).then(|| TOPIC.to_owned()));
        words.join(" ")
    };
    let texts = (0..TEXTS).map(text);
    texts
        .map(|text| (text.clone(), TextDigest::of(&text)))
        .collect()
});

/// Parameters of a web, apart from its seed.
#[derive(Debug, Clone)]
pub struct WebShape {
    pub sites: usize,
    /// Number of pages of all sites.
    pub pages: usize,
    /// Whether sites of different domains share addresses.
    pub shared_addresses: bool,
    /// Whether some sites move to another address.
    pub moves: bool,
    /// Whether some servers refuse some requests.
    pub busy: bool,
    /// Whether one page has 300 to 3000 further links.
    pub huge: bool,
}

/// All sites.
pub struct SimWeb {
    sites: Vec<SimSite>,
    hosts: HashMap<HostId, usize>,
    pages: HashMap<PageId, (usize, usize)>,
    seed: u64,
}

/// One host.
pub struct SimSite {
    pub url: PageUrl,
    address: IpAddr,
    /// When its address changes, and the new one.
    moves: Option<(Moment, IpAddr)>,
    pub robots: RobotsTxt,
    /// The crawl delay of its robots.txt.
    pub crawl_delay: Duration,
    pages: Vec<SimPage>,
    /// Whether it answers with 200 and a text to URLs that have no page.
    soft_404: bool,
    /// Whether its validators stay the same when a page changes.
    lies: bool,
    /// The share of requests for pages that it refuses, with 429 or 503.
    refuses: f64,
    /// The `Retry-After` of these refusals.
    patience: Option<Duration>,
}

/// The answer to a request for robots.txt.
#[derive(Debug, Clone)]
pub enum RobotsTxt {
    /// A file with this text.
    Text(String),
    /// 404.
    Missing,
    /// The file cannot be fetched until this moment. Later there is none.
    Unavailable(Moment),
}

struct SimPage {
    url: PageUrl,
    nature: PageNature,
    /// The time between two versions.
    period: Duration,
    links: Vec<PageUrl>,
    /// Further links: version n of the page shows the first n mod 64 of them.
    growing: Vec<PageUrl>,
}

/// The directive of a page for crawlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    None,
    NoIndex,
    NoFollow,
    /// `noindex` in an `X-Robots-Tag`.
    NoIndexHeader,
    /// Its canonical URL is the home page.
    Canonical,
}

impl Directive {
    /// Returns whether the page must not be indexed.
    pub fn hides(self) -> bool {
        matches!(self, Self::NoIndex | Self::NoIndexHeader | Self::Canonical)
    }
}

enum PageNature {
    Text,
    /// A page whose markup is parsed.
    Directed(Directive),
    Picture,
    Status(u16),
    Redirect(u16, PageUrl),
    /// Refuses requests with 503 until this moment, with this `Retry-After`.
    Busy(Moment, Option<Duration>),
    Sitemap,
    /// Exists until this moment. Later the site answers as for a missing page.
    Vanishes(Moment),
}

/// The answer of a server.
#[derive(Debug, Clone)]
pub struct SimResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub location: Option<PageUrl>,
    pub etag: Option<String>,
    /// The number of the text; `None`: there is none.
    pub text: Option<u64>,
    /// A number that identifies the bytes of the body.
    pub body: u64,
    pub links: Vec<PageUrl>,
    /// Its directive, if its markup is to be parsed.
    pub directive: Option<Directive>,
    /// When the listed pages changed, if it is a sitemap.
    pub listed: Option<Vec<Moment>>,
}

impl SimResponse {
    fn status(status: u16) -> Self {
        Self {
            status,
            retry_after: None,
            location: None,
            etag: None,
            text: None,
            body: u64::from(status),
            links: Vec::new(),
            directive: None,
            listed: None,
        }
    }

    /// Returns the text and its digest.
    pub fn words(&self) -> Option<&'static (String, TextDigest)> {
        self.text.map(|text| &DIGESTS[(text % TEXTS) as usize])
    }
}

impl SimWeb {
    /// Invents a web that starts at `now`.
    pub fn invent(shape: &WebShape, random: &mut SimRandom, now: Moment) -> Self {
        let mut sites: Vec<SimSite> = Vec::new();
        for number in 0..shape.sites {
            sites.push(site(number, &sites, shape, random, now));
        }
        let urls = |site: usize, count: usize| {
            let name = move |page: usize| match page {
                0 => "/".to_owned(),
                page => format!("/{}/p{page}", ["a", "b", "c"][page % 3]),
            };
            let home = sites[site].url.clone();
            (0..count)
                .map(move |page| home.join(&name(page)).expect("a path"))
                .collect::<Vec<_>>()
        };
        let count = shape.pages.div_ceil(shape.sites);
        let all: Vec<Vec<PageUrl>> = (0..shape.sites).map(|site| urls(site, count)).collect();
        for site in 0..shape.sites {
            let pages = (0..count).map(|page| invent_page(site, page, &all, random, now));
            let pages: Vec<SimPage> = pages.collect();
            sites[site].pages = pages;
            let sitemap = sites[site].url.join("/sitemap.xml").expect("a path");
            sites[site].pages.push(SimPage {
                url: sitemap,
                nature: PageNature::Sitemap,
                period: random.millis(3_600_000, 40_000_000),
                links: all[site].clone(),
                growing: Vec::new(),
            });
        }
        if shape.huge {
            let (site, page) = (random.below(shape.sites), random.below(count));
            let home = sites[site].url.clone();
            let links = (0..random.between(300, 3000)).map(|number| match number % 40 {
                0 => home.join(&format!("/huge/{number}")),
                1 => Ok(all[0][number as usize % count].clone()),
                _ => PageUrl::parse(&format!("http://far.away/{number}")),
            });
            let links: Result<Vec<PageUrl>, _> = links.collect();
            sites[site].pages[page].links.extend(links.expect("URLs"));
        }
        let hosts = sites.iter().enumerate();
        let hosts = hosts.map(|(number, site)| (site.url.host(), number));
        let pages = sites.iter().enumerate().flat_map(|(number, site)| {
            let pages = site.pages.iter().enumerate();
            pages.map(move |(place, page)| (page.url.id(), (number, place)))
        });
        Self {
            hosts: hosts.collect(),
            pages: pages.collect(),
            seed: random.bits(),
            sites,
        }
    }

    /// Returns the home pages of all sites.
    pub fn homes(&self) -> impl Iterator<Item = &PageUrl> {
        self.sites.iter().map(|site| &site.url)
    }

    /// Draws a page of any site.
    pub fn any_page(&self, random: &mut SimRandom) -> PageId {
        let site = &self.sites[random.below(self.sites.len())];
        site.pages[random.below(site.pages.len())].url.id()
    }

    /// Returns the directive of a page.
    pub fn directive(&self, page: PageId) -> Directive {
        let place = self.pages.get(&page);
        match place.map(|(site, place)| &self.sites[*site].pages[*place].nature) {
            Some(PageNature::Directed(directive)) => *directive,
            _ => Directive::None,
        }
    }

    /// Returns the site of a host; `None`: the host does not exist.
    pub fn site(&self, host: HostId) -> Option<&SimSite> {
        self.hosts.get(&host).map(|number| &self.sites[*number])
    }

    /// Answers a request for a page. `etag` is the entity tag of the requester's copy.
    pub fn answer(
        &self,
        url: &PageUrl,
        etag: Option<&str>,
        now: Moment,
        random: &mut SimRandom,
    ) -> SimResponse {
        let Some(site) = self.site(url.host()) else {
            return SimResponse::status(404);
        };
        if site.refuses > 0.0 && random.chance(site.refuses) {
            return SimResponse {
                retry_after: site.patience,
                ..SimResponse::status(random.pick(&[429, 503]))
            };
        }
        let page = self.pages.get(&url.id());
        let Some(page) = page.map(|(_, place)| &site.pages[*place]) else {
            return self.missing(site);
        };
        let version = now.micros() / page.period.as_micros() as u64;
        let body = mixed(self.seed ^ page.url.id().within_host() ^ version);
        let tag = if site.lies { 0 } else { body };
        let shown = SimResponse {
            etag: Some(format!("\"{tag:x}\"")),
            text: Some(body),
            body,
            links: page.links_of(version),
            ..SimResponse::status(200)
        };
        let answer = match &page.nature {
            PageNature::Text => shown,
            PageNature::Directed(directive) => SimResponse {
                directive: Some(*directive),
                ..shown
            },
            PageNature::Vanishes(until) if now < *until => shown,
            PageNature::Vanishes(_) => self.missing(site),
            PageNature::Picture => SimResponse {
                text: None,
                links: Vec::new(),
                ..shown
            },
            PageNature::Status(status) => SimResponse::status(*status),
            PageNature::Redirect(status, to) => SimResponse {
                location: Some(to.clone()),
                ..SimResponse::status(*status)
            },
            PageNature::Busy(until, wait) if now < *until => SimResponse {
                retry_after: *wait,
                ..SimResponse::status(503)
            },
            PageNature::Busy(..) => shown,
            PageNature::Sitemap => SimResponse {
                text: None,
                listed: Some(self.modified(&shown.links, now, site.lies)),
                ..shown
            },
        };
        if answer.status == 200 && answer.etag.as_deref() == etag && etag.is_some() {
            return SimResponse {
                body: answer.body,
                ..SimResponse::status(304)
            };
        }
        answer
    }

    fn missing(&self, site: &SimSite) -> SimResponse {
        match site.soft_404 {
            true => SimResponse {
                text: Some(self.seed),
                body: self.seed,
                ..SimResponse::status(200)
            },
            false => SimResponse::status(404),
        }
    }

    /// Returns when pages changed, according to the sitemap of their site.
    fn modified(&self, pages: &[PageUrl], now: Moment, lies: bool) -> Vec<Moment> {
        let modified = |url: &PageUrl| {
            let page = self.pages.get(&url.id());
            let Some((site, place)) = page.filter(|_| !lies) else {
                return now;
            };
            let period = self.sites[*site].pages[*place].period.as_micros() as u64;
            Moment::from_micros(now.micros() / period * period)
        };
        pages.iter().map(modified).collect()
    }
}

impl SimSite {
    /// Returns its address at a moment.
    pub fn address(&self, now: Moment) -> IpAddr {
        match self.moves {
            Some((at, address)) if at <= now => address,
            _ => self.address,
        }
    }
}

impl SimPage {
    fn links_of(&self, version: u64) -> Vec<PageUrl> {
        let mut links = self.links.clone();
        let grown = self.growing.iter().take((version % 64) as usize);
        links.extend(grown.cloned());
        links
    }
}

fn site(
    number: usize,
    others: &[SimSite],
    shape: &WebShape,
    random: &mut SimRandom,
    now: Moment,
) -> SimSite {
    let domain = number / 2;
    let url = format!("http://h{number}.site{domain}.org/");
    let url = PageUrl::parse(&url).expect("a URL");
    let fresh = |host: usize| {
        let loopback = number.is_multiple_of(3);
        let net = if loopback { 127 } else { 10 };
        IpAddr::V4(Ipv4Addr::new(net, 0, host as u8, number as u8))
    };
    let sibling = others.iter().rev().find(|other| {
        shape.shared_addresses || other.url.registrable_domain() == url.registrable_domain()
    });
    let address = match sibling.filter(|_| random.chance(0.4)) {
        Some(sibling) => sibling.address,
        None => fresh(0),
    };
    let moves = (shape.moves && random.chance(0.3)).then(|| {
        let at = now + random.millis(1_000, 120_000);
        let other = sibling.filter(|_| random.chance(0.5));
        (at, other.map_or(fresh(1), |other| other.address))
    });
    let crawl_delay = Duration::from_secs(match random.below(4) {
        0 => random.between(2, 12),
        _ => 0,
    });
    let robots = match random.below(8) {
        0 => RobotsTxt::Missing,
        1 if random.chance(0.5) => RobotsTxt::Unavailable(now + random.millis(100, 30_000)),
        _ => {
            let mut text = String::from("User-agent: *\n");
            if random.chance(0.3) {
                text.push_str("Disallow: /b/\n");
            }
            if !crawl_delay.is_zero() {
                text.push_str(&format!("Crawl-delay: {}\n", crawl_delay.as_secs()));
            }
            if random.chance(0.5) {
                text.push_str(&format!("Sitemap: {url}sitemap.xml\n"));
            }
            RobotsTxt::Text(text)
        }
    };
    let crawl_delay = match &robots {
        RobotsTxt::Text(_) => crawl_delay,
        _ => Duration::ZERO,
    };
    let refuses = if shape.busy && random.chance(0.3) {
        0.15
    } else {
        0.0
    };
    let patience = random.chance(0.5).then(|| {
        let most = random.pick(&[20, 400]);
        Duration::from_secs(random.between(1, most))
    });
    SimSite {
        url,
        address,
        moves,
        robots,
        crawl_delay,
        pages: Vec::new(),
        soft_404: random.chance(0.2),
        lies: random.chance(0.2),
        refuses,
        patience,
    }
}

fn invent_page(
    site: usize,
    page: usize,
    all: &[Vec<PageUrl>],
    random: &mut SimRandom,
    now: Moment,
) -> SimPage {
    let any = |random: &mut SimRandom| {
        let to = match random.chance(0.7) {
            true => site,
            false => random.below(all.len()),
        };
        all[to][random.below(all[to].len())].clone()
    };
    let mut links: Vec<PageUrl> = (0..random.between(0, 6)).map(|_| any(random)).collect();
    // A binary tree of links from the home page makes most pages reachable.
    links.extend(all[site].get(page * 2 + 1).cloned());
    links.extend(all[site].get(page * 2 + 2).cloned());
    if page == 0 {
        links.extend(all[(site + 1) % all.len()].first().cloned());
    }
    if random.chance(0.2) {
        links.extend(PageUrl::parse("http://nowhere.invalid/"));
        links.extend(PageUrl::parse("http://far.away/x"));
    }
    let later = now + random.millis(1_000, 7_200_000);
    let nature = match random.below(20) {
        0 => PageNature::Status(random.pick(&[404, 410, 403, 500, 204])),
        1 => PageNature::Redirect(random.pick(&[301, 302]), any(random)),
        2 => PageNature::Picture,
        3 => PageNature::Vanishes(later),
        4 => {
            let wait = random.chance(0.5);
            let wait = wait.then(|| Duration::from_secs(random.between(1, 500)));
            PageNature::Busy(now + random.millis(1_000, 60_000), wait)
        }
        // The canonical URL of a home page would be itself.
        5 if page > 0 => PageNature::Directed(random.pick(&[
            Directive::None,
            Directive::NoIndex,
            Directive::NoFollow,
            Directive::NoIndexHeader,
            Directive::Canonical,
        ])),
        _ => PageNature::Text,
    };
    let mut growing = Vec::new();
    if random.chance(0.1) {
        let grown = (0..8).map(|number| all[site][0].join(&format!("/new/{page}-{number}")));
        growing = grown.filter_map(Result::ok).collect();
    }
    SimPage {
        url: all[site][page].clone(),
        nature,
        period: random.millis(60_000, 200_000_000),
        links,
        growing,
    }
}
