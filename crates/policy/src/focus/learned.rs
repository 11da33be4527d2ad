//! Focused crawling by an online classifier of links (our own method).
//!
//! Every page that is read is a training example. The inputs are what was known of the page
//! while it waited:
//!
//! - the words of its anchors, the words around them, its URL and its tag path;
//! - the topic classifier's probability for these words;
//! - the relevance and the number of its parents, and how much their text suggests that they link
//!   to the topic;
//! - the relevance of its siblings: of all, of those under the same tag path, and of those next to
//!   it among the links;
//! - the relevance so far of its host, its folder and its tag path.
//!
//! Rates from few pages are shrunk towards the rate of the whole crawl. A small bonus rewards
//! link groups that are little explored. If the topic was trained on completed crawls
//! ([`Guide`](super::Guide)), the outcome of links with the same words is one more input.
//!
//! The expected discounted reward behind the best link to the page ([`Rewards`]) is added. It is
//! weighted by the share of links that lead to pages not linked before. Once most pages are known,
//! almost only the relevance of the page itself counts.
//!
//! The training label comes from the text of the page, adjusted by the prediction from its links.
//! If the text is ambiguous, that prediction is usually right.
//!
//! **Invariant:** after a read, the pages that the page links to (its children) are revalued at
//! once. So are its siblings if the label of a first read differs from the prediction by more than
//! [`SURPRISE`], unless the parent is a [`DIRECTORY`]. All unread pages are revalued each time the
//! crawl has grown by a tenth, at least by 8 pages. Except for children, changes of at most
//! [`STEP`] are not reported.

use super::bayes::Bayes;
use super::focused::{Focus, worth as worth_of};
use super::guide::GAMMA;
use super::judge::TopicJudge;
use super::link_model::LinkModel;
use super::logistic::{LogisticModel, log_odds, sigmoid};
use super::related::RelatedPages;
use super::replay::ReplayBuffer;
use super::rewards::Rewards;
use super::topic::Topic;
use super::unread::{Origin, UnreadPage};
use super::word_counts::{LinkWords, PageWords};
use crate::estimate::{Column, Links};
use crate::{Discovered, LinkFact, Moves, Number, Read, Term, Text, Worth};

/// Number of dense inputs, in this order: base rate, topic by anchors and URL, topic by the best
/// link, mean parent, best parent, number of parents, siblings, siblings under the same tag
/// path, host, tag path, folder, neighbours, parents that lead to the topic, links in completed
/// crawls.
const INPUTS: usize = 14;
/// Initial weights of the dense inputs.
const INITIAL: [f32; INPUTS] = [
    1.0, 0.3, 0.3, 0.5, 0.2, 0.0, 0.4, 0.4, 0.1, 0.2, 0.3, 0.3, 0.3, 0.5,
];
/// AdaGrad learning rates, for dense inputs and for words.
const STEPS: (f32, f32) = (0.1, 0.3);
/// Exploration bonus of a page with probability 1 in a link group of which no page was read.
const EXPLORATION: f32 = 0.1;
/// Weight of one page in the moving average [`Learned::novelty`].
const NOVELTY_WEIGHT: f32 = 0.05;
/// Value of a seed. It is above the value of any other page.
const SEED: f32 = 3.0;
/// Weight of the link prediction in the training label, relative to the text, in log odds.
const LINK_WEIGHT: f32 = 0.6;
/// Difference between label and prediction above which the siblings are revalued.
const SURPRISE: f32 = 0.1;
/// Number of links above which a parent is a directory. Its links are not revalued after a
/// surprise.
const DIRECTORY: usize = 400;
/// Smaller changes of worth are not reported, because moving a page in its queue costs more than
/// valuing it.
const STEP: f32 = 0.01;

/// An ordering by the relevance probability, the expected reward behind the best link, and an
/// exploration bonus.
#[derive(Debug, Clone)]
pub struct Learned {
    judge: TopicJudge,
    model: LogisticModel<INPUTS>,
    rewards: Rewards,
    /// Moving average of the share of links that lead to pages not linked before.
    novelty: f32,
    pages: Vec<UnreadPage>,
    worths: Column<f32>,
    links: Links,
    related: RelatedPages,
    replay: ReplayBuffer<INPUTS>,
    /// Classifier of pages that link to the topic, and its prior log odds.
    layer: Option<(Bayes, f32)>,
    /// Model of link outcomes in completed crawls.
    before: Option<LinkModel>,
    reads: u32,
    sweep: u32,
    moved: Vec<Number>,
}

