//! What operators see and do, over sockets: the dashboard, the controls, and a crawl that follows them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use std::time::Duration;

use lab::site::Serving;
use serde_json::{Value, json};

use crate::files::Files;
use crate::program::Program;
use crate::upkeep::page;
use crate::webs;

/// A crawl that runs, and where it listens.
struct Running {
    program: Program,
    child: Child,
    place: String,
    token: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An answer over HTTP.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

impl Running {
    async fn start(serving: &Serving, more: &[&str]) -> Self {
        Self::crawl(&serving.homes(), more).await
    }

    async fn crawl(homes: &[String], more: &[&str]) -> Self {
        let program = Program::new();
        let mut arguments = vec!["run", "--scope", "any", "--allow-private"];
        arguments.extend(["--listen", "127.0.0.1:0"]);
        arguments.extend(homes.iter().map(String::as_str));
        arguments.extend(more);
        let child = program.start(&arguments);
        let mut running = Self {
            program,
            child,
            place: String::new(),
            token: String::new(),
        };
        let said = running
            .until("it listens", |state| state["address"].is_string())
            .await;
        let address = said["address"].as_str().unwrap();
        running.place = address.trim_start_matches("http://").to_owned();
        let token = std::fs::read_to_string(running.program.store().join("TOKEN")).unwrap();
        running.token = token.trim().to_owned();
        running
    }

