//! The beginning of a crawl: with what earlier runs knew, ranked by the policies of this one.

use std::cell::Cell;
use std::sync::mpsc::Sender;
use std::time::Duration;

use anyhow::Result;
use frontier::bench::Manners;
use frontier::{Budget, Buffer, Frontier, Known, Ledger, Recalled, Visited};
use page::PageUrl;
use policy::refresh::Uniform;
use policy::{Crawl, Moment, Outcome, Policy, Price, Refresh};

use super::collect::is_dropped;
use super::committer::Work;
use super::plan::{Again, Plan};
use super::shared::Shared;
use crate::ranking::Choice;
use crate::recover;
use crate::scope::Scope;
use crate::store::Store;
use crate::verdict::Lead;

/// Servers that are left alone at the start for less than this are not worth a note.
const WORTH_A_NOTE: Duration = Duration::from_secs(5);

/// A crawl that is ready to go.
pub(super) struct Begun {
    /// Its memory.
    pub shared: Shared,
    /// When facts from the future were first noticed, if there are any.
    pub noticed_ahead: Option<Moment>,
    /// What the operator should know.
    pub notes: Vec<String>,
}

/// Remembers what earlier runs knew, and admits the seeds.
pub(super) fn begin(
    store: &Store,
    plan: &Plan,
    choice: Choice,
    ledger: &Ledger,
    now: Moment,
    work: Sender<Work>,
) -> Result<Begun> {
    let manners = Manners {
        seats: plan.per_server,
        pages_per_host: plan.pages_per_host,
        width: plan.width(),
        patience: if plan.is_continuous() {
            Duration::MAX
        } else {
            plan.rest()
        },
        ..Manners::default()
    };
    let mut scope = Scope::new(&plan.scope, plan.traps.clone())?;
    recover::widen(&mut scope, &plan.seeds, ledger)?;
    recover::name_seeds(&plan.seeds, ledger)?;
    let copies = Cell::new(0);
    let wanted = |known: &Known| {
        let fetched = known.has_copy() || known.visited.as_ref().is_some_and(is_dropped);
        copies.set(copies.get() + u64::from(fetched));
        let again = |visited: &Visited| wanted_again(visited, plan.again, now);
        belongs(&scope, known) && known.visited.as_ref().is_none_or(again)
    };
    let once = |every| Box::new(Uniform::every(every)) as Box<dyn Refresh>;
    let policy = Crawl {
        order: choice.order,
        retry: plan.retry,
        refresh: match plan.again {
            Again::Never => None,
            Again::OlderThan(every) => Some(once(every)),
            Again::Always { .. } => choice.refresh,
        },
        sources: choice.sources,
        listings: choice.listings,
        least: choice.least,
    };
    let salt = now.micros() ^ u64::from(std::process::id()) << 40;
    let mut frontier = Frontier::new(policy, choice.strategy, Price::LEAST, manners, salt);
    if let Again::Always { budget } = plan.again {
        frontier = frontier.with_budget(budget);
    }
    if let Some(limits) = plan.domains {
        frontier = frontier.with_domain_budgets(limits);
    }
    let needs = frontier.policy().needs();
    let texts = recover::texts(store, ledger, choice.query.as_deref(), needs)?;
    let recalled = frontier.recall(ledger, wanted, |page, tell| texts.tell(page, tell), now)?;
    let noticed_ahead = notice_ahead(ledger, &recalled, now)?;
    if !plan.is_continuous() {
        // What this run fetches it does not fetch again: it would never end.
        frontier.policy().refresh = None;
    }
    // A run that was cut short goes on: what it fetched counts towards its limit.
    let begun = ledger.open_run()?.unwrap_or(copies.get());
    ledger.mark_run(Some(begun))?;
    let left = plan
        .pages
        .map(|pages| pages.saturating_sub(copies.get() - begun.min(copies.get())));
    let mut shared = Shared::new(frontier, scope, left, work);
    if let Again::Always { budget } = plan.again {
        shared.budget = Budget::new(budget, now);
    }
    if let Some(most) = plan.buffer {
        shared.buffer = Some(Buffer::new(most));
        for known in ledger.scan() {
            let known = known?;
            if known.has_copy() {
                shared.keep(known.key, known.discovery.depth);
            }
        }
    }
    let leads: Vec<Lead> = plan.seeds.iter().map(Lead::seed).collect();
    let heard = shared.admit(&leads, None, now);
    shared.push_facts(heard.facts);
    Ok(Begun {
        shared,
        noticed_ahead,
        notes: notes(&recalled),
    })
}

