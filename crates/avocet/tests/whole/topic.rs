//! Tests of topics: training, storage, focused crawls and explanations.

use std::sync::Arc;

use lab::loopback::WorldProxy;
use lab::world::{Labels, Linked, World};
use serde_json::Value;
use testweb::proxy::Listening;

use crate::program::{TestProgram, words};

/// Serves a web of six topics. Also returns the labels of its pages.
async fn topics() -> (Arc<WorldProxy>, Listening, Linked, Labels) {
    let knobs = [("pages", "500"), ("topics", "6")];
    let knobs = knobs.map(|(name, value)| (name.into(), value.into()));
    let open = || World::open("invented:topics", &knobs, 3).unwrap();
    let (world, labels) = open().topical().unwrap();
    let proxy = Arc::new(WorldProxy::new(open().linked().unwrap()));
    let listening = proxy.listen(None).await.unwrap();
    (proxy, listening, world, labels)
}

fn crawl<'a>(seed: &'a str, proxy: &'a str, pages: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["crawl", seed, "--scope", "any", "--proxy", proxy];
    arguments.extend(["--delay", "0s", "--connections", "1", "--pages", pages]);
    arguments.extend(more);
    arguments
}

/// Returns the most common topic of these pages.
fn commonest(pages: &[usize], labels: &Labels) -> u32 {
    let count = |topic: &u32| {
        let of = pages.iter().filter(|page| labels.of(**page) == [*topic]);
        of.count()
    };
    (0..labels.names().len() as u32).max_by_key(count).unwrap()
}

