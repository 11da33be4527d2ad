//! Tests of the currency claims, and of the experiment on worlds with known answers.

use std::path::Path;
use std::time::Duration;

use policy::Moment;

use super::*;
use crate::experiment::PublishedClaim;
use crate::findings::Findings;
use crate::workers::Silent;
use crate::world::{Bodies, Graph, Histories, Version, World};

fn setting(world: &str, policies: &[&str]) -> ExperimentSetup {
    ExperimentSetup {
        world: world.into(),
        knobs: Vec::new(),
        policies: policies.iter().map(|&name| name.into()).collect(),
        against: None,
        seed: 4,
        runs: 1,
        threads: 2,
        command: "avocet lab currency".into(),
    }
}

fn quick() -> CurrencyExperimentOptions {
    CurrencyExperimentOptions {
        draws: 4_000,
        ..CurrencyExperimentOptions::default()
    }
}

fn formulas() -> Study {
    run(
        &setting("nowhere", &["closed-form", "optimal", "proportional"]),
        &quick(),
        &Silent,
    )
    .unwrap()
}

fn claims(id: &str, draws: u32) -> Vec<PublishedClaim> {
    let all = claims::all(draws, 4).into_iter();
    all.filter(|claim| claim.id == id).collect()
}

#[test]
fn bk1_finds_18_and_a_half_days() {
    let [claim] = <[PublishedClaim; 1]>::try_from(claims("BK1", 1)).unwrap();
    assert!(claim.holds, "{claim:?}");
    assert_eq!(claim.found, "18.49 days; at 18 days 0.9526");
    let interval = formulas().findings.value("closed-form", "interval", 0.95);
    assert!((interval.unwrap() - 18.49).abs() < 5e-3);
}

#[test]
fn bk2_solves_exercise_6_6() {
    let [claim] = <[PublishedClaim; 1]>::try_from(claims("BK2", 1)).unwrap();
    assert!(claim.holds, "{claim:?}");
    let options = CurrencyExperimentOptions {
        alpha: 0.8,
        shape: 1.0,
        scale_days: 100.0,
        documents: 2e9,
        ..quick()
    };
    let study = run(&setting("nowhere", &["closed-form"]), &options, &Silent).unwrap();
    for (metric, expected, room) in [
        ("interval", 32.78, 5e-3),
        ("documents_per_second", 706.0, 0.5),
        ("megabits_per_second", 56.5, 0.05),
    ] {
        let found = study.findings.value("closed-form", metric, 0.8).unwrap();
        assert!((found - expected).abs() < room, "{metric}: {found}");
    }
}

#[test]
fn bk3_finds_mean_mode_and_median_of_lifetimes() {
    let [claim] = <[PublishedClaim; 1]>::try_from(claims("BK3", 1)).unwrap();
    assert!(claim.holds, "{claim:?}");
    let mode = formulas()
        .findings
        .value("closed-form", "lifetime_mode", 1.4);
    assert!((mode.unwrap() - 62.2).abs() < 0.05);
}

#[test]
fn bk4_confirms_doubling_in_394_days_and_finds_a_misprint() {
    let [fitted, counted] = <[PublishedClaim; 2]>::try_from(claims("BK4", 1)).unwrap();
    assert!(fitted.holds, "{fitted:?}");
    assert!(
        !counted.holds,
        "the other printed estimate does not follow from the printed numbers"
    );
    assert_eq!(counted.found, "0.00215 a day, 322 days");
}

#[test]
fn bk5_closed_forms_agree_with_draws_and_the_published_example() {
    let [drawn, example] = <[PublishedClaim; 2]>::try_from(claims("BK5", 20_000)).unwrap();
    assert!(drawn.holds, "{drawn:?}");
    assert!(example.holds, "{example:?}");
    let findings = formulas().findings;
    let often = findings.value("optimal", "frequency", 3.0).unwrap();
    assert!((often - 1.354).abs() < 5e-4);
    let fresh = findings.value("proportional", "freshness", 5.0).unwrap();
    assert!((fresh - 0.3167).abs() < 5e-5);
}

