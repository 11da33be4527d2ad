//! Links that look like those which led to the topic.
//!
//! Ours. An online classifier of links: every page that is read is an example, and what was known of it while it waited
//! are its inputs: the words of its anchors, those around them, its URL and tag path; what the topic says of these;
//! how many of its parents are of the topic; how many of its siblings turned out to be, all and those under the same
//! tag path; how its host and this tag path did so far. Where little was seen, rates are drawn towards that of
//! the whole crawl, and a little is added for what nobody has tried. Where crawls have ended that the topic was taught by
//! ([`Guide`](super::Guide)), what links of such words led to there is one more input. What a page leads to is added, the value of
//! its links by [`Rewards`], as far as pages still lead to others that nobody has named: where most pages are known and wait, only what they
//! are counts.
//!
//! A page is judged by its text first. For what is learned from it, what links had said of it counts as well: where they know a kind of page and its
//! text is doubtful, they are right more often than not.
//!
//! **Invariant:** a page is worth what was last said of it: children of a page that was read, and its siblings if it was a surprise, are valued
//! anew at once, all others each time that the crawl has grown by a tenth, so that a crawl of n pages costs
//! O(n log n) valuations; of others than children, what has moved by less than [`STEP`] is not told.

use super::bayes::Bayes;
use super::focused::{Focus, worth as worth_of};
use super::judge::Judge;
use super::kin::Kin;
use super::linear::{Linear, log_odds, sigmoid};
use super::rehearsal::Rehearsal;
use super::rewards::Rewards;
use super::seen::{Known, Origin};
use super::signpost::Signpost;
use super::topic::Topic;
use super::word_counts::{Spoken, Written};
use crate::estimate::{Column, Links};
use crate::{Discovered, Link, Moves, Number, Read, Term, Text, Worth};

/// Dense inputs: any page, topic by words, by the best link, mean parent, best parent, number of parents, siblings, siblings under the same
/// path, host, path, folder, neighbours, parents that lead to the topic, what such links led to before.
const INPUTS: usize = 14;
/// What we believe before anything was seen.
const BELIEVED: [f32; INPUTS] = [
    1.0, 0.3, 0.3, 0.5, 0.2, 0.0, 0.4, 0.4, 0.1, 0.2, 0.3, 0.3, 0.3, 0.5,
];
/// Steps of learning, for inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);
/// What an untried group of links is worth more than it is expected to be.
const CURIOSITY: f32 = 0.1;
/// What a page counts among those that were read lately.
const LATELY: f32 = 0.05;
/// What is worth more than any page that links speak for.
const SEED: f32 = 3.0;
/// What links said of a page beside what its text says, in log odds.
const HEARSAY: f32 = 0.6;
/// A page that is as near as this to what was expected of it says nothing new of its siblings.
const SURPRISE: f32 = 0.1;
/// A page of more links than this is a directory: its links are not valued anew for each of them.
const DIRECTORY: usize = 400;
/// Changes of worth that are not told: to move a page in its queue costs more than to value it.
const STEP: f32 = 0.01;

/// Worth is the probability that a page is of the topic, what its links promise to lead to, and some curiosity.
#[derive(Debug, Clone)]
pub struct Learned {
    judge: Judge,
    model: Linear<INPUTS>,
    rewards: Rewards,
    /// Of the links that were read lately, the share that nobody had named before.
    novelty: f32,
    pages: Vec<Known>,
    worths: Column<f32>,
    links: Links,
    kin: Kin,
    rehearsal: Rehearsal<INPUTS>,
    /// What tells pages that lead to the topic, and the log odds of any page.
    layer: Option<(Bayes, f32)>,
    /// What links led to before.
    before: Option<Signpost>,
    reads: u32,
    sweep: u32,
    moved: Vec<Number>,
}