fn taught(
    program: &TestProgram,
    world: &Linked,
    is_on: impl Fn(usize) -> bool,
    pages: &[usize],
) -> Value {
    let mut line = "topic train first".to_owned();
    for &page in pages {
        let flag = match is_on(page) {
            true => "--positive",
            false => "--negative",
        };
        line += &format!(" {flag} {}", world.graph().url(page));
    }
    program.json(&words(&line))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_for_a_trained_topic_finds_more_of_its_pages() {
    let (proxy, listening, world, labels) = topics().await;
    let (seed, place) = (world.graph().url(0).as_str(), listening.url());
    let program = TestProgram::new();
    program.json(&crawl(seed, &place, "120", &["--order", "breadth-first"]));
    let lessons = proxy.fetched();
    let topic = commonest(&lessons, &labels);
    let is_on = |page: usize| labels.of(page) == [topic];
    let found = |pages: &[usize]| pages.iter().filter(|page| is_on(**page)).count();
    let report = taught(&program, &world, is_on, &lessons);
    let accuracy = report["quality"]["accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.9, "{report}");
    let listed = program.json(&["topic", "list"]);
    let listed = listed["topics"].as_array().unwrap();
    assert_eq!(listed[0]["topic"], "first");
    // The links of the store give layers and a link guide.
    assert!(listed[0]["layers"].as_u64() >= Some(1), "{listed:?}");
    assert_eq!(listed[0]["guide"], true, "{listed:?}");
    let shown = program.json(&["topic", "show", "first"]);
    assert!(
        !shown["words"]["text"].as_array().unwrap().is_empty(),
        "{shown}"
    );

    let wide = TestProgram::new();
    let before = proxy.fetched().len();
    wide.json(&crawl(seed, &place, "200", &["--order", "breadth-first"]));
    let unfocused = found(&proxy.fetched()[before + 120..]);
    let before = proxy.fetched().len();
    program.json(&crawl(
        seed,
        &place,
        "40",
        &["--topic", "first", "--focus", "learned"],
    ));
    program.json(&crawl(seed, &place, "40", &["--topic", "first"]));
    let focused = found(&proxy.fetched()[before..]);
    assert!(
        focused > unfocused * 3 / 2,
        "{focused} of 80, {unfocused} without a topic"
    );

    let url = world.graph().url(lessons[1]).as_str();
    let explained = program.json(&["explain", url]);
    let judged = &explained["topic"];
    assert_eq!(judged["name"], "first", "{explained}");
    let on = is_on(lessons[1]);
    assert_eq!(
        judged["probability"].as_f64().unwrap() > 0.5,
        on,
        "{explained}"
    );
    assert!(
        !judged["words"].as_array().unwrap().is_empty(),
        "{explained}"
    );
    // A search within the topic leaves out other pages.
    let words = world.text(lessons[1]).unwrap().0;
    let word = words.split(' ').next().unwrap();
    let search = |more: &[&str]| {
        let mut arguments = vec!["search", word, "--no-log", "--limit", "100"];
        arguments.extend(more);
        program.json(&arguments)
    };
    let (all, within) = (search(&[]), search(&["--topic", "first"]));
    assert!(within["total"].as_u64() <= all["total"].as_u64());
    let on_topic = |hit: &Value| {
        let url = hit["url"].as_str().unwrap();
        let page = (0..labels.pages()).find(|page| world.graph().url(*page).as_str() == url);
        is_on(page.unwrap())
    };
    let hits = within["results"].as_array().unwrap();
    let right = hits.iter().filter(|hit| on_topic(hit)).count();
    assert!(right * 10 >= hits.len() * 9, "{within}");
    let (_, said) = program.fail(&["search", word, "--topic", "unknown"]);
    assert!(said.contains("there are: first"), "{said}");

    // A topic under another: the other examples of the parent become negative examples.
    let examples: Vec<&str> = lessons
        .iter()
        .filter(|page| is_on(**page))
        .map(|page| world.graph().url(*page).as_str())
        .collect();
    let mut train = vec!["topic", "train", "part", "--under", "first", "--positive"];
    train.extend(&examples[..examples.len() / 2]);
    let report = program.json(&train);
    assert_eq!(report["examples"], examples.len(), "{report}");
    let listed = program.json(&["topic", "list"]);
    let listed = listed["topics"].as_array().unwrap();
    let part = listed.iter().find(|listed| listed["topic"] == "part");
    assert_eq!(part.unwrap()["under"], "first");
    let (_, said) = program.fail(&["topic", "remove", "first"]);
    assert!(
        said.contains("part is below first: remove part first"),
        "{said}"
    );
    program.run(&["topic", "remove", "part"]);
    program.run(&["topic", "remove", "first"]);
    assert_eq!(
        program.json(&["topic", "list"]),
        serde_json::json!({ "topics": [] })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_focus_method_except_hard_fetches_the_whole_web() {
    let (proxy, listening, world, _) = topics().await;
    let (seed, place) = (world.graph().url(0).as_str(), listening.url());
    let title = world.text(0).unwrap().0;
    let reach = world.graph().reachable(&[0]).len();
    let methods = "soft anchor context-graph reinforcement laser fish shark agents intelligent \
                   bandit learned hard";
    for method in words(methods) {
        let program = TestProgram::new();
        let before = proxy.fetched().len();
        let flags = ["--topic", title, "--focus", method, "--no-index"];
        let summary = program.json(&crawl(seed, &place, "9999", &flags));
        let fetched = proxy.fetched().len() - before;
        match method {
            "hard" => assert!(fetched < reach, "{fetched}"),
            _ => assert_eq!(fetched, reach, "{method}"),
        }
        assert!(summary["remarks"].is_array(), "{method}: {summary}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_for_a_predicate_finds_more_of_its_pages_than_breadth_first() {
    let (proxy, listening, world, labels) = topics().await;
    let (seed, place) = (world.graph().url(0).as_str(), listening.url());
    // The words of a title of the first topic are on many of its pages and on few others.
    let first = (0..labels.pages()).find(|page| labels.of(*page) == [0]);
    let title = world.text(first.unwrap()).unwrap().0;
    let words: Vec<String> = title
        .split(' ')
        .map(|word| format!("contains(\"{word}\")"))
        .collect();
    let predicate = format!("({}) and not url(\"nowhere\")", words.join(" or "));
    let holds = |page: usize| {
        let (own, text) = world.text(page).unwrap();
        let said = format!(" {own} {text} ").replace('\n', " ");
        let mut words = title.split(' ');
        words.any(|word| said.contains(&format!(" {word} ")))
    };
    let mut found = Vec::new();
    for flags in [&["--order", "breadth-first"][..], &["--where", &predicate]] {
        let program = TestProgram::new();
        let before = proxy.fetched().len();
        program.json(&crawl(seed, &place, "150", flags));
        let fetched = &proxy.fetched()[before..];
        found.push(fetched.iter().filter(|page| holds(**page)).count());
    }
    let [without, with] = found[..] else {
        panic!("two crawls");
    };
    assert!(with > without, "{with} by the predicate, {without} without");
}

#[test]
fn wrong_arguments_are_explained() {
    let program = TestProgram::new();
    let crawl = ["crawl", "http://127.0.0.1:1/"];
    let train = ["topic", "train"];
    let cases: [(_, &[&str], &str); 8] = [
        (crawl, &["--focus", "soft"], "--topic"),
        (crawl, &["--topic", "?!"], "contains no word"),
        (
            crawl,
            &["--where", "contains('a b') ad url('x')"],
            "at character 17",
        ),
        (
            crawl,
            &["--where", "topic('unknown')"],
            "no topic is called",
        ),
        (train, &["a/b", "--positive", "x"], "letters, digits"),
        (train, &["a", "--positive", "/nowhere"], "--negative"),
        (
            train,
            &["a", "--positive", "/nowhere", "--sample", "9"],
            "/nowhere",
        ),
        (["topic", "show"], &["unknown"], "unknown"),
    ];
    for (command, more, word) in cases {
        let arguments = [&command[..], more].concat();
        let (_, said) = program.fail(&arguments);
        assert!(said.contains(word), "{arguments:?}: {said}");
    }
}

/// A crawl that was stopped keeps what it has learned: a crawl that was not stopped fetches at
/// least 80 % of the same pages.
#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_crawl_keeps_what_it_has_learned() {
    let (proxy, listening, world, _) = topics().await;
    let (seed, place) = (world.graph().url(0).as_str(), listening.url());
    let words = world.text(0).unwrap().0;
    for method in ["learned", "bandit", "reinforcement", "soft"] {
        // Strategies that use measured times would differ from run to run.
        let flags = ["--topic", words, "--focus", method, "--servers", "quality"];
        let fetched = |stops: &[&str]| {
            let program = TestProgram::new();
            let before = proxy.fetched().len();
            for pages in stops {
                program.json(&crawl(seed, &place, pages, &flags));
            }
            proxy.fetched()[before..].to_vec()
        };
        let (whole, parts) = (fetched(&["120"]), fetched(&["60", "60"]));
        let shared = parts.iter().filter(|page| whole.contains(page)).count();
        assert_eq!(whole[..60], parts[..60], "{method}");
        // The worth of pages is the same after a stop. Only the visit under way is not continued.
        assert!(shared >= 96, "{method}: {shared} of 120 are the same");
    }
}

/// The topic is trained on pages of the other universities in the data set webkb.
#[tokio::test(flavor = "multi_thread")]
async fn a_topic_trained_on_other_universities_finds_more_courses_of_cornell() {
    let data = format!("{}/../../../shared/data/webkb", env!("CARGO_MANIFEST_DIR"));
    let Ok(recorded) = World::open(&data, &[], 1) else {
        eprintln!("skipped: {data} is not there");
        return;
    };
    let World::Topic(recorded) = recorded else {
        panic!("webkb has labels");
    };
    let labels = recorded.labels().clone();
    let is_course = |page: usize| {
        let mut names = labels
            .of(page)
            .iter()
            .map(|&label| &labels.names()[label as usize]);
        names.any(|name| name == "course")
    };
    let lessons = tempfile::tempdir().unwrap();
    let mut counts = [0, 0];
    for page in 0..labels.pages() {
        let on = usize::from(is_course(page));
        let here = recorded.graph().url(page).registrable_domain() == "cornell.edu";
        if !here && counts[on] < 300 {
            let folder = lessons.path().join(["other", "course"][on]);
            std::fs::create_dir_all(&folder).unwrap();
            let file = folder.join(format!("{page}.html"));
            std::fs::write(file, &recorded.body(page).text).unwrap();
            counts[on] += 1;
        }
    }
    let folder = |name: &str| lessons.path().join(name).display().to_string();
    let world = World::Topic(recorded).linked().unwrap();
    let seed = "http://www.cs.cornell.edu/Info/Courses/Current/CS211/home.html";
    let proxy = Arc::new(WorldProxy::new(world));
    let listening = proxy.listen(None).await.unwrap();
    let place = listening.url();
    let program = TestProgram::new();
    let (on, off) = (folder("course"), folder("other"));
    let train = format!("topic train course --positive {on} --negative {off}");
    let report = program.json(&words(&train));
    assert!(
        report["quality"]["accuracy"].as_f64() > Some(0.8),
        "{report}"
    );
    let mut found = Vec::new();
    for flags in [&["--order", "breadth-first"][..], &["--topic", "course"]] {
        let store = TestProgram::new();
        let kept = |program: &TestProgram| program.store().join("topics");
        std::fs::create_dir_all(kept(&store)).unwrap();
        let from = kept(&program).join("course.json");
        std::fs::copy(from, kept(&store).join("course.json")).unwrap();
        let before = proxy.fetched().len();
        let mut arguments = vec!["crawl", seed, "--scope", "domain", "--proxy", &place];
        arguments.extend(["--delay", "0s", "--connections", "1", "--pages", "250"]);
        arguments.extend(flags);
        store.json(&arguments);
        let courses = proxy.fetched()[before..]
            .iter()
            .filter(|&&page| is_course(page))
            .count();
        found.push(courses);
    }
    assert!(
        found[1] > found[0],
        "{} with a topic, {} without",
        found[1],
        found[0]
    );
}