/// Writes a recorded world of pages whose mean lifetimes are Weibull(1.4, 60 days) and whose
/// changes are Poisson, as the formulas assume.
fn record(directory: &Path, pages: u32, days: f64) {
    use rand::RngExt;
    use testweb::chance::{For, stream};
    let lifetimes = Weibull::new(1.4, 60.0).unwrap();
    let mut versions = Vec::new();
    for page in 0..pages {
        let mut chance = stream(9, For::Changes, u64::from(page), 0);
        let lifetime = lifetimes.quantile(chance.random());
        let mut at = 0.0;
        while at < days {
            versions.push(Version {
                page,
                at: Moment::START + Duration::from_secs((at * 86_400.0) as u64),
                body: Some(versions.len() as u32),
            });
            at -= lifetime * (1.0 - chance.random::<f64>()).ln();
        }
    }
    let urls: Vec<String> = (0..pages)
        .map(|page| format!("http://h{}.example/{page}", page % 7))
        .collect();
    let bodies = Bodies::unknown(versions.len() as u32);
    let histories = Histories::new(urls.iter().map(String::as_str), versions, bodies);
    World::Histories(histories).write(directory).unwrap();
}

/// Returns a value from outside the allocation example, which also has a policy `uniform`.
fn value(findings: &Findings, policy: &str, metric: &str, x: f64) -> f64 {
    let mut rows = findings.rows.iter();
    let row = rows.find(|row| {
        let same = row.policy == policy && row.metric == metric && row.x == x;
        same && !row.params.contains_key("example")
    });
    row.unwrap().value
}

fn near(findings: &Findings, policy: &str, metric: &str, x: f64, expected: f64, room: f64) {
    let found = value(findings, policy, metric, x);
    assert!(
        (found - expected).abs() < room,
        "{policy} {metric} at {x}: {found}, not {expected}"
    );
}

#[test]
fn the_crawler_agrees_with_the_formulas_and_the_model_finds_the_lifetimes() {
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), 3_000, 200.0);
    let options = CurrencyExperimentOptions {
        scale_days: 60.0,
        interval_days: vec![5.0, 20.0],
        ..quick()
    };
    let mut asked = setting(directory.path().to_str().unwrap(), &[]);
    asked.runs = 2;
    let study = run(&asked, &options, &Silent).unwrap();
    let findings = &study.findings;
    for x in [5.0, 20.0] {
        for metric in ["freshness", "currency@1", "currency@7"] {
            let expected = value(findings, "closed-form", metric, x);
            for policy in ["monte-carlo", "uniform", "model"] {
                near(findings, policy, metric, x, expected, 0.015);
            }
        }
        let age = value(findings, "closed-form", "age", x);
        near(findings, "uniform", "age", x, age, 0.05 * age + 0.02);
        near(findings, "uniform", "visits_per_day", x, 1.0 / x, 0.02 / x);
        near(findings, "model", "model_shape", x, 1.4, 0.15);
        near(findings, "model", "model_scale", x, 60.0, 6.0);
    }
    let names: Vec<&str> = study
        .figures
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for (name, figure) in &study.figures {
        assert!(figure.svg().starts_with("<svg"), "{}", figure.title);
        // With two runs, the crawler's lines have confidence intervals.
        if name.starts_with("world-") {
            let lines = figure.series.iter();
            let mut found = lines.filter(|line| line.name.starts_with("crawler"));
            assert!(found.all(|line| line.intervals.len() == line.points.len()));
        }
    }
    asked.threads = 1;
    let again = run(&asked, &options, &Silent).unwrap();
    assert_eq!(again.findings, study.findings, "on one thread");
    assert_eq!(again.notes, study.notes);
}

#[test]
fn freshness_in_an_invented_world_follows_the_shape_and_scale_of_the_options() {
    let mut asked = setting("invented:pages", &["closed-form", "uniform"]);
    let knobs = [("pages", "2000"), ("span", "120")];
    asked.knobs = knobs
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec();
    let options = CurrencyExperimentOptions {
        shape: 2.0,
        scale_days: 30.0,
        interval_days: vec![10.0],
        ..quick()
    };
    let fresh = |setting: &ExperimentSetup| {
        let findings = run(setting, &options, &Silent).unwrap().findings;
        ["closed-form", "uniform"].map(|policy| value(&findings, policy, "freshness", 10.0))
    };
    let [expected, found] = fresh(&asked);
    assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
    // The user's own settings of the world take precedence.
    asked.knobs.push(("scale".into(), "300".into()));
    assert!(fresh(&asked)[1] > found + 0.05);
}

