//! Relevance rates of the pages that resemble a page.
//!
//! Two pages resemble each other if one page links to both. They are more alike if the two links
//! have the same tag path, or if the two pages are neighbours: near to each other among the links
//! in the order of page numbers. Pages that a page discovers are numbered in the order of its
//! links. Pages also resemble each other if links to them have the same tag path on any page, or if
//! they share a folder or a host.
//!
//! **Invariant:** a rate from few pages is shrunk towards the rate of the larger group it
//! belongs to, and finally towards the rate of the whole crawl.

use super::judge::TopicJudge;
use super::rates::{RelevanceRate, RelevanceRates, rate};
use super::unread::{Parent, UnreadPage};
use crate::Number;
use crate::estimate::Links;

/// Maximum number of links on each side of a link, in the order of page numbers, that count as its
/// neighbours.
const NEIGHBOURS: usize = 4;

/// Relevance rates of read pages, by what the pages have in common.
#[derive(Debug, Clone, Default)]
pub struct RelatedPages {
    all: RelevanceRate,
    hosts: RelevanceRates<u32>,
    folders: RelevanceRates<u64>,
    paths: RelevanceRates<u64>,
    siblings: RelevanceRates<u32>,
    groups: RelevanceRates<u64>,
}

/// Mean relevance of the read pages that resemble one page.
///
/// For groups that depend on a parent, the value is the mean over the parents.
#[derive(Debug, Clone, Copy)]
pub struct Resemblance {
    /// Of all pages, shrunk towards 0.2 by a pseudo-count of 5 pages.
    pub base: f32,
    /// Of pages on its host.
    pub host: f32,
    /// Of pages in its folder.
    pub folder: f32,
    /// Of pages that its parents link to.
    pub siblings: f32,
    /// Of pages that its parents link to under the same tag path as to it.
    pub groups: f32,
    /// Of its neighbours among the links of its parents.
    pub neighbours: f32,
    /// Of pages behind links with the same tag path on any page.
    pub paths: f32,
    /// Number of read pages in the least explored of its groups (parent and tag path).
    pub tried: f32,
}

impl RelatedPages {
    /// Adds the relevance of a page that was read to all groups it belongs to.
    pub fn count(&mut self, known: &UnreadPage, relevance: f32) {
        self.all.add(relevance);
        self.hosts.entry(known.host).or_default().add(relevance);
        for folder in known.folders {
            self.folders.entry(folder).or_default().add(relevance);
        }
        for parent in &known.parents {
            self.siblings.entry(parent.page).or_default().add(relevance);
            let group = self.groups.entry(parent.group()).or_default();
            group.add(relevance);
            self.paths.entry(parent.path).or_default().add(relevance);
        }
    }

    /// Returns the rates of the pages that resemble this page.
    pub fn of(
        &self,
        page: Number,
        known: &UnreadPage,
        judge: &TopicJudge,
        links: &Links,
    ) -> Resemblance {
        let base = self.all.towards(0.2, 5.0);
        let host = rate(&self.hosts, &known.host, base);
        let above = rate(&self.folders, &known.folders[1], host);
        let mut sums = [0.0; 4];
        let mut tried = f32::INFINITY;
        for parent in &known.parents {
            let group = self.groups.get(&parent.group()).copied();
            let group = group.unwrap_or_default();
            let expected = group.towards(base, 2.0);
            let each = [
                rate(&self.siblings, &parent.page, base),
                expected,
                neighbours(page, parent, judge, links).towards(expected, 1.0),
                rate(&self.paths, &parent.path, base),
            ];
            sums = std::array::from_fn(|n| sums[n] + each[n]);
            tried = tried.min(group.count);
        }
        let [siblings, groups, neighbours, paths] = match known.parents.len() {
            0 => [base; 4],
            parents => sums.map(|sum| sum / parents as f32),
        };
        Resemblance {
            base,
            host,
            folder: rate(&self.folders, &known.folders[0], above),
            siblings,
            groups,
            neighbours,
            paths,
            tried: if tried.is_finite() { tried } else { 0.0 },
        }
    }
}

