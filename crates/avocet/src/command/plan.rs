//! `avocet plan`: what a goal costs, and what a budget reaches.

use std::path::Path;

use anyhow::{Context, Result};
use figure::{Figure, Series};
use repository::index::{Demand, Index};
use repository::log::{Log, Position};
use serde_json::json;

use crate::cli::Plan;
use node::planning::chart::{draw, number};
use node::planning::{Estimates, Goal, Point, needed, reached};
use node::settings::Usage;
use node::store::{self, Store};

/// Shares that the table has where the user names none.
const SHARES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// Plans.
pub fn run(root: &Path, json: bool, wishes: &Plan) -> Result<()> {
    let (goal, share) = goal(root, wishes)?;
    let store = Store::open(root)?;
    let ledger = store.ledger()?;
    let policy = wishes.refresh.clone().unwrap_or_else(|| goal.policy());
    let estimates =
        Estimates::read(&ledger, &policy, wishes.rate.as_deref()).context("--refresh or --rate")?;
    if estimates.copies == 0 {
        anyhow::bail!("the store {} has no pages yet: crawl first", root.display());
    }
    if matches!(goal, Goal::Quality { .. }) && !estimates.measured {
        anyhow::bail!(
            "no refresh has been measured yet: let `avocet run` refresh pages for a while, now that searches are known"
        );
    }
    let best = estimates.curve(&goal);
    let even = estimates.uniform_curve(&goal);
    if let Some(path) = &wishes.svg {
        let svg = figure(&goal, &policy, &best, &even).svg();
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let curves = [(policy.as_str(), &best), ("uniform", &even)];
    let asked: Vec<f64> = share.map_or(SHARES.to_vec(), |share| vec![share]);
    let budget = wishes.budget.map(|rate| rate.per_second * 86_400.0);
    if json {
        let each = curves.map(|(policy, curve)| {
            let needs: Vec<_> = (asked.iter())
                .map(|share| json!({ "share": share, "fetches_per_day": needed(curve, *share) }))
                .collect();
            let reaches = budget.and_then(|budget| reached(curve, budget));
            json!({ "policy": policy, "needs": needs, "budget_reaches": reaches, "curve": curve })
        });
        let goal = goal.words();
        outln!(
            "{}",
            json!({ "pages": estimates.copies, "goal": goal, "policies": each })
        );
        return Ok(());
    }
    outln!(
        "{} pages; {}, by their own rates of change",
        estimates.copies,
        goal.words()
    );
    outln!("\n{}", draw(&[('*', &best), ('.', &even)]).trim_end());
    outln!("        * {policy}   . uniform\n");
    match budget {
        Some(budget) => {
            for (policy, curve) in curves {
                let share = reached(curve, budget).unwrap_or(0.0);
                outln!(
                    "{policy:>24}: {} fetches a day reach {:.1} %",
                    number(budget),
                    share * 100.0
                );
            }
        }
        None => print_needs(&curves, &asked),
    }
    if let Some(path) = &wishes.svg {
        outln!("the curve is in {}", path.display());
    }
    Ok(())
}

fn print_needs(curves: &[(&str, &Vec<Point>)], shares: &[f64]) {
    outln!("{:>8}  {:>24}  {:>12}", "share", "policy", "fetches/day");
    for share in shares {
        for (policy, curve) in curves {
            let need = needed(curve, *share).map_or("out of reach".into(), number);
            outln!("{:>7.1}%  {policy:>24}  {need:>12}", share * 100.0);
        }
    }
}

/// What all gains to searchers are a share of, by the store's own log and index.
fn ideal(root: &Path) -> Result<f64> {
    let mut demand = Demand::default();
    let log: Log = Log::open(&store::log(root));
    log.read(&Position::default(), |search| {
        demand.ask(&search.query, search.count)
    })?;
    let ideal = match store::index(root) {
        path if path.exists() && demand.asked() > 0 => Index::open(&path)
            .and_then(|index| index.usefulness(&demand.workload()))
            .with_context(|| format!("the index in {}", path.display()))?,
        _ => 0.0,
    };
    if ideal <= 0.0 {
        anyhow::bail!(
            "nobody has searched for anything that is in the store: `avocet import queries FILE`, or search, and let `avocet run` refresh pages for a while"
        );
    }
    Ok(ideal)
}

/// What is to be reached, and how much of it.
fn goal(root: &Path, wishes: &Plan) -> Result<(Goal, Option<f64>)> {
    let days = |time: node::settings::Time| time.0.as_secs_f64() / 86_400.0;
    Ok(match (wishes.freshness, wishes.current, wishes.quality) {
        (Some(share), None, None) => (Goal::Fresh, Some(share.0)),
        (None, Some(share), None) => {
            let within = wishes.within.map_or(7.0, days);
            (Goal::Current { within }, Some(share.0))
        }
        (None, None, Some(share)) => (
            Goal::Quality {
                ideal: ideal(root)?,
            },
            Some(share.0),
        ),
        (None, None, None) => match wishes.within.map(days) {
            Some(within) => (Goal::Current { within }, None),
            None => (Goal::Fresh, None),
        },
        _ => {
            let why = "ask for one goal: --freshness, --current or --quality";
            return Err(Usage(why.into()).into());
        }
    })
}

fn figure(goal: &Goal, policy: &str, best: &[Point], even: &[Point]) -> Figure {
    // Where all is reached there is nothing to see.
    let enough = needed(even, 0.99).unwrap_or(f64::INFINITY);
    let line = |name: &str, curve: &[Point]| {
        let points = curve
            .iter()
            .map(|point| (point.fetches_per_day, point.reached));
        Series::line(name, points.filter(|(x, _)| *x <= enough).collect())
    };
    Figure {
        title: format!("What fetches reach: share {}", goal.words()),
        x_label: "fetches a day".into(),
        y_label: format!("share {}", goal.words()),
        series: vec![line(policy, best), line("uniform", even)],
        ..Figure::default()
    }
}
