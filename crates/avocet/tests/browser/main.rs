//! Tests of search page and dashboard in a real browser.
//!
//! Each test runs `avocet demo` or `avocet serve`, and uses it with Chromium. The tests wait for
//! conditions and not for fixed times.

// Clippy allows `unwrap` in test functions only, and not in the functions that they call.
#![allow(clippy::unwrap_used)]

mod chromium;
mod demo;
mod served_pages;

use chromium::{Chromium, until};
use demo::{DemoCluster, DemoTown};
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};
use served_pages::{Pages, ServedPages, publish};

/// Selector of the link of the first result.
const FIRST: &str = "ol.results li.result h2 a";

/// Repeats a search until it has a result. Returns the URL of the first one.
async fn search(browser: &Chromium, town: &DemoTown, words: &str) -> String {
    until("a result", async || {
        browser.goto(&format!("{}/", town.address)).await;
        let field = browser.find("#q").await;
        field.send_keys(words).await.unwrap();
        field.send_keys(&Key::Enter.to_string()).await.unwrap();
        browser.wait(".count", |text| !text.is_empty()).await;
        browser.text("ol.results li.result p.url").await
    })
    .await
}

/// Clicks on the first result. The browser must show the page, and the log must have the click.
async fn click_first(browser: &Chromium, town: &DemoTown, url: &str) {
    browser.click(FIRST).await;
    until("the page itself", async || {
        let mut now = browser.client.current_url().await.unwrap();
        // A result links to its best section.
        now.set_fragment(None);
        (now.as_str() == url).then_some(())
    })
    .await;
    until("the click in the log", async || {
        town.log().into_iter().find(|line| line["url"] == url)
    })
    .await;
}

/// Sends an API request from the browser. Returns status and body.
async fn api(browser: &Chromium, method: &str, path: &str, headers: Value) -> (u64, Value) {
    let ask = "const [method, path, headers, done] = arguments;\
               fetch(path, { method, headers }).then(async r => done([r.status, await r.json()]), e => done([0, String(e)]));";
    let answer = browser
        .client
        .execute_async(ask, vec![json!(method), json!(path), headers])
        .await
        .unwrap();
    (answer[0].as_u64().unwrap(), answer[1].clone())
}

/// Returns a term of the worth of a page.
async fn term(browser: &Chromium, url: &str, name: &str) -> Option<f64> {
    let query: String = url.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let (status, explained) = api(
        browser,
        "GET",
        &format!("/api/v1/explain?url={query}"),
        json!({}),
    )
    .await;
    let terms = explained["worth"]["terms"]
        .as_array()
        .filter(|_| status == 200)?;
    terms.iter().find(|term| term["name"] == name)?["value"].as_f64()
}

