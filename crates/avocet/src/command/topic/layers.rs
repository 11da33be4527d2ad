//! Context graph of a topic: classifiers for the pages that lead to it over a few links.
//!
//! Diligenti et al., "Focused crawling using context graphs" (2000). Layer 1 has the pages that
//! link to a positive example, layer 2 those that link to layer 1. The links come from the
//! ledger. Each layer gets a classifier that separates it from the other pages of the store.
//! The graph ends before a layer with too few pages.
//!
//! **Invariant:** a page is in at most one layer, the nearest to the topic.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use frontier::Known;
use ledger::LedgerReader;
use page::{PageId, PageUrl};
use policy::focus::{Bayes, Trainer};

use super::examples::{Examples, StoredCopies, TrainingExample};

/// Minimum number of pages of a layer.
const LEAST: usize = 10;
/// Maximum number of pages that are read to train the classifier of a layer: of the layer, and the
/// same number of the other pages.
const MOST: usize = 500;

/// Trains the classifiers of at most this many layers, the nearest layer first.
pub fn learn(
    copies: &StoredCopies<'_>,
    ledger: &LedgerReader,
    examples: &Examples,
    most: u8,
) -> Result<Vec<Bayes>> {
    let known = copies.known();
    let numbers: HashMap<PageId, u32> = known
        .iter()
        .map(|known| (known.key.page, known.discovery.order as u32))
        .collect();
    let number = |example: &TrainingExample| {
        let url = PageUrl::parse(&example.name).ok()?;
        numbers.get(&url.id()).copied()
    };
    let of_topic = examples.pages.iter().filter(|example| example.on);
    let mut nearer: HashSet<u32> = of_topic.filter_map(number).collect();
    if nearer.is_empty() {
        return Ok(Vec::new());
    }
    let mut links: Vec<(u32, Vec<u32>)> = Vec::new();
    for entry in ledger.all_links() {
        let (from, out) = entry?;
        if let Some(&from) = numbers.get(&from.page) {
            links.push((from, out.links().map(|(to, _)| to).collect()));
        }
    }
    let mut placed = nearer.clone();
    let mut layers = Vec::new();
    for _ in 0..most {
        let leads = |to: &[u32]| to.iter().any(|to| nearer.contains(to));
        let layer: HashSet<u32> = links
            .iter()
            .filter(|(from, to)| !placed.contains(from) && leads(to))
            .map(|(from, _)| *from)
            .collect();
        if layer.len() < LEAST {
            break;
        }
        placed.extend(&layer);
        let Some(bayes) = train(copies, &known, &layer)? else {
            break;
        };
        layers.push(bayes);
        nearer = layer;
    }
    Ok(layers)
}

/// Trains a classifier for the pages of a layer. Returns `None` if there are too few pages.
fn train(
    copies: &StoredCopies<'_>,
    known: &[&Known],
    layer: &HashSet<u32>,
) -> Result<Option<Bayes>> {
    let within = |known: &&Known| layer.contains(&(known.discovery.order as u32));
    let (inside, outside): (Vec<&Known>, Vec<&Known>) = known.iter().copied().partition(within);
    let mut trainer = Trainer::default();
    for (pages, on) in [(inside, true), (outside, false)] {
        let step = pages.len().div_ceil(MOST).max(1);
        for known in pages.into_iter().step_by(step) {
            let url = PageUrl::parse(&known.discovery.url)?;
            if let Some(example) = copies.example(&url, on)? {
                trainer.add(&example.document(), on);
            }
        }
    }
    Ok(trainer.train().ok().map(|trained| trained.bayes))
}
