//! When is each page visited next, by the plan that was made last?

use std::time::Duration;

use super::Horizon;
use crate::plan::allocation::Demand;
use crate::plan::slots::{self, Steps};
use crate::{Moment, Number, Page};

/// The plan that holds.
#[derive(Debug, Clone)]
pub struct Agenda {
    horizon: Horizon,
    plan: Option<Plan>,
}

#[derive(Debug, Clone)]
struct Plan {
    /// When the first plan of all began.
    origin: Moment,
    /// Steps from there to the first of this one.
    before: u64,
    /// Whether it was made before the first plan of all was to begin.
    early: bool,
    /// Pages it was made for.
    pages: usize,
    /// The steps of each page, by number; `None`: it was not planned for.
    steps: Vec<Option<Box<[u32]>>>,
}

impl Agenda {
    /// No plan yet.
    pub fn new(horizon: Horizon) -> Self {
        let horizon = Horizon {
            step: horizon.step.max(Duration::from_secs(1)),
            slots: horizon.slots.max(1),
            ..horizon
        };
        Self {
            horizon,
            plan: None,
        }
    }

    /// Whether it is time for a plan for so many pages: there is none, it has ended, pages have grown by half, or a
    /// step has begun since and there are others.
    pub fn is_outdated(&self, now: Moment, pages: usize) -> bool {
        let Some(plan) = &self.plan else {
            return pages > 0;
        };
        let step = self.step_of(plan.origin, now);
        let begun = step > plan.before || (plan.early && now >= plan.origin);
        step >= plan.before + u64::from(self.horizon.slots)
            || pages > plan.pages + plan.pages / 2
            || (begun && pages != plan.pages)
    }

    /// Makes a plan from now on.
    pub fn remake(&mut self, now: Moment, pages: &[(Number, Demand)]) {
        let origin = match &self.plan {
            Some(plan) => plan.origin,
            None => self.horizon.since.unwrap_or(now),
        };
        let before = self.step_of(origin, now);
        let length = self.horizon.step.as_secs_f64();
        let budget = self.horizon.budget * length;
        let steps = Steps::new(before, self.horizon.slots, budget, pages.len());
        let demand = |page: &(Number, Demand)| Demand {
            rate: page.1.rate * length,
            weight: page.1.weight,
        };
        let demands: Vec<Demand> = pages.iter().map(demand).collect();
        let planned = slots::schedule(&slots::visits(&demands, &steps), &steps);
        let last = pages.iter().map(|page| page.0.index() + 1).max();
        let mut by_page = vec![None; last.unwrap_or(0)];
        for ((page, _), steps) in pages.iter().zip(planned) {
            by_page[page.index()] = Some(steps.into_boxed_slice());
        }
        self.plan = Some(Plan {
            origin,
            before,
            early: now < origin,
            pages: pages.len(),
            steps: by_page,
        });
    }

    /// The next visit to a page that was asked for; `None`: never, because it is gone, or nothing is planned at all.
    ///
    /// A page that is new to the plan is due with the next step, which makes another plan.
    pub fn due(&self, page: Page<'_>) -> Option<Moment> {
        let (plan, asked) = (self.plan.as_ref()?, page.history.asked?);
        if page.history.gone >= 2 {
            return None;
        }
        let at = |step: u64| plan.origin + times(self.horizon.step, step);
        let after = |step: u64| {
            if asked < at(step) {
                step
            } else {
                self.step_of(plan.origin, asked) + 1
            }
        };
        let Some(Some(steps)) = plan.steps.get(page.number.index()) else {
            return Some(at(after(plan.before)));
        };
        let own = steps.iter().map(|&step| plan.before + u64::from(step));
        let next = own.map(at).find(|&moment| moment > asked);
        next.or_else(|| Some(at(after(plan.before + u64::from(self.horizon.slots)))))
    }

    /// Visits to a page in the plan.
    pub fn visits(&self, page: Number) -> Option<usize> {
        let steps = self.plan.as_ref()?.steps.get(page.index())?;
        steps.as_ref().map(|steps| steps.len())
    }

    /// Whole steps from the first plan to a moment; 0 before it.
    fn step_of(&self, origin: Moment, now: Moment) -> u64 {
        let micros = now.since(origin).as_micros() / self.horizon.step.as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    }
}

/// A time so often.
fn times(step: Duration, count: u64) -> Duration {
    let micros = step.as_micros().saturating_mul(u128::from(count));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
