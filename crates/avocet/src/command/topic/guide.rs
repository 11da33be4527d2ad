//! Training of the link guide, which predicts from a link whether it leads to the topic.
//!
//! The training data are the links between pages of the store. A link is rewarded if it leads to
//! the topic, directly or over further links. A page has the reward 1 if it is a positive example
//! and 0 if it is a negative one; any other page has the probability that the new classifier gives
//! it. Of a large store only the examples and a sample are read, evenly spread over the order of
//! discovery.
//!
//! **Invariant:** the same store and examples give the same guide.

use std::collections::HashMap;

use anyhow::Result;
use page::{PageId, PageUrl};
use policy::focus::{CrawledGraph, Guide, Pointer, TrainingDocument};

use super::examples::{Examples, StoredCopies};
use crate::progress_bar::Bar;
use crawl::verdict::Lead;
use lab::workers::ExperimentProgress;

/// Maximum number of pages that are read besides the examples.
const MOST: usize = 5_000;

/// Trains the guide. Returns `None` if too few links lead to the topic.
pub fn learn(
    copies: &StoredCopies<'_>,
    examples: &Examples,
    judge: &dyn Fn(&TrainingDocument<'_>) -> f64,
) -> Result<Option<Guide>> {
    let said: HashMap<&str, bool> = examples
        .pages
        .iter()
        .map(|example| (example.name.as_str(), example.on))
        .collect();
    let known = copies.known();
    let step = known.len().div_ceil(MOST).max(1);
    let mut crawled = CrawledGraph::default();
    let mut places: HashMap<PageId, usize> = HashMap::new();
    let mut leads: Vec<(usize, Vec<Lead>)> = Vec::new();
    let bar = Bar::new();
    bar.begin("reading links", known.len());
    for (nth, known) in known.into_iter().enumerate() {
        bar.step();
        let named = said.get(known.discovery.url.as_str()).copied();
        if named.is_none() && nth % step != 0 {
            continue;
        }
        let url = PageUrl::parse(&known.discovery.url)?;
        let Some((known, verdict)) = copies.read(&url, true)? else {
            continue;
        };
        let judged = || {
            let text = verdict.text.as_ref();
            text.map_or(0.0, |text| {
                judge(&TrainingDocument {
                    url: url.as_str(),
                    title: &text.title,
                    text: &text.body,
                    anchors: "",
                })
            })
        };
        let reward = named.map_or_else(judged, |on| f64::from(u8::from(on)));
        let place = crawled.page(reward as f32);
        places.insert(known.key.page, place);
        leads.push((place, verdict.leads));
    }
    for (from, leads) in leads {
        for lead in leads.iter().filter(|lead| !lead.redirect) {
            if let Some(&to) = places.get(&lead.id) {
                let pointer = Pointer {
                    url: lead.url.as_str(),
                    anchor: &lead.anchor,
                    around: &lead.around,
                };
                crawled.link(from, to, &pointer);
            }
        }
    }
    Ok(crawled.learn())
}
