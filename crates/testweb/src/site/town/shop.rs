//! Chandler & Daughter, a shop: products with changing prices.
//!
//! **Invariant:** a price is a function of the version. A product that is sold out is gone for
//! ever, and its page answers 410.

use figure::escaped;
use rand::RngExt;

use super::super::life::PageLife;
use super::super::plan::Spread;
use super::super::web::{InventedPage, PageNumber, Web};
use super::page::TownPageKind;
use super::words::{GOODS, MAKES, Scene, any, slug};
use super::{PageDynamics, SHOP, TownBuilder};
use crate::chance::{For, stream};

const DEPARTMENTS: [&str; 4] = ["Deck", "Clothing", "Navigation", "Galley"];

/// On average a new product appears every 30 s and one is sold out as often: 80 products with a
/// new one every 30 s need a mean lifetime of 2,400 s. The median time between two price changes
/// is 120 s.
const DYNAMICS: PageDynamics = PageDynamics {
    now: 80,
    later: 3_000,
    every: 30.0,
    lifetime: Some(2_400.0),
    changing: 0.9,
    interval: Spread {
        median: 120.0,
        sigma: 1.5,
    },
};

const SENTENCES: [&str; 14] = [
    "This {subject} was made for people who go out in all weather.",
    "We have sold it at {place} for {number} years.",
    "Every {subject} is checked by hand before it leaves the shop.",
    "Rinse with fresh water and dry in the shade.",
    "Spare parts are in stock.",
    "Weighs {number} hundred grams.",
    "Tested by {other} on the crossing to {elsewhere}.",
    "If the {subject} fails within {number} months we replace it.",
    "Fits boats from {number} feet.",
    "The brass will darken; that is how it should be.",
    "Ships within {number} hours.",
    "Not a toy.",
    "Our most returned {subject} until we changed the maker; now no one returns it.",
    "Goes well with everything else we sell.",
];

pub(super) fn add_site(builder: &mut TownBuilder, home: PageNumber) {
    let departments =
        DEPARTMENTS.map(|name| builder.add_list(SHOP, &format!("/{}/", name.to_lowercase()), name));
    builder.add_page(
        SHOP,
        "/sitemap.xml".into(),
        PageLife::ALWAYS,
        TownPageKind::Sitemap,
    );
    for (n, life) in builder.draw_lives(SHOP, &DYNAMICS).into_iter().enumerate() {
        let number = builder.pages.len() as u64;
        let path = format!("/goods/{}-{n}", slug(&label(builder.town.seed, number)));
        let page = builder.add_page(SHOP, path, life, TownPageKind::Product);
        builder.put(page, departments[n % DEPARTMENTS.len()]);
        builder.put(page, home);
    }
}

pub(super) fn name(web: &Web, page: &InventedPage) -> String {
    label(web.seed, u64::from(page.number().0))
}

pub(super) fn kind(web: &Web, page: &InventedPage) -> String {
    let number = u64::from(page.number().0);
    scene(web.seed, number).paragraph(&SENTENCES, 1, &mut stream(web.seed, For::Text, number, 1))
}

pub(super) fn product(web: &Web, page: &InventedPage, at: f64) -> String {
    let number = u64::from(page.number().0);
    let version = web.version(page, at);
    let scene = scene(web.seed, number);
    let mut html = format!(
        "<p class=\"price\">£{}</p>\n",
        price(web.seed, number, version.id)
    );
    if version.id > 0 {
        let when = httpdate::fmt_http_date(web.date(version.since));
        html += &format!("<p class=\"by\">price of {when}</p>\n");
    }
    for n in 1..4 {
        let mut rng = stream(web.seed, For::Text, number, n);
        let text = scene.paragraph(&SENTENCES, 3, &mut rng);
        html += &format!("<p>{}</p>\n", escaped(&text));
    }
    html
}

/// Returns a price within 25% of the usual price of the product.
fn price(seed: u64, page: u64, version: u64) -> String {
    let usual: u32 = stream(seed, For::Title, page, 2).random_range(4..160);
    let share = stream(seed, For::Text, page, version | 1 << 63).random_range(75..126);
    let pence = usual * share;
    format!("{}.{:02}", pence / 100, pence % 100)
}

fn label(seed: u64, page: u64) -> String {
    let mut rng = stream(seed, For::Title, page, 1);
    let make = any(&MAKES, &mut rng);
    format!(
        "{make} {} No. {}",
        scene(seed, page).subject,
        rng.random_range(10..90)
    )
}

fn scene(seed: u64, page: u64) -> Scene {
    Scene::draw(&GOODS, &mut stream(seed, For::Title, page, 0))
}
