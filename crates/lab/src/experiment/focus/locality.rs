//! Similarity of linked pages and of anchor texts (Baldi, Frasconi & Smyth 2003, Figure 6.2).
//!
//! Davison, "Topical locality in the web" (SIGIR 2000): the cosine of TF-IDF vectors. The weight of
//! a word is here (1 + ln tf) · ln(N/df), over title and text. With each random link, a random
//! sibling of its target (another page that the same page links to) and two random pages are
//! drawn. Three pairs of pages are compared: the two linked pages, the target and its sibling, and
//! the two random pages. The anchor text of the link is compared with its target, with its own
//! page, with the sibling and with a random page.
//!
//! **Invariant:** each drawn link gives at most one pair of each kind. No page is compared with
//! itself.

use std::collections::HashMap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use policy::focus::Field;
use policy::focus::word_counts::counts;
use testweb::chance::{For, stream};

use crate::findings::{Measured, Params};
use crate::world::Linked;

/// Number of links drawn.
const LINKS: usize = 2_000;

/// Kinds of pairs, in the order of the figure.
pub(super) const KINDS: [&str; 8] = [
    "random pages",
    "sibling pages",
    "linked pages, other site",
    "linked pages, same site",
    "anchor and a random page",
    "anchor and a sibling of its target",
    "anchor and the page it is on",
    "anchor and its target",
];

type Vector = HashMap<u64, f64>;

/// Returns the mean similarity of each kind of pair. Kinds with fewer than ten pairs are omitted.
pub(super) fn measured(world: &Linked, seed: u64) -> Vec<Measured> {
    let texts = TfIdfIndex::of(world);
    let mut chance = stream(seed, For::Pairs, 0, 0);
    let mut sums = [(0.0, 0u32); KINDS.len()];
    let graph = world.graph();
    let linking: Vec<usize> = (0..graph.pages())
        .filter(|page| !graph.links(*page).is_empty())
        .collect();
    if linking.is_empty() {
        return Vec::new();
    }
    let mut add = |kind: usize, value: Option<f64>| {
        if let Some(value) = value {
            sums[kind].0 += value;
            sums[kind].1 += 1;
        }
    };
    for _ in 0..LINKS {
        let from = linking[chance.random_range(0..linking.len())];
        let links = graph.links(from);
        let nth = chance.random_range(0..links.len());
        let to = links[nth] as usize;
        let sibling = links[chance.random_range(0..links.len())] as usize;
        let [one, other] = [(); 2].map(|()| any(&mut chance, graph.pages()));
        add(0, texts.pages(one, other));
        add(1, texts.pages(to, sibling));
        let [site, there] = [from, to].map(|page| graph.url(page).registrable_domain());
        add(if site == there { 3 } else { 2 }, texts.pages(from, to));
        let anchor = world.anchor(from, nth);
        if anchor.is_empty() {
            continue;
        }
        let words = texts.vector(anchor);
        let near = |page: usize| Some(cosine(&words, &texts.vectors[page]));
        add(4, near(one));
        add(5, near(sibling).filter(|_| sibling != to));
        add(6, near(from));
        add(7, near(to));
    }
    let kinds = KINDS.iter().zip(sums).enumerate();
    let found = kinds.filter(|(_, (_, (_, count)))| *count >= 10);
    found
        .map(|(place, (kind, (sum, count)))| Measured {
            policy: (*kind).to_owned(),
            params: Params::new(),
            metric: "similarity".to_owned(),
            x: place as f64 + 1.0,
            value: sum / f64::from(count),
        })
        .collect()
}

fn any(chance: &mut ChaCha8Rng, pages: usize) -> usize {
    chance.random_range(0..pages)
}

struct TfIdfIndex {
    vectors: Vec<Vector>,
    /// ln(N/df) of each word.
    rarity: Vector,
}

impl TfIdfIndex {
    fn of(world: &Linked) -> Self {
        let pages = world.graph().pages();
        let mut counted: Vec<Vec<(u64, u32)>> = Vec::with_capacity(pages);
        let mut frequency: HashMap<u64, u32> = HashMap::new();
        for page in 0..pages {
            let (title, text) = world.text(page).unwrap_or_default();
            let words = counts(&format!("{title}\n{text}"), Field::Text);
            for (word, _) in &words {
                *frequency.entry(*word).or_default() += 1;
            }
            counted.push(words);
        }
        let rarity: Vector = frequency
            .into_iter()
            .map(|(word, count)| (word, (pages as f64 / f64::from(count)).ln()))
            .collect();
        let vectors = counted
            .iter()
            .map(|words| weighed(words, &rarity))
            .collect();
        Self { vectors, rarity }
    }

    fn vector(&self, text: &str) -> Vector {
        weighed(&counts(text, Field::Text), &self.rarity)
    }

    fn pages(&self, one: usize, other: usize) -> Option<f64> {
        (one != other).then(|| cosine(&self.vectors[one], &self.vectors[other]))
    }
}

fn weighed(words: &[(u64, u32)], rarity: &Vector) -> Vector {
    let weight = |&(word, count): &(u64, u32)| {
        let rarity = rarity.get(&word)?;
        Some((word, (1.0 + f64::from(count).ln()) * rarity))
    };
    let mut vector: Vec<(u64, f64)> = words.iter().filter_map(weight).collect();
    let length = vector
        .iter()
        .map(|(_, weight)| weight * weight)
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
    vector.into_iter().collect()
}

/// Returns the cosine of two unit vectors; 0 if one of them is empty.
///
/// The products are summed in rising order, because the iteration order of a map must not change
/// the sum.
fn cosine(one: &Vector, other: &Vector) -> f64 {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let products = short
        .iter()
        .filter_map(|(word, weight)| Some(weight * long.get(word)?));
    let mut products: Vec<f64> = products.collect();
    products.sort_by(f64::total_cmp);
    products.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_agree_with_hand_calculation() {
        let rarity: Vector = [(1, 1.0), (2, 2.0), (3, 0.0)].into_iter().collect();
        let one = weighed(&[(1, 1), (2, 1), (9, 5)], &rarity);
        let other = weighed(&[(2, 1), (3, 4)], &rarity);
        // (1, 2)/√5 and (2)/2.
        assert!((cosine(&one, &other) - 2.0 / 5f64.sqrt()).abs() < 1e-12);
        assert!((cosine(&one, &one) - 1.0).abs() < 1e-12);
        assert_eq!(cosine(&one, &weighed(&[], &rarity)), 0.0);
    }
}
