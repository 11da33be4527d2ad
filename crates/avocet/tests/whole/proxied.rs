//! Tests of the server behind a reverse proxy with a path prefix, and of the page of the API.

use crate::program::{TestProgram, has};
use crate::server::{AvocetServer, Leaf, put};

fn birds(config: &str) -> (TestProgram, AvocetServer) {
    let program = TestProgram::new();
    put(
        &program,
        &[Leaf::new(
            "http://birds.example/avocet",
            "The pied avocet",
            "A wader.",
        )],
    );
    program.configure(config);
    let server = AvocetServer::start(&program, &[]);
    (program, server)
}

/// Returns the addresses of this server in a page.
fn addresses(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in [" href=\"", " src=\"", " action=\"", " ping=\""] {
        let parts = html
            .split(name)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        found.extend(parts.filter(|at| at.starts_with('/')).map(str::to_owned));
    }
    found
}

#[test]
fn every_address_is_below_the_prefix_and_leads_somewhere() {
    let (_program, server) = birds("[serve]\nbase = \"/search/\"\n");
    for page in [
        "/search",
        "/search/?q=avocet",
        "/?q=avocet",
        "/search/dashboard",
        "/search/api",
    ] {
        let answer = server.get(page);
        assert_eq!(answer.status, 200, "{page}");
        let all = addresses(&answer.body);
        assert!(all.len() > 2, "{page}: {all:?}");
        for address in all {
            assert!(address.starts_with("/search/"), "{page}: {address}");
            let path = address.replace("&#38;", "&");
            let path = path.split('#').next().unwrap();
            let status = server.get(path).status;
            // A form's address takes no GET, and this store has no copy of the page.
            assert!(status != 404, "{page}: {path} has status {status}");
        }
    }
    // The result itself is elsewhere.
    has(
        &server.get("/search/?q=avocet").body,
        "href=\"http://birds.example/avocet\"",
    );
    let found = server.json("/search/api/v1/search?q=avocet");
    let click = found["results"][0]["click"].as_str().unwrap();
    assert!(click.starts_with("/search/click?to="), "{click}");
    assert_eq!(server.get(click).status, 302);
    has(
        &server.get("/search/opensearch.xml").body,
        "/search/?q={searchTerms}",
    );
    has(
        &server.get("/search/atom?q=avocet").body,
        "/search/?q=avocet",
    );
    assert_eq!(server.get("/searching").status, 404);
}

#[test]
fn a_wrong_prefix_is_refused() {
    let program = TestProgram::new();
    for wrong in ["search", "/a b", "/a//b", "/../x", "/a?b"] {
        program.configure(&format!("[serve]\nbase = \"{wrong}\"\n"));
        let (code, said) = program.fail(&["config", "check"]);
        assert_eq!(code, Some(1), "{wrong}");
        has(
            &String::from_utf8(
                program
                    .command(&["config", "check"])
                    .output()
                    .unwrap()
                    .stdout,
            )
            .unwrap(),
            "serve.base",
        );
        assert!(said.contains("1 error"), "{wrong}: {said}");
    }
}

#[test]
fn the_page_of_the_api_has_every_request_with_an_example() {
    let (_program, server) = birds("");
    let page = server.get("/api");
    assert_eq!(page.head["content-type"], "text/html; charset=utf-8");
    assert!(!page.body.contains("<script"), "no script is needed");
    let document = server.json("/api/v1/openapi.json");
    let mut requests = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            has(
                &page.body,
                &format!("<code>{} {path}</code>", method.to_uppercase()),
            );
            requests += 1;
        }
    }
    assert_eq!(page.body.matches("<pre>curl -s ").count(), requests);
    // The example of a search works.
    let example = page
        .body
        .split("<pre>curl -s &#39;")
        .find(|part| part.contains("/api/v1/search?"));
    let example = example.unwrap_or_else(|| panic!("{}", page.body));
    let path = example
        .split("/api/v1/search")
        .nth(1)
        .unwrap()
        .split("&#39;")
        .next()
        .unwrap();
    assert_eq!(
        server.get(&format!("/api/v1/search{path}")).status,
        200,
        "{path}"
    );
}
