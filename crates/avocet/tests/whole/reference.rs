//! Tests that `docs/reference/` matches the program: command line, API, metrics and error codes.
//!
//! The pages of command line, API and metrics are compared with the current output of the program.
//! With `AVOCET_WRITE_REFERENCE=1` the tests write these pages.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::TestProgram;
use crate::running::CrawlProcess;
use crate::webs;

fn page(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("docs/reference").join(name)
}

fn compare(name: &str, text: &str) {
    let path = page(name);
    if std::env::var_os("AVOCET_WRITE_REFERENCE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "docs/reference/{name} is out of date: run this test with AVOCET_WRITE_REFERENCE=1"
    );
}

#[test]
fn the_page_of_the_command_line_is_what_help_prints() {
    let program = TestProgram::new();
    let mut text = String::from(
        "# Command line\n\nThis page is what `avocet COMMAND --help` prints. The test \
         `the_page_of_the_command_line_is_what_help_prints` keeps it up to date.\n",
    );
    describe(&program, &[], &mut text);
    compare("cli.md", &text);
}

/// Adds the help of a command and of its subcommands.
fn describe(program: &TestProgram, command: &[&str], text: &mut String) {
    let arguments = [command, &["--help"]].concat();
    let help = program.run(&arguments).stdout;
    let help = String::from_utf8(help).unwrap();
    let name = [&["avocet"], command].concat().join(" ");
    *text += &format!("\n## {name}\n\n```text\n{}\n```\n", trimmed(&help));
    // The help of the program itself lists the commands in groups, before its options.
    let subcommands: Vec<&str> = match command.is_empty() {
        true => help
            .lines()
            .take_while(|line| *line != "Options:")
            .collect(),
        false => {
            let below = help.split("\nCommands:\n").nth(1).unwrap_or_default();
            below.lines().take_while(|line| !line.is_empty()).collect()
        }
    };
    let subcommands = subcommands.into_iter();
    let names = subcommands.filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        (!line.starts_with("   ") && name != "help").then_some(name)
    });
    for name in names {
        describe(program, &[command, &[name]].concat(), text);
    }
}

/// Returns the text without spaces at the ends of its lines.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_api_and_metrics_are_what_the_server_says() {
    let serving = webs::serve(webs::plain(3, 1, 4)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "50/s"]).await;
    let document = running.get("/api/v1/openapi.json").json();
    compare("api.md", &api(&document));
    let metrics = running.get("/metrics").body;
    compare("metrics.md", &metric_table(&metrics));
    running.stop().await;
}

/// Returns the page of the API: each operation with its parameters and answers.
fn api(document: &Value) -> String {
    let mut text = String::from(
        "# API\n\nThe server describes itself at `/api/v1/openapi.json` (OpenAPI 3.1); this page is made from \
         that.\nOperations marked *token* need `Authorization: Bearer TOKEN`, where TOKEN is in the file `TOKEN` of \
         the store.\n",
    );
    let paths = document["paths"].as_object().unwrap();
    for (path, operations) in paths {
        for (method, operation) in operations.as_object().unwrap() {
            let token = match operation["security"].as_array() {
                Some(security) if !security.is_empty() => " (token)",
                _ => "",
            };
            text += &format!("\n## {} {path}{token}\n\n", method.to_uppercase());
            for key in ["summary", "description"] {
                if let Some(said) = operation[key].as_str() {
                    text += &format!("{}\n\n", trimmed(said));
                }
            }
            let parameters = operation["parameters"].as_array();
            if let Some(parameters) = parameters {
                text += "| parameter | meaning |\n|---|---|\n";
                for parameter in parameters {
                    let name = parameter["name"].as_str().unwrap();
                    let meaning = parameter["description"].as_str().unwrap_or_default();
                    text += &format!("| `{name}` | {} |\n", one_line(meaning));
                }
                text.push('\n');
            }
            if let Some(body) = named(&operation["requestBody"]) {
                text += &format!("Body: [`{body}`](#{}).\n\n", body.to_lowercase());
            }
            text += "| answer | body |\n|---|---|\n";
            for (status, answer) in operation["responses"].as_object().unwrap() {
                let meaning = answer["description"].as_str().unwrap_or_default();
                let body = match named(answer) {
                    Some(body) => format!("[`{body}`](#{})", body.to_lowercase()),
                    None => String::new(),
                };
                text += &format!("| {status} {} | {body} |\n", one_line(meaning));
            }
        }
    }
    text += "\n# Types\n";
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        text += &format!("\n## {name}\n\n");
        if let Some(said) = schema["description"].as_str() {
            text += &format!("{}\n\n", trimmed(said));
        }
        let Some(fields) = schema["properties"].as_object() else {
            continue;
        };
        text += "| field | meaning |\n|---|---|\n";
        for (field, schema) in fields {
            let meaning = schema["description"].as_str().unwrap_or_default();
            text += &format!("| `{field}` | {} |\n", one_line(meaning));
        }
    }
    text
}