async fn audited(browser: &Chromium) {
    let wrong = browser.audit().await.unwrap_or_default();
    let page = browser.client.current_url().await.unwrap();
    assert!(wrong.is_empty(), "{page}:\n{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_click_leads_to_the_page_reaches_the_log_and_raises_the_weight_of_the_page() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    // Under this policy the term `weight` is the attention of searchers, which one click raises
    // visibly.
    let town = DemoTown::start(&["--refresh", "ebr"]);
    let url = search(&browser, &town, "rope").await;
    audited(&browser).await;
    // Showing a result raises its weight, too. As soon as the policy has read the search, a page
    // that was not shown has the weight 0.
    let other = town.unseen(&url);
    until("the search in the policy", async || {
        term(&browser, &other, "weight")
            .await
            .filter(|weight| *weight == 0.0)
    })
    .await;
    // While the crawl is paused, only the click can change the weight.
    std::fs::write(town.store().join("PAUSED"), "").unwrap();
    let before = until("the page's worth", async || {
        term(&browser, &url, "weight").await
    })
    .await;
    click_first(&browser, &town, &url).await;
    browser.goto(&format!("{}/", town.address)).await;
    until("another worth", async || {
        term(&browser, &url, "weight")
            .await
            .filter(|weight| *weight > 1.5 * before)
    })
    .await;
    // The key j moves the focus to the first result.
    search(&browser, &town, "rope").await;
    let body = browser.find("body").await;
    body.send_keys("j").await.unwrap();
    let focused = browser.client.active_element().await.unwrap();
    assert_eq!(
        focused.tag_name().await.unwrap(),
        "a",
        "j goes to the first result"
    );
    browser.close().await;
}

#[tokio::test]
async fn the_dashboard_updates_and_its_controls_need_the_token() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let town = DemoTown::start(&[]);
    let client = &browser.client;
    browser.goto(&format!("{}/dashboard", town.address)).await;
    // The dashboard updates without a reload.
    browser.run("window.loadedOnce = true;").await;
    let first = browser
        .wait("[data-part=tiles]", |text| !text.is_empty())
        .await;
    browser
        .wait("[data-part=tiles]", |text| text != first)
        .await;
    browser
        .wait("[data-part=recent] tbody th a", |text| {
            text.starts_with("http://127.")
        })
        .await;
    let same = browser.run("return window.loadedOnce === true;").await;
    assert_eq!(same, json!(true), "the page was loaded again");
    audited(&browser).await;
    // Controls are refused without the token.
    let (status, refusal) = api(&browser, "POST", "/api/v1/control/pause", json!({})).await;
    assert!(status == 401 || status == 403, "{status} {refusal}");
    let (status, _) = api(
        &browser,
        "POST",
        "/api/v1/control/pause",
        json!({ "authorization": "Bearer wrong" }),
    )
    .await;
    assert!(status == 401 || status == 403, "{status}");
    assert!(
        client
            .find(Locator::Css("button[value=pause]"))
            .await
            .is_err(),
        "no button for strangers"
    );
    // With the token, the crawl pauses.
    browser
        .goto(&format!("{}/dashboard/login", town.address))
        .await;
    audited(&browser).await;
    let token = std::fs::read_to_string(town.store().join("TOKEN")).unwrap();
    let field = browser.find("#token").await;
    field.send_keys(token.trim()).await.unwrap();
    browser.click("form.login button").await;
    let pause = until("the controls", async || {
        client.find(Locator::Css("button[value=pause]")).await.ok()
    })
    .await;
    audited(&browser).await;
    pause.click().await.unwrap();
    browser
        .wait(".state .mode", |mode| mode.eq_ignore_ascii_case("paused"))
        .await;
    browser.click("button[value=resume]").await;
    browser
        .wait(".state .mode", |mode| {
            !mode.is_empty() && !mode.eq_ignore_ascii_case("paused")
        })
        .await;
    // The dashboard shows the details of a page.
    let page = until("a page", async || {
        browser.text("[data-part=recent] tbody th a").await
    })
    .await;
    browser
        .goto(&format!("{}/dashboard/page?url={page}", town.address))
        .await;
    browser.wait("#h-page", |url| url == page).await;
    audited(&browser).await;
    browser.close().await;
}

#[tokio::test]
async fn the_page_of_the_cluster_updates_and_pauses_one_node_or_all() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let Some(cluster) = DemoCluster::start() else {
        return;
    };
    let page = format!("{}/dashboard/cluster", cluster.addresses[0]);
    browser.goto(&page).await;
    browser.run("window.loadedOnce = true;").await;
    let first = browser
        .wait("[data-part=nodes]", |text| text.contains("(this one)"))
        .await;
    browser
        .wait("[data-part=nodes]", |text| text != first)
        .await;
    let same = browser.run("return window.loadedOnce === true;").await;
    assert_eq!(same, json!(true), "the page was loaded again");
    audited(&browser).await;
    // On a narrow screen the page itself does not scroll sideways.
    browser.client.set_window_size(390, 844).await.unwrap();
    let wide =
        "return document.documentElement.scrollWidth > document.documentElement.clientWidth;";
    assert_eq!(browser.run(wide).await, json!(false));
    audited(&browser).await;
    browser.client.set_window_size(1200, 1600).await.unwrap();
    // Each row leads to the dashboard of its node.
    for address in &cluster.addresses {
        let link = format!("[data-part=nodes] a[href='{address}/dashboard']");
        // An update replaces the rows at any time.
        until(&link, async || browser.text(&link).await).await;
    }
    // Controls need the token of this node.
    assert!(browser.text("button[value=pause]").await.is_none());
    browser
        .goto(&format!("{}/dashboard/login", cluster.addresses[0]))
        .await;
    for token in cluster.tokens() {
        let field = browser.find("#token").await;
        field.send_keys(token.trim()).await.unwrap();
        browser.click("form.login button").await;
        if browser.text("#token").await.is_none() {
            break;
        }
    }
    browser.goto(&page).await;
    audited(&browser).await;
    // Both nodes pause, and the message names them.
    browser.click("button[value=pause]").await;
    browser
        .wait(".notice", |text| text.contains("confirmed by node-"))
        .await;
    let states = |text: &str| text.matches("paused").count();
    browser
        .wait("[data-part=nodes]", |text| states(text) == 2)
        .await;
    // One of them resumes.
    let other = browser.text("#pause-node option:last-child").await.unwrap();
    let choice = browser.find("#pause-node").await;
    choice.select_by_label(&other).await.unwrap();
    browser.click("button[value=resume]").await;
    browser
        .wait("[data-part=nodes]", |text| states(text) == 1)
        .await;
    browser.close().await;
}

