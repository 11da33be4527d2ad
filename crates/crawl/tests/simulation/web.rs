//! An invented web: a few sites of a few pages that change, move, vanish, refuse and lie.
//!
//! What a page answers is a function of the seed and the time. Faults of the network are not here (`network.rs`).

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;
use std::time::Duration;

use page::{Digest, HostId, PageId, PageUrl};
use policy::Moment;

use crate::random::{Random, mixed};

/// Texts that pages have. Few, so that measuring them costs nothing.
const TEXTS: u64 = 256;

/// A word that every third text has.
pub const TOPIC: &str = "topical";

static DIGESTS: LazyLock<Vec<(String, Digest)>> = LazyLock::new(|| {
    let word = |bits: u64| format!("w{}", mixed(bits) % 997);
    let text = |number: u64| {
        let mut words: Vec<String> = (0..12).map(|place| word(number * 100 + place)).collect();
        words.extend(number.is_multiple_of(3).then(|| TOPIC.to_owned()));
        words.join(" ")
    };
    let texts = (0..TEXTS).map(text);
    texts
        .map(|text| (text.clone(), Digest::of(&text)))
        .collect()
});

/// What the web looks like, beside its seed.
#[derive(Debug, Clone)]
pub struct Shape {
    pub sites: usize,
    /// Pages of all sites.
    pub pages: usize,
    /// Whether sites of different domains share addresses.
    pub shared_addresses: bool,
    /// Whether some sites move to another address.
    pub moves: bool,
    /// Whether servers refuse now and then.
    pub busy: bool,
    /// Whether one page names thousands of links.
    pub huge: bool,
}

/// All sites.
pub struct Web {
    sites: Vec<Site>,
    hosts: HashMap<HostId, usize>,
    pages: HashMap<PageId, (usize, usize)>,
    seed: u64,
}

/// One host.
pub struct Site {
    pub url: PageUrl,
    address: IpAddr,
    /// From when on it has another address.
    moves: Option<(Moment, IpAddr)>,
    pub robots: RobotsTxt,
    /// The delay that robots.txt asks for.
    pub crawl_delay: Duration,
    pages: Vec<Page>,
    /// Whether it answers with 200 to any URL.
    soft_404: bool,
    /// Whether its validators stay the same when a page changes.
    lies: bool,
    /// The share of requests that it refuses, and whether it says for how long.
    refuses: f64,
    patience: Option<Duration>,
}

/// What a site answers to a request for robots.txt.
#[derive(Debug, Clone)]
pub enum RobotsTxt {
    /// A file with this text.
    Text(String),
    /// 404.
    Missing,
    /// 503 or no answer, until this moment.
    Unavailable(Moment),
}

struct Page {
    url: PageUrl,
    nature: Nature,
    /// The time between two versions.
    period: Duration,
    links: Vec<PageUrl>,
    /// A link that each version adds.
    growing: Vec<PageUrl>,
}

/// What a page says of itself to crawlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directive {
    None,
    NoIndex,
    NoFollow,
    /// The same, in `X-Robots-Tag`.
    NoIndexHeader,
    /// Its canonical form is the home page.
    Canonical,
}

impl Directive {
    /// Whether the page is not to be found by search.
    pub fn hides(self) -> bool {
        matches!(self, Self::NoIndex | Self::NoIndexHeader | Self::Canonical)
    }
}

enum Nature {
    Text,
    /// A page whose markup is parsed.
    Directed(Directive),
    Picture,
    Status(u16),
    Redirect(u16, PageUrl),
    /// Refuses until then.
    Busy(Moment, Option<Duration>),
    Sitemap,
    /// Found until then, and 404 later.
    Vanishes(Moment),
}

/// What a server answers.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub location: Option<PageUrl>,
    pub etag: Option<String>,
    /// The number of the text; `None`: there is none to read.
    pub text: Option<u64>,
    /// What tells two bodies apart.
    pub body: u64,
    pub links: Vec<PageUrl>,
    /// What it says to crawlers, if its markup is to be parsed.
    pub directive: Option<Directive>,
    /// When the listed pages changed, if it is a sitemap.
    pub listed: Option<Vec<Moment>>,
}

impl Response {
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

    /// The text and its measures.
    pub fn words(&self) -> Option<&'static (String, Digest)> {
        self.text.map(|text| &DIGESTS[(text % TEXTS) as usize])
    }
}