    fn state(&self) -> Value {
        let text = std::fs::read(self.program.store().join("state.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Waits until the crawl says so.
    async fn until(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let state = self.state();
            if is(&state) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{what}: {}", self.state());
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.place).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text += &format!("Host: {}\r\n", self.place);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// A control, with the token.
    fn control(&self, path: &str, body: &Value) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        self.ask(
            "POST",
            &format!("/api/v1/{path}"),
            &headers,
            &body.to_string(),
        )
    }

    async fn stop(mut self) -> Program {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        std::mem::replace(&mut self.program, Program::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_need_the_token_and_a_page_of_ours() {
    let serving = webs::serve(webs::plain(7, 2, 12)).await;
    let running = Running::start(&serving, &["--budget", "20/s"]).await;
    let mode = std::fs::metadata(running.program.store().join("TOKEN")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);

    // The API: nothing without the token, and nothing from a page of another site.
    let bare = running.ask("POST", "/api/v1/control/pause", &[], "");
    assert_eq!(
        (bare.status, &bare.json()["error"]["reason"]),
        (401, &json!("token"))
    );
    let bearer = format!("Bearer {}", running.token);
    let wrong = [("Authorization", "Bearer x")];
    assert_eq!(
        running
            .ask("POST", "/api/v1/control/pause", &wrong, "")
            .status,
        401
    );
    let foreign = [
        ("Authorization", bearer.as_str()),
        ("Origin", "http://evil.example"),
    ];
    let refused = running.ask("POST", "/api/v1/control/pause", &foreign, "");
    assert_eq!(
        (refused.status, &refused.json()["error"]["reason"]),
        (403, &json!("origin"))
    );
    let rebound = [("Authorization", bearer.as_str()), ("Host", "evil.example")];
    assert_eq!(
        running
            .ask("POST", "/api/v1/control/pause", &rebound, "")
            .status,
        421
    );
    assert_eq!(running.ask("GET", "/api/v1/seeds", &[], "").status, 401);
    assert!(!running.program.store().join("PAUSED").exists());

    // The forms: a cookie that is for our pages only, a word that our forms have, and no other site.
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let closed = running.ask("POST", "/dashboard/control", &form, "action=pause");
    assert_eq!(closed.status, 403);
    let wrong = running.ask("POST", "/dashboard/login", &form, "token=abc");
    assert!(wrong.status == 403 && !wrong.head.to_lowercase().contains("set-cookie"));
    let login = format!("token={}", running.token);
    let entered = running.ask("POST", "/dashboard/login", &form, &login);
    assert_eq!(entered.status, 303);
    let cookie = entered
        .head
        .lines()
        .find(|line| line.to_lowercase().starts_with("set-cookie"));
    let cookie = cookie.unwrap().split_once(": ").unwrap().1;
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
    let word = seen.body.split("name=\"form\" value=\"").nth(1).unwrap();
    let word = word.split('"').next().unwrap().to_owned();
    let with = |more: &[(&'static str, &'static str)]| {
        let mut headers = vec![form[0], ("Cookie", cookie.as_str())];
        headers.extend(more);
        headers
    };
    let filled = format!("form={word}&action=pause");
    let post = |headers: &[(&str, &str)], body: &str| {
        running
            .ask("POST", "/dashboard/control", headers, body)
            .status
    };
    assert_eq!(post(&with(&[]), "form=x&action=pause"), 403);
    assert_eq!(
        post(&with(&[("Origin", "http://evil.example")]), &filled),
        403
    );
    assert_eq!(
        post(&with(&[("Sec-Fetch-Site", "cross-site")]), &filled),
        403
    );
    assert_eq!(
        post(&with(&[("Sec-Fetch-Site", "same-site")]), &filled),
        403
    );
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
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stops_fetches_and_a_resume_goes_on() {
    let serving = webs::serve(webs::plain(8, 3, 30)).await;
    let running = Running::start(&serving, &["--budget", "30/s"]).await;
    running
        .until("it fetches", |state| {
            state["fetches"]["new"].as_u64() > Some(5)
        })
        .await;
    let paused = running.program.json(&["pause"]);
    assert_eq!(
        (&paused["paused"], &paused["running"]),
        (&json!(true), &json!(true))
    );
    let state = running.state();
    assert_eq!(
        (&state["mode"], &state["uncommitted"]),
        (&json!("paused"), &json!(0))
    );
    let before = serving.log().requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(serving.log().requests(), before, "nobody is asked");
    let status = running.program.json(&["status"]);
    assert_eq!(
        (&status["running"], &status["mode"]),
        (&json!(true), &json!("paused"))
    );
    assert!(running.get("/dashboard").body.contains("paused"));

    // A copy of the directory is a store that can be used.
    let copied = running.program.path("copy");
    let copy = std::process::Command::new("cp");
    let done = { copy }
        .arg("-a")
        .arg(running.program.store())
        .arg(&copied)
        .status();
    assert!(done.unwrap().success());
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["verify", "--json", "--store"])
        .arg(&copied)
        .output()
        .unwrap();
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["problems"], json!([]), "{verified}");

    let resumed = running.program.json(&["resume"]);
    assert_eq!(resumed["was_paused"], true);
    running
        .until("it goes on", |state| state["mode"] == "running")
        .await;
    for _ in 0..100 {
        if serving.log().requests() > before + 10 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(serving.log().requests() > before + 10);
    // What the crawl says it asked for is what servers saw, once it rests.
    running.program.json(&["pause"]);
    let state = running.state();
    let fetches = state["fetches"].as_object().unwrap().values();
    let told: u64 = fetches.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(told as usize, serving.log().requests(), "{state}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_policies_blocks_and_seeds_take_effect() {
    let serving = webs::serve(webs::plain(9, 2, 30)).await;
    let running = Running::start(&serving, &["--budget", "2/s", "--refresh", "uniform"]).await;
    let set = running.control("control/budget", &json!({ "rate": "40/s" }));
    assert_eq!(set.status, 200, "{}", set.body);
    let said = set.json()["message"].as_str().unwrap().to_owned();
    assert!(said.contains("40/s") && said.contains("--budget"), "{said}");
    running
        .until("the budget holds", |state| state["budget"] == 40.0)
        .await;
    let before = (serving.log().requests(), std::time::Instant::now());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let made = serving.log().requests() - before.0;
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
    assert_eq!(
        running
            .control("control/block", &json!({ "host": host }))
            .status,
        200
    );
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
    assert!(serving.log().requests() > all + 10, "the other one is");
    let why = running.get(&format!("/api/v1/explain?url={url}")).json();
    assert_eq!(
        (&why["blocked"], &why["worth"]["due"]),
        (&json!(true), &Value::Null),
        "{why}"
    );

    let bearer = format!("Bearer {}", running.token);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_running_crawl_explains_what_it_explains_at_rest() {
    let serving = webs::serve(webs::plain(10, 2, 20)).await;
    let running = Running::start(&serving, &["--budget", "40/s"]).await;
    let there = serving
        .web()
        .pages()
        .filter(|page| page.exists(serving.now()))
        .count();
    running
        .until("all is known", |state| {
            state["urls_seen"].as_u64() >= Some(there as u64)
        })
        .await;
    running.program.json(&["pause"]);
    let home = serving.homes().remove(0);
    let asked = running.program.json(&["explain", &home]);
    let over_http = running.get(&format!("/api/v1/explain?url={home}")).json();
    let page = running.get(&format!("/dashboard/page?url={home}"));
    assert!(
        page.status == 200 && page.body.contains("Timeline"),
        "{}",
        page.body
    );
    let unknown = running
        .program
        .json(&["explain", "http://127.0.0.1:9/never"]);
    assert!(unknown["discovered"].is_null() && unknown["not_fetched"].is_string());
    let program = running.stop().await;
    let rests = program.json(&["explain", &home]);
    for fact in [
        "url",
        "blocked",
        "discovered",
        "links",
        "visited",
        "not_fetched",
    ] {
        assert_eq!(asked[fact], rests[fact], "{fact}");
        assert_eq!(over_http[fact], rests[fact], "{fact}");
    }
    for fact in ["order", "refresh"] {
        assert_eq!(asked["worth"][fact], rests["worth"][fact]);
    }
    assert_eq!(asked["server"]["requests"], rests["server"]["requests"]);
}

/// Words of pages are hostile: they are shown, and never run.
#[tokio::test(flavor = "multi_thread")]
async fn versions_are_compared_and_hostile_words_are_only_shown() {
    let files = Files::default();
    let address = files.serve().await;
    let evil = "<a href=\"/x?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E\">&lt;script&gt;alert(2)&lt;/script&gt; &quot;&gt;&lt;img src=x onerror=alert(3)&gt;</a>";
    let story = "<p>The whole story of the red fox is told here at some length, so that it counts as a text.</p>";
    files.put("/", "text/html", page("Home", &format!("{evil} {story}")));
    files.put(
        "*",
        "text/html",
        page("Other", "nothing much, and yet a page"),
    );
    let home = format!("http://{address}/");
    let running = Running::crawl(
        std::slice::from_ref(&home),
        &["--budget", "20/s", "--refresh", "uniform"],
    )
    .await;
    running
        .until("it refreshes", |state| {
            state["unchanged"].as_u64() > Some(0)
        })
        .await;
    let grey = story.replace("red fox", "grey fox &lt;script&gt;alert(4)&lt;/script&gt;");
    files.put("/", "text/html", page("Home", &format!("{evil} {grey}")));
    let inspected = format!("/dashboard/page?url={home}");
    let mut shown = running.get(&inspected);
    for _ in 0..200 {
        if shown.body.contains("class=\"diff\"") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        shown = running.get(&inspected);
    }
    assert_eq!(shown.status, 200);
    assert!(
        shown.body.contains("class=\"diff\"") && shown.body.contains("grey"),
        "{}",
        shown.body
    );
    // The page with the hostile name, named by the hostile link.
    let linked = format!("{inspected}x%3Fa%3D%2522%253E%253Cscript%253Ealert(1)%253C/script%253E");
    let linked = running.get(&linked);
    assert!(
        linked.body.contains("alert(2)"),
        "its link is shown: {}",
        linked.body
    );
    let board = running.get("/dashboard");
    let odd = running.get("/dashboard/page?url=%3Cscript%3Ealert(5)%3C/script%3E");
    assert_eq!(odd.status, 400);
    for page in [&shown, &linked, &board, &odd] {
        let text = page.body.to_lowercase();
        assert!(
            !text.contains("<script>alert") && !text.contains("<img src=x"),
            "{text}"
        );
        assert!(
            !text.contains(" style=") && !text.contains(" onerror=\""),
            "{text}"
        );
        assert!(
            page.head
                .to_lowercase()
                .contains("content-security-policy: default-src 'none'")
        );
    }

    // What is new is told as it happens.
    let mut stream = TcpStream::connect(&running.place).unwrap();
    let place = &running.place;
    write!(
        stream,
        "GET /dashboard/events HTTP/1.1\r\nHost: {place}\r\n\r\n"
    )
    .unwrap();
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    while String::from_utf8_lossy(&heard)
        .matches("event: live")
        .count()
        < 2
    {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend(&buffer[..count]);
    }
    assert!(String::from_utf8_lossy(&heard).contains("data-part=\"tiles\""));
    // Whoever watches does not keep the program from ending.
    running.stop().await;
}

/// What a crawl says of itself holds through a restart, and a pause too.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_outlives_the_program_and_an_address_that_is_taken_is_told() {
    let serving = webs::serve(webs::plain(11, 1, 10)).await;
    let program = Program::new();
    let home = serving.homes().remove(0);
    program.run(&["crawl", &home, "--pages", "3"]);
    let asked = serving.log().requests();
    let paused = program.json(&["pause"]);
    assert_eq!(paused, json!({ "paused": true, "running": false }));
    program.run(&["run", "--time", "3s", "--no-serve"]);
    assert_eq!(serving.log().requests(), asked, "it begins paused");
    program.run(&["resume"]);
    program.run(&["run", "--time", "3s", "--no-serve"]);
    assert!(serving.log().requests() > asked);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let (_, said) = program.fail(&["run", "--listen", &place, "--time", "3s"]);
    assert!(said.contains("cannot listen"), "{said}");
}
