//! Tests of the operator controls over HTTP: authorization, and their effect on the crawl.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{TestProgram, has};
use crate::running::CrawlProcess;
use crate::webs;

#[tokio::test(flavor = "multi_thread")]
async fn controls_need_the_token_and_the_same_origin() {
    let serving = webs::serve(webs::plain(7, 2, 12)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "20/s"]).await;
    let mode = std::fs::metadata(running.program.store().join("TOKEN")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);

    // The API refuses requests without the token, and requests from pages of other sites.
    let pause =
        |headers: &[(&str, &str)]| running.ask("POST", "/api/v1/control/pause", headers, "");
    let bare = pause(&[]);
    assert_eq!(
        (bare.status, &bare.json()["error"]["reason"]),
        (401, &json!("token"))
    );
    let bearer = format!("Bearer {}", running.token);
    assert_eq!(pause(&[("Authorization", "Bearer x")]).status, 401);
    let foreign = [
        ("Authorization", bearer.as_str()),
        ("Origin", "http://evil.example"),
    ];
    let refused = pause(&foreign);
    assert_eq!(
        (refused.status, &refused.json()["error"]["reason"]),
        (403, &json!("origin"))
    );
    let rebound = [("Authorization", bearer.as_str()), ("Host", "evil.example")];
    assert_eq!(pause(&rebound).status, 421);
    for path in ["/api/v1/seeds", "/api/v1/settings"] {
        assert_eq!(running.ask("GET", path, &[], "").status, 401);
    }
    assert!(!running.program.store().join("PAUSED").exists());

    // Forms need the session cookie and the CSRF token, and must not come from another site.
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let closed = running.ask("POST", "/dashboard/control", &form, "action=pause");
    assert_eq!(closed.status, 403);
    let wrong = running.ask("POST", "/dashboard/login", &form, "token=abc");
    assert!(wrong.status == 403 && !wrong.head.contains_key("set-cookie"));
    let login = format!("token={}", running.token);
    let entered = running.ask("POST", "/dashboard/login", &form, &login);
    assert_eq!(entered.status, 303);
    let cookie = &entered.head["set-cookie"];
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    assert!(
        !cookie.contains(&running.token),
        "a browser does not keep the token"
    );
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let seen = running.ask("GET", "/dashboard", &[("Cookie", &cookie)], "");
    let csrf = seen.body.split("name=\"form\" value=\"").nth(1).unwrap();
    let csrf = csrf.split('"').next().unwrap().to_owned();
    let with = |more: &[(&'static str, &'static str)]| {
        let mut headers = vec![form[0], ("Cookie", cookie.as_str())];
        headers.extend(more);
        headers
    };
    let filled = format!("form={csrf}&action=pause");
    let post = |headers: &[(&str, &str)], body: &str| {
        running
            .ask("POST", "/dashboard/control", headers, body)
            .status
    };
    assert_eq!(post(&with(&[]), "form=x&action=pause"), 403);
    assert_eq!(
        post(&form, &filled),
        403,
        "the CSRF token alone is not enough"
    );
    for field in [
        ("Origin", "http://evil.example"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        assert_eq!(post(&with(&[field]), &filled), 403, "{field:?}");
    }
    assert!(!running.program.store().join("PAUSED").exists());
    assert_eq!(
        post(&with(&[("Sec-Fetch-Site", "same-origin")]), &filled),
        303
    );
    assert!(running.program.store().join("PAUSED").exists());
    let told = running.ask("GET", "/dashboard", &[("Cookie", &cookie)], "");
    assert!(
        told.body.contains("the crawl pauses"),
        "it says what was done"
    );
    let anonymous = running.get("/dashboard");
    assert!(!anonymous.body.contains("name=\"form\""));
    // The API reports whether a control changed anything.
    for (name, changed) in [("pause", false), ("resume", true), ("resume", false)] {
        let done = running.control(&format!("control/{name}"), &json!({}));
        assert_eq!(done.json()["changed"], changed, "{name}");
    }

    // Another browser has its own session, which outlives a logout of the first.
    let entered = running.ask("POST", "/dashboard/login", &form, &login);
    let other = entered.head["set-cookie"].split(';').next().unwrap();
    assert_ne!(other, cookie);
    let of_other = [form[0], ("Cookie", other)];
    assert_eq!(post(&of_other, &filled), 403, "the form of another session");
    let left = running.ask("POST", "/dashboard/logout", &with(&[]), "");
    assert_eq!(left.status, 303);
    assert_eq!(post(&with(&[]), &filled), 403, "this session has ended");
    let seen = |cookie| {
        let seen = running.ask("GET", "/dashboard", &[("Cookie", cookie)], "");
        seen.body.contains("name=\"form\"")
    };
    assert!(!seen(cookie.as_str()) && seen(other));
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_policies_blocks_and_seeds_take_effect() {
    let serving = webs::serve(webs::plain(9, 2, 30)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "2/s", "--refresh", "uniform"]).await;
    let pages = |state: &Value| state["pages"].as_u64();
    let before = running
        .until("it fetches", |state| pages(state) > Some(1))
        .await;
    let set = running.control("control/budget", &json!({ "rate": "40/s" }));
    assert_eq!(set.status, 200, "{}", set.body);
    let said = set.json()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("40/s") && said.contains("--budget"), "{said}");
    let after = running
        .until("the budget holds", |state| state["budget"] == 40.0)
        .await;
    assert!(pages(&after) >= pages(&before), "the same crawl goes on");
    let last = std::fs::read_to_string(running.program.store().join("crawl.json")).unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    let budget = &last["policies"]["budget"]["fetches_per_second"];
    assert_eq!(*budget, 40.0, "{last}");
    let before = serving.log().requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let made = serving.log().requests() - before;
    assert!(made > 12, "{made} requests; two a second would be six");
    let set = running.control("control/policy", &json!({ "refresh": "freshness" }));
    assert_eq!(set.status, 200, "{}", set.body);
    running
        .until("the policy holds", |state| {
            state["policies"]["refresh"] == "freshness"
        })
        .await;

    let web = serving.web();
    let home = |number: usize| {
        let (server, _) = web.servers().nth(number).unwrap();
        (server, serving.url(web.home(server)))
    };
    let (blocked, url) = home(1);
    let host = url
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let set = running.control("control/block", &json!({ "host": host }));
    assert_eq!(set.status, 200, "{}", set.body);
    let crawl = running.program.store().join("crawl.json");
    for _ in 0..100 {
        let told = std::fs::read_to_string(&crawl).unwrap();
        if told.contains(&format!("\"{host}\"")) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    running
        .until("it goes on", |state| state["mode"] == "running")
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (asked, all) = (
        serving.log().visits(blocked).len(),
        serving.log().requests(),
    );
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        serving.log().visits(blocked).len(),
        asked,
        "a blocked host is not asked"
    );
    let more = serving.log().requests() - all;
    assert!(more > 10, "{more} requests to the other host");
    let why = running.get(&format!("/api/v1/explain?url={url}")).json();
    assert_eq!(
        (&why["blocked"], &why["worth"]["due"]),
        (&json!(true), &Value::Null),
        "{why}"
    );

    let bearer = format!("Bearer {}", running.token);
    let asked = running.ask("GET", "/api/v1/settings", &[("Authorization", &bearer)], "");
    let settings = asked.json()["settings"].clone();
    let of = |path: &str| {
        let all = settings.as_array().unwrap().iter();
        let one = all.clone().find(|one| one["setting"] == path).unwrap();
        (one["value"].clone(), one["origin"].clone())
    };
    assert_eq!(
        of("budget.fetches_per_second"),
        (json!(40.0), json!("control"))
    );
    assert_eq!(of("refresh.policy"), (json!("freshness"), json!("control")));
    assert_eq!(of("crawl.block"), (json!([host]), json!("control")));
    assert_eq!(of("crawl.connections"), (json!(64), json!("default")));
    assert_eq!(of("crawl.seeds").1, json!("flag"), "{settings}");
    let seeds = || {
        running
            .ask("GET", "/api/v1/seeds", &[("Authorization", &bearer)], "")
            .json()
    };
    assert_eq!(seeds()["blocked"], json!([host]));
    let first = seeds()["seeds"].as_array().unwrap().len();
    let new = json!({ "url": "http://127.0.0.1:9/new" });
    assert_eq!(running.control("seeds", &new).status, 200);
    assert_eq!(seeds()["seeds"].as_array().unwrap().len(), first + 1);
    let path = "/api/v1/seeds?url=http%3A%2F%2F127.0.0.1%3A9%2Fnew";
    let gone = running.ask("DELETE", path, &[("Authorization", &bearer)], "");
    assert_eq!(
        (gone.status, seeds()["seeds"].as_array().unwrap().len()),
        (200, first)
    );
    let huge = json!({ "rate": "2".repeat(100_000) });
    assert_eq!(running.control("control/budget", &huge).status, 413);
    for (path, body) in [
        ("control/budget", json!({ "rate": "much" })),
        ("control/budget", json!({})),
        ("control/policy", json!({ "refresh": "freshnes" })),
        ("control/policy", json!({})),
        ("control/block", json!({ "host": "a b" })),
        ("seeds", json!({ "url": "nonsense" })),
    ] {
        let refused = running.control(path, &body);
        assert_eq!(refused.status, 400, "{path} {body}: {}", refused.body);
        assert_eq!(refused.json()["error"]["reason"], "parameter");
    }
    running.stop().await;
}

