//! The recency that the crawler reaches in a world, and the model's prediction of this recency.

use std::collections::BTreeMap;
use std::time::Duration;

use policy::plan::lifetime::{self, RevisitGroup};
use policy::refresh::Uniform;
use policy::{Crawl, History, Price};

use super::{CurrencyExperimentOptions, CurrencyQuestion, currency_at, formulas, number};
use crate::LabError;
use crate::experiment::ExperimentSetup;
use crate::findings::Measured;
use crate::run::refresh::{Lives, RefreshPlan, Refreshed, refresh};
use crate::world::{World, WorldPart};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// The invented world whose pages follow the assumptions of the formulas.
const PAGES: &str = "invented:pages";
/// Number of pages of that world if the user sets none. It is lower than the world's own default
/// (100,000), since with the default intervals the crawler visits each page about 120 times.
const FEWER: &str = "20000";

/// The pages of the world. A recorded world is opened once for all runs, an invented one for
/// each run.
#[derive(Default)]
pub(super) struct OpenedWorld(Option<Lives>);

impl OpenedWorld {
    pub fn of(
        &mut self,
        setting: &ExperimentSetup,
        options: &CurrencyExperimentOptions,
        run: u64,
    ) -> Result<&Lives, LabError> {
        let known = self.0.take();
        let known = known.filter(|_| !setting.is_invented());
        let lives = match known {
            Some(lives) => lives,
            None => open(setting, options, run)?,
        };
        Ok(self.0.insert(lives))
    }
}

fn open(
    setting: &ExperimentSetup,
    options: &CurrencyExperimentOptions,
    run: u64,
) -> Result<Lives, LabError> {
    let mut setting = setting.clone();
    if setting.world == PAGES {
        let own = [
            ("pages", FEWER.to_owned()),
            ("shape", options.shape.to_string()),
            ("scale", options.scale_days.to_string()),
        ];
        for (name, value) in own {
            if setting.knobs.iter().all(|(set, _)| set != name) {
                setting.knobs.push((name.to_owned(), value));
            }
        }
    }
    match setting.open(run, WorldPart::Histories)? {
        World::Histories(histories) => Lives::of_histories(&histories),
        World::Corpus(corpus) => Lives::of_histories(&corpus.histories),
        other => Err(LabError::Wish(format!(
            "a world of the kind {:?} has no history: take histories, a corpus or {PAGES}",
            other.kind()
        ))),
    }
}

/// Returns the crawler's measurements at an interval, in days, and the model's predictions. The
/// note says why either is missing.
pub(super) fn rows(
    question: &CurrencyQuestion,
    lives: &Lives,
    interval: f64,
    seed: u64,
) -> (Vec<Measured>, Option<String>) {
    let every = days(interval);
    let Some((from, until)) = lives
        .span()
        .filter(|(from, until)| until.since(*from) > every)
    else {
        let why = format!("the world spans no more than one interval of {interval} days.");
        return (Vec::new(), Some(why));
    };
    let plan = RefreshPlan {
        from,
        until,
        spread: every,
        warm_up: every,
        price: Price::ONE,
        graces: question.graces.iter().map(|&grace| days(grace)).collect(),
        seed,
    };
    let crawl = Crawl {
        refresh: Some(Box::new(Uniform::every(every))),
        ..Crawl::default()
    };
    let done = refresh(lives, crawl, &plan);
    let measured = until.since(from + every).as_secs_f64() / SECONDS_PER_DAY;
    let mut rows = reached(question, &done, interval);
    let often = done.visits as f64 / measured / done.recency.pages();
    rows.push(number("uniform", "visits_per_day", interval, often));
    let missed = missed(lives, &done.histories);
    rows.extend(missed.map(|missed| number("uniform", "missed_changes", interval, missed)));
    let Some(model) = lifetime::fit(&watched(&done.histories)) else {
        let why = format!("visits every {interval} days saw too little to fit a model.");
        return (rows, Some(why));
    };
    rows.extend(formulas::recency(
        "model",
        &model,
        &question.graces,
        interval,
    ));
    rows.push(number("model", "model_shape", interval, model.shape()));
    rows.push(number("model", "model_scale", interval, model.scale()));
    (rows, None)
}

fn reached(question: &CurrencyQuestion, done: &Refreshed, interval: f64) -> Vec<Measured> {
    let recency = &done.recency;
    let mut rows = vec![
        number("uniform", "freshness", interval, recency.freshness()),
        number("uniform", "age", interval, recency.age_days()),
    ];
    for (&grace, current) in question.graces.iter().zip(recency.currency()) {
        rows.push(number("uniform", currency_at(grace), interval, current));
    }
    rows
}

/// Returns the share of the changes between the first and the last visit to each page that no visit
/// saw. `None` without changes.
fn missed(lives: &Lives, histories: &[Option<History>]) -> Option<f64> {
    let (mut seen, mut all) = (0.0, 0.0);
    for (page, history) in histories.iter().enumerate() {
        let Some((history, last)) = history.as_ref().and_then(|it| Some((it, it.fresh?))) else {
            continue;
        };
        let changes = lives.of(page).windows(2).filter(|pair| {
            let between = pair[1].at > history.discovered && pair[1].at <= last;
            between && pair[0].text.is_some() && pair[1].text.is_some()
        });
        all += changes.count() as f64;
        seen += f64::from(history.changes);
    }
    (all > 0.0).then(|| 1.0 - seen / all)
}

/// Groups pages that have the same numbers of revisits and changes and nearly the same mean gap
/// between visits.
///
/// The visits to a page are evenly spaced except while the page was gone, so its mean gap stands
/// for each of its gaps. Gaps are grouped in steps of 1 %.
fn watched(histories: &[Option<History>]) -> Vec<RevisitGroup> {
    let mut groups: BTreeMap<(u32, u32, u64), (u32, f64)> = BTreeMap::new();
    for history in histories
        .iter()
        .flatten()
        .filter(|history| history.revisits > 0)
    {
        let gap = history.watched.as_secs_f64() / SECONDS_PER_DAY / f64::from(history.revisits);
        let step = (gap.ln() * 100.0).round() as i64 as u64;
        let group = groups.entry((history.revisits, history.changes, step));
        let (pages, gaps) = group.or_default();
        *pages += 1;
        *gaps += gap;
    }
    let group =
        |((revisits, changes, _), (pages, gaps)): ((u32, u32, u64), (u32, f64))| RevisitGroup {
            pages,
            revisits,
            changes,
            gap: gaps / f64::from(pages),
        };
    groups.into_iter().map(group).collect()
}

fn days(days: f64) -> Duration {
    Duration::try_from_secs_f64(days * SECONDS_PER_DAY).unwrap_or(Duration::MAX)
}
