//! Starts a crawl: opens archive and index, restores the core from the ledger, and collects notes
//! for the operator.

use std::time::Duration;

use anyhow::Result;
use crawl::{Begun, Core, Policies, Scope};
use frontier::{Recalled, Said};
use ledger::{Checkpoint, Ledger};
use policy::{Moment, Policy};
use repository::archive::Sealed;
use repository::{archive, index};
use tracing::{info, warn};

use super::plan::EnginePlan;
use crate::number::counted;
use crate::recovery;
use crate::settings::policies::ChosenPolicies;
use crate::store::Store;

/// The operator gets a note if a server must wait at least this long at the start.
const WORTH_A_NOTE: Duration = Duration::from_secs(5);

/// The archive and the index that a crawl writes to, unless the user wants none.
type Writers = (
    Option<archive::ArchiveWriter>,
    Option<index::PageIndexWriter>,
);

/// Opens archive and index, and brings them to the state of the ledger.
pub(super) fn writers(store: &Store, ledger: &Ledger, plan: &EnginePlan) -> Result<Writers> {
    let archive = plan.archive.then(|| {
        let notes = vec![(
            "avocet-scope".to_owned(),
            serde_json::to_string(&plan.scope)?,
        )];
        let info = archive::Info {
            user_agent: plan.fetch.user_agent.clone(),
            ..recovery::archive_info(notes)
        };
        recovery::open_archive(store, ledger, info, plan.core().at_risk())
    });
    let archive = archive.transpose()?;
    let index = plan
        .rules
        .index
        .then(|| recovery::open_index(store, ledger))
        .transpose()?;
    Ok((archive, index))
}

/// Restores the core from the ledger. Returns the core and notes for the operator.
pub(super) fn begin(
    store: &Store,
    plan: &EnginePlan,
    choice: ChosenPolicies,
    ledger: &Ledger,
    now: Moment,
) -> Result<(Core<Sealed>, Vec<String>)> {
    let mut scope = Scope::new(&plan.scope, plan.traps.clone())?;
    recovery::widen(&mut scope, &plan.rules.seeds, ledger)?;
    recovery::name_seeds(&plan.rules.seeds, ledger)?;
    let policies = Policies {
        order: choice.order,
        refresh: choice.refresh,
        sources: choice.sources,
        listings: choice.listings,
        least: choice.least,
        strategy: choice.strategy,
    };
    let core_plan = plan.core();
    let policies = policies.of_plan(&core_plan);
    let needs = policies.0.needs();
    let texts = recovery::texts(store, ledger, choice.query.as_deref(), needs)?;
    let salt = now.micros() ^ u64::from(std::process::id()) << 40;
    let receive = |page, receive: &mut dyn FnMut(Said<'_>)| texts.pass(page, receive);
    let begun = match open_checkpoint(store, ledger)? {
        Some(checkpoint) if needs.words => {
            let facts = checkpoint.facts(ledger);
            Core::begin(core_plan, scope, policies, &facts, receive, salt, now)
        }
        Some(checkpoint) => {
            let facts = checkpoint.facts_without_anchors(ledger);
            Core::begin(core_plan, scope, policies, &facts, receive, salt, now)
        }
        None => Core::begin(core_plan, scope, policies, ledger, receive, salt, now),
    };
    let Begun {
        core,
        recalled,
        copies,
    } = begun?;
    let noticed_ahead = notice_ahead(ledger, &recalled, now)?;
    // If the last run was interrupted, this one continues it: the pages that the last run fetched
    // count towards the page limit.
    let begun = ledger.open_run()?.unwrap_or(copies);
    ledger.mark_run(Some(begun))?;
    let fetched = copies - begun.min(copies);
    let left = plan.pages.map(|pages| pages.saturating_sub(fetched));
    Ok((core.limited(left, noticed_ahead), notes(&recalled)))
}

/// Opens the checkpoint, or makes it from the ledger. Returns `None` if that fails: the core is
/// then restored from the ledger.
fn open_checkpoint(store: &Store, ledger: &Ledger) -> Result<Option<Checkpoint>> {
    let path = store.checkpoint();
    let opened = ledger.open_checkpoint(&path);
    // Of an empty store there is nothing to tell.
    if ledger.sequence()? > 0 {
        match &opened {
            Ok(checkpoint) => {
                if let Some(why) = checkpoint.made() {
                    info!(path = %path.display(), "the checkpoint was made again from the ledger: {why}");
                }
            }
            Err(why) => {
                warn!(path = %path.display(), "there is no checkpoint, so the next start takes longer: {why}");
            }
        }
    }
    Ok(opened.ok())
}

/// Stores when facts with a future date were first noticed, so that their pages age from then on,
/// also across restarts.
fn notice_ahead(ledger: &Ledger, recalled: &Recalled, now: Moment) -> Result<Option<Moment>> {
    let before = ledger.noticed_ahead()?;
    let noticed = (recalled.ahead.pages > 0).then(|| before.map_or(now, |before| before.min(now)));
    ledger.notice_ahead(noticed)?;
    Ok(noticed)
}

/// Returns the notes about earlier runs for the operator.
fn notes(recalled: &Recalled) -> Vec<String> {
    let mut notes = Vec::new();
    let ahead = recalled.ahead;
    if ahead.pages > 0 {
        notes.push(format!(
            "{} with a visit or discovery up to {} in the future: a clock was ahead then, or is behind now; the crawl counts their age from the moment at which it first noticed them",
            counted(ahead.pages, "page"),
            whole_seconds(ahead.by)
        ));
    }
    if recalled.resting_for >= WORTH_A_NOTE {
        notes.push(format!(
            "{} must wait at first, for up to {}: a delay from before the last stop is not over",
            counted(recalled.resting, "server"),
            whole_seconds(recalled.resting_for)
        ));
    }
    notes
}

/// Formats a duration like `2h 5m 3s`.
fn whole_seconds(time: Duration) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    format!("{:#}", jiff::SignedDuration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use frontier::Ahead;

    use super::*;

    #[test]
    fn the_moment_at_which_facts_from_the_future_were_first_noticed_is_kept() {
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
        let (at, notes) = noticed(3, 20);
        assert_eq!((at, notes.len()), (Some(second(20)), 1));
        assert!(notes[0].starts_with("3 pages with a visit or discovery up to 2h in the future"));
        assert_eq!(
            noticed(2, 30).0,
            Some(second(20)),
            "the earlier time is kept"
        );
        assert_eq!(noticed(2, 5).0, Some(second(5)), "the clock went back");
        assert_eq!(noticed(0, 40).0, None, "no page has a future date");
    }
}