impl Learned {
    /// For this topic.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: Judge::new(topic),
            model: Linear::new(BELIEVED, STEPS),
            rewards: Rewards::new(topic),
            novelty: 1.0,
            pages: Vec::new(),
            worths: Column::default(),
            links: Links::default(),
            kin: Kin::default(),
            rehearsal: Rehearsal::default(),
            layer: topic.layers.first().map(|bayes| {
                let [off, on] = bayes.learned().examples.map(|count| count as f32);
                (bayes.clone(), log_odds(on / (on + off)))
            }),
            before: topic.guide.as_ref().map(|guide| guide.topic.clone()),
            reads: 0,
            sweep: 8,
            moved: Vec::new(),
        }
    }

    /// How likely a page is one that leads to the topic, by its text: log odds above the usual; 0 if nobody knows.
    fn nearness(&self, written: &Written) -> f32 {
        match &self.layer {
            Some((bayes, usual)) if !written.body.is_empty() => {
                log_odds(bayes.written(written) as f32) - usual
            }
            _ => 0.0,
        }
    }

    /// Takes note of how many links of a page nobody had named before.
    fn count_new(&mut self, read: &Read<'_>) {
        if read.links.is_empty() {
            return;
        }
        let unnamed = |link: &&Link<'_>| {
            let known = self.pages.get(link.to.index());
            known.is_some_and(|known| known.count == 0)
        };
        let new = read.links.iter().filter(unnamed).count();
        let share = new as f32 / read.links.len() as f32;
        self.novelty += LATELY * (share - self.novelty);
    }

    fn follow(&mut self, from: &Origin, anchor: f32, link: &Link<'_>, spoken: &Spoken) {
        if let Some(known) = self.pages.get_mut(link.to.index()) {
            known.follow(from, anchor, link, spoken);
            let promised = self.rewards.value(link.to, anchor, spoken);
            known.promise = known.promise.max(promised);
        }
    }

    /// Pages that a parent of this one leads to are to be valued anew.
    fn siblings_of(&mut self, page: Number) {
        let known = self.pages.get(page.index());
        for parent in known.map_or(&[][..], |known| known.parents.as_slice()) {
            let links = self.links.of(Number(parent.page)).unwrap_or_default().links;
            if links.len() <= DIRECTORY {
                self.moved.extend(links.iter().map(|&to| Number(to)));
            }
        }
    }

    /// Values pages anew, and tells what has moved by more than this.
    fn value_anew(&mut self, step: f32, moves: &mut Moves) {
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        moved.dedup();
        for &page in moved.iter().filter(|page| !self.judge.is_read(**page)) {
            let value = self.value(page);
            if let Some(worth) = self.worths.get_mut(page)
                && (value - *worth).abs() > step
            {
                *worth = value;
                moves.push(page, worth_of(value));
            }
        }
        moved.clear();
        self.moved = moved;
    }

    fn value(&self, page: Number) -> f32 {
        let Some(known) = self.pages.get(page.index()) else {
            return 0.0;
        };
        if known.seed {
            return SEED;
        }
        let (inputs, tried) = self.inputs(page, known);
        let probability = sigmoid(self.model.log_odds(&inputs, &known.words));
        let curious = CURIOSITY * probability.sqrt() / (1.0 + tried).sqrt();
        probability + self.novelty * known.promise + curious
    }

    /// What is known of a page, and how many of the pages that are most like it were read.
    fn inputs(&self, page: Number, known: &Known) -> ([f32; INPUTS], f32) {
        let kin = self.kin.of(page, known, &self.judge, &self.links);
        let from = log_odds(kin.base);
        let over = |rate: f32| log_odds(rate) - from;
        let parents = (known.sum + kin.base) / (known.count as f32 + 1.0);
        let before = self.before.as_ref();
        let inputs = [
            from,
            over(self.judge.expected(page)),
            over(known.link.max(0.02)),
            over(parents),
            over(known.best.max(0.02)),
            (1.0 + known.count as f32).ln(),
            over(kin.siblings),
            over(kin.groups),
            over(kin.host),
            over(kin.paths),
            over(kin.folder),
            over(kin.neighbours),
            known.near / known.count.max(1) as f32,
            before.map_or(0.0, |before| before.over(&known.words)),
        ];
        (inputs, kin.tried)
    }
}

impl Focus for Learned {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let index = discovered.page.index();
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, Known::default);
        }
        let known = &mut self.pages[index];
        *known = Known::of(discovered);
        known.add_signs(discovered.url);
        self.rewards.hear(discovered);
        let worth = self.value(discovered.page);
        self.worths.add(discovered.page, worth);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let written = Written::of(read.text);
        let mut surprise = 0.0;
        if !again && let Some(known) = self.pages.get(read.page.index()) {
            let (inputs, _) = self.inputs(read.page, known);
            let words = &known.words;
            let heard = self.model.log_odds(&inputs, words) - inputs[0];
            let found = self.judge.weigh(read, &written);
            let relevance = match read.text {
                Text::Nothing => found,
                _ => sigmoid(log_odds(found) + HEARSAY * heard),
            };
            surprise = (relevance - sigmoid(inputs[0] + heard)).abs();
            self.model.learn(&inputs, words, relevance);
            self.rehearsal.remember(inputs, words, relevance);
            self.kin.count(known, relevance);
        } else {
            self.judge.weigh(read, &written);
        }
        let relevance = self.judge.relevance(read.page).unwrap_or(0.0);
        if again {
            self.rewards.conclude();
        } else {
            self.rewards.learn(read, relevance);
            self.reads += 1;
        }
        let told = self.links.of(read.page).unwrap_or_default().links.to_vec();
        let from = Origin {
            page: read.page,
            relevance,
            near: self.nearness(&written),
        };
        if !again {
            self.count_new(read);
        }
        for link in read.links {
            let spoken = Spoken::of(link.anchor, link.around);
            let anchor = self.judge.hear(link, &spoken);
            // A page that is read again says of an old link what it said before.
            if told.binary_search(&link.to.0).is_err() {
                self.follow(&from, anchor, link, &spoken);
            }
            self.moved.push(link.to);
        }
        self.links.replace(read);
        // Children are told exactly, so that they are worth the same after a stop, whatever they were worth before.
        self.value_anew(0.0, moves);
        if surprise > SURPRISE {
            self.siblings_of(read.page);
        }
        if self.reads >= self.sweep {
            self.sweep = self.reads + (self.reads / 10).max(8);
            self.moved.clear();
            self.rehearsal.tell(&mut self.model);
            let waiting = self.worths.iter().map(|(page, _)| page);
            self.moved = waiting.filter(|page| !self.judge.is_read(*page)).collect();
        }
        self.value_anew(STEP, moves);
    }

    fn worth(&self, page: Number) -> Worth {
        let worth = self.worths.get(page).unwrap_or(0.0);
        worth_of(worth)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let Some(known) = self.pages.get(page.index()) else {
            return Vec::new();
        };
        let (inputs, _) = self.inputs(page, known);
        let names = [
            "log odds of any page",
            "topic by anchors and URL",
            "topic by the best link",
            "parents on the topic",
            "best parent",
            "number of parents",
            "siblings on the topic",
            "siblings under the same tags",
            "host",
            "tag path",
            "folder",
            "neighbours on the topic",
            "parents that lead there",
            "such links before",
        ];
        let each = names.iter().zip(inputs).zip(self.model.dense());
        let mut terms: Vec<Term> = each
            .map(|((name, input), weight)| Term::new(*name, f64::from(input * weight)))
            .collect();
        let promise = self.novelty * known.promise;
        terms.push(Term::new("promise of its links", f64::from(promise)));
        terms
    }
}