/// Returns the name of the type of a JSON body.
fn named(body: &Value) -> Option<&str> {
    let schema = &body["content"]["application/json"]["schema"];
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// The metrics that `/metrics` has only once they have a value: name, type and help text.
const LATER: [(&str, &str, &str); 7] = [
    (
        "avocet_searches",
        "counter",
        "Searches requested, by the label surface, which says where: page, typing (live results), suggest, api, feed (Atom) or agent (MCP)",
    ),
    (
        "avocet_failed_searches",
        "counter",
        "Searches that could not be answered, by the label surface, as in avocet_searches",
    ),
    (
        "avocet_crawl_errors",
        "counter",
        "Errors since the program started, by the label kind: an error code",
    ),
    (
        "avocet_crawl_answers",
        "counter",
        "Answers of servers since the program started, by the label status: the HTTP status",
    ),
    (
        "avocet_crawl_expected_freshness",
        "gauge",
        "Expected share of fresh copies, 0 to 1",
    ),
    (
        "avocet_crawl_expected_quality",
        "gauge",
        "Expected share of fresh copies, weighted by what searchers lose by an old copy, 0 to 1",
    ),
    (
        "avocet_crawl_new_page_clicks_share",
        "gauge",
        "Estimated share of the clicks on pages of the last week that came after the crawl had fetched the page, 0 to 1; absent without clicks",
    ),
];

/// The metrics of a node in a cluster: name, type and help text.
const CLUSTER: [(&str, &str, &str); 16] = [
    (
        "avocet_cluster_nodes",
        "gauge",
        "Nodes heard since this one started, dead ones too",
    ),
    (
        "avocet_cluster_nodes_alive",
        "gauge",
        "Nodes heard within the time of silence, this one included",
    ),
    (
        "avocet_cluster_slots_without_owner",
        "gauge",
        "Slots that no living node has announced",
    ),
    (
        "avocet_cluster_broker_connected",
        "gauge",
        "1 while this node is connected to a NATS server, else 0",
    ),
    (
        "avocet_cluster_acknowledgement_age_seconds",
        "gauge",
        "Time since the NATS servers last acknowledged a heartbeat of this node; from half of the silence on it makes no requests",
    ),
    (
        "avocet_cluster_setup_warnings",
        "gauge",
        "Faults in the set-up of the NATS servers that this node found at its start; its log names them",
    ),
    (
        "avocet_cluster_waiting_log_lines",
        "gauge",
        "Searches and clicks that wait to be sent to the owners of their pages",
    ),
    (
        "avocet_cluster_sent_log_lines",
        "counter",
        "Searches and clicks that the owners of their pages have confirmed",
    ),
    (
        "avocet_cluster_slots_owned",
        "gauge",
        "Slots that this node owns",
    ),
    (
        "avocet_cluster_unpublished_requests",
        "gauge",
        "Lag: requests of this node whose results the NATS servers have not stored yet",
    ),
    (
        "avocet_cluster_highest_epoch",
        "gauge",
        "Highest epoch among the slots of this node; an epoch grows with every claim of its slot",
    ),
    (
        "avocet_cluster_fenced_slots",
        "counter",
        "Slots that this node lost to another one while it still worked on them",
    ),
    (
        "avocet_cluster_messages",
        "counter",
        "Messages of this node to the NATS servers, heartbeats not included",
    ),
    (
        "avocet_cluster_offers_sent",
        "counter",
        "Pages that this node offered to others",
    ),
    (
        "avocet_cluster_offers_received",
        "counter",
        "Pages that others offered to this node",
    ),
    (
        "avocet_cluster_message_bytes",
        "counter",
        "Bytes of the messages of this node to the NATS servers",
    ),
];

/// The server's source has every metric of [`LATER`] and [`CLUSTER`], with the same help text.
#[test]
fn metrics_that_appear_later_are_in_the_source_of_the_server() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src");
    let sources = ["health.rs", "health/of_cluster.rs", "app/metrics.rs"];
    let sources = sources.map(|source| fs::read_to_string(root.join(source)).unwrap());
    let source = sources.concat();
    for (name, _, meaning) in LATER.into_iter().chain(CLUSTER) {
        let short = name
            .trim_start_matches("avocet_")
            .trim_start_matches("crawl_")
            .trim_start_matches("cluster_")
            .trim_end_matches("_bytes");
        assert!(source.contains(&format!("\"{short}\"")), "{name}");
        assert!(source.contains(&format!("\"{meaning}\"")), "{name}");
    }
}

