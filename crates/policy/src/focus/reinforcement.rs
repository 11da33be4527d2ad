//! Links whose words promise a reward, at once or later.
//!
//! McCallum et al., "Automating the construction of internet portals with machine learning" (2000): the value Q of following a link
//! is what is on the page behind it and, discounted, the best that can be reached from there; it is a function of the
//! words of the link and those around it alone. Their Q comes from crawls that ended; here it is learned from
//! every page that is read, and as a store tells a crawl that begins all that was read before, from a finished one
//! before the first fetch: Q(link to u) ← r(u) + γ max Q(links of u). Kept as q = (1−γ)·Q, from 0 to 1.

use super::best_first::{Method, Sighting};
use super::linear::{Linear, log_odds, place, sigmoid};
use super::words::{Field, counts};
use crate::{Link, Read};

/// What is left of a reward a link further.
const GAMMA: f32 = 0.5;
/// Dense inputs: any link, its words by the topic, the page that has it.
const INPUTS: usize = 3;
/// What we believe before anything was seen.
const BELIEVED: [f32; INPUTS] = [-1.0, 0.4, 0.4];
/// Steps of learning, for inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);

/// Worth is q.
#[derive(Debug, Clone)]
pub struct Reinforcement {
    model: Linear<INPUTS>,
    /// The link that each page was first seen behind.
    seen: Vec<Option<Seen>>,
    /// A page whose links are not all seen yet: itself, its reward, and the best q of its links so far.
    reading: Option<(usize, f32, f32)>,
}

#[derive(Debug, Clone)]
struct Seen {
    inputs: [f32; INPUTS],
    words: Vec<u32>,
}

impl Default for Reinforcement {
    fn default() -> Self {
        Self {
            model: Linear::new(BELIEVED, STEPS),
            seen: Vec::new(),
            reading: None,
        }
    }
}

impl Reinforcement {
    /// Learns what the page whose links were seen last was worth.
    fn conclude(&mut self) {
        let Some((page, reward, best)) = self.reading.take() else {
            return;
        };
        if let Some(Some(seen)) = self.seen.get(page) {
            let truth = (1.0 - GAMMA) * reward + GAMMA * best;
            self.model.learn(&seen.inputs, &seen.words, truth);
        }
    }
}

impl Method for Reinforcement {
    const TERM: &'static str = "discounted reward, (1-gamma) Q";

    fn learn(&mut self, read: &Read<'_>, relevance: f32) {
        self.conclude();
        self.reading = Some((read.page.index(), relevance, 0.0));
    }

    fn value(&mut self, sighting: &Sighting<'_>) -> f32 {
        let inputs = [1.0, log_odds(sighting.anchor), log_odds(sighting.relevance)];
        let words = words(&sighting.link);
        let value = sigmoid(self.model.log_odds(&inputs, &words));
        if let Some((_, _, best)) = &mut self.reading {
            *best = best.max(value);
        }
        let index = sighting.link.to.index();
        if self.seen.len() <= index {
            self.seen.resize_with(index + 1, || None);
        }
        self.seen[index].get_or_insert(Seen { inputs, words });
        value
    }
}

fn words(link: &Link<'_>) -> Vec<u32> {
    let near = counts(link.anchor, Field::Text).into_iter();
    let around = counts(link.around, Field::Text).into_iter();
    // A word around a link is another sign than the same word in it.
    let near = near.map(|(word, _)| place(word));
    let mut words: Vec<u32> = near.collect();
    words.extend(around.map(|(word, _)| place(!word)));
    words
}
