//! What people see and do, in a real browser on a living web.
//!
//! Each test runs `avocet demo` and looks at it with Chromium. Nothing waits for a time, only for what is to be seen.

// A test may panic; clippy knows that of test functions only, not of what they call.
#![allow(clippy::unwrap_used)]

mod chromium;
mod town;

use chromium::{Chromium, until};
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::{Value, json};
use town::Town;

/// Where a result leads.
const FIRST: &str = "ol.results li.result h2 a";

/// Searches for words until something is found, and returns the URL of the first result.
async fn search(browser: &Chromium, town: &Town, words: &str) -> String {
    let client = &browser.client;
    until("a result", async || {
        client.goto(&format!("{}/", town.address)).await.unwrap();
        let field = client.find(Locator::Css("#q")).await.unwrap();
        field.send_keys(words).await.unwrap();
        field.send_keys(&Key::Enter.to_string()).await.unwrap();
        browser.wait(".count", |text| !text.is_empty()).await;
        browser.text("ol.results li.result p.url").await
    })
    .await
}

/// Clicks on the first result: it leads to the page, and into the log.
async fn click_first(browser: &Chromium, town: &Town, url: &str) {
    let first = browser.client.find(Locator::Css(FIRST)).await.unwrap();
    first.click().await.unwrap();
    until("the page itself", async || {
        let now = browser.client.current_url().await.unwrap();
        (now.as_str() == url).then_some(())
    })
    .await;
    until("the click in the log", async || {
        town.log().into_iter().find(|line| line["url"] == url)
    })
    .await;
}

/// What the browser gets from the server's API.
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

/// A term of what a page is worth.
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
async fn a_click_leads_to_the_page_reaches_the_log_and_moves_its_worth() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    // The policy whose worth is what searchers look at, so that one click can be seen.
    let town = Town::start(&["--refresh", "ebr"]);
    let url = search(&browser, &town, "rope").await;
    audited(&browser).await;
    // What was shown counts as well. It has been told when a page that was not shown is worth nothing.
    let other = town.unseen(&url);
    until("the search in the policy", async || {
        term(&browser, &other, "weight")
            .await
            .filter(|weight| *weight == 0.0)
    })
    .await;
    // While the crawl rests nothing but the click can move it.
    std::fs::write(town.store().join("PAUSED"), "").unwrap();
    let before = until("the page's worth", async || {
        term(&browser, &url, "weight").await
    })
    .await;
    click_first(&browser, &town, &url).await;
    browser
        .client
        .goto(&format!("{}/", town.address))
        .await
        .unwrap();
    until("another worth", async || {
        term(&browser, &url, "weight")
            .await
            .filter(|weight| *weight > 1.5 * before)
    })
    .await;
    // With the keyboard alone.
    search(&browser, &town, "rope").await;
    browser
        .client
        .find(Locator::Css("body"))
        .await
        .unwrap()
        .send_keys("j")
        .await
        .unwrap();
    let focused = browser.client.active_element().await.unwrap();
    assert_eq!(
        focused.tag_name().await.unwrap(),
        "a",
        "j goes to the first result"
    );
    browser.client.close().await.unwrap();
}

#[tokio::test]
async fn the_dashboard_lives_and_its_controls_need_the_token() {
    let Some(browser) = Chromium::open(true).await else {
        return;
    };
    let town = Town::start(&[]);
    let client = &browser.client;
    client
        .goto(&format!("{}/dashboard", town.address))
        .await
        .unwrap();
    // It changes without being loaded again.
    client
        .execute("window.loadedOnce = true;", Vec::new())
        .await
        .unwrap();
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
    let same = client
        .execute("return window.loadedOnce === true;", Vec::new())
        .await
        .unwrap();
    assert_eq!(same, json!(true), "the page was loaded again");
    audited(&browser).await;
    // Nobody changes anything without the token.
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
    // With it, the crawl rests.
    client
        .goto(&format!("{}/dashboard/login", town.address))
        .await
        .unwrap();
    audited(&browser).await;
    let token = std::fs::read_to_string(town.store().join("TOKEN")).unwrap();
    client
        .find(Locator::Css("#token"))
        .await
        .unwrap()
        .send_keys(token.trim())
        .await
        .unwrap();
    client
        .find(Locator::Css("form.login button"))
        .await
        .unwrap()
        .click()
        .await
        .unwrap();
    let pause = until("the controls", async || {
        client.find(Locator::Css("button[value=pause]")).await.ok()
    })
    .await;
    audited(&browser).await;
    pause.click().await.unwrap();
    browser
        .wait(".state .mode", |mode| mode.eq_ignore_ascii_case("paused"))
        .await;
    client
        .find(Locator::Css("button[value=resume]"))
        .await
        .unwrap()
        .click()
        .await
        .unwrap();
    browser
        .wait(".state .mode", |mode| {
            !mode.is_empty() && !mode.eq_ignore_ascii_case("paused")
        })
        .await;
    // And what is known of a page can be looked at.
    let page = until("a page", async || {
        browser.text("[data-part=recent] tbody th a").await
    })
    .await;
    client
        .goto(&format!("{}/dashboard/page?url={page}", town.address))
        .await
        .unwrap();
    browser.wait("#h-page", |url| url == page).await;
    audited(&browser).await;
    client.clone().close().await.unwrap();
}

#[tokio::test]
async fn the_search_page_works_without_javascript() {
    let Some(browser) = Chromium::open(false).await else {
        return;
    };
    let town = Town::start(&[]);
    let url = search(&browser, &town, "ferry").await;
    click_first(&browser, &town, &url).await;
    browser.client.close().await.unwrap();
}
