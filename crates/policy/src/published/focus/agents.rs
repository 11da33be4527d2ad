//! A population of adaptive agents that live on relevant pages.
//!
//! Menczer, "ARACHNID" (1997); Menczer & Belew, "Adaptive retrieval agents" (2000). An agent
//! follows links from its page, chosen by its own linear net over the words near them. A page
//! costs the agent [`COST`] energy and gives it the page's relevance. At [`RIPE`] the agent
//! splits: its child gets half of its energy and a mutated copy of its net. Without energy an
//! agent dies, and the pages it has links to come last. The net learns from the reward of each
//! link by the delta rule.
//!
//! With [`AgentInputs::NetAndWords`] an agent has words besides its net, as the agents of
//! InfoSpiders have (Menczer & Belew): each word has a weight, and the words of a link are further
//! inputs. A word of the anchor has the activity 1, a word around it ½. The same rule changes the
//! weights of the words. A word of a link that was followed is new with the weight 0, and an agent
//! keeps its [`VOCABULARY`] words of largest weight. A child inherits them, except the one that
//! says least.
//!
//! Here the agents do not run in parallel. The next page is the one with the highest value by
//! the net of its agent, over all agents.
//!
//! **Invariant:** only the first read of a page changes the total energy. The energy of all agents,
//! dead ones included, is the initial energy plus the relevance found minus the costs.

use crate::chance::split_mix;
use crate::estimate::Column;
use crate::focus::focused::{Focus, worth as worth_of};
use crate::focus::judge::TopicJudge;
use crate::focus::logistic::{sigmoid, weight_index};
use crate::focus::topic::Topic;
use crate::focus::word_counts::LinkWords;
use crate::{Discovered, Moves, Number, Read, Term, Worth};

/// Energy that a fetch costs an agent.
const COST: f32 = 0.2;
/// Initial energy of the first agent.
const BIRTH: f32 = 1.0;
/// Energy at which an agent splits.
const RIPE: f32 = 2.0;
/// Number of inputs of a net: a constant, the probability of the topic by the link's words, the
/// relevance of the page that has the link, and the position among the links of that page in the
/// order of page numbers (1 for the first, falling towards 0).
const INPUTS: usize = 4;
/// Net of the first agent.
const NET: [f32; INPUTS] = [-2.0, 2.0, 2.0, 0.0];
/// Learning rate of the delta rule.
const STEP: f32 = 0.2;
/// Learning rate of the weights of words. It is larger, because a word is seen less often.
const WORD_STEP: f32 = 1.0;
/// Maximum mutation of a weight from parent to child.
const CHANGE: f32 = 0.25;
/// Number of words that an agent keeps.
const VOCABULARY: usize = 48;
/// Number of words of a link that are inputs: those of its anchor, then those around it.
const LINK_WORDS: usize = 24;
/// Activity of a word around an anchor; a word of the anchor has 1.
const AROUND: f32 = 0.5;

/// The inputs by which agents value a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentInputs {
    /// Those of the net alone.
    Net,
    /// Those of the net and the words of the link.
    NetAndWords,
}

/// An ordering by the net of the agent that owns the link.
#[derive(Debug, Clone)]
pub struct Agents {
    judge: TopicJudge,
    agents: Vec<LinkAgent>,
    pages: Column<OwnedPage>,
    /// The words of the best link to each page; `None` if words are no inputs.
    words: Option<Vec<Box<[ActiveWord]>>>,
    born: u64,
}

/// A word of a link: its hash, and its activity divided by the square root of the number of words.
#[derive(Debug, Clone, Copy)]
struct ActiveWord {
    word: u32,
    activity: f32,
}

#[derive(Debug, Clone)]
struct LinkAgent {
    energy: f32,
    net: [f32; INPUTS],
    /// Words and their weights, the largest absolute weight first. At most [`VOCABULARY`].
    vocabulary: Vec<(u32, f32)>,
    /// Pages that came to the agent by a link, including those that were read since or went to
    /// another agent by a better link.
    links: Vec<Number>,
}

/// A page and the agent that owns the best link to it.
#[derive(Debug, Clone, Copy, Default)]
struct OwnedPage {
    agent: u32,
    inputs: [f32; INPUTS],
    worth: f32,
}

