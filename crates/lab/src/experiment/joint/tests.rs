//! Tests of the experiment on one price, in towns small enough for a second.

use super::*;
use crate::workers::Silent;

fn setting(knobs: &[(&str, &str)], policies: &[&str]) -> ExperimentSetup {
    let knobs = knobs.iter();
    ExperimentSetup {
        world: "invented:town".into(),
        knobs: knobs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        policies: policies.iter().map(|name| (*name).to_owned()).collect(),
        against: None,
        seed: 1,
        runs: 1,
        threads: 2,
        command: String::new(),
    }
}

const SMALL: [(&str, &str); 6] = [
    ("sites", "3"),
    ("pages", "60"),
    ("days", "6"),
    ("births", "20"),
    ("request", "600"),
    // Hints make the worth of a refresh expensive to compute.
    ("sitemaps", "0"),
];

fn options() -> JointExperimentOptions {
    JointExperimentOptions {
        rates: vec![0.001],
        connections: vec![1],
        ..JointExperimentOptions::default()
    }
}

#[test]
fn every_contestant_has_its_rows_and_the_same_seed_gives_the_same_bytes() {
    let setting = setting(&SMALL, &[]);
    let study = run(&setting, &options(), &Silent).unwrap();
    let served = |name: &str| {
        let mut rows = study.findings.rows.iter();
        rows.find(|row| row.policy == name && row.metric == "of_clicks")
            .map(|row| row.value)
    };
    for (name, _) in contestants::ALL {
        let served = served(name).unwrap_or_else(|| panic!("{name} has no row"));
        assert!((0.0..=1.0).contains(&served), "{name}: {served}");
    }
    assert_eq!(study.claims.len(), 5);
    let few = ["one-price", "old-new-ratio", "per-second"].map(str::to_owned);
    let setting = ExperimentSetup {
        policies: few.to_vec(),
        ..setting
    };
    let study = run(&setting, &options(), &Silent).unwrap();
    let again = run(
        &ExperimentSetup {
            threads: 1,
            ..setting
        },
        &options(),
        &Silent,
    )
    .unwrap();
    assert_eq!(study.findings, again.findings);
}

#[test]
fn quotas_hold() {
    let mut knobs = SMALL;
    knobs[2].1 = "15";
    let study = run(&setting(&knobs, &["best-quota"]), &options(), &Silent).unwrap();
    let rows = study.findings.rows.iter();
    let rows: Vec<_> = rows.filter(|row| row.policy == "quota").collect();
    let mut checked = 0;
    for shares in contestants::quotas() {
        let found = |metric: &str| {
            let is_it = |row: &&&findings::Row| {
                let param = |name: &str, share: f64| match row.params.get(name) {
                    Some(findings::Param::Number(found)) => (found - share).abs() < 0.006,
                    _ => false,
                };
                row.metric == metric && param("firsts", shares.new) && param("polls", shares.polls)
            };
            rows.iter().find(is_it).unwrap().value
        };
        // There are too few new pages, so first copies leave a part of their share to the other
        // kinds. No kind has much more than its share and this part. Sources can be polled at any
        // time.
        let [firsts, polls] = [found("firsts"), found("polls")];
        let left = (shares.new - firsts).max(0.0);
        assert!(firsts <= shares.new + 0.1, "{shares:?}: {firsts}");
        assert!(polls <= shares.polls + left + 0.1, "{shares:?}: {polls}");
        assert!(polls >= shares.polls - 0.1, "{shares:?}: {polls}");
        checked += 1;
    }
    assert_eq!(checked, 22);
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let refused = |policies: &[&str], options: &JointExperimentOptions| {
        let error = run(&setting(&SMALL, policies), options, &Silent).unwrap_err();
        assert!(error.is_wrong_usage());
        error.to_string()
    };
    assert!(refused(&["quota"], &options()).contains("one-price"));
    let wrong = JointExperimentOptions {
        rates: vec![0.0],
        ..options()
    };
    assert!(refused(&[], &wrong).contains("rate"));
    let wrong = JointExperimentOptions {
        connections: vec![0],
        ..options()
    };
    assert!(refused(&[], &wrong).contains("connections"));
    let wrong = JointExperimentOptions {
        refresh: "holstic".into(),
        ..options()
    };
    assert!(refused(&[], &wrong).contains("holistic"));
    let graph = ExperimentSetup {
        world: "invented:graph".into(),
        knobs: Vec::new(),
        ..setting(&[], &[])
    };
    let error = run(&graph, &options(), &Silent).unwrap_err();
    assert!(error.to_string().contains("invented:town"));
}

#[test]
fn a_press_and_histories_make_a_town() {
    let directory = tempfile::tempdir().unwrap();
    let [news, pages] = ["news", "pages"].map(|name| directory.path().join(name));
    let knob = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let press = [
        knob("sources", "4"),
        knob("sites", "2"),
        knob("days", "5"),
        knob("articles", "0.0003"),
    ];
    let press = World::open("invented:sources", &press, 3).unwrap();
    press.write(&news).unwrap();
    let lives = [
        knob("pages", "40"),
        knob("hosts", "2"),
        knob("span", "20"),
        knob("scale", "4"),
    ];
    let lives = World::open("invented:pages", &lives, 3).unwrap();
    lives.write(&pages).unwrap();
    let setting = ExperimentSetup {
        world: news.display().to_string(),
        ..setting(&[("pace", "2")], &["one-price"])
    };
    let options = JointExperimentOptions {
        pages: Some(pages.display().to_string()),
        connections: Vec::new(),
        ..options()
    };
    let study = run(&setting, &options, &Silent).unwrap();
    assert!(study.findings.value("one-price", "served", 0.001).unwrap() > 0.0);
    assert!(
        study.notes.iter().any(|note| note.contains("40 old pages")),
        "{:?}",
        study.notes
    );
}