#[tokio::test]
async fn the_search_page_works_without_javascript() {
    let Some(browser) = Chromium::open(false).await else {
        return;
    };
    let town = DemoTown::start(&[]);
    let url = search(&browser, &town, "ferry").await;
    click_first(&browser, &town, &url).await;
    browser.close().await;
}

/// Pages about birds. One of them tries to run scripts and to load resources in many ways.
const BIRDS: Pages = &[
    (
        "/",
        "<title>Waders</title><a href=/avocet>avocet</a> <a href=/stilt>stilt</a> <a href=/evil>evil</a>",
    ),
    (
        "/avocet",
        "<html lang=en><title>The avocet</title><h1>The avocet</h1><p>A wader with a bill that curves upwards.</p>\
         <h2 id=nests>Nesting islands</h2><p>Avocets breed on bare islands in shallow water.</p>",
    ),
    (
        "/stilt",
        "<html lang=en><title>The stilt <img src=x onerror=alert(1)></title><h1>The stilt</h1><p>A wader with long red legs.</p>",
    ),
    (
        "/evil",
        "<html lang=en><title>Evil wader</title><meta http-equiv=refresh content='0;url=SITE/ran-refresh'>\
         <link rel=stylesheet href=SITE/ran-style.css><style>body { background: url(SITE/ran-background.png) }</style>\
         <body onload=\"document.title='ran'\"><p id=text>An evil wader.</p><img src=SITE/ran-image.png onerror=\"document.title='ran'\">\
         <script>document.title = 'ran'; top.document.title = 'ran'; fetch('SITE/ran-fetch')</script><iframe src=SITE/ran-frame></iframe>\
         <form action=SITE/ran-form><input name=a><button id=send>Send</button></form><a id=out href=SITE/ran-link target=_top>out</a>",
    ),
];

#[tokio::test]
async fn results_appear_during_typing_and_only_the_settled_search_is_logged() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let served = ServedPages::start(BIRDS);
    let client = &browser.client;
    browser.goto(&format!("{}/", served.address)).await;
    browser.run("window.loadedOnce = true;").await;
    let field = browser.find("#q").await;
    for letter in ["a", "v", "o", "c"] {
        field.send_keys(letter).await.unwrap();
    }
    browser
        .wait("#answer .title", |text| text == "The avocet")
        .await;
    // Arrow keys move through the suggestions.
    browser
        .wait("#suggestions [role=option]", |text| {
            text.starts_with("The avocet")
        })
        .await;
    audited(&browser).await;
    let expanded = field.attr("aria-expanded").await.unwrap();
    assert_eq!(expanded.as_deref(), Some("true"));
    field.send_keys(&Key::Down.to_string()).await.unwrap();
    let active = field.attr("aria-activedescendant").await.unwrap();
    assert_eq!(active.as_deref(), Some("suggestion-0"));
    field.send_keys(&Key::Escape.to_string()).await.unwrap();
    let expanded = field.attr("aria-expanded").await.unwrap();
    assert_eq!(expanded.as_deref(), Some("false"));
    let now = client.current_url().await.unwrap();
    assert_eq!(
        now.query(),
        Some("q=avoc"),
        "the address is that of the search"
    );
    until("the settled search in the log", async || {
        (served.log("queries").len() == 1).then_some(())
    })
    .await;
    assert_eq!(
        served.log("queries")[0]["query"],
        "avoc",
        "single keys are not logged"
    );
    // Titles of crawled pages stay text in suggestions.
    field.clear().await.unwrap();
    field.send_keys("stil").await.unwrap();
    browser
        .wait("#suggestions [role=option] .title", |text| {
            text.contains("<img src=x")
        })
        .await;
    // Enter without a selected suggestion searches, and is logged once, immediately.
    field.clear().await.unwrap();
    field.send_keys("islands").await.unwrap();
    field.send_keys(&Key::Enter.to_string()).await.unwrap();
    browser
        .wait("#answer .heading", |text| text == "Nesting islands")
        .await;
    let same = browser.run("return window.loadedOnce === true;").await;
    assert_eq!(same, json!(true), "the page was loaded again");
    // Enter on a suggestion opens the page at the suggested heading.
    field.clear().await.unwrap();
    field.send_keys("nesti").await.unwrap();
    browser
        .wait("#suggestions [role=option] .title", |text| {
            text == "Nesting islands"
        })
        .await;
    field.send_keys(&Key::Down.to_string()).await.unwrap();
    field.send_keys(&Key::Enter.to_string()).await.unwrap();
    let target = format!("{}/avocet#nests", served.site);
    until("the section", async || {
        let now = client.current_url().await.unwrap();
        (now.as_str() == target).then_some(())
    })
    .await;
    until("the click in the log", async || {
        (served.log("clicks").len() == 1).then_some(())
    })
    .await;
    let searched: Vec<Value> = served
        .log("queries")
        .iter()
        .map(|line| line["query"].clone())
        .collect();
    assert_eq!(
        searched.iter().filter(|query| *query == "islands").count(),
        1,
        "{searched:?}"
    );
    assert!(
        searched.iter().all(|query| query != "a" && query != "av"),
        "{searched:?}"
    );
    browser.close().await;
}