impl LinkAgent {
    fn is_alive(&self) -> bool {
        self.energy > 0.0
    }

    fn output(&self, inputs: &[f32; INPUTS], words: &[ActiveWord]) -> f32 {
        let products = self.net.iter().zip(inputs);
        let net: f32 = products.map(|(weight, input)| weight * input).sum();
        let weight = |word| self.vocabulary.iter().find(|(known, _)| *known == word);
        let words = words.iter().filter_map(|active| {
            let (_, weight) = weight(active.word)?;
            Some(weight * active.activity)
        });
        sigmoid(net + words.sum::<f32>())
    }

    fn learn(&mut self, inputs: &[f32; INPUTS], words: &[ActiveWord], reward: f32) {
        let error = reward - self.output(inputs, words);
        for (weight, input) in self.net.iter_mut().zip(inputs) {
            *weight += STEP * error * input;
        }
        for active in words {
            let more = WORD_STEP * error * active.activity;
            let known = self
                .vocabulary
                .iter_mut()
                .find(|(word, _)| *word == active.word);
            match known {
                Some((_, weight)) => *weight += more,
                None => self.vocabulary.push((active.word, more)),
            }
        }
        let by_weight =
            |(_, one): &(u32, f32), (_, other): &(u32, f32)| other.abs().total_cmp(&one.abs());
        self.vocabulary.sort_by(by_weight);
        self.vocabulary.truncate(VOCABULARY);
    }
}

impl Agents {
    /// Creates the method for this topic.
    pub fn new(topic: &Topic, inputs: AgentInputs) -> Self {
        let first = LinkAgent {
            energy: BIRTH,
            net: NET,
            vocabulary: Vec::new(),
            links: Vec::new(),
        };
        Self {
            judge: TopicJudge::new(topic),
            agents: vec![first],
            pages: Column::default(),
            words: (inputs == AgentInputs::NetAndWords).then(Vec::new),
            born: 0,
        }
    }

    /// Gives half of an agent's energy to a new agent. Returns the index of the new one.
    fn split(&mut self, parent: usize) -> usize {
        self.born += 1;
        let half = self.agents[parent].energy / 2.0;
        self.agents[parent].energy = half;
        let mut net = self.agents[parent].net;
        for (place, weight) in (0..).zip(&mut net) {
            let drawn = split_mix(self.born.wrapping_mul(64).wrapping_add(place));
            let share = (drawn >> 40) as f32 / (1u64 << 24) as f32;
            *weight += CHANGE * (2.0 * share - 1.0);
        }
        let mut vocabulary = self.agents[parent].vocabulary.clone();
        vocabulary.pop();
        self.agents.push(LinkAgent {
            energy: half,
            net,
            vocabulary,
            links: Vec::new(),
        });
        self.agents.len() - 1
    }

    /// Returns the words of the best link to a page.
    fn words_of(&self, page: Number) -> &[ActiveWord] {
        let words = self
            .words
            .as_ref()
            .and_then(|words| words.get(page.index()));
        words.map_or(&[], |words| words)
    }

    /// Reports the worth of these pages. Pages of a dead agent come last.
    fn report_moves(&mut self, mut moved: Vec<Number>, moves: &mut Moves) {
        moved.sort_unstable();
        moved.dedup();
        for page in moved.into_iter().filter(|page| !self.judge.is_read(*page)) {
            if let Some(owned) = self.pages.get_mut(page) {
                if !self.agents[owned.agent as usize].is_alive() {
                    owned.worth = 0.0;
                }
                moves.push(page, worth_of(owned.worth));
            }
        }
    }
}

