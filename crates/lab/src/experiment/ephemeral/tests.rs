//! Tests of the experiment on ephemeral pages: its numbers, errors and claims.

use std::path::Path;

use super::*;
use crate::findings::Findings;
use crate::workers::Silent;

fn setting(world: &str, policies: &[&str]) -> ExperimentSetup {
    let knobs = [
        ("sources", "60"),
        ("sites", "6"),
        ("days", "1"),
        ("articles", "0.01"),
        ("profit", "0.1"),
    ];
    let knobs = knobs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    ExperimentSetup {
        world: world.into(),
        knobs: if World::is_invented(world) {
            knobs.to_vec()
        } else {
            Vec::new()
        },
        policies: policies.iter().map(|&name| name.to_owned()).collect(),
        against: None,
        seed: 1,
        runs: 1,
        threads: 1,
        command: String::new(),
    }
}

fn value(study: &Study, policy: &str, metric: &str, x: f64) -> f64 {
    study
        .findings
        .value(policy, metric, x)
        .unwrap_or_else(|| panic!("no {metric} of {policy} at {x}"))
}

#[test]
fn no_scheduler_is_above_the_bound_and_threads_change_nothing() {
    let options = EphemeralExperimentOptions {
        rates: vec![0.004, 0.008],
        histories: vec![7, 3],
        pushes: vec![HOUR, 24 * HOUR],
        ..EphemeralExperimentOptions::default()
    };
    let one = setting("invented:sources", &["bfs", "echo-newpages", "priced"]);
    let study = run(&one, &options, &Silent).unwrap();
    let two = ExperimentSetup { threads: 2, ..one };
    let again = run(&two, &options, &Silent).unwrap();
    let json = |findings: &Findings| serde_json::to_string(findings).unwrap();
    assert_eq!(json(&study.findings), json(&again.findings));
    assert_eq!(study.claims, again.claims);
    let bound = value(&study, "", "bound", 0.0);
    for name in ["bfs", "echo-newpages", "priced"] {
        for rate in [0.004, 0.008] {
            let profit = value(&study, name, "profit", rate);
            assert!(profit <= bound + 1e-9, "{name} earns {profit} of {bound}");
            let share = value(&study, name, "of_bound", rate);
            assert!((share - profit / bound).abs() < 1e-12);
            assert!((0.0..=1.0).contains(&value(&study, name, "missed", rate)));
        }
    }
    let at = |by: &str| {
        let rows = study.findings.rows.iter();
        let rows =
            rows.filter(|row| row.policy == "priced" && row.params.get("by") == Some(&by.into()));
        rows.map(|row| row.x).collect::<Vec<_>>()
    };
    assert_eq!(
        (at("history"), at("push")),
        (vec![7.0, 3.0], vec![1.0, 24.0])
    );
    let names: Vec<&str> = study
        .figures
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    for figure in [
        "figure-3-interest",
        "figure-4-cover",
        "figure-7-new-pages",
        "figure-8-push",
        "figure-9-hours",
    ] {
        assert!(names.contains(&figure), "{names:?}");
    }
    let ids: Vec<&str> = study.claims.iter().map(|claim| claim.id).collect();
    assert!(
        ["E1", "E2", "E4", "E5", "E6"]
            .iter()
            .all(|id| ids.contains(id)),
        "{ids:?}"
    );
    assert!(
        !ids.contains(&"E3"),
        "Table 1 has three rates and six schedulers"
    );
}

#[test]
fn wrong_options_give_an_error_that_names_them() {
    let wrong = |setting: &ExperimentSetup, options: &EphemeralExperimentOptions| match run(
        setting, options, &Silent,
    ) {
        Err(LabError::Wish(why)) => why,
        other => panic!("{other:?}"),
    };
    let usual = EphemeralExperimentOptions::default();
    let unknown = setting("invented:sources", &["bsf"]);
    assert!(wrong(&unknown, &usual).contains("bfs"));
    let graph = ExperimentSetup {
        knobs: Vec::new(),
        ..setting("invented:graph", &[])
    };
    assert!(wrong(&graph, &usual).contains("no sources"));
    let sources = setting("invented:sources", &["bfs"]);
    let options = |rates: &[f64], histories: &[usize]| EphemeralExperimentOptions {
        rates: rates.to_vec(),
        histories: histories.to_vec(),
        ..EphemeralExperimentOptions::default()
    };
    assert!(wrong(&sources, &options(&[0.0], &[7])).contains("a rate is 0"));
    assert!(wrong(&sources, &options(&[], &[11])).contains("history is 11"));
}

