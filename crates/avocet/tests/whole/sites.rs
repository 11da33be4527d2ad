//! Tests of rules for single sites, and of the page that lists the sites.

use jiff::Timestamp;
use serde_json::json;

use crate::files::Files;
use crate::program::{TestProgram, has, holds};
use crate::running::CrawlProcess;

/// Returns hours that begin this number of hours from now, and last two hours.
fn hours(from_now: i64) -> String {
    let hour = (Timestamp::now().as_second() / 3600 + from_now).rem_euclid(24);
    format!("{hour:02}:00-{:02}:00", (hour + 2) % 24)
}

fn requests(files: &Files) -> usize {
    files.heads().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_asked_in_its_hours_only() {
    let files = Files::site(4, 300);
    let home = format!("http://{}/", files.serve().await);
    let program = TestProgram::new();
    let configure = |from_now| {
        let hours = hours(from_now);
        program.configure(&format!(
            "[[site]]\nhosts = [\"127.0.0.1\"]\nhours = \"{hours}\"\n"
        ));
    };
    configure(4);
    let (code, said) = program.fail(&["crawl", &home]);
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(requests(&files), 0, "{said}");
    has(&said, "not fetched");
    configure(-1);
    program.run(&["crawl", &home]);
    assert_eq!(program.fetched().len(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_a_site_go_before_those_of_the_crawl() {
    let files = Files::site(6, 300);
    let home = format!("http://{}/", files.serve().await);
    let program = TestProgram::new();
    program.configure(
        "[crawl]\ndelay = \"10s\"\n\n[[site]]\nhosts = [\"127.0.0.1\"]\ndelay = \"0s\"\nexclude = [\"/[3-5]$\"]\n",
    );
    // The delay of the crawl would take a minute.
    program.run(&["crawl", &home, "--time", "20s"]);
    assert_eq!(program.fetched().len(), 4, "{:?}", program.fetched());
    program.configure("[[site]]\nhosts = [\"127.0.0.1\"]\ndepth = 0\n");
    let shown = program.json(&["check", &format!("{home}0")]);
    assert_eq!(shown["in_scope"], true);
    let wrong = TestProgram::new();
    wrong.configure("[[site]]\nhosts = [\"http://a/\"]\n");
    let (code, said) = wrong.fail(&["crawl", &home]);
    assert_eq!(code, Some(2), "{said}");
    has(&said, "is not a host");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_sites_shows_pauses_adds_and_previews_them() {
    let files = Files::site(5, 300);
    files.put(
        "/more",
        "text/html",
        "<title>More</title>everywhere <a href=/0>0</a>",
    );
    let address = files.serve().await;
    let homes = [format!("http://{address}/")];
    let crawl = CrawlProcess::crawl(&homes, &["--budget", "50/s"]).await;
    crawl.until_fetched(6).await;
    let host = address.to_string();
    let sites = crawl.get("/api/v1/sites").json();
    assert_eq!(sites["total"], 1, "{sites}");
    holds(
        &sites["sites"][0],
        &json!({ "host": host, "pages": 6, "errors": 0 }),
    );
    assert_eq!(crawl.get("/api/v1/sites?name=nowhere").json()["total"], 0);
    assert_eq!(crawl.get("/api/v1/sites?limit=0").status, 400);
    let page = crawl.get("/dashboard/sites").body;
    has(&page, &host);
    has(&page, "you need the token");

    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let login = format!("token={}", crawl.token);
    let entered = crawl.ask("POST", "/dashboard/login", &form, &login);
    let cookie = entered.head["set-cookie"]
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let cookies = [("Cookie", cookie.as_str())];
    let page = crawl.ask("GET", "/dashboard/sites", &cookies, "").body;
    let token = page.split("name=\"form\" value=\"").nth(1).unwrap();
    let token = token.split('"').next().unwrap().to_owned();
    let post = |path: &str, fields: &str| {
        let both = [form[0], cookies[0]];
        crawl.ask("POST", path, &both, &format!("form={token}&{fields}"))
    };
    let paused = post(
        "/dashboard/control",
        &format!("page=sites&action=block&value={host}"),
    );
    assert_eq!(
        (paused.status, &*paused.head["location"]),
        (303, "/dashboard/sites")
    );
    let page = crawl.ask("GET", "/dashboard/sites", &cookies, "").body;
    has(&page, &format!("Resume {host}"));
    post(
        "/dashboard/control",
        &format!("page=sites&action=unblock&value={host}"),
    );

    let url = format!("http%3A%2F%2F{}%2Fmore", host.replace(':', "%3A"));
    let foreign = crawl.ask(
        "POST",
        "/dashboard/sites/preview",
        &form,
        &format!("url={url}"),
    );
    assert_eq!(
        foreign.status, 403,
        "a preview makes requests, so it needs the token"
    );
    let preview = post("/dashboard/sites/preview", &format!("url={url}"));
    assert_eq!(preview.status, 200);
    has(&preview.body, "status 200");
    has(&preview.body, "1 link in scope");
    has(&preview.body, "Add this site");
    let wrong = post("/dashboard/sites/preview", "url=nothing%20at%20all");
    has(&wrong.body, "Add it all the same");
    crawl.stop().await;
}
