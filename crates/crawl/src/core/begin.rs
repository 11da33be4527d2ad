//! Starts a crawl from the facts of earlier runs. The policies of this run rank the pages.

use std::cell::Cell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use frontier::bench::Manners;
use frontier::{Budget, Buffer, Facts, Frontier, Known, Recalled, Said, Visited};
use page::{PageId, PageUrl, Robots};
use policy::refresh::Uniform;
use policy::server::Strategy;
use policy::{Crawl, Moment, Outcome, Policy, Price, Refresh, Sources, Worth};

use super::accounts::{Allowance, Risk};
use super::hosts::HostCache;
use super::outbox::Outbox;
use super::reading::Arrival;
use super::{Core, Mode};
use crate::change_hints::ChangeHints;
use crate::overlay::Overlay;
use crate::plan::{Again, Plan};
use crate::scope::Scope;
use crate::tally::Tally;
use crate::verdict::{DROPPED, Lead};

/// The policies of a crawl.
pub struct Policies {
    /// The ordering of pages that were never fetched.
    pub order: Box<dyn Policy>,
    /// The refresh policy of pages that have a copy.
    pub refresh: Option<Box<dyn Refresh>>,
    /// The schedule of sources, which are polled for links to new pages.
    pub sources: Option<Sources>,
    /// Longest time between two polls of a sitemap or feed, whatever the price.
    pub listings: Option<Duration>,
    /// Minimum worth of a page that was never fetched, as the ordering computes it.
    pub least: Worth,
    /// The strategy that ranks servers and says how many pages a visit fetches.
    pub strategy: Box<dyn Strategy>,
}

impl Policies {
    /// Returns the policies for a plan, and the strategy for its bench.
    pub fn of_plan(self, plan: &Plan) -> (Crawl, Box<dyn Strategy>) {
        let once = |every| Box::new(Uniform::every(every)) as Box<dyn Refresh>;
        let crawl = Crawl {
            order: self.order,
            retry: plan.retry,
            refresh: match plan.again {
                Again::Never => None,
                Again::OlderThan(every) => Some(once(every)),
                Again::Always { .. } | Again::AtPrice(_) => self.refresh,
            },
            sources: self.sources,
            listings: self.listings,
            least: self.least,
        };
        (crawl, self.strategy)
    }
}

/// A crawl that is ready to run, and counts of the facts that it starts from.
pub struct Begun<S> {
    /// The crawl.
    pub core: Core<S>,
    /// Counts from the facts of earlier runs, for notes to the operator.
    pub recalled: Recalled,
    /// Number of pages of which a copy was ever fetched, including copies that were dropped from
    /// the buffer.
    pub copies: u64,
}

