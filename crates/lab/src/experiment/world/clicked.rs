//! Description of news: what sources link to, and which articles are clicked.
//!
//! **Invariant:** an article appears when the first source links to it. Clicks before that time
//! count as clicks at hour 0.

use policy::Moment;

use super::WorldDescription;
use super::distribution::{mean, median, ranked, top_share};
use super::linked::places;
use crate::world::News;

const HOUR: f64 = 3_600.0;

/// Hours after the first link for which the share of remaining clicks is reported.
const LATE: [u32; 5] = [1, 6, 12, 24, 48];

/// Number of hours after the first link that the decay figure covers.
const SHOWN: u32 = 96;

pub(super) fn describe(news: &News, description: &mut WorldDescription) {
    let articles = news.articles().len();
    description.count("sources", news.sources().len());
    description.count("articles", articles);
    places(news.sources().iter().chain(news.articles()), description);
    description.count("shown", news.links().len());
    let stays = news.links().iter();
    let stays = stays.map(|link| link.until.since(link.from).as_secs_f64() / HOUR);
    description.number("shown_hours@median", median(&stays.collect::<Vec<f64>>()));
    let mut of = vec![0_u64; articles];
    for click in news.clicks() {
        of[click.article as usize] += u64::from(click.clicks);
    }
    let clicks: u64 = of.iter().sum();
    description.number("clicks", clicks as f64);
    let clicked = of.iter().filter(|&&clicks| clicks > 0).count();
    description.number("clicked", clicked as f64 / articles as f64);
    description.number("clicks@top", top_share(&of));
    if let Some((first, last)) = span(news) {
        let seconds = last.since(first).as_secs_f64();
        description.number("days", seconds / (24.0 * HOUR));
        description.number("clicks_per_second", clicks as f64 / seconds);
        let new = new_of_sources(news, first);
        let a_day: Vec<f64> = new
            .iter()
            .map(|&count| count as f64 / seconds * 24.0 * HOUR)
            .collect();
        description.number("new_per_day@mean", mean(&a_day));
        let labels = [
            "New articles per source",
            "rank of the source, log10",
            "new articles, log10",
        ];
        description.draw("sources", labels, vec![("sources", ranked(&new))]);
    }
    let left = left(news, clicks);
    for hours in LATE {
        description.at("clicks_left", f64::from(hours), left[hours as usize]);
    }
    let points = (0..=SHOWN).map(|hour| (f64::from(hour), left[hour as usize]));
    let labels = [
        "Clicks remaining over time",
        "hours after the first link",
        "share of clicks still to come",
    ];
    description.draw("decay", labels, vec![("clicks", points.collect())]);
    let labels = [
        "Clicks per article",
        "rank of the article, log10",
        "clicks, log10",
    ];
    description.draw("clicks", labels, vec![("articles", ranked(&of))]);
}

/// Returns the first and last time of any event; a bin of clicks counts until its end. `None` if
/// there is no event, or if all have the same time.
fn span(news: &News) -> Option<(Moment, Moment)> {
    let links = news.links().iter().flat_map(|link| [link.from, link.until]);
    let clicks = news
        .clicks()
        .iter()
        .flat_map(|click| [click.at, click.at + News::BIN]);
    let all = || links.clone().chain(clicks.clone());
    Some((all().min()?, all().max()?)).filter(|(first, last)| first < last)
}

/// Returns the time at which each article was first linked to; `None` if it never was.
fn appeared(news: &News) -> Vec<Option<Moment>> {
    let mut first = vec![None; news.articles().len()];
    for link in news.links() {
        first[link.article as usize].get_or_insert(link.from);
    }
    first
}

/// Returns the number of articles that each source was the first to link to, without articles
/// that were linked to at the beginning.
fn new_of_sources(news: &News, beginning: Moment) -> Vec<u64> {
    let mut known = vec![false; news.articles().len()];
    let mut new = vec![0; news.sources().len()];
    for link in news.links() {
        let is_new = !std::mem::replace(&mut known[link.article as usize], true);
        if is_new && link.from > beginning {
            new[link.source as usize] += 1;
        }
    }
    new
}

/// Returns, for h = 0 to [`SHOWN`], the share of clicks that come at least h hours after the
/// article's first link.
///
/// The clicks of a bin count as made at its middle. Clicks on articles without a link count in the
/// total only.
fn left(news: &News, clicks: u64) -> Vec<f64> {
    let first = appeared(news);
    let mut by_hour = vec![0_u64; SHOWN as usize + 1];
    for click in news.clicks() {
        let Some(first) = first[click.article as usize] else {
            continue;
        };
        let middle = click.at + News::BIN / 2;
        let hour = (middle.since(first).as_secs_f64() / HOUR) as usize;
        by_hour[hour.min(SHOWN as usize)] += u64::from(click.clicks);
    }
    let mut rest = 0;
    let mut left: Vec<f64> = by_hour
        .iter()
        .rev()
        .map(|more| {
            rest += more;
            rest as f64 / clicks as f64
        })
        .collect();
    left.reverse();
    left
}