#[tokio::test]
async fn a_cached_copy_runs_nothing_and_fetches_nothing() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let served = ServedPages::start(BIRDS);
    let client = &browser.client;
    let copy = format!("{}/cached/copy?url={}/evil", served.address, served.site);
    for address in [copy.replace("/cached/copy", "/cached"), copy] {
        browser.goto(&address).await;
        let frame = client.find(Locator::Css("iframe[title='The copy']")).await;
        let mut pressed = vec!["#send"];
        if let Ok(frame) = frame {
            audited(&browser).await;
            frame.enter_frame().await.unwrap();
            pressed.push("#out");
        }
        browser.wait("#text", |text| text == "An evil wader.").await;
        for css in pressed {
            browser.click(css).await;
        }
        browser.wait("#text", |text| text == "An evil wader.").await;
        client.enter_parent_frame().await.unwrap();
        assert_ne!(client.title().await.unwrap(), "ran", "{address}");
        assert_eq!(client.current_url().await.unwrap().as_str(), address);
    }
    assert!(served.asked().is_empty(), "{:?}", served.asked());
    browser.close().await;
}

#[tokio::test]
async fn the_search_box_works_on_a_site_with_a_strict_content_security_policy() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let served = ServedPages::start(BIRDS);
    let policy = format!(
        "default-src 'none'; script-src {0}; connect-src {0}; form-action 'none'; require-trusted-types-for 'script'",
        served.address
    );
    let page = format!(
        "<!doctype html><html lang=en><meta http-equiv=Content-Security-Policy content=\"{policy}\"><title>Other</title>\
         <h1>Other</h1><script src=\"{}/embed.js\"></script>",
        served.address
    );
    let pages: Pages = vec![("/", &*page.leak())].leak();
    let (other, _) = publish(pages);
    let client = &browser.client;
    browser.goto(&format!("http://{other}/")).await;
    // The elements are in a shadow tree.
    let field = "return document.querySelector('div').shadowRoot.querySelector('input');";
    until("the box", async || {
        let found = client.execute(field, Vec::new()).await.ok()?;
        (!found.is_null()).then_some(())
    })
    .await;
    let typed = "const field = document.querySelector('div').shadowRoot.querySelector('input');\
                 field.focus(); field.value = 'avocet'; field.dispatchEvent(new Event('input', { bubbles: true }));\
                 setTimeout(() => field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })), 500);";
    browser.run(typed).await;
    let target = format!("{}/?q=avocet", served.address);
    until("the search page", async || {
        let now = client.current_url().await.unwrap();
        (now.as_str() == target).then_some(())
    })
    .await;
    browser
        .wait("#answer .title", |text| text == "The avocet")
        .await;
    browser.close().await;
}