impl Web {
    /// Invents a web that exists from `now` on.
    pub fn invent(shape: &Shape, random: &mut Random, now: Moment) -> Self {
        let mut sites: Vec<Site> = Vec::new();
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
            let pages: Vec<Page> = pages.collect();
            sites[site].pages = pages;
            let sitemap = sites[site].url.join("/sitemap.xml").expect("a path");
            sites[site].pages.push(Page {
                url: sitemap,
                nature: Nature::Sitemap,
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

    /// Home pages of the sites.
    pub fn homes(&self) -> impl Iterator<Item = &PageUrl> {
        self.sites.iter().map(|site| &site.url)
    }

    /// A page of some site.
    pub fn any_page(&self, random: &mut Random) -> PageId {
        let site = &self.sites[random.below(self.sites.len())];
        site.pages[random.below(site.pages.len())].url.id()
    }

    /// What a page says to crawlers.
    pub fn directive(&self, page: PageId) -> Directive {
        let place = self.pages.get(&page);
        match place.map(|(site, place)| &self.sites[*site].pages[*place].nature) {
            Some(Nature::Directed(directive)) => *directive,
            _ => Directive::None,
        }
    }

    /// The site of a host; `None`: the name does not exist.
    pub fn site(&self, host: HostId) -> Option<&Site> {
        self.hosts.get(&host).map(|number| &self.sites[*number])
    }

    /// What a server answers to a request for a page, from one who has a copy with this entity tag.
    pub fn answer(
        &self,
        url: &PageUrl,
        etag: Option<&str>,
        now: Moment,
        random: &mut Random,
    ) -> Response {
        let Some(site) = self.site(url.host()) else {
            return Response::status(404);
        };
        if site.refuses > 0.0 && random.chance(site.refuses) {
            return Response {
                retry_after: site.patience,
                ..Response::status(random.pick(&[429, 503]))
            };
        }
        let page = self.pages.get(&url.id());
        let Some(page) = page.map(|(_, place)| &site.pages[*place]) else {
            return self.missing(site);
        };
        let version = now.micros() / page.period.as_micros() as u64;
        let body = mixed(self.seed ^ page.url.id().within_host() ^ version);
        let tag = if site.lies { 0 } else { body };
        let shown = Response {
            etag: Some(format!("\"{tag:x}\"")),
            text: Some(body),
            body,
            links: page.links_of(version),
            ..Response::status(200)
        };
        let answer = match &page.nature {
            Nature::Text => shown,
            Nature::Directed(directive) => Response {
                directive: Some(*directive),
                ..shown
            },
            Nature::Vanishes(until) if now < *until => shown,
            Nature::Vanishes(_) => self.missing(site),
            Nature::Picture => Response {
                text: None,
                links: Vec::new(),
                ..shown
            },
            Nature::Status(status) => Response::status(*status),
            Nature::Redirect(status, to) => Response {
                location: Some(to.clone()),
                ..Response::status(*status)
            },
            Nature::Busy(until, wait) if now < *until => Response {
                retry_after: *wait,
                ..Response::status(503)
            },
            Nature::Busy(..) => shown,
            Nature::Sitemap => Response {
                text: None,
                listed: Some(self.modified(&shown.links, now, site.lies)),
                ..shown
            },
        };
        if answer.status == 200 && answer.etag.as_deref() == etag && etag.is_some() {
            return Response {
                body: answer.body,
                ..Response::status(304)
            };
        }
        answer
    }

    fn missing(&self, site: &Site) -> Response {
        match site.soft_404 {
            true => Response {
                text: Some(self.seed),
                body: self.seed,
                ..Response::status(200)
            },
            false => Response::status(404),
        }
    }

    /// When pages changed, as the sitemap of their site says.
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

impl Site {
    /// Its address at a moment.
    pub fn address(&self, now: Moment) -> IpAddr {
        match self.moves {
            Some((at, address)) if at <= now => address,
            _ => self.address,
        }
    }
}

impl Page {
    fn links_of(&self, version: u64) -> Vec<PageUrl> {
        let mut links = self.links.clone();
        let grown = self.growing.iter().take((version % 64) as usize);
        links.extend(grown.cloned());
        links
    }
}

fn site(number: usize, others: &[Site], shape: &Shape, random: &mut Random, now: Moment) -> Site {
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
    Site {
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
    random: &mut Random,
    now: Moment,
) -> Page {
    let any = |random: &mut Random| {
        let to = match random.chance(0.7) {
            true => site,
            false => random.below(all.len()),
        };
        all[to][random.below(all[to].len())].clone()
    };
    let mut links: Vec<PageUrl> = (0..random.between(0, 6)).map(|_| any(random)).collect();
    // Most pages can be reached.
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
        0 => Nature::Status(random.pick(&[404, 410, 403, 500, 204])),
        1 => Nature::Redirect(random.pick(&[301, 302]), any(random)),
        2 => Nature::Picture,
        3 => Nature::Vanishes(later),
        4 => {
            let wait = random.chance(0.5);
            let wait = wait.then(|| Duration::from_secs(random.between(1, 500)));
            Nature::Busy(now + random.millis(1_000, 60_000), wait)
        }
        // The canonical form of a home page would be itself.
        5 if page > 0 => Nature::Directed(random.pick(&[
            Directive::None,
            Directive::NoIndex,
            Directive::NoFollow,
            Directive::NoIndexHeader,
            Directive::Canonical,
        ])),
        _ => Nature::Text,
    };
    let mut growing = Vec::new();
    if random.chance(0.1) {
        let grown = (0..8).map(|number| all[site][0].join(&format!("/new/{page}-{number}")));
        growing = grown.filter_map(Result::ok).collect();
    }
    Page {
        url: all[site][page].clone(),
        nature,
        period: random.millis(60_000, 200_000_000),
        links,
        growing,
    }
}