/// Returns the mean relevance of the read pages behind the neighbouring links, weighted by
/// 1/distance.
fn neighbours(page: Number, parent: &Parent, judge: &TopicJudge, links: &Links) -> RelevanceRate {
    let links = links.of(Number(parent.page)).unwrap_or_default().links;
    let mut rate = RelevanceRate::default();
    let Ok(place) = links.binary_search(&page.0) else {
        return rate;
    };
    let from = place.saturating_sub(NEIGHBOURS);
    let until = (place + NEIGHBOURS + 1).min(links.len());
    for other in (from..until).filter(|&other| other != place) {
        if let Some(relevance) = judge.relevance(Number(links[other])) {
            let weight = 1.0 / other.abs_diff(place) as f32;
            rate.sum += weight * relevance;
            rate.count += weight;
        }
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::super::tests::{discovered, read, red};
    use super::*;
    use crate::LinkFact;

    /// Returns a page on this host and in this folder, which page 0 links to under this path.
    fn known(host: u32, folder: u64, path: u64) -> UnreadPage {
        UnreadPage {
            host,
            folders: [folder, 100 + folder],
            parents: vec![Parent { page: 0, path }],
            ..UnreadPage::default()
        }
    }

    fn of(related: &RelatedPages, known: &UnreadPage) -> Resemblance {
        let judge = TopicJudge::new(&red());
        related.of(Number(9), known, &judge, &Links::default())
    }

    fn near(found: f32, expected: f32) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn a_read_page_changes_the_rates_of_all_groups_that_it_belongs_to() {
        let mut related = RelatedPages::default();
        related.count(&known(1, 1, 1), 1.0);
        // One page of the topic, and five pseudo-pages with a relevance of 0.2 each.
        let base = 2.0 / 6.0;
        let once = |expected: f32| (1.0 + 2.0 * expected) / 3.0;
        let stranger = of(&related, &UnreadPage::default());
        for rate in [stranger.host, stranger.folder, stranger.siblings] {
            near(rate, base);
        }
        for rate in [stranger.groups, stranger.neighbours, stranger.paths] {
            near(rate, base);
        }
        near(stranger.tried, 0.0);
        let sibling = of(&related, &known(2, 2, 2));
        near(sibling.siblings, once(base));
        near(sibling.groups, base);
        near(sibling.paths, base);
        near(sibling.tried, 0.0);
        let alike = of(&related, &known(1, 1, 1));
        for rate in [alike.host, alike.siblings, alike.groups, alike.paths] {
            near(rate, once(base));
        }
        near(alike.folder, once(once(once(base))));
        near(alike.tried, 1.0);
        let elsewhere = UnreadPage {
            parents: vec![Parent { page: 5, path: 1 }],
            ..UnreadPage::default()
        };
        let elsewhere = of(&related, &elsewhere);
        near(elsewhere.paths, once(base));
        near(elsewhere.siblings, base);
    }

    #[test]
    fn parents_count_equally_and_the_least_explored_group_counts() {
        let mut related = RelatedPages::default();
        related.count(&known(1, 1, 1), 1.0);
        let mut both = known(1, 1, 1);
        both.parents.push(Parent { page: 5, path: 2 });
        let (one, two) = (of(&related, &known(1, 1, 1)), of(&related, &both));
        near(two.siblings, (one.siblings + one.base) / 2.0);
        near(two.tried, 0.0);
    }

    /// Page 0 links to pages 1 to 9. The read pages 4 and 7 have distances 1 and 2 from page 5.
    #[test]
    fn neighbours_are_weighted_by_one_over_their_distance() {
        let mut judge = TopicJudge::new(&red());
        let links: Vec<LinkFact<'_>> = (1..10).map(|to| LinkFact::new(Number(to), "")).collect();
        for page in 0..10 {
            judge.discover(&discovered(page));
        }
        let mut all = Links::default();
        all.replace(&read(0, "blue", &links));
        let red = judge.read(&read(4, "red", &[]));
        let blue = judge.read(&read(7, "blue near far", &[]));
        let parent = Parent { page: 0, path: 0 };
        let found = neighbours(Number(5), &parent, &judge, &all);
        near(found.sum, red + blue / 2.0);
        near(found.count, 1.5);
        let far = neighbours(Number(2), &parent, &judge, &all);
        near(far.count, 0.5);
        let none = neighbours(Number(20), &parent, &judge, &all);
        assert_eq!(
            none,
            RelevanceRate::default(),
            "a page that it has no link to"
        );
    }
}
