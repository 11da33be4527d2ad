//! LASER: relevance that propagates along links.
//!
//! Boyan, Freitag & Joachims, "A machine learning architecture for optimizing web search
//! engines" (1996), in the form of Baldi, Frasconi & Smyth, "Modeling the Internet and the Web"
//! (2003), equation 6.9: r(u) = r₀(u) + γ Σ_{v ∈ pa[u]} r(v)/|pa[u]|^ν. The book prints the
//! exponent inside the bars, where it has no meaning. Here r₀ is the relevance of a read page,
//! and 0 for an unread one. With ν = 1 the sum is γ times the mean of the parents, with a larger ν
//! it is less. So for γ < 1 and ν ≥ 1 the map is a contraction on any graph and has one fixed
//! point. For ν < 1 it is none: r grows without bound where pages with many parents form a cycle.
//!
//! **Invariant:** after every fact, r is within [`CLOSE`]/(1−γ) of the fixed point over the
//! links seen so far. The exception is a seed that was not read and has no link to it: its r is 1.

use std::collections::VecDeque;

use crate::estimate::{Column, Links};
use crate::focus::focused::{Focus, worth as worth_of};
use crate::focus::judge::TopicJudge;
use crate::focus::topic::Topic;
use crate::{Discovered, Moves, Number, Read, Term, Worth};

/// Changes up to this size are not propagated.
const CLOSE: f32 = 1e-4;

/// The free parameters of equation 6.9.
#[derive(Debug, Clone, Copy)]
pub struct LaserParameters {
    /// γ: discount factor of relevance per link, at least 0 and below 1.
    pub gamma: f32,
    /// ν: exponent of the number of parents, at least 1.
    pub nu: f32,
}

impl Default for LaserParameters {
    fn default() -> Self {
        Self {
            gamma: 0.7,
            nu: 1.0,
        }
    }
}

/// An ordering by r, which for an unread page is the relevance that flows to it.
#[derive(Debug, Clone)]
pub struct Laser {
    judge: TopicJudge,
    parameters: LaserParameters,
    flows: Column<PageFlow>,
    links: Links,
    parents: Vec<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct PageFlow {
    own: f32,
    all: f32,
    /// Whether the page is in the queue of [`Laser::settle`].
    waits: bool,
}

impl Laser {
    /// Creates the method for this topic.
    pub fn new(topic: &Topic, parameters: LaserParameters) -> Self {
        Self {
            judge: TopicJudge::new(topic),
            parameters,
            flows: Column::default(),
            links: Links::default(),
            parents: Vec::new(),
        }
    }

    /// Recomputes these pages and all pages that depend on them.
    fn settle(&mut self, mut queue: VecDeque<Number>, moves: &mut Moves) {
        for page in &queue {
            if let Some(flow) = self.flows.get_mut(*page) {
                flow.waits = true;
            }
        }
        let mut moved = Vec::new();
        while let Some(page) = queue.pop_front() {
            let inflow = self.inflow(page);
            let Some(flow) = self.flows.get_mut(page) else {
                continue;
            };
            flow.waits = false;
            let all = flow.own + inflow;
            if (all - flow.all).abs() <= CLOSE {
                continue;
            }
            flow.all = all;
            moved.push(page);
            for &to in self.links.of(page).unwrap_or_default().links {
                if let Some(next) = self.flows.get_mut(Number(to))
                    && !next.waits
                {
                    next.waits = true;
                    queue.push_back(Number(to));
                }
            }
        }
        moved.sort_unstable();
        moved.dedup();
        for page in moved.into_iter().filter(|page| !self.judge.is_read(*page)) {
            moves.push(page, self.worth(page));
        }
    }

    fn inflow(&self, page: Number) -> f32 {
        let Some(parents) = self.parents.get(page.index()) else {
            return 0.0;
        };
        let each = parents
            .iter()
            .filter_map(|&parent| self.flows.get(Number(parent)));
        let sum: f32 = each.map(|parent| parent.all).sum();
        match parents.len() {
            0 => 0.0,
            count => {
                let LaserParameters { gamma, nu } = self.parameters;
                gamma * sum / (count as f32).powf(nu)
            }
        }
    }
}

impl Focus for Laser {
    fn judge(&self) -> &TopicJudge {
        &self.judge
    }

