//! A population of agents that live on the topic.
//!
//! Menczer, "ARACHNID" (1997), Menczer & Belew, "Adaptive retrieval agents" (2000): an agent follows links from the page it is on, by
//! a linear net of its own over words near them. A page costs it [`COST`] and gives it what it is of the topic. At
//! [`RIPE`] it splits: its child has half of its energy, and its net with small changes. Without energy it dies, and
//! what it still wanted to see is worth nothing to anybody. The net learns by the delta rule from what each link gave.
//!
//! Agents live one after another here, not side by side: the link that the net of its agent values most is
//! next, whoever's it is. **Invariant:** energy is neither made nor lost but by pages: the energy of all agents is what
//! they began with, plus relevance found, less costs, less what the dead owed.

use crate::chance::split_mix;
use crate::estimate::Column;
use crate::focus::focused::{Focus, worth as worth_of};
use crate::focus::judge::Judge;
use crate::focus::linear::sigmoid;
use crate::focus::topic::Topic;
use crate::{Discovered, Moves, Number, Read, Term, Worth};

/// What a fetch costs an agent.
const COST: f32 = 0.2;
/// What the first agents begin with.
const BIRTH: f32 = 1.0;
/// With so much energy an agent splits.
const RIPE: f32 = 2.0;
/// Inputs of a net: one, the words of the link by the topic, the page that has it, and how far ahead in it it stands.
const INPUTS: usize = 4;
/// The net of the first agent.
const NET: [f32; INPUTS] = [-2.0, 2.0, 2.0, 0.0];
/// The step of the delta rule.
const STEP: f32 = 0.2;
/// How much a weight changes from parent to child, at most.
const CHANGE: f32 = 0.25;

/// Worth is the output of the net of the agent that has the link.
#[derive(Debug, Clone)]
pub struct Agents {
    judge: Judge,
    agents: Vec<Agent>,
    pages: Column<Wanted>,
    born: u64,
}

#[derive(Debug, Clone)]
struct Agent {
    energy: f32,
    net: [f32; INPUTS],
    /// Links that it has, also of pages that were read since.
    wants: Vec<Number>,
}

/// A page as the agent sees it that has the best link to it.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    agent: u32,
    inputs: [f32; INPUTS],
    worth: f32,
}

impl Agent {
    fn lives(&self) -> bool {
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
    /// For this topic.
    pub fn new(topic: &Topic) -> Self {
        let first = Agent {
            energy: BIRTH,
            net: NET,
            wants: Vec::new(),
        };
        Self {
            judge: Judge::new(topic),
            agents: vec![first],
            pages: Column::default(),
            born: 0,
        }
    }

    /// Gives half of an agent's energy to a new one. Returns which.
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
        self.agents.push(Agent {
            energy: half,
            net,
            wants: Vec::new(),
        });
        self.agents.len() - 1
    }

    /// Says what these pages are worth now; what a dead agent wanted is worth nothing.
    fn tell(&mut self, mut moved: Vec<Number>, moves: &mut Moves) {
        moved.sort_unstable();
        moved.dedup();
        for page in moved.into_iter().filter(|page| !self.judge.is_read(*page)) {
            if let Some(wanted) = self.pages.get_mut(page) {
                if !self.agents[wanted.agent as usize].lives() {
                    wanted.worth = 0.0;
                }
                moves.push(page, worth_of(wanted.worth));
            }
        }
    }
}

impl Focus for Agents {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        let wanted = Wanted {
            worth: if discovered.seed { 1.0 } else { 0.0 },
            ..Wanted::default()
        };
        self.pages.add(discovered.page, wanted);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let again = self.judge.is_read(read.page);
        let relevance = self.judge.read(read);
        let wanted = self.pages.get(read.page).unwrap_or_default();
        let owner = wanted.agent as usize;
        let mut moved: Vec<Number> = Vec::new();
        let mut child = None;
        if !again {
            let agent = &mut self.agents[owner];
            agent.learn(&wanted.inputs, relevance);
            agent.energy += relevance - COST;
            if agent.energy >= RIPE {
                child = Some(self.split(owner));
            } else if !agent.lives() {
                moved = std::mem::take(&mut agent.wants);
            }
        }
        let count = read.links.len().max(1) as f32;
        for (place, link) in read.links.iter().enumerate() {
            let anchor = self.judge.follow(link);
            if self.judge.is_read(link.to) {
                continue;
            }
            // Parent and child share what is on the page.
            let taker = child.filter(|_| place % 2 == 1).unwrap_or(owner);
            let inputs = [1.0, anchor, relevance, 1.0 - place as f32 / count];
            let agent = &mut self.agents[taker];
            let worth = if agent.lives() {
                agent.output(&inputs)
            } else {
                0.0
            };
            let Some(known) = self.pages.get_mut(link.to) else {
                continue;
            };
            if worth > known.worth {
                let agent_number = taker as u32;
                *known = Wanted {
                    agent: agent_number,
                    inputs,
                    worth,
                };
                agent.wants.push(link.to);
                moved.push(link.to);
            }
        }
        self.tell(moved, moves);
    }

    fn worth(&self, page: Number) -> Worth {
        let wanted = self.pages.get(page).unwrap_or_default();
        worth_of(wanted.worth)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let wanted = self.pages.get(page).unwrap_or_default();
        let agent = &self.agents[wanted.agent as usize];
        vec![
            Term::new("its agent", f64::from(wanted.agent)),
            Term::new("energy of the agent", f64::from(agent.energy)),
            Term::new("output of its net", f64::from(agent.output(&wanted.inputs))),
        ]
    }

    fn remarks(&self) -> Vec<String> {
        let alive = self.agents.iter().filter(|agent| agent.lives()).count();
        let born = self.agents.len();
        vec![format!("{born} agents were born, {alive} are alive")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::Focused;
    use crate::focus::tests::{hears, reads, red};

    #[test]
    fn energy_comes_from_pages_and_goes_with_them() {
        let mut agents = Focused(Agents::new(&red()));
        for page in 0..12 {
            hears(&mut agents, page);
        }
        reads(&mut agents, 0, "red", &[1, 2, 3, 4, 5, 6]);
        let relevance = agents.0.judge.relevance(Number(0)).unwrap();
        let expected = BIRTH + relevance - COST;
        assert!((agents.0.agents[0].energy - expected).abs() < 1e-6);
        reads(&mut agents, 1, "red", &[7, 8]);
        let all: f32 = agents.0.agents.iter().map(|agent| agent.energy).sum();
        assert!((all - (BIRTH + 2.0 * (relevance - COST))).abs() < 1e-5);
        assert_eq!(agents.0.agents.len(), 2, "ripe, it split in two");
        assert_eq!(agents.0.agents[0].energy, agents.0.agents[1].energy);
        let owner = |agents: &Agents, page| agents.pages.get(Number(page)).unwrap().agent;
        assert_eq!(
            (owner(&agents.0, 7), owner(&agents.0, 8)),
            (0, 1),
            "they share the links"
        );
    }

    #[test]
    fn the_starved_want_nothing() {
        let mut agents = Focused(Agents::new(&red()));
        for page in 0..30 {
            hears(&mut agents, page);
        }
        let links: Vec<u32> = (1..25).collect();
        reads(&mut agents, 0, "blue near far", &links);
        let before = agents.0.pages.get(Number(24)).unwrap().worth;
        assert!(before > 0.0);
        for page in 1..20 {
            reads(&mut agents, page, "blue near far", &[]);
        }
        assert!(!agents.0.agents[0].lives());
        assert_eq!(agents.0.pages.get(Number(24)).unwrap().worth, 0.0);
    }
}
