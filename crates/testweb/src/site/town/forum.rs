//! The Slipway, a forum: questions and answers.
//!
//! **Invariant:** a thread only grows: each change is one more post.

use figure::escaped;
use rand::RngExt;

use super::super::life::PageLife;
use super::super::plan::Spread;
use super::super::web::{InventedPage, PageNumber, Web};
use super::page::TownPageKind;
use super::words::{PEOPLE, Scene, TROUBLES, any, slug};
use super::{FORUM, PageDynamics, TownBuilder};
use crate::chance::{For, stream};

const BOARDS: [&str; 3] = ["Repairs", "Equipment", "Seamanship"];

/// A new thread appears every 20 s on average. The median time between two posts of a thread is
/// 180 s, with a heavy tail.
const DYNAMICS: PageDynamics = PageDynamics {
    now: 60,
    later: 4_000,
    every: 20.0,
    lifetime: None,
    changing: 0.9,
    interval: Spread {
        median: 180.0,
        sigma: 1.5,
    },
};
/// Maximum number of answers that a thread page shows: the latest ones, after the first post.
const SHOWN: usize = 12;

const QUESTIONS: [&str; 10] = [
    "Which {subject} for a boat of {number} feet?",
    "{subject} broken after {number} hours",
    "Has anyone replaced the {subject} alone?",
    "{subject}: buy new or repair?",
    "Strange noise from the {subject}",
    "Best place for a {subject} near {place}",
    "Is my {subject} still safe?",
    "{subject} in winter",
    "What did you pay for your {subject}?",
    "First season with a new {subject}",
];

const SENTENCES: [&str; 18] = [
    "I had the same with my {subject} off {place} last summer.",
    "Take it apart and look at the seals first.",
    "{other} at the yard at {elsewhere} did mine for {number} pounds.",
    "Do not touch it before the tide is out.",
    "Mine has held for {number} seasons.",
    "The manual says {number} hours; I would not trust it.",
    "Salt gets everywhere.",
    "A friend lost his {subject} that way.",
    "Thanks, that helped!",
    "Photos would help us to help you.",
    "Have you checked the fuse?",
    "I would ask {other}, who knows every {subject} on this coast.",
    "New ones are cheaper than you think.",
    "It depends on what you call safe.",
    "Update: it works again, no one knows why.",
    "Grease, and then more grease.",
    "Come to the slip on Saturday and I will show you.",
    "It was the {subject} after all.",
];

pub(super) fn add_site(builder: &mut TownBuilder, home: PageNumber) {
    let boards = BOARDS
        .map(|name| builder.add_list(FORUM, &format!("/board/{}/", name.to_lowercase()), name));
    builder.add_page(
        FORUM,
        "/feed.xml".into(),
        PageLife::ALWAYS,
        TownPageKind::Feed,
    );
    for (n, life) in builder.draw_lives(FORUM, &DYNAMICS).into_iter().enumerate() {
        let number = builder.pages.len() as u64;
        let path = format!(
            "/thread/{n}/{}",
            slug(&write_question(builder.town.seed, number))
        );
        let page = builder.add_page(FORUM, path, life, TownPageKind::Thread);
        builder.put(page, boards[n % BOARDS.len()]);
        builder.put(page, home);
    }
}

pub(super) fn question(web: &Web, page: &InventedPage) -> String {
    write_question(web.seed, u64::from(page.number().0))
}

pub(super) fn asked_by(web: &Web, page: &InventedPage) -> String {
    format!(
        "asked by {}",
        scene(web.seed, u64::from(page.number().0)).person
    )
}

pub(super) fn thread(web: &Web, page: &InventedPage, at: f64) -> String {
    let number = u64::from(page.number().0);
    let scene = scene(web.seed, number);
    let born = page.life.born;
    // A thread that started before time 0 has answers from before time 0.
    let early = if born < 0.0 { number % 6 } else { 0 };
    let mut answers: Vec<f64> = (1..=early).map(|n| born * (1.0 - n as f64 / 6.0)).collect();
    answers.extend(page.life.moments(web.seed, number, at));
    let mut html = post(web, page, &scene, 0, born);
    let hidden = answers.len().saturating_sub(SHOWN);
    if hidden > 0 {
        html += &format!("<p class=\"by\">{hidden} earlier posts</p>\n");
    }
    for (n, at) in (1..).zip(&answers).skip(hidden) {
        html += &post(web, page, &scene, n, *at);
    }
    html + &format!("<p class=\"by\">{} posts</p>\n", answers.len() + 1)
}

fn post(web: &Web, page: &InventedPage, scene: &Scene, n: u64, at: f64) -> String {
    let mut rng = stream(web.seed, For::Text, u64::from(page.number().0), n);
    let who = if n == 0 {
        scene.person
    } else {
        any(&PEOPLE, &mut rng)
    };
    let count = rng.random_range(2..5);
    let text = scene.paragraph(&SENTENCES, count, &mut rng);
    let when = httpdate::fmt_http_date(web.date(at));
    format!(
        "<div class=\"post\"><p class=\"by\">{who}, {when}</p>\n<p>{}</p></div>\n",
        escaped(&text)
    )
}

fn write_question(seed: u64, page: u64) -> String {
    let mut rng = stream(seed, For::Title, page, 1);
    let question = any(&QUESTIONS, &mut rng);
    scene(seed, page).fill(question, &mut rng)
}

fn scene(seed: u64, page: u64) -> Scene {
    Scene::draw(&TROUBLES, &mut stream(seed, For::Title, page, 0))
}
