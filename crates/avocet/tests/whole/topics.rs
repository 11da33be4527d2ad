//! Tests of searches within a topic, by people, programs and agents.

use std::fs;

use serde_json::{Value, json};

use crate::http::HttpAnswer;
use crate::program::{TestProgram, has, words};
use crate::server::{AvocetServer, Leaf, put};

const BIRDS: &str = "feathers wings bill nest eggs wader mudflat";
const CARS: &str = "engine wheel petrol gearbox clutch brake motorway";

/// Returns a store of six pages about birds and four about cars, all with the word "guide".
fn guides() -> TestProgram {
    let program = TestProgram::new();
    let leaf = |number: usize| {
        let (host, text) = if number < 6 {
            ("birds", BIRDS)
        } else {
            ("cars", CARS)
        };
        let url = format!("http://{host}.example/{number}");
        Leaf::new(&url, &format!("Guide {number}"), text)
    };
    let leaves: Vec<Leaf> = (0..10).map(leaf).collect();
    put(&program, &leaves);
    program
}

/// Trains a topic on texts.
fn teach(program: &TestProgram, name: &str, on: &str, off: &str) {
    let write = |side: &str, text: &str| {
        let directory = program.path(&format!("{name}-{side}"));
        fs::create_dir_all(&directory).unwrap();
        for (number, word) in text.split(' ').enumerate() {
            let text = format!("{text} {word} guide");
            fs::write(directory.join(format!("{number}.txt")), text).unwrap();
        }
        directory.to_str().unwrap().to_owned()
    };
    let (on, off) = (write("on", on), write("off", off));
    let train = format!("topic train {name} --positive {on} --negative {off}");
    program.json(&words(&train));
}

fn hosts(found: &Value) -> Vec<&str> {
    let urls = found["results"].as_array().unwrap().iter();
    let mut hosts: Vec<&str> = urls
        .map(|hit| hit["url"].as_str().unwrap().split('/').nth(2).unwrap())
        .collect();
    hosts.dedup();
    hosts
}

fn agent(server: &AvocetServer, arguments: &Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "search", "arguments": arguments } });
    let fields = [
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2025-06-18",
    ];
    let answer: HttpAnswer = server.ask("POST", "/mcp", &fields, &call.to_string());
    answer.json()["result"].clone()
}

#[test]
fn people_programs_and_agents_search_within_a_topic() {
    let program = guides();
    let server = AvocetServer::start(&program, &[]);
    let missing = server.get("/api/v1/search?q=guide&topic=birds");
    assert_eq!(missing.status, 404, "{missing:?}");
    assert!(missing.body.contains("has none"), "{missing:?}");
    assert!(!server.get("/?q=guide").body.contains("name=\"topic\""));

    // A topic that is trained while the server runs is available at once.
    teach(&program, "birds", BIRDS, CARS);
    teach(&program, "cars", CARS, BIRDS);
    assert_eq!(server.json("/api/v1/search?q=guide")["total"], 10);
    let found = server.json("/api/v1/search?q=guide&topic=birds&limit=4");
    assert_eq!(found["total"], 6, "{found}");
    assert_eq!(found["results"].as_array().unwrap().len(), 4);
    assert_eq!(hosts(&found), ["birds.example"]);
    let rest = server.json("/api/v1/search?q=guide&topic=birds&limit=4&offset=4");
    assert_eq!(rest["results"].as_array().unwrap().len(), 2, "{rest}");
    assert_eq!(rest["results"][0]["rank"], 5);

    let page = server.get("/?q=guide&topic=cars").body;
    assert!(page.contains("4 results"), "{page}");
    has(&page, "<option value=\"cars\" selected>cars</option>");
    let told = agent(&server, &json!({ "query": "guide", "topic": "cars" }));
    let told = &told["structuredContent"];
    assert_eq!(
        (&told["total"], hosts(told)),
        (&json!(4), vec!["cars.example"])
    );

    // The error for an unknown topic lists the known ones.
    let refused = server.get("/api/v1/search?q=guide&topic=ships");
    assert_eq!(refused.status, 404);
    let message = &refused.json()["error"];
    assert_eq!(message["reason"], "not_found");
    assert_eq!(
        message["message"],
        "no topic is called \"ships\": there are birds, cars"
    );
    let page = server.get("/?q=guide&topic=%3Cscript%3E");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("there are birds, cars"), "{page:?}");
    assert!(!page.body.contains("<script>"), "{page:?}");
    for name in ["../topics/birds", "birds.json", "."] {
        let path = format!("/api/v1/search?q=guide&topic={name}");
        assert_eq!(server.get(&path).status, 404, "{name}");
    }
    let told = agent(&server, &json!({ "query": "guide", "topic": "ships" }));
    assert_eq!(told["isError"], true, "{told}");
    assert!(told.to_string().contains("there are birds, cars"), "{told}");

    // A topic that is trained again replaces the old one.
    teach(&program, "birds", CARS, BIRDS);
    let found = server.json("/api/v1/search?q=guide&topic=birds");
    assert_eq!(hosts(&found), ["cars.example"]);
    program.run(&["topic", "remove", "cars"]);
    assert_eq!(server.get("/api/v1/search?q=guide&topic=cars").status, 404);
    let document = server.json("/api/v1/openapi.json");
    let parameters = &document["paths"]["/api/v1/search"]["get"]["parameters"];
    let named = parameters.as_array().unwrap().iter();
    assert!(
        named.clone().any(|one| one["name"] == "topic"),
        "{parameters}"
    );
}