/// Returns the page of the metrics: each with its type and its help text.
fn metric_table(metrics: &str) -> String {
    let mut text = String::from(
        "# Metrics\n\n`/metrics` has these, in the OpenMetrics text format, or in the classic format of Prometheus if \
         `Accept` asks for\n`text/plain`. A counter has the suffix `_total` there. While no crawl runs on the store, \
         in this process or another,\n`avocet_crawl_running` is the only `avocet_crawl_…` metric.\n\n\
         | metric | type | meaning |\n|---|---|---|\n",
    );
    let mut helps = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP "));
    let types = |name: &str| {
        let line = metrics.lines().find_map(|line| {
            let rest = line.strip_prefix("# TYPE ")?;
            rest.strip_prefix(name)?.strip_prefix(' ')
        });
        line.unwrap_or_default().to_owned()
    };
    for help in &mut helps {
        let (name, meaning) = help.split_once(' ').unwrap_or((help, ""));
        if LATER.iter().all(|(later, _, _)| *later != name) {
            text += &format!("| `{name}` | {} | {} |\n", types(name), one_line(meaning));
        }
    }
    text +=
        "\nThese appear with their first value:\n\n| metric | type | meaning |\n|---|---|---|\n";
    for (name, kind, meaning) in LATER {
        text += &format!("| `{name}` | {kind} | {meaning}. |\n");
    }
    text += "\nA node of a cluster has these too:\n\n| metric | type | meaning |\n|---|---|---|\n";
    for (name, kind, meaning) in CLUSTER {
        text += &format!("| `{name}` | {kind} | {meaning}. |\n");
    }
    text
}

/// Checks that `errors.md` has every error code of the form `part:detail` in the sources below, and
/// four reasons of the API.
#[test]
fn the_page_of_errors_has_every_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(page("errors.md")).unwrap();
    let sources = [
        "fetch/src/trouble.rs",
        "fetch/src/response.rs",
        "page/src/url/traps.rs",
        "crawl/src/core/visit.rs",
        "crawl/src/verdict/read.rs",
        "crawl/src/verdict/evidence.rs",
        "document/src/lib.rs",
        "node/src/documents.rs",
    ];
    let parts = [
        "dns",
        "refused",
        "connect",
        "tls",
        "timeout",
        "headers",
        "http1",
        "http2",
        "truncated",
        "robots",
        "redirect",
        "trap",
        "listing",
        "document",
    ];
    let mut found = 0;
    for source in sources {
        let text = fs::read_to_string(root.join(source)).unwrap();
        for code in text.split('"').skip(1).step_by(2) {
            let (part, rest) = code.split_once(':').unwrap_or((code, ""));
            let is_code = !rest.is_empty() && !rest.contains([' ', '/']) && parts.contains(&part);
            if is_code {
                found += 1;
                assert!(
                    page.contains(&format!("| `{code}` |")),
                    "{code} of {source}"
                );
            }
        }
    }
    assert!(
        found > 35,
        "{found} codes: do the sources still name them so?"
    );
    let refusals = fs::read_to_string(root.join("server/src/api/refusal.rs")).unwrap();
    for reason in ["parameter", "busy", "failed", "not_found"] {
        assert!(refusals.contains(&format!("\"{reason}\"")));
        assert!(page.contains(&format!("| `{reason}` |")));
    }
}