#[test]
fn invalid_options_policies_and_worlds_are_refused_with_the_reason() {
    let refused = |setting: &ExperimentSetup, options: &CurrencyExperimentOptions, word: &str| {
        let error = run(setting, options, &Silent).unwrap_err();
        assert!(matches!(error, LabError::Wish(_)), "{error:?}");
        assert!(error.to_string().contains(word), "{error}");
    };
    let fine = setting("nowhere", &["closed-form"]);
    refused(
        &setting("nowhere", &["unifrom"]),
        &quick(),
        "monte-carlo, uniform",
    );
    for (options, word) in [
        (
            CurrencyExperimentOptions {
                alpha: 1.0,
                ..quick()
            },
            "alpha is 1",
        ),
        (
            CurrencyExperimentOptions {
                beta_days: -1.0,
                ..quick()
            },
            "beta is -1",
        ),
        (
            CurrencyExperimentOptions {
                shape: 0.0,
                ..quick()
            },
            "shape is 0",
        ),
        (
            CurrencyExperimentOptions {
                interval_days: vec![f64::NAN],
                ..quick()
            },
            "an interval is NaN",
        ),
        (
            CurrencyExperimentOptions {
                draws: 0,
                ..quick()
            },
            "draws is 0",
        ),
    ] {
        refused(&fine, &options, word);
    }
    let directory = tempfile::tempdir().unwrap();
    let graph = Graph::new(
        ["http://a.example/", "http://b.example/"].into_iter(),
        [(0, 1)].into_iter(),
    );
    World::Graph(graph).write(directory.path()).unwrap();
    let world = directory.path().to_str().unwrap();
    refused(
        &setting(world, &["uniform"]),
        &quick(),
        "\"graph\" has no history",
    );
}

#[test]
fn only_the_requested_policies_and_the_baseline_have_rows() {
    let mut asked = setting("nowhere", &["monte-carlo"]);
    asked.against = Some("closed-form".into());
    let options = CurrencyExperimentOptions {
        interval_days: vec![18.0],
        ..quick()
    };
    let study = run(&asked, &options, &Silent).unwrap();
    let mut names: Vec<&str> = study
        .findings
        .rows
        .iter()
        .map(|row| row.policy.as_str())
        .collect();
    names.dedup();
    assert_eq!(names, ["closed-form", "monte-carlo"]);
    let gain = study.findings.value("monte-carlo", "freshness-gain", 18.0);
    assert!(gain.unwrap().abs() < 0.02);
}

/// Runs without the texts, which are half a gigabyte, so every change of a body counts.
#[test]
fn recency_in_a_recorded_world_is_plausible_for_crawler_and_model() {
    let world = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/ota-terms"
    ));
    let tables = ["pages.tsv.gz", "versions.tsv.gz"];
    for table in tables {
        if !world.join(table).exists() {
            eprintln!("skipped: {} is missing", world.join(table).display());
            return;
        }
    }
    let bare = tempfile::tempdir().unwrap();
    for table in tables {
        std::fs::copy(world.join(table), bare.path().join(table)).unwrap();
    }
    let options = CurrencyExperimentOptions {
        interval_days: vec![30.0],
        ..quick()
    };
    let asked = setting(bare.path().to_str().unwrap(), &["uniform", "model"]);
    let findings = run(&asked, &options, &Silent).unwrap().findings;
    for policy in ["uniform", "model"] {
        let fresh = value(&findings, policy, "freshness", 30.0);
        let current = value(&findings, policy, "currency@7", 30.0);
        let sane = 0.5 < fresh && fresh < current && current < 1.0;
        assert!(sane, "{policy}: {fresh} {current}");
    }
    // The 439 pages did not all exist at once. Visits are counted per existing page, so each page
    // still gets one visit in 30 days.
    let often = value(&findings, "uniform", "visits_per_day", 30.0);
    assert!((often * 30.0 - 1.0).abs() < 0.05, "{often}");
}