/// A seed that the API adds does not open private addresses, even after a restart: the program
/// checks its address like that of a link.
#[tokio::test(flavor = "multi_thread")]
async fn seeds_of_the_api_open_no_private_address() {
    let serving = webs::serve(webs::plain(11, 1, 5)).await;
    let inside = webs::serve(webs::plain(12, 1, 5)).await;
    let homes = serving.homes();
    let running = CrawlProcess::public(&homes, &["--budget", "20/s"]).await;
    let add = |url: &str| running.control("seeds", &json!({ "url": url }));
    for url in [&inside.homes()[0], "http://127.0.0.1/", "http://10.0.0.1/x"] {
        let refused = add(url);
        assert_eq!(refused.status, 400, "{url}: {}", refused.body);
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.contains("is refused"), "{message}");
    }
    // The server of a seed that the operator named is open. A host name is checked when it is
    // resolved.
    for url in [&format!("{}more", homes[0]), "http://localhost/"] {
        let added = add(url);
        assert_eq!(added.status, 200, "{url}: {}", added.body);
    }
    let explain = "/api/v1/explain?url=http://localhost/";
    for _ in 0..300 {
        if running.get(explain).json()["visited"]["error"].is_string() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let why = running.get(explain).json();
    assert_eq!(why["visited"]["error"], "refused:private-address", "{why}");
    let program = running.stop().await;
    // The last crawl remembers which seeds the API added, without the configuration.
    std::fs::remove_file(program.store().join("controls.toml")).unwrap();
    program.json(&["crawl", "--refresh-after", "1ms", "--time", "20s"]);
    let why = program.json(&["explain", "http://localhost/"]);
    assert_eq!(why["visited"]["error"], "refused:private-address", "{why}");
    assert!(
        why.to_string().contains("--allow-private permits it"),
        "{why}"
    );
    assert_eq!(inside.log().requests(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_work_with_a_read_only_configuration_and_yield_to_a_later_edit() {
    let serving = webs::serve(webs::plain(3, 1, 4)).await;
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("avocet.toml");
    let written = "[budget]\nfetches_per_second = 20.0\n";
    std::fs::write(&config, written).unwrap();
    let more = ["--config", config.to_str().unwrap()];
    let running = CrawlProcess::start(&serving, &more).await;
    let budget = async |per_second: f64| {
        let is = |state: &Value| state["budget"].as_f64() == Some(per_second);
        running.until("the budget", is).await;
    };
    budget(20.0).await;
    let done = running.control("control/budget", &json!({ "rate": "30/s" }));
    assert_eq!(done.status, 200, "{}", done.body);
    budget(30.0).await;
    assert_eq!(std::fs::read_to_string(&config).unwrap(), written);
    let controls = std::fs::read_to_string(running.program.store().join("controls.toml")).unwrap();
    has(&controls, "fetches_per_second = 30.0");
    std::fs::write(&config, "[budget]\nfetches_per_second = 40.0\n").unwrap();
    budget(40.0).await;
    running.stop().await;
}

/// A command that root runs on the store of another user leaves no file that this user cannot
/// write. Needs root; the test passes without a check otherwise.
#[test]
fn files_of_the_administrator_get_the_owner_of_the_store() {
    use std::os::unix::fs::{MetadataExt, chown};
    let program = TestProgram::new();
    let list = program.path("urls");
    std::fs::write(&list, "http://127.0.0.1:9/\n").unwrap();
    if std::fs::metadata(&list).unwrap().uid() != 0 {
        eprintln!("skipped: only root can give files to others");
        return;
    }
    chown(program.store(), Some(65_534), Some(65_534)).unwrap();
    program.run(&["import", "urls", list.to_str().unwrap()]);
    for path in crate::program::below(&program.store()) {
        assert_eq!(
            std::fs::metadata(&path).unwrap().uid(),
            65_534,
            "{}",
            path.display()
        );
    }
}
