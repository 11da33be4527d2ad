//! A population of adaptive agents that live on relevant pages.
//!
//! Menczer, "ARACHNID" (1997); Menczer & Belew, "Adaptive retrieval agents" (2000). An agent
//! follows links from its page, chosen by its own linear net over the words near them. A page
//! costs the agent [`COST`] energy and gives it the page's relevance. At [`RIPE`] the agent
//! splits: its child gets half of its energy and a mutated copy of its net. Without energy an
//! agent dies, and the pages it has links to come last. The net learns from the reward of each
//! link by the delta rule.
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
use crate::focus::logistic::sigmoid;
use crate::focus::topic::Topic;
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
/// Maximum mutation of a weight from parent to child.
const CHANGE: f32 = 0.25;

/// An ordering by the net of the agent that owns the link.
#[derive(Debug, Clone)]
pub struct Agents {
    judge: TopicJudge,
    agents: Vec<LinkAgent>,
    pages: Column<OwnedPage>,
    born: u64,
}

#[derive(Debug, Clone)]
struct LinkAgent {
    energy: f32,
    net: [f32; INPUTS],
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

    fn output(&self, inputs: &[f32; INPUTS]) -> f32 {
        let products = self.net.iter().zip(inputs);
        sigmoid(products.map(|(weight, input)| weight * input).sum())
    }

    fn learn(&mut self, inputs: &[f32; INPUTS], reward: f32) {
        let error = reward - self.output(inputs);
        for (weight, input) in self.net.iter_mut().zip(inputs) {
            *weight += STEP * error * input;
        }
    }
}

impl Agents {
    /// Creates the method for this topic.
    pub fn new(topic: &Topic) -> Self {
        let first = LinkAgent {
            energy: BIRTH,
            net: NET,
            links: Vec::new(),
        };
        Self {
            judge: TopicJudge::new(topic),
            agents: vec![first],
            pages: Column::default(),
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
        self.agents.push(LinkAgent {
            energy: half,
            net,
            links: Vec::new(),
        });
        self.agents.len() - 1
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
            let agent = &mut self.agents[owner];
            agent.learn(&owned.inputs, relevance);
            agent.energy += relevance - COST;
            if agent.energy >= RIPE {
                child = Some(self.split(owner));
            } else if !agent.is_alive() {
                moved = std::mem::take(&mut agent.links);
            }
        }
        let count = read.links.len().max(1) as f32;
        for (place, link) in read.links.iter().enumerate() {
            let anchor = self.judge.follow(link);
            if self.judge.is_read(link.to) {
                continue;
            }
            // Parent and child share the links of the page.
            let taker = child.filter(|_| place % 2 == 1).unwrap_or(owner);
            let inputs = [1.0, anchor, relevance, 1.0 - place as f32 / count];
            let agent = &mut self.agents[taker];
            let worth = if agent.is_alive() {
                agent.output(&inputs)
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
            Term::new("output of its net", f64::from(agent.output(&owned.inputs))),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let alive = self.agents.iter().filter(|agent| agent.is_alive()).count();
        let born = self.agents.len();
        vec![format!("{born} agents were born, {alive} are alive")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::Focused;
    use crate::focus::tests::{observe_discovery, observe_read, red};

    #[test]
    fn energy_changes_by_relevance_minus_cost_and_an_agent_with_enough_splits() {
        let mut agents = Focused::new(Agents::new(&red()));
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
        let mut agents = Focused::new(Agents::new(&red()));
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