impl Learned {
    /// Creates the method for this topic.
    pub fn new(topic: &Topic) -> Self {
        Self {
            judge: TopicJudge::new(topic),
            model: LogisticModel::new(INITIAL, STEPS),
            rewards: Rewards::new(topic, GAMMA),
            novelty: 1.0,
            pages: Vec::new(),
            worths: Column::default(),
            links: Links::default(),
            related: RelatedPages::default(),
            replay: ReplayBuffer::default(),
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

    /// Returns how much the text suggests that a page links to the topic, in log odds above the
    /// prior.
    ///
    /// Returns 0 without a classifier or a text.
    fn nearness(&self, page_words: &PageWords) -> f32 {
        match &self.layer {
            Some((bayes, usual)) if !page_words.body.is_empty() => {
                log_odds(bayes.judge_words(page_words) as f32) - usual
            }
            _ => 0.0,
        }
    }

    /// Updates the moving average [`novelty`](Self::novelty) from the links of a page.
    fn count_new(&mut self, read: &Read<'_>) {
        if read.links.is_empty() {
            return;
        }
        let unnamed = |link: &&LinkFact<'_>| {
            let known = self.pages.get(link.to.index());
            known.is_some_and(|known| known.count == 0)
        };
        let new = read.links.iter().filter(unnamed).count();
        let share = new as f32 / read.links.len() as f32;
        self.novelty += NOVELTY_WEIGHT * (share - self.novelty);
    }

    fn follow(&mut self, from: &Origin, anchor: f32, link: &LinkFact<'_>, link_words: &LinkWords) {
        if let Some(known) = self.pages.get_mut(link.to.index()) {
            known.follow(from, anchor, link, link_words);
            let promised = self.rewards.value(link.to, anchor, link_words);
            known.promise = known.promise.max(promised);
        }
    }

    /// Marks the pages that a parent of this one links to for revaluation.
    fn mark_siblings(&mut self, page: Number) {
        let known = self.pages.get(page.index());
        for parent in known.map_or(&[][..], |known| known.parents.as_slice()) {
            let links = self.links.of(Number(parent.page)).unwrap_or_default().links;
            if links.len() <= DIRECTORY {
                self.moved.extend(links.iter().map(|&to| Number(to)));
            }
        }
    }

    /// Revalues the marked pages, and reports those whose worth changed by more than `step`.
    fn revalue(&mut self, step: f32, moves: &mut Moves) {
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
        let bonus = EXPLORATION * probability.sqrt() / (1.0 + tried).sqrt();
        probability + self.novelty * known.promise + bonus
    }

    /// Returns the inputs of a page, and the number of read pages in its least explored group.
    fn inputs(&self, page: Number, known: &UnreadPage) -> ([f32; INPUTS], f32) {
        let related = self.related.of(page, known, &self.judge, &self.links);
        let from = log_odds(related.base);
        let over = |rate: f32| log_odds(rate) - from;
        let parents = (known.sum + related.base) / (known.count as f32 + 1.0);
        let before = self.before.as_ref();
        let inputs = [
            from,
            over(self.judge.expected(page)),
            over(known.link.max(0.02)),
            over(parents),
            over(known.best.max(0.02)),
            (1.0 + known.count as f32).ln(),
            over(related.siblings),
            over(related.groups),
            over(related.host),
            over(related.paths),
            over(related.folder),
            over(related.neighbours),
            known.near / known.count.max(1) as f32,
            before.map_or(0.0, |before| before.over(&known.words)),
        ];
        (inputs, related.tried)
    }
}

impl Focus for Learned {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let index = discovered.page.index();
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, UnreadPage::default);
        }
        let known = &mut self.pages[index];
        *known = UnreadPage::of(discovered);
        known.add_url_features(discovered.url);
        self.rewards.discover(discovered);
        let worth = self.value(discovered.page);
        self.worths.add(discovered.page, worth);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let page_words = PageWords::of(read.text);
        let mut surprise = 0.0;
        if !again && let Some(known) = self.pages.get(read.page.index()) {
            let (inputs, _) = self.inputs(read.page, known);
            let words = &known.words;
            let predicted = self.model.log_odds(&inputs, words) - inputs[0];
            let found = self.judge.read_counted(read, &page_words);
            let relevance = match read.text {
                Text::Nothing => found,
                _ => sigmoid(log_odds(found) + LINK_WEIGHT * predicted),
            };
            surprise = (relevance - sigmoid(inputs[0] + predicted)).abs();
            self.model.learn(&inputs, words, relevance);
            self.replay.push(inputs, words, relevance);
            self.related.count(known, relevance);
        } else {
            self.judge.read_counted(read, &page_words);
        }
        let relevance = self.judge.relevance(read.page).unwrap_or(0.0);
        if again {
            self.rewards.conclude();
        } else {
            self.rewards.learn(read, relevance);
            self.reads += 1;
        }
        let old_links = self.links.of(read.page).unwrap_or_default().links.to_vec();
        let from = Origin {
            page: read.page,
            relevance,
            near: self.nearness(&page_words),
        };
        if !again {
            self.count_new(read);
        }
        for link in read.links {
            let link_words = LinkWords::of(link.anchor, link.around);
            let anchor = self.judge.follow_counted(link, &link_words);
            // When a page is read again, its old links must not count a second time.
            if old_links.binary_search(&link.to.0).is_err() {
                self.follow(&from, anchor, link, &link_words);
            }
            self.moved.push(link.to);
        }
        self.links.replace(read);
        // Report every change of a child, so that its worth is the same after a restart.
        self.revalue(0.0, moves);
        if surprise > SURPRISE {
            self.mark_siblings(read.page);
        }
        if self.reads >= self.sweep {
            self.sweep = self.reads + (self.reads / 10).max(8);
            self.moved.clear();
            self.replay.replay(&mut self.model);
            let waiting = self.worths.iter().map(|(page, _)| page);
            self.moved = waiting.filter(|page| !self.judge.is_read(*page)).collect();
        }
        self.revalue(STEP, moves);
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
            "parents that lead to the topic",
            "links in completed crawls",
        ];
        let each = names.iter().zip(inputs).zip(self.model.dense());
        let mut terms: Vec<Term> = each
            .map(|((name, input), weight)| Term::new(*name, f64::from(input * weight)))
            .collect();
        let promise = self.novelty * known.promise;
        terms.push(Term::new(
            "expected reward behind the best link",
            f64::from(promise),
        ));
        terms
    }
}
