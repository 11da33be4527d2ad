//! How does a crawl begin? With what earlier runs knew, ranked by the policies of this one.

use std::cell::Cell;
use std::sync::mpsc::Sender;

use anyhow::Result;
use frontier::bench::Manners;
use frontier::{Budget, Buffer, Frontier, Known, Ledger, Visited};
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

/// Remembers what earlier runs knew, and admits the seeds.
pub(super) fn begin(
    store: &Store,
    plan: &Plan,
    choice: Choice,
    ledger: &Ledger,
    now: Moment,
    work: Sender<Work>,
) -> Result<Shared> {
    let manners = Manners {
        seats: plan.per_server,
        pages_per_host: plan.pages_per_host,
        width: plan.width(),
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
    let needs = frontier.policy().needs();
    let texts = recover::texts(store, ledger, choice.query.as_deref(), needs)?;
    frontier.recall(ledger, wanted, |page, tell| texts.tell(page, tell), now)?;
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
    Ok(shared)
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
