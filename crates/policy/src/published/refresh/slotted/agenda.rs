//! The current plan: which page is visited in which step.

use std::time::Duration;

use super::Horizon;
use crate::plan::allocation::Demand;
use crate::plan::slots::{self, Steps};
use crate::{Moment, Number, Page};

/// The current plan and how to make the next one.
#[derive(Debug, Clone)]
pub struct Agenda {
    horizon: Horizon,
    plan: Option<VisitPlan>,
}

#[derive(Debug, Clone)]
struct VisitPlan {
    /// When the very first plan started.
    origin: Moment,
    /// Number of steps from `origin` to the first step of this plan.
    before: u64,
    /// Whether the plan was made before `origin`.
    early: bool,
    /// Number of pages that the plan was made for.
    pages: usize,
    /// The steps of each page, by page number; `None` if the page is not in the plan.
    steps: Vec<Option<Box<[u32]>>>,
}

impl Agenda {
    /// Creates an agenda without a plan.
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

    /// Returns whether a new plan is needed for this number of pages.
    ///
    /// A new plan is needed if there is none and at least one page, if the plan has ended, or if
    /// the number of pages has grown by more than half. Once a step has begun since the plan was
    /// made, any change of the number of pages needs a new plan.
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

    /// Makes a new plan. Its first step is the step that contains `now`, or the very first step if
    /// `now` is before it.
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
        self.plan = Some(VisitPlan {
            origin,
            before,
            early: now < origin,
            pages: pages.len(),
            steps: by_page,
        });
    }

    /// Returns the time of the next visit to a page that was requested before.
    ///
    /// Returns `None` if the page was found gone twice since it was last read, or if there is no
    /// plan. A page that is not in the plan is due at the first step of the plan that begins after
    /// its last request.
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

    /// Returns the number of visits to a page in the plan.
    pub fn visits(&self, page: Number) -> Option<usize> {
        let steps = self.plan.as_ref()?.steps.get(page.index())?;
        steps.as_ref().map(|steps| steps.len())
    }

    /// Returns the whole steps from `origin` to a moment; 0 before it.
    fn step_of(&self, origin: Moment, now: Moment) -> u64 {
        let micros = now.since(origin).as_micros() / self.horizon.step.as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    }
}

/// Returns a multiple of a duration, saturating.
fn times(step: Duration, count: u64) -> Duration {
    let micros = step.as_micros().saturating_mul(u128::from(count));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}