/// Remembers since when facts from the future are known of, so that their pages age through restarts.
fn notice_ahead(ledger: &Ledger, recalled: &Recalled, now: Moment) -> Result<Option<Moment>> {
    let before = ledger.noticed_ahead()?;
    let noticed = (recalled.ahead.pages > 0).then(|| before.map_or(now, |before| before.min(now)));
    ledger.notice_ahead(noticed)?;
    Ok(noticed)
}

/// What the operator should know of earlier runs.
fn notes(recalled: &Recalled) -> Vec<String> {
    let mut notes = Vec::new();
    let ahead = recalled.ahead;
    if ahead.pages > 0 {
        notes.push(format!(
            "{} pages were visited or found up to {} in the future: a clock was ahead then, or is behind now; they count as visited or found when this was first noticed, and nothing waits for the clock",
            ahead.pages,
            whole_seconds(ahead.by)
        ));
    }
    if recalled.resting_for >= WORTH_A_NOTE {
        notes.push(format!(
            "{} servers are left alone at first, for up to {}, as they asked before the last stop",
            recalled.resting,
            whole_seconds(recalled.resting_for)
        ));
    }
    notes
}

/// A time as people write it: `2h 5m 3s`.
fn whole_seconds(time: Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    format!("{:#}", jiff::SignedDuration::from_secs(seconds))
}

/// Whether a page that the ledger knows belongs to a crawl.
pub fn belongs(scope: &Scope, known: &Known) -> bool {
    let url = PageUrl::parse(&known.discovery.url);
    url.is_ok_and(|url| scope.judge(&url, known.discovery.depth).is_ok())
}

/// Whether a page that was visited is to be visited by the run that begins now.
fn wanted_again(visited: &Visited, again: Again, now: Moment) -> bool {
    let history = &visited.history;
    match again {
        _ if history.outcome == Some(Outcome::Unreachable) => true,
        Again::Never => false,
        Again::OlderThan(age) => history.asked.is_some_and(|asked| asked + age <= now),
        Again::Always { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use frontier::Ahead;

    use super::*;

    #[test]
    fn facts_from_the_future_are_known_of_since_they_were_first_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(directory.path()).unwrap();
        let second = |number: u64| Moment::from_micros(number * 1_000_000);
        let noticed = |pages, now| {
            let recalled = Recalled {
                ahead: Ahead {
                    pages,
                    by: Duration::from_secs(7200),
                },
                ..Recalled::default()
            };
            let noticed = notice_ahead(&ledger, &recalled, second(now)).unwrap();
            assert_eq!(ledger.noticed_ahead().unwrap(), noticed);
            (noticed, notes(&recalled))
        };
        assert_eq!(noticed(0, 10), (None, Vec::new()));
        let (at, said) = noticed(3, 20);
        assert_eq!((at, said.len()), (Some(second(20)), 1));
        assert!(said[0].starts_with("3 pages were visited or found up to 2h in the future"));
        assert_eq!(noticed(2, 30).0, Some(second(20)), "the first time counts");
        assert_eq!(noticed(2, 5).0, Some(second(5)), "the clock went back");
        assert_eq!(noticed(0, 40).0, None, "all is well");
    }
}
