//! Description of a town: its pages, births, changes, clicks, sources and hints.

use super::WorldDescription;
use crate::kinds::{Town, TownPage};

pub(super) fn describe(town: &Town, description: &mut WorldDescription) {
    let sum = |count: &dyn Fn(&TownPage) -> usize| town.pages.iter().map(count).sum::<usize>();
    let clicks = sum(&|page| page.clicks.len());
    let hints = town.sitemaps.iter().map(|sitemap| sitemap.hints.len());
    description.count("pages", town.pages.len());
    description.count("hosts", town.seconds.len());
    description.count("sources", town.sources.len());
    description.number("days", town.seconds() / 86_400.0);
    let born = town.pages.len() - town.old;
    description.number("born", born as f64 / town.pages.len() as f64);
    description.count("changes", sum(&|page| page.changes.len()));
    description.count("clicks", clicks);
    description.number("clicks_per_second", clicks as f64 / town.seconds());
    description.count("sitemaps", town.sitemaps.len());
    description.count("hints", hints.sum());
}
