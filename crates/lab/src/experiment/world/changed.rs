//! Description of how pages change over time.
//!
//! **Invariant:** a change is a version with another body than the page's previous version; a
//! text change is one with other words. Births, deaths and returns are not changes.

use super::WorldDescription;
use super::distribution::{mean, median, tail};
use super::lifetimes;
use super::linked::places;
use crate::LabError;
use crate::world::{Histories, Version};

const DAY: f64 = 86_400.0;

/// Number of bars in the figure of changes over time.
const STEPS: usize = 60;

pub(super) fn describe(
    histories: &Histories,
    description: &mut WorldDescription,
) -> Result<(), LabError> {
    let (pages, versions) = (histories.urls().len(), histories.versions());
    let texts = histories.texts()?;
    let bodies: Vec<u64> = (0..u64::from(histories.bodies().count())).collect();
    let words: Vec<u64> = texts.iter().map(|text| text.0).collect();
    let all = changes(pages, versions, &bodies);
    let text = changes(pages, versions, &words);
    description.count("pages", pages);
    places(histories.urls().iter(), description);
    description.count("versions", versions.len());
    description.count("bodies", bodies.len());
    let gone = versions.iter().filter(|version| version.body.is_none());
    description.count("gone", gone.count());
    description.count("changes", all.len());
    description.count("text_changes", text.len());
    let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
        return Ok(());
    };
    let since = |at: policy::Moment| at.since(first.at).as_secs_f64() / DAY;
    let days = since(last.at);
    description.number("days", days);
    let mut begun: Vec<Option<f64>> = vec![None; pages];
    for version in versions.iter().filter(|version| version.body.is_some()) {
        begun[version.page as usize].get_or_insert(since(version.at));
    }
    let born = begun.iter().flatten().filter(|&&begun| begun > 0.0).count();
    description.number("born", born as f64 / pages as f64);
    let mut counts = vec![0_u64; pages];
    text.iter()
        .for_each(|change| counts[change.page as usize] += 1);
    let lives = counts.iter().zip(&begun);
    let rates = lives.filter_map(|(&count, begun)| {
        let watched = days - (*begun)?;
        (watched > 0.0).then(|| count as f64 / watched)
    });
    let rates: Vec<f64> = rates.collect();
    description.number("changes_per_day@mean", mean(&rates));
    description.number("changes_per_day@median", median(&rates));
    let never = counts.iter().filter(|&&count| count == 0).count();
    description.number("unchanged", never as f64 / pages as f64);
    if !histories.bodies().are_known() {
        let note = "The texts of pages are unknown: every change of a body counts as a change of the text.";
        description.notes.push(note.to_owned());
    }
    let mut of_bodies = vec![0_u64; pages];
    all.iter()
        .for_each(|change| of_bodies[change.page as usize] += 1);
    lifetimes::describe(histories, &words, description);
    let labels = [
        "Changes per page",
        "changes k, log10",
        "share of pages with k or more, log10",
    ];
    let lines = vec![
        ("of the text", tail(&counts)),
        ("of the body", tail(&of_bodies)),
    ];
    description.draw("changes", labels, lines);
    let over_time = |changes: &[Version]| {
        let mut bars = vec![0_u32; STEPS];
        for change in changes {
            let place = since(change.at) / days * STEPS as f64;
            bars[(place as usize).min(STEPS - 1)] += 1;
        }
        let middle = |n: usize| (n as f64 + 0.5) * days / STEPS as f64;
        let bars = bars.into_iter().enumerate();
        bars.map(|(n, count)| (middle(n), f64::from(count)))
            .collect()
    };
    if days > 0.0 {
        let labels = [
            "Changes over time",
            "days",
            "changes in a sixtieth of the time",
        ];
        let lines = vec![
            ("of the text", over_time(&text)),
            ("of the body", over_time(&all)),
        ];
        description.draw("when", labels, lines);
    }
    Ok(())
}

/// Returns the versions whose body differs from that of the page's previous version, by these
/// identities of bodies. A version does not count if the page is gone in it or in the previous
/// one.
fn changes(pages: usize, versions: &[Version], identities: &[u64]) -> Vec<Version> {
    let mut shown: Vec<Option<u64>> = vec![None; pages];
    let changed = |version: &&Version| {
        let now = version.body.map(|body| identities[body as usize]);
        let before = std::mem::replace(&mut shown[version.page as usize], now);
        before.is_some() && now.is_some() && before != now
    };
    versions.iter().filter(changed).copied().collect()
}
