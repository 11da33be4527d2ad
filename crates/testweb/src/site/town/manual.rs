//! The Tern manual, the documentation of an invented build tool.
//!
//! Its pages always exist and are edited: a few of them often, most rarely. A sitemap states when
//! each page was last edited.

use figure::escaped;
use rand::RngExt;

use super::super::life::PageLife;
use super::super::plan::Spread;
use super::super::web::{InventedPage, PageNumber, Web};
use super::page::TownPageKind;
use super::words::{FEATURES, Scene, any, capitalized, slug};
use super::{MANUAL, PageDynamics, TownBuilder};
use crate::chance::{For, stream};

const PARTS: [&str; 3] = ["Guide", "Reference", "Recipes"];

/// Three of four pages are edited. The median time between two edits is 300 s, with a heavy
/// tail.
const DYNAMICS: PageDynamics = PageDynamics {
    now: 72,
    later: 0,
    every: 1.0,
    lifetime: None,
    changing: 0.75,
    interval: Spread {
        median: 300.0,
        sigma: 1.5,
    },
};

const SENTENCES: [&str; 16] = [
    "The {subject} is off unless a workspace asks for it.",
    "Tern looks for the {subject} in the current directory first, then above it.",
    "Since version 1.{number} the {subject} is read once and kept.",
    "Use it where builds are repeated; a single build gains nothing.",
    "If the {subject} cannot be read, Tern says so and stops with status {number}.",
    "Two processes may share the {subject}; the second waits.",
    "The default of {number} is right for most machines.",
    "Set it lower where memory is scarce.",
    "What is written here holds for every platform that Tern runs on.",
    "Do not edit the {subject} by hand while a build is under way.",
    "A warning names the file and the line.",
    "The flag wins over the file, and the file over the environment.",
    "On a cold start this takes about {number} milliseconds.",
    "See the recipe for continuous integration for an example.",
    "This was changed in 1.{number}; older releases ignore it.",
    "Nothing is sent over the network unless you allow it.",
];

pub(super) fn add_site(builder: &mut TownBuilder, home: PageNumber) {
    let parts =
        PARTS.map(|name| builder.add_list(MANUAL, &format!("/{}/", name.to_lowercase()), name));
    builder.add_page(
        MANUAL,
        "/sitemap.xml".into(),
        PageLife::ALWAYS,
        TownPageKind::Sitemap,
    );
    for (n, life) in builder
        .draw_lives(MANUAL, &DYNAMICS)
        .into_iter()
        .enumerate()
    {
        let (part, feature) = (n % PARTS.len(), FEATURES[n / PARTS.len() % FEATURES.len()]);
        let path = format!("/{}/{}", PARTS[part].to_lowercase(), slug(feature));
        let page = builder.add_page(MANUAL, path, life, TownPageKind::Lesson);
        builder.put(page, parts[part]);
        builder.put(page, home);
    }
}

pub(super) fn heading(_: &Web, page: &InventedPage) -> String {
    let feature = feature(page);
    capitalized(&match page.path().split('/').nth(1) {
        Some("guide") => format!("using the {feature}"),
        Some("reference") => format!("{feature} reference"),
        _ => format!("how to change the {feature}"),
    })
}

/// Returns the text of a page. Each version but the first rewrites one section of the first text;
/// its id determines which.
pub(super) fn lesson(web: &Web, page: &InventedPage, at: f64) -> String {
    let number = u64::from(page.number().0);
    let version = web.version(page, at);
    let scene = Scene {
        subject: feature(page),
        place: "",
        person: "",
    };
    let mut html = String::new();
    for (n, title) in (0..).zip([
        "What it does",
        "When to use it",
        "Settings",
        "Troubleshooting",
    ]) {
        let mut rng = stream(web.seed, For::Text, number, version.part(n, 4));
        let count = rng.random_range(3..6);
        let text = scene.paragraph(&SENTENCES, count, &mut rng);
        html += &format!("<h2>{title}</h2>\n<p>{}</p>\n", escaped(&text));
        if n == 2 {
            let key = slug(scene.subject).replace('-', "_");
            let value = any(
                &["\"auto\"", "\"off\"", "true", "16", "\"strict\""],
                &mut rng,
            );
            html += &format!("<pre>[build]\n{key} = {}</pre>\n", escaped(value));
        }
    }
    let when = httpdate::fmt_http_date(web.date(version.since));
    html + &format!("<p class=\"by\">Last edited {when}</p>\n")
}

fn feature(page: &InventedPage) -> &'static str {
    let name = page.path().rsplit('/').next().unwrap_or_default();
    (FEATURES.iter().find(|feature| slug(feature) == name)).unwrap_or(&FEATURES[0])
}
