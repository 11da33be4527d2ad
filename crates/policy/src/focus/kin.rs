//! How many of the pages that resemble a page turned out to be of the topic?
//!
//! Pages resemble each other if one page leads to both, all the more under the same tag path or side by side; if links to them have the same tag path
//! anywhere; if they are in one folder or on one host. **Invariant:** where little was seen, a rate is drawn towards that of what it is part of, in
//! the end the whole crawl.

use super::judge::Judge;
use super::rates::{Rate, Rates, rate};
use super::seen::{Known, Parent};
use crate::Number;
use crate::estimate::Links;

/// Links before and after a link that are its neighbours.
const NEIGHBOURS: usize = 4;

/// What was found, by what pages have in common.
#[derive(Debug, Clone, Default)]
pub struct Kin {
    all: Rate,
    hosts: Rates<u32>,
    folders: Rates<u64>,
    paths: Rates<u64>,
    siblings: Rates<u32>,
    groups: Rates<u64>,
}

/// How the pages did that resemble one: shares of the topic. Of those that parents have in common, the means over the parents.
#[derive(Debug, Clone, Copy)]
pub struct Resemblance {
    /// All pages.
    pub base: f32,
    /// On its host.
    pub host: f32,
    /// In its folder.
    pub folder: f32,
    /// Behind links of its parents.
    pub siblings: f32,
    /// The same, under the same tag path.
    pub groups: f32,
    /// Next to it.
    pub neighbours: f32,
    /// Behind links under the same tag path, anywhere.
    pub paths: f32,
    /// Pages that were read of the group of which the fewest were.
    pub tried: f32,
}

impl Kin {
    /// Takes note of what came of a page, for all that resembles it.
    pub fn count(&mut self, known: &Known, relevance: f32) {
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

    /// How those did that resemble this page.
    pub fn of(&self, page: Number, known: &Known, judge: &Judge, links: &Links) -> Resemblance {
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

/// What came of the links next to the one to this page; the nearer, the more they count.
fn neighbours(page: Number, parent: &Parent, judge: &Judge, links: &Links) -> Rate {
    let links = links.of(Number(parent.page)).unwrap_or_default().links;
    let mut rate = Rate::default();
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
    use crate::Link;

    /// A page on this host in this folder, that page 0 leads to under this path.
    fn known(host: u32, folder: u64, path: u64) -> Known {
        Known {
            host,
            folders: [folder, 100 + folder],
            parents: vec![Parent { page: 0, path }],
            ..Known::default()
        }
    }

    fn of(kin: &Kin, known: &Known) -> Resemblance {
        let judge = Judge::new(&red());
        kin.of(Number(9), known, &judge, &Links::default())
    }

    fn near(found: f32, expected: f32) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn what_pages_have_in_common_counts() {
        let mut kin = Kin::default();
        kin.count(&known(1, 1, 1), 1.0);
        // One page of the topic, and five that are believed to be .2 each.
        let base = 2.0 / 6.0;
        let once = |expected: f32| (1.0 + 2.0 * expected) / 3.0;
        let stranger = of(&kin, &Known::default());
        for rate in [stranger.host, stranger.folder, stranger.siblings] {
            near(rate, base);
        }
        for rate in [stranger.groups, stranger.neighbours, stranger.paths] {
            near(rate, base);
        }
        near(stranger.tried, 0.0);
        let sibling = of(&kin, &known(2, 2, 2));
        near(sibling.siblings, once(base));
        near(sibling.groups, base);
        near(sibling.paths, base);
        near(sibling.tried, 0.0);
        let alike = of(&kin, &known(1, 1, 1));
        for rate in [alike.host, alike.siblings, alike.groups, alike.paths] {
            near(rate, once(base));
        }
        near(alike.folder, once(once(once(base))));
        near(alike.tried, 1.0);
        let elsewhere = Known {
            parents: vec![Parent { page: 5, path: 1 }],
            ..Known::default()
        };
        let elsewhere = of(&kin, &elsewhere);
        near(elsewhere.paths, once(base));
        near(elsewhere.siblings, base);
    }

    #[test]
    fn parents_count_alike_and_the_least_tried_makes_curious() {
        let mut kin = Kin::default();
        kin.count(&known(1, 1, 1), 1.0);
        let mut both = known(1, 1, 1);
        both.parents.push(Parent { page: 5, path: 2 });
        let (one, two) = (of(&kin, &known(1, 1, 1)), of(&kin, &both));
        near(two.siblings, (one.siblings + one.base) / 2.0);
        near(two.tried, 0.0);
    }

    /// Page 0 leads to 1 to 9. Of the two next to 5, which are read, the nearer counts twice as much.
    #[test]
    fn the_nearer_a_neighbour_the_more_it_says() {
        let mut judge = Judge::new(&red());
        let links: Vec<Link<'_>> = (1..10).map(|to| Link::new(Number(to), "")).collect();
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
        assert_eq!(none, Rate::default(), "a page that it has no link to");
    }
}
