//! Properties of a news world: how long pages are read, when they appear, and how few sources
//! link to most of them.
//!
//! These are the numbers of Lefortier et al. (2013), §3.1, for pages that appeared in the first
//! week, and of figure 7. The clusters of interest leave out pages without clicks.

use std::collections::HashSet;

use policy::Moment;
use policy::source::Cover;
use testweb::chance::{For, stream};

use super::{HOUR, WEEK, number};
use crate::findings::Measured;
use crate::measure::clusters::{Cluster, DAYS, Interest, k_means, scaled};
use crate::run::ephemeral::NewsTimeline;

/// Number of clusters, as in the paper: "when we tried less clusters, non-ephemeral pages were not
/// assigned to one cluster".
const CLUSTERS: usize = 6;

/// Maximum number of points of the curve of figure 4, besides the last one.
const POINTS: usize = 60;

/// Returns all numbers that need no crawl.
pub(super) fn rows(timeline: &NewsTimeline<'_>, seed: u64) -> Vec<Measured> {
    let mut rows = appearing(timeline);
    rows.extend(clusters(timeline, seed));
    rows.extend(cover(timeline));
    rows
}

/// Returns the number of new pages per second, for each hour.
fn appearing(timeline: &NewsTimeline<'_>) -> Vec<Measured> {
    let hour = |at: Moment| (at.since(timeline.from).as_secs_f64() / HOUR.as_secs_f64()) as usize;
    let mut hours = vec![0.0; hour(timeline.until) + 1];
    let articles = 0..timeline.news().articles().len();
    for at in articles.filter_map(|article| timeline.appeared(article)) {
        hours[hour(at)] += 1.0 / HOUR.as_secs_f64();
    }
    let rows = hours.into_iter().enumerate();
    rows.map(|(hour, rate)| number("", "new_pages", (hour as f64 + 0.5) / 24.0, rate))
        .collect()
}

/// Returns when a page appeared, if it did so in the first week.
fn is_early(timeline: &NewsTimeline<'_>, article: usize) -> Option<Moment> {
    let at = timeline.appeared(article)?;
    (at.since(timeline.from) < WEEK).then_some(at)
}

fn clusters(timeline: &NewsTimeline<'_>, seed: u64) -> Vec<Measured> {
    let mut days = vec![[0_u32; DAYS]; timeline.news().articles().len()];
    for click in timeline.news().clicks() {
        let article = click.article as usize;
        let Some(at) = is_early(timeline, article) else {
            continue;
        };
        let day = (click.at.since(at).as_secs_f64() / 86_400.0) as usize;
        if let Some(day) = days[article].get_mut(day) {
            *day += click.clicks;
        }
    }
    let curves: Vec<Interest> = days.into_iter().filter_map(scaled).collect();
    let found = k_means(&curves, CLUSTERS, &mut stream(seed, For::Looks, 0, 0));
    let share = |cluster: &Cluster| cluster.pages as f64 / curves.len() as f64;
    let mut rows = Vec::new();
    for (place, cluster) in (1..).zip(&found) {
        rows.push(number("", "cluster", f64::from(place), share(cluster)));
        let name = format!("cluster {place}");
        let days = (0..).zip(cluster.centre);
        rows.extend(
            days.map(|(day, value)| number(&name, "interest", f64::from(day), f64::from(value))),
        );
    }
    if !found.is_empty() {
        let short = found.iter().filter(|cluster| cluster.is_ephemeral());
        rows.push(number("", "ephemeral", 0.0, short.map(share).sum()));
    }
    rows
}

fn cover(timeline: &NewsTimeline<'_>) -> Vec<Measured> {
    let news = timeline.news();
    let mut reached = vec![Vec::new(); news.sources().len()];
    for link in news.links() {
        if is_early(timeline, link.article as usize).is_some() {
            reached[link.source as usize].push(link.article);
        }
    }
    let articles = 0..news.articles().len();
    let all = articles
        .filter(|&article| is_early(timeline, article).is_some())
        .count();
    let hosts: HashSet<&str> = news.sources().iter().map(|url| url.host_name()).collect();
    let cover = Cover::of(&reached);
    let mut covered = 0;
    let points = (1..).zip(&cover.steps).map(|(taken, step)| {
        covered += step.more;
        (
            f64::from(taken) / hosts.len() as f64,
            covered as f64 / all as f64,
        )
    });
    let points: Vec<(f64, f64)> = points.collect();
    let every = points.len().div_ceil(POINTS).max(1);
    let drawn = points.iter().enumerate();
    let drawn = drawn.filter(|(place, _)| place % every == 0 || place + 1 == points.len());
    let mut rows: Vec<Measured> = drawn
        .map(|(_, &(per_host, share))| number("", "cover", per_host, share))
        .collect();
    let enough = points.iter().find(|(_, share)| *share >= 0.8);
    rows.extend(enough.map(|(per_host, _)| number("", "cover_at@0.8", 0.0, *per_host)));
    rows
}
