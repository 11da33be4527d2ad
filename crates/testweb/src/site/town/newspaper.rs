//! The Estuary Courier, a newspaper: articles and their corrections.
//!
//! The newest articles are on the front page and in their section, in a feed and in a news
//! sitemap. One in twelve is a live report, which at speed 1 changes every 15 s on average.

use figure::escaped;
use rand::RngExt;

use super::super::life::PageLife;
use super::super::plan::Spread;
use super::super::web::{InventedPage, PageNumber, Web};
use super::page::TownPageKind;
use super::words::{EVENTS, Scene, any, slug};
use super::{NEWSPAPER, PageDynamics, TownBuilder};
use crate::chance::{For, stream};

const SECTIONS: [&str; 4] = ["Harbour", "Council", "Nature", "Culture"];

/// An article appears every 8 s on average. One in four is corrected, with a median of 180 s
/// between corrections.
const DYNAMICS: PageDynamics = PageDynamics {
    now: 90,
    later: 8_000,
    every: 8.0,
    lifetime: None,
    changing: 0.25,
    interval: Spread {
        median: 180.0,
        sigma: 1.0,
    },
};
/// One article in `LIVE` is a live report, which changes every `LIVE_INTERVAL` seconds on average.
const LIVE: usize = 12;
const LIVE_INTERVAL: f64 = 15.0;

const HEADLINES: [&str; 12] = [
    "{subject}: {place} waits for an answer",
    "Council votes on {subject} at {place}",
    "{subject} delayed again, says {person}",
    "What the {subject} means for {place}",
    "{person} defends plans for the {subject}",
    "Record crowd at {place} for {subject}",
    "{subject} reopens after {number} days",
    "Why the {subject} costs {number} per cent more",
    "Volunteers save the {subject} at {place}",
    "{place} divided over the {subject}",
    "New hope for the {subject}",
    "{subject}: {number} questions and answers",
];

const SENTENCES: [&str; 18] = [
    "The {subject} at {place} was on everybody's mind this week.",
    "\"No one asked us about the {subject},\" said {other}, who has lived at {place} for {number} years.",
    "{person} told the Courier that the decision would be made within {number} days.",
    "A report of {number} pages lists what went wrong, and who knew.",
    "At {elsewhere} people are less worried, though not all of them.",
    "The council has set aside {number} thousand for the {subject}.",
    "Fishermen say that they had seen it coming.",
    "Last year {number} visitors came for the {subject} alone.",
    "{other} of the harbour office would neither confirm nor deny it.",
    "The meeting at {place} lasted until after midnight.",
    "Work is to begin when the spring tides are over.",
    "It is the third time in {number} months that the {subject} makes the front page.",
    "Children from {elsewhere} had painted banners.",
    "\"We will look at the numbers again,\" said {person}.",
    "The weather did the rest.",
    "An earlier plan for the {subject} had failed by {number} votes.",
    "Engineers measured the ground near {place} on Tuesday.",
    "Whether that is enough remains to be seen.",
];

pub(super) fn add_site(builder: &mut TownBuilder, home: PageNumber) {
    let sections = SECTIONS
        .map(|name| builder.add_list(NEWSPAPER, &format!("/{}/", name.to_lowercase()), name));
    for (path, kind) in [
        ("/feed.xml", TownPageKind::Feed),
        ("/news-sitemap.xml", TownPageKind::NewsSitemap),
    ] {
        builder.add_page(NEWSPAPER, path.into(), PageLife::ALWAYS, kind);
    }
    let lives = builder.draw_lives(NEWSPAPER, &DYNAMICS);
    for (n, mut life) in lives.into_iter().enumerate() {
        if is_live(n) {
            life.rate = builder.town.speed / LIVE_INTERVAL;
        }
        let number = builder.pages.len() as u64;
        let section = n % SECTIONS.len();
        let words = slug(&write_headline(builder.town.seed, number));
        let path = format!("/{}/{words}-{n}", SECTIONS[section].to_lowercase());
        let page = builder.add_page(NEWSPAPER, path, life, TownPageKind::Article);
        builder.put(page, sections[section]);
        builder.put(page, home);
    }
}

pub(super) fn headline(web: &Web, page: &InventedPage) -> String {
    let title = write_headline(web.seed, u64::from(page.number().0));
    let live = page
        .path()
        .rsplit_once('-')
        .and_then(|(_, n)| n.parse().ok())
        .is_some_and(is_live);
    if live {
        format!("Live: {title}")
    } else {
        title
    }
}

pub(super) fn teaser(web: &Web, page: &InventedPage) -> String {
    let number = u64::from(page.number().0);
    let mut rng = stream(web.seed, For::Text, number, 1);
    scene(web.seed, number).paragraph(&SENTENCES, 1, &mut rng)
}

/// Returns the text of an article. Each version but the first replaces one paragraph of the first
/// text; its id determines which.
pub(super) fn article(web: &Web, page: &InventedPage, at: f64) -> String {
    let number = u64::from(page.number().0);
    let scene = scene(web.seed, number);
    let version = web.version(page, at);
    let written = httpdate::fmt_http_date(web.date(page.life.born));
    let mut html = format!("<p class=\"by\">By {}, {written}</p>\n", scene.person);
    let paragraphs = 4 + number % 4;
    for n in 0..paragraphs {
        let mut rng = stream(web.seed, For::Text, number, version.part(n, paragraphs));
        let count = rng.random_range(3..6);
        let text = scene.paragraph(&SENTENCES, count, &mut rng);
        html += &format!("<p>{}</p>\n", escaped(&text));
    }
    if version.id > 0 {
        let when = httpdate::fmt_http_date(web.date(version.since));
        html += &format!("<p class=\"by\">Updated {when}</p>\n");
    }
    html
}

fn is_live(n: usize) -> bool {
    n % LIVE == LIVE - 1
}

fn write_headline(seed: u64, page: u64) -> String {
    let mut rng = stream(seed, For::Title, page, 1);
    let headline = any(&HEADLINES, &mut rng);
    scene(seed, page).fill(headline, &mut rng)
}

fn scene(seed: u64, page: u64) -> Scene {
    Scene::draw(&EVENTS, &mut stream(seed, For::Title, page, 0))
}
