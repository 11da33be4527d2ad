//! Tests of the focus experiment: the split is fair, and focused crawls find targets sooner.

use super::*;
use crate::workers::Silent;
use crate::world::{World, WorldPart};

fn setting(world: &str, policies: &[&str], runs: u32) -> ExperimentSetup {
    ExperimentSetup {
        world: world.to_owned(),
        knobs: vec![
            ("pages".into(), "600".into()),
            ("topics".into(), "6".into()),
        ],
        policies: policies.iter().map(|name| (*name).to_owned()).collect(),
        against: None,
        seed: 1,
        runs,
        threads: 2,
        command: "avocet lab focus".into(),
    }
}

fn area(study: &Study, policy: &str) -> f64 {
    let all = crate::findings::Param::from(judged::ALL);
    let rows = study.findings.rows.iter();
    let mut rows = rows.filter(|row| row.policy == policy && row.metric == "area");
    rows.find(|row| row.params.get("target") == Some(&all))
        .unwrap()
        .value
}

#[test]
fn focused_crawls_find_an_invented_topic_sooner_than_breadth_first() {
    let policies = [
        "omniscient",
        "breadth-first",
        "soft",
        "anchor",
        "learned",
        "told-links",
        "told-ahead",
    ];
    let setting = setting("invented:topics", &policies, 2);
    let study = run(&setting, &FocusExperimentOptions::default(), &Silent).unwrap();
    let [ceiling, floor, soft, anchor, learned, links, ahead] =
        policies.map(|name| area(&study, name));
    assert!(learned < links && links < ahead && ahead < ceiling);
    for (name, area) in [("soft", soft), ("anchor", anchor), ("learned", learned)] {
        assert!(area > floor + 0.05, "{name}: {area} over {floor}");
        assert!(area <= ceiling + 1e-9, "{name}: {area} under {ceiling}");
    }
    assert!(
        study
            .claims
            .iter()
            .any(|claim| claim.id == "BK8" && claim.holds)
    );
    let again = ExperimentSetup {
        threads: 1,
        ..setting
    };
    let again = run(&again, &FocusExperimentOptions::default(), &Silent).unwrap();
    assert_eq!(
        study.findings, again.findings,
        "the number of threads changes nothing"
    );
}

#[test]
fn training_pages_are_never_targets() {
    let setting = setting("invented:topics", &[], 1);
    let (world, labels) = setting
        .open(0, WorldPart::Links)
        .unwrap()
        .topical()
        .unwrap();
    let target = &labels.names()[0];
    let split = TopicSplit::draw(&world, &labels, target, 1, 1, 0).unwrap();
    let both = (0..labels.pages()).filter(|&page| split.training[page] && split.targets[page]);
    assert_eq!(both.count(), 0);
    assert!(split.wanted() > 0 && split.targets.len() == labels.pages());
    let other = TopicSplit::draw(&world, &labels, target, 1, 1, 1).unwrap();
    assert_ne!(
        split.training, other.training,
        "each run draws another training set"
    );
}

#[test]
fn a_crawl_can_start_from_several_topic_pages_that_are_no_targets() {
    let setting = setting("invented:topics", &["hard"], 1);
    let (world, labels) = setting
        .open(0, WorldPart::Links)
        .unwrap()
        .topical()
        .unwrap();
    let target = &labels.names()[0];
    let split = TopicSplit::draw(&world, &labels, target, 8, 1, 0).unwrap();
    assert_eq!(split.starts.len(), 8);
    for &start in &split.starts {
        assert!(split::has(&labels, start, target) && !split.targets[start]);
    }
    let from = |starts: u32| {
        let options = FocusExperimentOptions {
            starts,
            ..FocusExperimentOptions::default()
        };
        area(&run(&setting, &options, &Silent).unwrap(), "hard")
    };
    let [one, many] = [1, 8].map(from);
    assert!(many > one + 0.1, "{one} {many}");
}

#[test]
fn invalid_options_are_refused_with_the_reason() {
    let wrong = |policies: &[&str], targets: &[&str], world: &str| {
        let options = FocusExperimentOptions {
            targets: targets.iter().map(|name| (*name).to_owned()).collect(),
            ..FocusExperimentOptions::default()
        };
        let mut setting = setting(world, policies, 1);
        if world != "invented:topics" {
            setting.knobs.clear();
        }
        run(&setting, &options, &Silent).unwrap_err().to_string()
    };
    let label = wrong(&[], &["cheese"], "invented:topics");
    assert!(
        label.contains("\"cheese\"; the labels are topic-000, topic-001"),
        "{label}"
    );
    let policy = wrong(&["sofd"], &[], "invented:topics");
    assert!(policy.contains("did you mean `soft`"), "{policy}");
    let experienced = FocusExperimentOptions {
        experienced: true,
        ..FocusExperimentOptions::default()
    };
    let whole = run(
        &setting("invented:topics", &["soft"], 1),
        &experienced,
        &Silent,
    );
    let whole = whole.unwrap_err().to_string();
    assert!(whole.contains("crawled as a whole"), "{whole}");
    let world = wrong(&[], &[], "invented:graph");
    assert!(world.contains("labels.tsv"), "{world}");
}

/// Uses the four-universities data set (WebKB), where it is available.
#[test]
fn webkb_is_crawled_at_one_university_and_learned_at_the_others() {
    let directory = format!("{}/../../../shared/data/webkb", env!("CARGO_MANIFEST_DIR"));
    let Ok(world) = World::open(&directory, &[], 1) else {
        eprintln!("skipped: {directory} is not there");
        return;
    };
    let (world, labels) = world.topical().unwrap();
    let split = TopicSplit::draw(&world, &labels, "course", 1, 1, 0).unwrap();
    let site = world.graph().url(split.starts[0]).registrable_domain();
    for page in 0..labels.pages() {
        let inside = world.graph().url(page).registrable_domain() == site;
        assert_eq!(split.ground[page], inside);
        assert_eq!(split.training[page], !inside);
    }
    assert!(split.wanted() > 20, "{}", split.wanted());
}
