//! Ages of pages, and how long they last between two changes, by domain: figures 6.7 and 6.11 of
//! Baldi, Frasconi & Smyth (2003), after Brewington & Cybenko (2000) and Cho & Garcia-Molina
//! (2000).
//!
//! **Invariant:** the age of a page is the time since it began to show its present text, so a
//! return after an absence begins a new age. A page that has shown one text since the beginning of
//! the observation is older than it seems, and counts as such in the estimated lifetime.

use std::collections::BTreeMap;

use super::WorldDescription;
use super::distribution::{mean, median};
use crate::findings::Params;
use crate::world::{Histories, Version};

const DAY: f64 = 86_400.0;

/// Upper ends of the classes of average change intervals, in days: those of figure 6.11.
const CLASSES: [f64; 4] = [1.0, 7.0, 30.0, 120.0];
/// Number of domains that get rows and lines of their own.
const MOST_DOMAINS: usize = 4;
/// Least number of pages of such a domain.
const LEAST_PAGES: usize = 10;
/// Greatest number of points of a line.
const POINTS: usize = 100;

/// A page, as the figures need it. Times are in days.
#[derive(Debug, Clone, Copy, Default)]
struct PageDays {
    /// Since the first version with a body.
    begun: Option<f64>,
    /// The present text and since when it is shown; `None` if the page does not exist.
    shown: Option<(u64, f64)>,
    changes: u32,
}

/// Describes ages and change intervals. `texts` identifies the text of each body.
pub(super) fn describe(histories: &Histories, texts: &[u64], description: &mut WorldDescription) {
    let versions = histories.versions();
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
        return;
    };
    let day = |version: &Version| version.at.since(first.at).as_secs_f64() / DAY;
    let end = day(last);
    let mut pages = vec![PageDays::default(); histories.urls().len()];
    for version in versions {
        let page = &mut pages[version.page as usize];
        let text = version.body.map(|body| texts[body as usize]);
        let at = day(version);
        page.begun = page.begun.or(text.map(|_| at));
        match (text, page.shown) {
            (Some(text), Some((before, _))) if text == before => {}
            (Some(text), before) => {
                page.changes += u32::from(before.is_some());
                page.shown = Some((text, at));
            }
            (None, _) => page.shown = None,
        }
    }
    let living: Vec<(f64, bool)> = (pages.iter())
        .filter_map(|page| page.shown.map(|(_, since)| (end - since, since > 0.0)))
        .collect();
    let ages: Vec<f64> = living.iter().map(|(age, _)| *age).collect();
    description.number("age_days@mean", mean(&ages));
    description.number("age_days@median", median(&ages));
    let modified = living.iter().filter(|(_, began)| *began).count();
    if modified > 0 {
        let lifetime = ages.iter().sum::<f64>() / modified as f64;
        description.number("lifetime_days@age", lifetime);
    }
    let groups = groups(histories);
    let mut age_lines = Vec::new();
    let mut interval_lines = Vec::new();
    for (domain, members) in &groups {
        let params = match domain.as_str() {
            ALL => Params::new(),
            domain => Params::from([("domain".to_owned(), domain.into())]),
        };
        let of = |page: &usize| pages[*page];
        let ages = members.iter().filter_map(|page| of(page).shown);
        age_lines.push((
            domain.as_str(),
            cumulative(ages.map(|(_, since)| end - since).collect()),
        ));
        let intervals: Vec<f64> = members
            .iter()
            .filter_map(|page| interval(of(page), end))
            .collect();
        for days in CLASSES {
            let within = intervals
                .iter()
                .filter(|interval| **interval <= days)
                .count();
            let share = within as f64 / intervals.len() as f64;
            description.put(params.clone(), "change_interval", days, share);
        }
        interval_lines.push((domain.as_str(), cumulative(intervals)));
    }
    description.draw(
        "ages",
        [
            "Ages of pages (Fig. 6.7), by domain",
            "days since the last change, log10",
            "share of pages of at most this age",
        ],
        age_lines,
    );
    description.draw(
        "intervals",
        [
            "Average change intervals (Fig. 6.11), by domain",
            "days between two changes, log10",
            "share of pages that change at least so often",
        ],
        interval_lines,
    );
}

/// Name of the group of all pages.
const ALL: &str = "all";

/// Returns all pages, and those of the most common top-level domains if there are several.
fn groups(histories: &Histories) -> Vec<(String, Vec<usize>)> {
    let mut domains: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (page, url) in histories.urls().iter().enumerate() {
        let domain = url.host_name().rsplit('.').next().unwrap_or_default();
        domains.entry(domain).or_default().push(page);
    }
    let all = (0..histories.urls().len()).collect();
    let mut groups = vec![(ALL.to_owned(), all)];
    if domains.len() > 1 {
        let mut common: Vec<(&str, Vec<usize>)> = domains.into_iter().collect();
        common.retain(|(_, pages)| pages.len() >= LEAST_PAGES);
        common.sort_by_key(|(_, pages)| std::cmp::Reverse(pages.len()));
        common.truncate(MOST_DOMAINS);
        groups.extend(
            common
                .into_iter()
                .map(|(domain, pages)| (domain.to_owned(), pages)),
        );
    }
    groups
}

/// Returns the average days between two changes of a page, infinite if it never changed. `None` if
/// it was never observed for any time.
fn interval(page: PageDays, end: f64) -> Option<f64> {
    let watched = end - page.begun?;
    (watched > 0.0).then(|| watched / f64::from(page.changes))
}

/// Returns log₁₀ of the values above 0, and the share of all values that are at most as large.
/// Keeps at most [`POINTS`] points. Infinite values count, but have no point.
fn cumulative(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_unstable_by(f64::total_cmp);
    let all = values.len();
    let step = all.div_ceil(POINTS).max(1);
    let points = (1..=all).filter(|rank| rank.is_multiple_of(step) || *rank == all);
    let points = points.map(|rank| (values[rank - 1], rank as f64 / all as f64));
    let drawn = points.filter(|(value, _)| *value > 0.0 && value.is_finite());
    drawn.map(|(value, share)| (value.log10(), share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cumulative_shares_count_values_without_a_point() {
        let points = cumulative(vec![10.0, 0.0, f64::INFINITY, 100.0]);
        assert_eq!(points, [(1.0, 0.5), (2.0, 0.75)]);
        assert!(cumulative(Vec::new()).is_empty());
        let many = cumulative((1..=1_000).map(f64::from).collect());
        assert_eq!((many.len(), many[99]), (POINTS, (3.0, 1.0)));
    }

    #[test]
    fn domains_with_enough_pages_have_groups_of_their_own() {
        let url = |n: u32| match n {
            0..30 => format!("http://a{n}.example.com/"),
            30..50 => format!("http://b{n}.example.org/"),
            _ => format!("http://c{n}.example.net/"),
        };
        let urls: Vec<String> = (0..55).map(url).collect();
        let bodies = crate::world::Bodies::unknown(0);
        let histories = Histories::new(urls.iter().map(String::as_str), Vec::new(), bodies);
        let groups = groups(&histories);
        let sizes: Vec<(&str, usize)> = groups
            .iter()
            .map(|(name, pages)| (name.as_str(), pages.len()))
            .collect();
        assert_eq!(sizes, [("all", 55), ("com", 30), ("org", 20)]);
    }
}
