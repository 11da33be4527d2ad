//! Tests of the refresh experiment on small worlds.

use super::*;
use crate::workers::Silent;

fn setting(world: &str, knobs: &[(&str, &str)], policies: &[&str]) -> ExperimentSetup {
    ExperimentSetup {
        world: world.into(),
        knobs: knobs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        policies: policies.iter().map(|&name| name.into()).collect(),
        against: None,
        seed: 5,
        runs: 1,
        threads: 1,
        command: "avocet lab refresh".into(),
    }
}

const SMALL: [(&str, &str); 5] = [
    ("pages", "60"),
    ("weeks", "12"),
    ("queries", "40"),
    ("words", "500"),
    ("scale", "20"),
];

fn small(policies: &[&str]) -> ExperimentSetup {
    setting("invented:corpus", &SMALL, policies)
}

fn options(budgets: &[f64]) -> RefreshExperimentOptions {
    RefreshExperimentOptions {
        budgets: budgets.to_vec(),
        ..RefreshExperimentOptions::default()
    }
}

#[test]
fn quality_rises_with_refreshes_and_is_1_if_all_pages_are_refreshed() {
    let setting = small(&["none", "uniform", "freshness"]);
    let study = run(&setting, &options(&[0.1, 1.0]), &Silent).unwrap();
    let value = |policy: &str, metric: &str, x: f64| study.findings.value(policy, metric, x);
    let none = value("none", "quality", 0.0).unwrap();
    for policy in ["uniform", "freshness"] {
        let (few, all) = (
            value(policy, "quality", 6.0),
            value(policy, "quality", 60.0),
        );
        assert!(few.unwrap() > none, "{policy}");
        assert_eq!(all, Some(1.0), "{policy}");
        let made = value(policy, "refreshes", 6.0).unwrap();
        assert!(made > 3.0 && made <= 6.0, "{policy}: {made}");
        let half = value(policy, "budget_at_regained@0.5", 0.0).unwrap();
        assert!(half > 0.0 && half < 60.0, "{policy}: {half}");
        let embarrassed = value(policy, "embarrassment", 60.0);
        assert_eq!(embarrassed, Some(0.0));
    }
    assert!(
        study
            .claims
            .iter()
            .filter(|claim| claim.id == "UC6")
            .all(|claim| claim.holds)
    );
}

#[test]
fn findings_are_the_same_on_any_number_of_threads() {
    let mut setting = small(&["uniform", "harmonic"]);
    setting.runs = 2;
    let of = |threads| {
        let setting = ExperimentSetup {
            threads,
            ..setting.clone()
        };
        let study = run(&setting, &options(&[0.05, 0.2]), &Silent).unwrap();
        serde_json::to_string(&study.findings).unwrap()
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn invalid_options_policies_and_worlds_are_refused() {
    let refused = |setting: &ExperimentSetup, options: &RefreshExperimentOptions, word: &str| {
        let why = run(setting, options, &Silent).unwrap_err();
        assert!(why.is_wrong_usage(), "{why}");
        assert!(why.to_string().contains(word), "{why}");
    };
    let uniform = small(&["uniform"]);
    refused(&small(&["unifrom"]), &options(&[0.1]), "uniform");
    refused(&uniform, &options(&[0.0]), "budget");
    refused(&uniform, &options(&[1.5]), "budget");
    let inlinks = RefreshExperimentOptions {
        scorer: Scorer::Inlinks,
        ..options(&[0.1])
    };
    refused(&uniform, &inlinks, "inlinks");
    let graph = setting("invented:graph", &[("pages", "50")], &["uniform"]);
    refused(&graph, &options(&[0.1]), "history");
    let long = RefreshExperimentOptions {
        step: Some(400 * DAY),
        ..options(&[0.1])
    };
    refused(&uniform, &long, "steps");
}

#[test]
fn with_known_rates_the_freshness_policy_is_near_the_optimum_and_above_linear() {
    let knobs = [("pages", "400"), ("hosts", "20")];
    let setting = setting(
        "invented:pages",
        &knobs,
        &["optimal", "linear", "freshness"],
    );
    let study = run(&setting, &options(&[0.05]), &Silent).unwrap();
    let near = pages::found(&study.findings, "freshness", "of_optimum", "known");
    assert_eq!(near.len(), 1);
    assert!((0.97..1.01).contains(&near[0].1), "{near:?}");
    let linear = pages::found(&study.findings, "linear", "of_optimum", "known");
    assert!(linear[0].1 < near[0].1, "{linear:?}");
    let spent = pages::found(&study.findings, "freshness", "fetches_per_day", "known");
    assert!((spent[0].1 / spent[0].0 - 1.0).abs() < 0.02, "{spent:?}");
}

/// The budget pays for 0.2 % of the pages per day. Pages that the best allocation never visits must
/// not take budget from the others.
#[test]
fn with_known_rates_and_a_small_budget_the_freshness_policy_is_near_the_optimum() {
    let knobs = [("pages", "2000"), ("hosts", "100")];
    let setting = setting("invented:pages", &knobs, &["freshness"]);
    let study = run(&setting, &options(&[0.002]), &Silent).unwrap();
    let near = pages::found(&study.findings, "freshness", "of_optimum", "known");
    assert_eq!(near.len(), 1);
    assert!((0.99..1.01).contains(&near[0].1), "{near:?}");
}

#[test]
fn the_step_of_a_recorded_world_fits_its_time() {
    let directory = tempfile::tempdir().unwrap();
    // Two pages that change every `gap` seconds, 30 times.
    let study = |gap: u64, step: Option<Duration>| {
        let rows: String = (1..=60)
            .map(|n| format!("{}\t{}\tb{n}\n", n % 2, n / 2 * gap))
            .collect();
        let write = |name: &str, text: String| {
            std::fs::write(directory.path().join(name), text).unwrap();
        };
        write("versions.tsv", format!("page\tt\tbody\n{rows}"));
        write(
            "pages.tsv",
            "page\turl\n0\thttp://e.org/\n1\thttp://e.org/1\n".into(),
        );
        let setting = setting(directory.path().to_str().unwrap(), &[], &["uniform"]);
        let options = RefreshExperimentOptions {
            step,
            ..options(&[1.0])
        };
        run(&setting, &options, &Silent).unwrap()
    };
    for (gap, step) in [
        (86_400, 86_400),
        (7_200, 3_600),
        (50, 60),
        (20, 1),
        (700_000, 604_800),
    ] {
        let notes = study(gap, None).notes;
        let said = format!("steps of {step} s");
        assert!(
            notes.iter().any(|note| note.contains(&said)),
            "{said}: {notes:?}"
        );
    }
    let notes = study(86_400, Some(Duration::from_secs(7_200))).notes;
    assert!(
        notes.iter().any(|note| note.contains("steps of 7200 s")),
        "{notes:?}"
    );
}