impl Focus for Agents {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let owned = OwnedPage {
            worth: if discovered.seed { 1.0 } else { 0.0 },
            ..OwnedPage::default()
        };
        self.pages.add(discovered.page, owned);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let relevance = self.judge.read(read);
        let owned = self.pages.get(read.page).unwrap_or_default();
        let owner = owned.agent as usize;
        let mut moved: Vec<Number> = Vec::new();
        let mut child = None;
        if !again {
            let words = match &mut self.words {
                Some(words) => words.get_mut(read.page.index()).map(std::mem::take),
                None => None,
            };
            let agent = &mut self.agents[owner];
            agent.learn(&owned.inputs, &words.unwrap_or_default(), relevance);
            agent.energy += relevance - COST;
            if agent.energy >= RIPE {
                child = Some(self.split(owner));
            } else if !agent.is_alive() {
                moved = std::mem::take(&mut agent.links);
            }
        }
        let count = read.links.len().max(1) as f32;
        for (place, link) in read.links.iter().enumerate() {
            let link_words = LinkWords::of(link.anchor, link.around);
            let anchor = self.judge.follow_counted(link, &link_words);
            if self.judge.is_read(link.to) {
                continue;
            }
            // Parent and child share the links of the page.
            let taker = child.filter(|_| place % 2 == 1).unwrap_or(owner);
            let inputs = [1.0, anchor, relevance, 1.0 - place as f32 / count];
            let words = match &self.words {
                Some(_) => active_words(&link_words),
                None => Box::default(),
            };
            let agent = &mut self.agents[taker];
            let worth = if agent.is_alive() {
                agent.output(&inputs, &words)
            } else {
                0.0
            };
            let Some(known) = self.pages.get_mut(link.to) else {
                continue;
            };
            if worth > known.worth {
                let agent_number = taker as u32;
                *known = OwnedPage {
                    agent: agent_number,
                    inputs,
                    worth,
                };
                agent.links.push(link.to);
                moved.push(link.to);
                if let Some(all) = &mut self.words {
                    let index = link.to.index();
                    if all.len() <= index {
                        all.resize_with(index + 1, Box::default);
                    }
                    all[index] = words;
                }
            }
        }
        self.report_moves(moved, moves);
    }

    fn worth(&self, page: Number) -> Worth {
        let owned = self.pages.get(page).unwrap_or_default();
        worth_of(owned.worth)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let owned = self.pages.get(page).unwrap_or_default();
        let agent = &self.agents[owned.agent as usize];
        vec![
            Term::new("number of its agent", f64::from(owned.agent)),
            Term::new("energy of the agent", f64::from(agent.energy)),
            Term::new(
                "output of its net",
                f64::from(agent.output(&owned.inputs, self.words_of(page))),
            ),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let alive = self.agents.iter().filter(|agent| agent.is_alive()).count();
        let born = self.agents.len();
        vec![format!("{born} agents were born, {alive} are alive")]
    }
}

