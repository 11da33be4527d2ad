//! `avocet plan`: estimates the fetches that a goal needs, and what a budget achieves.

use std::path::Path;

use anyhow::{Context, Result};
use figure::{Figure, Series};
use repository::index::Index;
use serde_json::json;

use crate::cli::PlanArguments;
use node::access::StoreView;
use node::number::{counted, duration};
use node::planning::chart::{draw, number};
use node::planning::{CurvePoint, Estimates, Goal, needed, reached};
use node::recovery::searches::logged_workload;
use node::settings::Usage;
use node::store;

/// Shares in the table if the user names no share.
const SHARES: [f64; 5] = [0.5, 0.8, 0.9, 0.95, 0.99];

/// Prints what a goal needs, or what a budget achieves, by the estimates of the store.
pub fn run(root: &Path, json: bool, arguments: &PlanArguments) -> Result<()> {
    let (goal, share) = goal(root, arguments)?;
    let store = StoreView::open(root)?;
    let policy = arguments.refresh.clone().unwrap_or_else(|| goal.policy());
    let estimates = Estimates::read(store.ledger(), &policy, arguments.rate.as_deref())
        .context("--refresh or --rate")?;
    if estimates.copies == 0 {
        anyhow::bail!(
            "the store {} has no pages yet: run `avocet crawl` first",
            root.display()
        );
    }
    if matches!(goal, Goal::Quality { .. }) && !estimates.measured {
        anyhow::bail!(
            "no refresh has been measured yet: let `avocet run` refresh pages that people search for, then plan again"
        );
    }
    let best = estimates.curve(&goal);
    let even = estimates.uniform_curve(&goal);
    if let Some(path) = &arguments.svg {
        let svg = figure(&goal, &policy, &best, &even).svg();
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let curves = [(policy.as_str(), &best), ("uniform", &even)];
    let asked: Vec<f64> = share.map_or(SHARES.to_vec(), |share| vec![share]);
    let budget = arguments.budget.map(|rate| rate.per_second * 86_400.0);
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
        "Share {}, for {}, estimated from their change rates:",
        goal.words(),
        counted(estimates.copies, "page")
    );
    outln!("\n{}", draw(&[('*', &best), ('.', &even)]).trim_end());
    outln!("        * {policy}   . uniform\n");
    match budget {
        Some(budget) => {
            for (policy, curve) in curves {
                let share = reached(curve, budget).unwrap_or(0.0);
                outln!(
                    "{policy:>24}: {} a day: {:.1} %",
                    counted(number(budget), "fetch"),
                    share * 100.0
                );
            }
        }
        None => print_needs(&curves, &asked),
    }
    if let Some(path) = &arguments.svg {
        outln!("wrote the curve to {}", path.display());
    }
    Ok(())
}

fn print_needs(curves: &[(&str, &Vec<CurvePoint>)], shares: &[f64]) {
    outln!(
        "{:>8}  {:>24}  {:>12}  one fetch every",
        "share",
        "policy",
        "fetches/day"
    );
    for share in shares {
        for (policy, curve) in curves {
            let need = needed(curve, *share);
            let every = need.filter(|need| *need > 0.0);
            let every = every.map_or(String::new(), |need| duration(86_400.0 / need));
            let need = need.map_or("out of reach".into(), number);
            outln!("{:>7.1}%  {policy:>24}  {need:>12}  {every}", share * 100.0);
        }
    }
}

/// Returns the quality of all logged searches on the present index. Fails if it is 0.
///
/// The value stands for the quality of a store without outdated copies: the share that `--quality`
/// names is 1 minus the expected loss divided by this value.
fn ideal(root: &Path) -> Result<f64> {
    let path = store::index(root);
    let ideal = match logged_workload(root)? {
        Some(workload) if path.exists() => Index::open(&path)
            .and_then(|index| index.usefulness(&workload))
            .with_context(|| format!("the index in {}", path.display()))?,
        _ => 0.0,
    };
    if ideal <= 0.0 {
        anyhow::bail!(
            "no search in the log matches a page of the store: run `avocet import queries FILE` or search the store, then let `avocet run` refresh pages"
        );
    }
    Ok(ideal)
}

/// Returns the goal, and the share to reach, or `None` if the user names no share.
fn goal(root: &Path, arguments: &PlanArguments) -> Result<(Goal, Option<f64>)> {
    let days = |time: node::settings::Time| time.0.as_secs_f64() / 86_400.0;
    Ok(
        match (arguments.freshness, arguments.current, arguments.quality) {
            (Some(share), None, None) => (Goal::Fresh, Some(share.0)),
            (None, Some(share), None) => {
                let within = arguments.within.map_or(7.0, days);
                (Goal::Current { within }, Some(share.0))
            }
            (None, None, Some(share)) => (
                Goal::Quality {
                    ideal: ideal(root)?,
                },
                Some(share.0),
            ),
            (None, None, None) => match arguments.within.map(days) {
                Some(within) => (Goal::Current { within }, None),
                None => (Goal::Fresh, None),
            },
            _ => {
                let why = "give only one goal: --freshness, --current or --quality";
                return Err(Usage(why.into()).into());
            }
        },
    )
}

fn figure(goal: &Goal, policy: &str, best: &[CurvePoint], even: &[CurvePoint]) -> Figure {
    // Beyond the budget at which the uniform policy reaches 99 %, both curves are almost flat.
    let enough = needed(even, 0.99).unwrap_or(f64::INFINITY);
    let line = |name: &str, curve: &[CurvePoint]| {
        let points = curve
            .iter()
            .map(|point| (point.fetches_per_day, point.reached));
        Series::line(name, points.filter(|(x, _)| *x <= enough).collect())
    };
    Figure {
        title: format!("Share {}, by fetches a day", goal.words()),
        x_label: "fetches a day".into(),
        y_label: format!("share {}", goal.words()),
        series: vec![line(policy, best), line("uniform", even)],
        ..Figure::default()
    }
}