/// Returns findings with Table 1 as published, and these profits for our scheduler.
fn table(ours: [f64; 3], bound: f64) -> (Findings, Vec<Measured>) {
    let rows = [
        ("frequency", [0.014, 0.39, 0.61]),
        ("bfs", [0.24, 0.46, 0.62]),
        ("fixed-quota", [0.43, 0.59, 0.69]),
        ("echo-greedy", [0.60, 0.68, 0.69]),
        ("echo-schedule", [0.52, 0.69, 0.71]),
        ("echo-newpages", [0.62, 0.69, 0.71]),
        ("priced", ours),
    ];
    let mut measured = vec![number("", "bound", 0.0, bound)];
    for (name, profits) in rows {
        for (rate, profit) in PUBLISHED.0.into_iter().zip(profits) {
            measured.push(number(name, "profit", rate, profit));
            measured.push(number(name, "of_bound", rate, profit / bound));
        }
    }
    measured.push(number("bfs", "rate_at_bound@0.99", 0.0, 1.0));
    measured.push(number("echo-newpages", "rate_at_bound@0.99", 0.0, 0.2));
    let setting = setting("invented:sources", &[]);
    let rows = findings::rows(std::slice::from_ref(&measured), None);
    (setting.findings("ephemeral", rows), measured)
}

#[test]
fn claims_e3_e4_and_e6_hold_or_fail_by_the_numbers() {
    let held = |ours, bound| {
        let (findings, measured) = table(ours, bound);
        let claims = claims::all(&findings, &[measured], &PUBLISHED.0);
        claims
            .iter()
            .map(|claim| (claim.id, claim.holds))
            .collect::<Vec<_>>()
    };
    let all = [
        ("E3", true),
        ("E3", true),
        ("E4", true),
        ("E6", true),
        ("E6", true),
    ];
    assert_eq!(
        held([0.66, 0.70, 0.71], 0.72),
        all,
        "the published table holds"
    );
    let barely = [
        ("E3", true),
        ("E3", true),
        ("E4", true),
        ("E6", true),
        ("E6", false),
    ];
    assert_eq!(
        held([0.63, 0.70, 0.71], 0.72),
        barely,
        "1.05 times .62 is .651"
    );
    let below = [
        ("E3", true),
        ("E3", true),
        ("E4", true),
        ("E6", false),
        ("E6", true),
    ];
    assert_eq!(held([0.66, 0.68, 0.71], 0.72), below);
    let far = [
        ("E3", true),
        ("E3", false),
        ("E4", true),
        ("E6", true),
        ("E6", true),
    ];
    assert_eq!(
        held([0.66, 0.70, 0.71], 0.80),
        far,
        "ratios are to the bound"
    );
}

#[test]
fn the_recorded_world_has_about_42_000_new_pages_and_a_tenth_of_the_published_rates() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/news");
    if !data.join("links.tsv.gz").is_file() {
        eprintln!(
            "skipped: there is no {}",
            data.join("links.tsv.gz").display()
        );
        return;
    }
    let news = News::read(&data).unwrap();
    let timeline = NewsTimeline::new(&news).unwrap();
    assert_eq!(usual_rates(&timeline), [0.005, 0.01, 0.02]);
    let new = (0..news.articles().len()).filter(|&article| timeline.appeared(article).is_some());
    let new = new.count();
    // The README of the data counts 41,444. It leaves out articles that were seen in the week
    // before the data begins and came back.
    assert!((41_444..42_500).contains(&new), "{new}");
}
