//! Tests of `avocet lab`: output format, and the same bytes for the same seed with any number of
//! threads.

use std::fs;

use serde_json::{Value, json};

use crate::program::{TestProgram, holds, words};

/// The experiments without `focus`, each with flags that make its world small.
const EXPERIMENTS: [&str; 8] = [
    "ordering --set pages=300 --set hosts=7",
    "servers --set pages=300 --set servers=20",
    "currency --set pages=200 --set span=120 --draws 500",
    "refresh --set pages=80 --set weeks=12 --set queries=50 --budget 0.05,0.2",
    "ephemeral --set sources=10 --set sites=2 --set days=1 --set articles=0.003 --rate 0.004",
    "joint --policies one-price,old-new-ratio,refresh-first --set sites=2 --set pages=30 --set days=3 --set births=10 --set request=600 --set sitemaps=0 --rate 0.001 --connections 1",
    "partition --set pages=100 --set hosts=10",
    "world --world invented:topics",
];

#[test]
fn every_experiment_prints_the_documented_fields_and_metrics() {
    let program = TestProgram::new();
    let keys =
        |object: &Value| -> Vec<String> { object.as_object().unwrap().keys().cloned().collect() };
    for line in EXPERIMENTS {
        let experiment = words(line)[0];
        let found = program.json(&words(&format!("lab {line} --seed 3 --runs 2")));
        let expected = ["command", "experiment", "rows", "runs", "seed", "world"];
        assert_eq!(keys(&found), expected, "{experiment}");
        holds(
            &found,
            &json!({ "experiment": experiment, "seed": 3, "runs": 2 }),
        );
        let rows = found["rows"].as_array().unwrap();
        assert!(rows.len() > 3, "{experiment}");
        for row in rows {
            let expected = ["high", "low", "metric", "params", "policy", "value", "x"];
            assert_eq!(keys(row), expected, "{experiment}");
            let (low, value) = (row["low"].as_f64(), row["value"].as_f64().unwrap());
            assert!(low.is_none_or(|low| low <= value), "{experiment}: {row}");
        }
        let metrics = metrics_of_help(experiment);
        let named = |row: &Value| {
            let metric = row["metric"].as_str().unwrap();
            let stem = metric.split('@').next().unwrap_or(metric);
            metrics
                .iter()
                .any(|name| name.split('@').next() == Some(stem))
        };
        let unnamed = rows.iter().find(|row| !named(row));
        assert_eq!(unnamed, None, "the help of {experiment} must define it");
    }
}

/// Returns the names of the metrics that `--help` defines.
fn metrics_of_help(experiment: &str) -> Vec<String> {
    let program = TestProgram::new();
    let help = program.text(&["lab", experiment, "--help"]);
    let metrics = help.split("Metrics:\n").nth(1).unwrap();
    let names = metrics.lines().take_while(|line| !line.is_empty());
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_seed_decides_every_byte_and_threads_none() {
    let program = TestProgram::new();
    for experiment in EXPERIMENTS {
        let run = |seed: &str, threads: &str| {
            let line =
                format!("lab {experiment} --json --runs 2 --seed {seed} --threads {threads}");
            program.run(&words(&line)).stdout
        };
        let first = run("5", "1");
        assert_ne!(first, run("6", "2"), "{experiment}");
        // The printed command reproduces the output, on two threads too.
        let printed: Value = serde_json::from_slice(&first).unwrap();
        let command = printed["command"].as_str().unwrap();
        let words = command.split(' ').skip(1);
        let words: Vec<&str> = words.chain(["--json", "--threads", "2"]).collect();
        assert_eq!(program.run(&words).stdout, first, "{command}");
    }
}

#[test]
fn a_world_of_edges_alone_can_be_crawled() {
    let program = TestProgram::new();
    let world = program.path("world");
    fs::create_dir(&world).unwrap();
    let edges: String = (0..200).map(|n| format!("n{}\tn{n}\n", n / 3)).collect();
    fs::write(world.join("edges.tsv"), format!("from\tto\n{edges}")).unwrap();
    let world = world.to_str().unwrap();
    let found = program.json(&["lab", "ordering", "--world", world, "--start", "n0"]);
    let rows = found["rows"].as_array().unwrap();
    let at = |policy: &str, metric: &str, x: f64| {
        let row = rows
            .iter()
            .find(|row| row["policy"] == policy && row["metric"] == metric && row["x"] == x);
        row.unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!(at("ideal", "p_cs", 0.5), 1.0);
    assert!((at("random", "pagerank_mass", 0.5) - 0.5).abs() < 1e-9);
    assert_eq!(at("pagerank", "p_cs", 1.0), 1.0);

    fs::write(format!("{world}/edges.tsv"), "from\tto\na\tb\nc\n").unwrap();
    let (code, said) = program.fail(&["lab", "ordering", "--world", world]);
    assert_eq!(code, Some(1));
    assert!(said.contains("edges.tsv, line 3"), "{said}");
}

#[test]
fn figures_and_numbers_are_written_where_the_user_says() {
    let program = TestProgram::new();
    let out = program.path("out");
    let line = format!("lab {} --out {}", EXPERIMENTS[0], out.display());
    let said = program.text(&words(&line));
    assert!(said.contains("seed 1") && said.contains("to repeat: avocet lab ordering"));
    assert!(said.contains("UO1"), "{said}");
    let names: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&"ordering.json".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(".svg")), "{names:?}");
}

#[test]
fn an_invented_world_can_be_written_and_used_again() {
    let program = TestProgram::new();
    let copy = program.path("copy");
    let copy = copy.to_str().unwrap();
    let line = "lab world --world invented:graph --set pages=300 --set hosts=7 --write";
    let wrote = program.json(&words(&format!("{line} {copy}")));
    let read = program.json(&["lab", "world", "--world", copy]);
    assert_eq!(wrote["rows"], read["rows"]);
}
