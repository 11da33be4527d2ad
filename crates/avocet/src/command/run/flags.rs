//! Which flags still hold, now that the configuration has changed?
//!
//! Flags win over what the file said when the program was started. What is said later wins over what was said before: where
//! the file has come to say something else than it did, or an operator has asked for something through the server, the
//! flag about the same is no longer heeded.

use crate::cli::Run;
use node::live::Live;
use node::live::controls::ControlledSetting;
use node::settings::config::Config;

/// The topics that the command line speaks of.
pub fn given(wishes: &Run) -> Vec<ControlledSetting> {
    let crawl = &wishes.crawl;
    let each = [
        (ControlledSetting::Budget, wishes.budget.is_some()),
        (ControlledSetting::Order, crawl.order.is_some()),
        (ControlledSetting::Refresh, wishes.refresh.is_some()),
        (ControlledSetting::Sources, wishes.sources.is_some()),
        (
            ControlledSetting::Seeds,
            !crawl.urls.is_empty() || crawl.seeds.is_some(),
        ),
    ];
    let given = each.into_iter().filter(|(_, given)| *given);
    given.map(|(topic, _)| topic).collect()
}

/// The flags that are heeded, where the file said `before` when the program was started and says `now` something else.
pub fn heeded(wishes: &Run, before: &Config, now: &Config, live: &Live) -> Run {
    let mut heeded = wishes.clone();
    let later = |topic, changed: bool| changed || live.overrules_flag(topic);
    if later(
        ControlledSetting::Budget,
        before.budget.rate() != now.budget.rate(),
    ) {
        heeded.budget = None;
    }
    if later(
        ControlledSetting::Order,
        before.crawl.order != now.crawl.order,
    ) {
        heeded.crawl.order = None;
    }
    if later(
        ControlledSetting::Refresh,
        before.refresh.policy != now.refresh.policy,
    ) {
        heeded.refresh = None;
    }
    if later(
        ControlledSetting::Sources,
        before.source.policy != now.source.policy,
    ) {
        heeded.sources = None;
    }
    let seeds = now.crawl.all_seeds();
    if later(ControlledSetting::Seeds, before.crawl.all_seeds() != seeds) && !seeds.is_empty() {
        heeded.crawl.urls.clear();
        heeded.crawl.seeds = None;
    }
    heeded
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Arguments, Command};

    fn wishes(line: &[&str]) -> Run {
        match Arguments::parse_from(line).command {
            Command::Run(wishes) => *wishes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_said_later_wins() {
        let line = [
            "avocet",
            "run",
            "http://e.org/",
            "--budget",
            "5/s",
            "--refresh",
            "uniform",
        ];
        let wishes = wishes(&line);
        assert_eq!(
            given(&wishes),
            [
                ControlledSetting::Budget,
                ControlledSetting::Refresh,
                ControlledSetting::Seeds
            ]
        );
        let config = |text: &str| toml::from_str::<Config>(text).unwrap();
        let before = config("[budget]\nfetches_per_second = 1\n[refresh]\npolicy = \"age\"\n");
        let live = Live::of(std::path::Path::new("nowhere"));
        let same = heeded(&wishes, &before, &before, &live);
        assert_eq!(
            (same.budget, same.refresh),
            (wishes.budget, wishes.refresh.clone())
        );
        let faster = config("[budget]\nfetches_per_second = 2\n[refresh]\npolicy = \"age\"\n");
        let after = heeded(&wishes, &before, &faster, &live);
        assert_eq!(
            (after.budget, after.refresh),
            (None, wishes.refresh.clone())
        );
        assert_eq!(after.crawl.urls, ["http://e.org/"]);
        // Somebody wants exactly what the file said from the start.
        live.overrule_flags(&[ControlledSetting::Refresh]);
        let after = heeded(&wishes, &before, &before, &live);
        assert_eq!((after.budget, after.refresh), (wishes.budget, None));
        let moved = config("[crawl]\nseeds = [\"http://f.org/\"]\n");
        assert!(
            heeded(&wishes, &before, &moved, &live)
                .crawl
                .urls
                .is_empty()
        );
    }
}