/// Returns the words of a link that are inputs of an agent.
fn active_words(link_words: &LinkWords) -> Box<[ActiveWord]> {
    let anchor = link_words.anchor.iter().map(|(word, _)| (*word, 1.0));
    // The words around an anchor include those of the anchor.
    let only_around = |word: &u64| !link_words.anchor.iter().any(|(known, _)| known == word);
    let around = link_words.around.iter().map(|(word, _)| *word);
    let around = around.filter(only_around).map(|word| (word, AROUND));
    let mut words: Vec<ActiveWord> = anchor
        .chain(around)
        .take(LINK_WORDS)
        .map(|(word, activity)| ActiveWord {
            word: weight_index(word),
            activity,
        })
        .collect();
    let scale = 1.0 / (words.len().max(1) as f32).sqrt();
    words.iter_mut().for_each(|active| active.activity *= scale);
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::Focused;
    use crate::focus::tests::{observe_discovery, observe_links, observe_read, red, worth};

    /// Links called `sign` lead to the topic, links called `end` do not. The classifier knows
    /// neither word.
    fn gap_between_two_words(inputs: AgentInputs) -> f64 {
        let mut agents = Focused::new(Agents::new(&red(), inputs));
        for page in 0..60 {
            observe_discovery(&mut agents, page);
        }
        // One link a page, so that all have the same place on their page. Pages 1 to 30 are
        // found on pages of one text.
        for page in 1..=30 {
            let word = ["sign", "end"][page as usize % 2];
            observe_links(&mut agents, 0, "red", &[(page, word, "")]);
        }
        for page in 1..=30 {
            let text = ["red", "blue near far"][page as usize % 2];
            observe_read(&mut agents, page, text, &[]);
        }
        let owner = |agents: &Focused<Agents>, page| {
            agents
                .method
                .pages
                .get(Number(page))
                .map(|owned| owned.agent)
        };
        observe_links(&mut agents, 40, "red", &[(50, "sign", "")]);
        observe_links(&mut agents, 40, "red", &[(51, "end", "")]);
        assert_eq!(owner(&agents, 50), owner(&agents, 51));
        worth(&agents, 50) - worth(&agents, 51)
    }

    #[test]
    fn with_words_an_agent_learns_which_words_lead_to_the_topic() {
        let [net, words] = [AgentInputs::Net, AgentInputs::NetAndWords].map(gap_between_two_words);
        assert!(net.abs() < 1e-6, "the net does not know words: {net}");
        assert!(words > 0.1, "{words}");
    }

    #[test]
    fn an_agent_keeps_the_words_that_say_most_and_its_child_all_but_one() {
        let mut agents = Agents::new(&red(), AgentInputs::NetAndWords);
        for word in 0..100 {
            let active = [ActiveWord {
                word,
                activity: if word % 2 == 0 { 1.0 } else { 0.01 },
            }];
            agents.agents[0].learn(&[0.0; INPUTS], &active, 1.0);
        }
        let parent = &agents.agents[0].vocabulary;
        assert_eq!(parent.len(), VOCABULARY);
        assert!(parent.iter().all(|(word, _)| word % 2 == 0), "{parent:?}");
        let expected = parent[..VOCABULARY - 1].to_vec();
        let child = agents.split(0);
        assert_eq!(agents.agents[child].vocabulary, expected);
    }

    #[test]
    fn a_word_of_the_anchor_is_twice_as_active_as_one_around_it() {
        let words = active_words(&LinkWords::of("good page", "a good page here"));
        let activities: Vec<f32> = words.iter().map(|active| active.activity).collect();
        let root = 3f32.sqrt();
        assert_eq!(activities, [1.0 / root, 1.0 / root, 0.5 / root]);
        assert!(active_words(&LinkWords::of("", "")).is_empty());
    }

    #[test]
    fn energy_changes_by_relevance_minus_cost_and_an_agent_with_enough_splits() {
        let mut agents = Focused::new(Agents::new(&red(), AgentInputs::Net));
        for page in 0..12 {
            observe_discovery(&mut agents, page);
        }
        observe_read(&mut agents, 0, "red", &[1, 2, 3, 4, 5, 6]);
        let relevance = agents.method.judge.relevance(Number(0)).unwrap();
        let expected = BIRTH + relevance - COST;
        assert!((agents.method.agents[0].energy - expected).abs() < 1e-6);
        observe_read(&mut agents, 1, "red", &[7, 8]);
        let all: f32 = agents.method.agents.iter().map(|agent| agent.energy).sum();
        assert!((all - (BIRTH + 2.0 * (relevance - COST))).abs() < 1e-5);
        assert_eq!(agents.method.agents.len(), 2, "ripe, it split in two");
        assert_eq!(
            agents.method.agents[0].energy,
            agents.method.agents[1].energy
        );
        let owner = |agents: &Agents, page| agents.pages.get(Number(page)).unwrap().agent;
        assert_eq!(
            (owner(&agents.method, 7), owner(&agents.method, 8)),
            (0, 1),
            "they share the links"
        );
    }

    #[test]
    fn pages_of_a_dead_agent_come_last() {
        let mut agents = Focused::new(Agents::new(&red(), AgentInputs::Net));
        for page in 0..30 {
            observe_discovery(&mut agents, page);
        }
        let links: Vec<u32> = (1..25).collect();
        observe_read(&mut agents, 0, "blue near far", &links);
        let before = agents.method.pages.get(Number(24)).unwrap().worth;
        assert!(before > 0.0);
        for page in 1..20 {
            observe_read(&mut agents, page, "blue near far", &[]);
        }
        assert!(!agents.method.agents[0].is_alive());
        assert_eq!(agents.method.pages.get(Number(24)).unwrap().worth, 0.0);
    }
}