impl<S> Core<S> {
    /// Builds a crawl from the facts of earlier runs. The first step admits the seeds.
    ///
    /// `texts` provides the stored content of a page that was read. `salt` is the key of the
    /// seen set's hash; authors of URLs must not be able to guess it.
    pub fn begin<F: Facts>(
        plan: Plan,
        scope: Scope,
        (policy, strategy): (Crawl, Box<dyn Strategy>),
        earlier: &F,
        texts: impl Fn(PageId, &mut dyn FnMut(Said<'_>)),
        salt: u64,
        now: Moment,
    ) -> Result<Begun<S>, F::Error> {
        let copies = Cell::new(0);
        let wanted = |known: &Known| {
            let fetched = known.has_copy() || known.visited.as_ref().is_some_and(is_dropped);
            copies.set(copies.get() + u64::from(fetched));
            let again = |visited: &Visited| wanted_again(visited, plan.again, now);
            // Most pages are refused without a look at their URL.
            known.visited.as_ref().is_none_or(again) && belongs(&scope, known)
        };
        let price = match plan.again {
            Again::AtPrice(price) => price,
            _ => Price::LEAST,
        };
        let mut frontier = Frontier::new(policy, strategy, price, bench_politeness(&plan), salt);
        let mut allowance = Allowance::default();
        if let Again::Always { budget } = plan.again {
            frontier = frontier.with_budget(budget);
            allowance.budget = Budget::new(budget, now);
        }
        if let Some(limits) = plan.domains {
            frontier = frontier.with_domain_budgets(limits);
        }
        let recalled = frontier.recall(earlier, wanted, texts, now)?;
        if !plan.is_continuous() {
            // This run does not refresh a page that it has fetched itself: otherwise it would not
            // end.
            frontier.policy().refresh = None;
        }
        let seeds = plan.seeds.iter().map(Lead::seed).collect();
        let mut core = Self {
            mode: Mode::Running,
            frontier,
            scope: Arc::new(scope),
            allowance,
            risk: Risk::new(plan.at_risk()),
            tally: Tally::default(),
            buffer: plan.buffer.map(Buffer::new),
            hosts: HostCache::default(),
            shared: BTreeMap::new(),
            no_rules: plan.without_rules.then(|| Arc::new(Robots::allow_all())),
            overlay: Overlay::default(),
            outbox: Outbox::default(),
            hints: ChangeHints::default(),
            active: BTreeMap::new(),
            awaiting_histories: VecDeque::new(),
            loading: HashSet::new(),
            outdated: HashSet::new(),
            arrivals: VecDeque::from([Arrival::Leads(seeds)]),
            visits: 0,
            connections: 0,
            noticed_ahead: None,
            finished: false,
            plan,
        };
        if core.buffer.is_some() {
            for known in earlier.pages() {
                let known = known?;
                if known.has_copy() {
                    core.keep(known.key, known.discovery.depth, now);
                }
            }
        }
        Ok(Begun {
            core,
            recalled,
            copies: copies.get(),
        })
    }

    /// Sets how many pages may be fetched (`None`: unlimited), and when facts dated in the future
    /// were first noticed (`None`: there are none).
    #[must_use]
    pub fn limited(mut self, pages: Option<u64>, noticed_ahead: Option<Moment>) -> Self {
        self.allowance.pages = pages;
        self.noticed_ahead = noticed_ahead;
        self
    }
}

fn bench_politeness(plan: &Plan) -> Manners {
    Manners {
        seats: plan.per_server,
        pages_per_visit: plan.pages_per_visit,
        burst: usize::from(plan.burst.max(1)),
        pages_per_host: plan.pages_per_host,
        width: plan.width,
        patience: if plan.is_continuous() {
            Duration::MAX
        } else {
            plan.rest()
        },
    }
}

/// Returns whether a page of the ledger is in scope. A page whose URL cannot be parsed is not.
pub fn belongs(scope: &Scope, known: &Known) -> bool {
    let url = PageUrl::parse(&known.discovery.url);
    url.is_ok_and(|url| scope.judge(&url, known.discovery.depth).is_ok())
}

/// Returns whether the copy of a visited page was dropped from the buffer.
pub fn is_dropped(visited: &Visited) -> bool {
    visited.error.as_deref() == Some(DROPPED)
}

/// Returns whether the run that starts now should visit a visited page again.
fn wanted_again(visited: &Visited, again: Again, now: Moment) -> bool {
    let history = &visited.history;
    match again {
        _ if history.outcome == Some(Outcome::Unreachable) => true,
        Again::Never => false,
        Again::OlderThan(age) => history.asked.is_some_and(|asked| asked + age <= now),
        Again::Always { .. } | Again::AtPrice(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bench_keeps_the_politeness_of_the_plan() {
        let plan = Plan {
            per_server: 3,
            pages_per_visit: 7,
            burst: 4,
            pages_per_host: 11,
            width: 5,
            ..Plan::default()
        };
        let kept = bench_politeness(&plan);
        let limits = (kept.seats, kept.pages_per_visit, kept.pages_per_host);
        assert_eq!((limits, kept.width, kept.burst), ((3, 7, 11), 5, 4));
        assert_eq!(kept.patience, crate::host::LONGEST_WAIT);
        let endless = Plan {
            again: Again::Always { budget: 1.0 },
            ..plan
        };
        assert_eq!(bench_politeness(&endless).patience, Duration::MAX);
    }

    #[test]
    fn a_run_visits_unreachable_pages_and_old_pages_again() {
        let at = |second: u64| Moment::START + Duration::from_secs(second);
        let visited = |outcome| Visited {
            history: policy::History::discovered(at(0), 0)
                .after(policy::Visit::new(at(10), outcome)),
            ..Visited::default()
        };
        let (read, silent) = (visited(Outcome::Changed), visited(Outcome::Unreachable));
        let old = Again::OlderThan(Duration::from_secs(60));
        for (again, now, wanted) in [
            (Again::Never, 1000, false),
            (old, 69, false),
            (old, 70, true),
            (Again::Always { budget: 1.0 }, 11, true),
        ] {
            assert_eq!(wanted_again(&read, again, at(now)), wanted, "{again:?}");
            assert!(wanted_again(&silent, again, at(now)));
        }
    }
}