    fn discover(&mut self, discovered: &Discovered<'_>) {
        self.judge.discover(discovered);
        // A seed counts as relevant until it is read or a link to it is seen.
        let all = if discovered.seed { 1.0 } else { 0.0 };
        let flow = PageFlow {
            all,
            ..PageFlow::default()
        };
        self.flows.add(discovered.page, flow);
    }

    fn read(&mut self, read: &Read<'_>, moves: &mut Moves) {
        let relevance = self.judge.read(read);
        let before = self.links.of(read.page).unwrap_or_default().links.to_vec();
        self.links.replace(read);
        if let Some(flow) = self.flows.get_mut(read.page) {
            flow.own = relevance;
        }
        let mut queue = VecDeque::from([read.page]);
        for link in read.links {
            self.judge.follow(link);
            let index = link.to.index();
            if self.parents.len() <= index {
                self.parents.resize_with(index + 1, Vec::new);
            }
            if !self.parents[index].contains(&read.page.0) {
                self.parents[index].push(read.page.0);
            }
            queue.push_back(link.to);
        }
        for gone in before.into_iter().map(Number) {
            let still = read.links.iter().any(|link| link.to == gone);
            if !still && let Some(parents) = self.parents.get_mut(gone.index()) {
                parents.retain(|parent| *parent != read.page.0);
                queue.push_back(gone);
            }
        }
        self.settle(queue, moves);
    }

    fn worth(&self, page: Number) -> Worth {
        worth_of(self.flows.get(page).unwrap_or_default().all)
    }

    fn terms(&self, page: Number) -> Vec<Term> {
        let flow = self.flows.get(page).unwrap_or_default();
        vec![
            Term::new("relevance", f64::from(flow.own)),
            Term::new("relevance that flows here", f64::from(flow.all - flow.own)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::focus::Focused;
    use crate::focus::tests::{observe_discovery, observe_read, red};

    #[test]
    fn relevance_converges_to_the_fixed_point() {
        for (gamma, nu) in [(0.7, 1.0), (0.95, 1.0), (0.5, 2.0), (0.9, 3.5), (0.0, 1.0)] {
            // 0 → 1, 2; 1 → 2, 3; 2 → 0, which closes a cycle. Page 3 is unread.
            let parameters = LaserParameters { gamma, nu };
            let mut laser = Focused::new(Laser::new(&red(), parameters));
            for page in 0..4 {
                observe_discovery(&mut laser, page);
            }
            observe_read(&mut laser, 0, "red red", &[1, 2]);
            observe_read(&mut laser, 1, "blue", &[2, 3]);
            observe_read(&mut laser, 2, "red", &[0]);
            let own: Vec<f64> = (0..4)
                .map(|page| f64::from(laser.method.judge.relevance(Number(page)).unwrap_or(0.0)))
                .collect();
            // Iterates r = r₀ + γ · Σ over parents / parents^ν until it converges.
            let mut fixed = own.clone();
            let (discount, two) = (f64::from(gamma), 2f64.powf(f64::from(nu)));
            for _ in 0..1_000 {
                fixed = vec![
                    own[0] + discount * fixed[2],
                    own[1] + discount * fixed[0],
                    own[2] + discount * (fixed[0] + fixed[1]) / two,
                    discount * fixed[1],
                ];
            }
            for (page, fixed) in fixed.iter().enumerate() {
                let found = laser.method.flows.get(Number(page as u32)).unwrap().all;
                let close = f64::from(CLOSE) / (1.0 - discount);
                assert!(
                    (f64::from(found) - fixed).abs() < 2.0 * close,
                    "γ {gamma}, ν {nu}, page {page}: {found}, {fixed}"
                );
            }
        }
    }
}
