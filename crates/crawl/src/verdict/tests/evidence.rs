//! Tests which answers make a page leave the index.

use page::missing::resembles;
use proptest::prelude::*;

use super::*;

/// Returns a page with 40 words of navigation and these words, so that texts can be compared.
fn page_of(words: &str) -> String {
    let menu: String = (0..40).map(|word| format!("menu{word} ")).collect();
    format!("<title>T</title><body>{menu}{words} <a href=/a>a</a></body>")
}

fn moved(status: u16, target: &str) -> Answer {
    Answer {
        location: Some(url("http://e.org/").join(target)),
        ..answer(status, "")
    }
}

fn cut(kind: &'static str) -> Answer {
    Answer {
        truncated: Some(kind),
        ..answer(200, "<html><bo")
    }
}

#[test]
fn each_answer_removes_a_page_from_the_index_at_once_when_repeated_or_never() {
    const AT_ONCE: (bool, bool) = (true, true);
    const REPEATED: (bool, bool) = (false, true);
    const NEVER: (bool, bool) = (false, false);
    let page = url("http://e.org/page");
    let markup = |tag: &str| answer(200, &format!("{tag}{PAGE}"));
    let picture = Answer {
        content_type: Some("image/png".into()),
        ..answer(200, "\\x89PNG")
    };
    let forbidden = Answer {
        directives: Directives {
            noindex: true,
            ..Directives::default()
        },
        ..answer(200, PAGE)
    };
    use Outcome::{Changed, Gone, Unchanged, Unreachable};
    let cases = [
        ("the same", answer(200, PAGE), Unchanged, NEVER),
        (
            "other words",
            answer(200, &PAGE.replace("words", "news")),
            Changed,
            NEVER,
        ),
        ("no content", answer(204, ""), Gone, REPEATED),
        ("part of it", answer(206, PAGE), Unchanged, NEVER),
        (
            "noindex",
            markup("<meta name=robots content=noindex>"),
            Unchanged,
            AT_ONCE,
        ),
        ("noindex by header", forbidden, Unchanged, AT_ONCE),
        (
            "canonical elsewhere",
            markup("<link rel=canonical href=/other>"),
            Unchanged,
            AT_ONCE,
        ),
        (
            "canonical itself",
            markup("<link rel=canonical href=/page>"),
            Unchanged,
            NEVER,
        ),
        ("no text any more", picture, Changed, AT_ONCE),
        ("cut by time", cut("truncated:time"), Unreachable, NEVER),
        ("cut by a reset", cut("truncated:reset"), Unreachable, NEVER),
        (
            "cut by its length",
            cut("truncated:length"),
            Unreachable,
            NEVER,
        ),
        ("not decoded", cut("undecoded"), Unreachable, NEVER),
        ("too long", cut("truncated:size"), Changed, NEVER),
        ("moved for good", moved(301, "/new"), Gone, AT_ONCE),
        ("moved for good, 308", moved(308, "/new"), Gone, AT_ONCE),
        (
            "moved away",
            moved(301, "http://other.net/"),
            Gone,
            REPEATED,
        ),
        (
            "moved to no page",
            moved(301, "mailto:a@e.org"),
            Gone,
            REPEATED,
        ),
        ("moved nowhere", answer(301, ""), Gone, REPEATED),
        ("moved for now", moved(302, "/login"), Gone, REPEATED),
        ("moved for now, 303", moved(303, "/login"), Gone, REPEATED),
        ("moved for now, 307", moved(307, "/login"), Gone, REPEATED),
        ("moved to itself", moved(301, "/page"), Unreachable, NEVER),
        ("not modified", answer(304, ""), Unchanged, NEVER),
        ("bad request", answer(400, ""), Gone, REPEATED),
        ("log in", answer(401, ""), Gone, REPEATED),
        ("forbidden", answer(403, ""), Gone, REPEATED),
        ("not found", answer(404, PAGE), Gone, REPEATED),
        ("too slow", answer(408, ""), Unreachable, NEVER),
        ("gone", answer(410, ""), Gone, AT_ONCE),
        ("wrong server", answer(421, ""), Unreachable, NEVER),
        ("too early", answer(425, ""), Unreachable, NEVER),
        ("too many requests", answer(429, ""), Unreachable, NEVER),
        ("for legal reasons", answer(451, ""), Gone, REPEATED),
        ("error", answer(500, ""), Unreachable, NEVER),
        ("bad gateway", answer(502, ""), Unreachable, NEVER),
        ("unavailable", answer(503, PAGE), Unreachable, NEVER),
        ("nonsense", answer(999, ""), Unreachable, NEVER),
    ];
    for (name, answer, outcome, leaves) in cases {
        let first = judge(&page, None, 1, &super::answer(200, PAGE)).visited;
        assert!(first.copy.as_ref().unwrap().indexed);
        let second = judge(&page, Some(&first), 5, &answer);
        assert_eq!(second.visited.history.outcome, Some(outcome), "{name}");
        let third = judge(&page, Some(&second.visited), 9, &answer);
        assert_eq!((second.gone, second.gone | third.gone), leaves, "{name}");
        let copy = third.visited.copy.clone().unwrap();
        assert_eq!(copy.indexed, !leaves.1, "{name}");
        assert_eq!(
            second.text.is_some(),
            second.copied && !second.gone,
            "{name}"
        );
        if outcome == Gone && leaves.1 {
            assert_eq!(
                (copy.etag, third.dropped, third.is_news()),
                (None, true, true),
                "{name}"
            );
        }
        if second
            .visited
            .copy
            .as_ref()
            .is_some_and(|copy| copy.indexed)
            && outcome == Gone
        {
            assert!(!second.is_news(), "{name}: the links of the last body stay");
        }
    }
}

#[test]
fn a_page_without_a_copy_is_gone_at_the_first_evidence() {
    let page = url("http://e.org/page");
    for status in [404, 410, 302, 304, 403] {
        let verdict = judge(&page, None, 1, &answer(status, ""));
        assert!(
            !verdict.gone && verdict.dropped && verdict.is_news(),
            "{status}"
        );
    }
    // An incomplete page is better than none.
    let half = Answer {
        truncated: Some("truncated:time"),
        ..answer(200, PAGE)
    };
    let half = judge(&page, None, 1, &half);
    assert!(half.text.is_some() && half.visited.error.as_deref() == Some("truncated:time"));
}

#[test]
fn an_incomplete_answer_is_read_if_there_is_no_better_copy() {
    let page = url("http://e.org/page");
    let half = |cut, body: &str| Answer {
        truncated: Some(cut),
        ..answer(200, body)
    };
    let other = PAGE.replace("words", "news");
    let outcomes = |answers: [&Answer; 3]| {
        let mut before = None;
        answers.map(|answer| {
            let verdict = judge(&page, before.as_ref(), 1, answer);
            before = Some(verdict.visited);
            before.as_ref().and_then(|visited| visited.history.outcome)
        })
    };
    let whole = answer(200, PAGE);
    use Outcome::{Changed, Unreachable};
    for (cut, twice) in [
        ("truncated:time", Unreachable),
        ("truncated:slow", Unreachable),
        ("truncated:reset", Unreachable),
        ("undecoded", Unreachable),
        ("truncated:length", Changed),
        ("truncated:coding", Changed),
    ] {
        let (one, two) = (half(cut, PAGE), half(cut, &other));
        // A complete copy is better than an incomplete new one. If the server always breaks
        // off, the incomplete one is used.
        assert_eq!(
            outcomes([&whole, &two, &two]),
            [Some(Changed), Some(Unreachable), Some(twice)],
            "{cut}"
        );
        // The first copy was incomplete too.
        assert_eq!(outcomes([&one, &two, &one]), [Some(Changed); 3], "{cut}");
    }
}

#[test]
fn an_outage_between_two_404s_does_not_count_and_a_200_resets_the_count() {
    let page = url("http://e.org/page");
    let visit = |before: &Visited, second, status, body| {
        judge(&page, Some(before), second, &answer(status, body))
    };
    let first = judge(&page, None, 1, &answer(200, PAGE)).visited;
    let missing = visit(&first, 2, 404, "").visited;
    let back = visit(&missing, 3, 200, PAGE).visited;
    assert_eq!(back.history.gone, 0);
    assert!(!visit(&back, 4, 404, "").gone, "the count begins again");
    let outage = visit(&missing, 3, 503, "").visited;
    let left = visit(&outage, 4, 404, "");
    assert!(left.gone);
    // A page that left the index is requested without validators, and the same body restores
    // it.
    let returned = visit(&left.visited, 9, 200, PAGE);
    assert_eq!(returned.visited.history.outcome, Some(Outcome::Unchanged));
    assert!(returned.text.is_some() && returned.visited.copy.unwrap().indexed);
}

#[test]
fn no_answer_and_our_own_rules_are_no_evidence_but_robots_txt_is() {
    let page = url("http://e.org/");
    let first = judge(&page, None, 1, &answer(200, PAGE)).visited;
    let asked = Asked {
        url: &page,
        hops: 0,
        history: first.history,
        before: Some(&first),
        at: at(5),
        missing: None,
        details: Details::INDEXED,
    };
    let silent = asked.unanswered(Outcome::Unreachable, "reset", 0);
    assert_eq!((&silent.copy, silent.history.failures), (&first.copy, 1));
    let trap = asked.refused("trap:pattern");
    assert!(!trap.gone && !trap.dropped && trap.visited.copy == first.copy);
    let robots = asked.refused("robots");
    assert!(robots.gone && !robots.visited.copy.unwrap().indexed);
    assert_eq!(robots.visited.history.outcome, Some(Outcome::Refused));
    assert_eq!(robots.visited.error.as_deref(), Some("robots"));
}

#[test]
fn the_text_of_the_hosts_soft_404_page_counts_as_a_404() {
    let page = url("http://e.org/old");
    let nothing = page_of("We looked for it everywhere and it is not there, sorry.");
    let probe = judge(&url("http://e.org/8f3k2"), None, 1, &answer(200, &nothing));
    let probe = probe.visited.copy.unwrap().text.unwrap();
    let asked = |page, before: Option<&Visited>, body: &str| {
        let history = before.map_or(History::default(), |before| before.history);
        let missing = Some(&probe);
        let asked = Asked {
            url: page,
            hops: 0,
            history,
            before,
            at: at(9),
            missing,
            details: Details::INDEXED,
        };
        asked.judge(&answer(200, body), 100, &|_| true)
    };
    let first = asked(
        &page,
        None,
        &page_of("A story of some length, in words of its own, that no other page tells."),
    );
    assert!(first.text.is_some() && first.visited.error.is_none());
    let second = asked(&page, Some(&first.visited), &nothing);
    assert_eq!(second.visited.history.outcome, Some(Outcome::Gone));
    assert_eq!(second.visited.error.as_deref(), Some("soft-404"));
    assert!(!second.gone && !second.copied && second.visited.copy == first.visited.copy);
    let third = asked(&page, Some(&second.visited), &nothing);
    assert!(third.gone && third.text.is_none() && third.leads.is_empty());
    // A page without a copy: there is nothing to index.
    let new = asked(&page, None, &nothing);
    assert!(new.text.is_none() && new.visited.copy.is_none() && new.dropped);
    // Many hosts show their home page instead of a 404. The home page itself exists.
    let home = asked(&url("http://e.org/"), None, &nothing);
    assert!(home.text.is_some());
    assert!(resembles(&home.visited.copy.unwrap().text.unwrap(), &probe));
}

#[test]
fn words_of_an_error_page_give_an_error_code_and_the_page_stays_indexed() {
    let page = url("http://e.org/old");
    let note = "<title>Page not found</title><p>Sorry, there is no such page.</p>";
    let verdict = judge(&page, None, 1, &answer(200, note));
    assert_eq!(verdict.visited.error.as_deref(), Some("soft-404?"));
    assert!(verdict.text.is_some() && verdict.visited.copy.unwrap().indexed);
    let page = judge(&page, None, 1, &answer(200, PAGE));
    assert_eq!(page.visited.error, None);
}

#[test]
fn a_changed_text_with_equal_validators_counts_as_a_lie() {
    let page = url("http://e.org/");
    let with = |etag: Option<&str>, modified: Option<&str>, body: &str| Answer {
        etag: etag.map(str::to_owned),
        last_modified: modified.map(str::to_owned),
        ..answer(200, body)
    };
    let other = PAGE.replace("words", "news");
    let comment = format!("<!-- 1 -->{PAGE}");
    let check =
        |old: (Option<&str>, Option<&str>), new: (Option<&str>, Option<&str>), body: &str, lied| {
            let first = judge(&page, None, 1, &with(old.0, old.1, PAGE)).visited;
            let second = judge(&page, Some(&first), 2, &with(new.0, new.1, body));
            assert_eq!(second.lied, lied, "{old:?} {new:?}");
        };
    check((Some("1"), None), (Some("1"), None), &other, true);
    check((Some("1"), None), (Some("2"), None), &other, false);
    check(
        (Some("1"), Some("Mon")),
        (Some("2"), Some("Mon")),
        &other,
        false,
    );
    check((None, Some("Mon")), (None, Some("Mon")), &other, true);
    check((None, Some("Mon")), (None, Some("Tue")), &other, false);
    check((None, None), (None, None), &other, false);
    // The words are the same: a 304 would have been right.
    check((Some("1"), None), (Some("1"), None), &comment, false);
    check((Some("1"), None), (Some("1"), None), PAGE, false);
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let status = prop::sample::select(vec![
        200, 200, 200, 204, 301, 302, 304, 403, 404, 404, 410, 429, 503,
    ]);
    let body = prop::sample::select(vec![
        PAGE.to_owned(),
        PAGE.replace("words", "news"),
        format!("<meta name=robots content=noindex>{PAGE}"),
        "<title>404 not found</title>".to_owned(),
    ]);
    let target = prop::option::of(prop::sample::select(vec![
        "/a",
        "/page",
        "http://other.net/",
        "x:",
    ]));
    let cut = prop::option::weighted(
        0.2,
        prop::sample::select(vec!["truncated:time", "truncated:size"]),
    );
    (status, body, target, cut).prop_map(|(status, body, target, truncated)| Answer {
        location: target.map(|target| url("http://e.org/").join(target)),
        truncated,
        ..answer(status, &body)
    })
}

proptest! {
    #[test]
    fn a_page_is_in_the_index_exactly_when_its_record_says_so(answers in prop::collection::vec(any_answer(), 1..12)) {
        let page = url("http://e.org/page");
        let mut before: Option<Visited> = None;
        // The state of an index that applies all changes.
        let mut found = false;
        for (second, answer) in (1..).zip(&answers) {
            let verdict = judge(&page, before.as_ref(), second, answer);
            prop_assert!(!(verdict.gone && verdict.text.is_some()));
            prop_assert!(!verdict.gone || found, "only an indexed page can leave the index");
            found = (found || verdict.text.is_some()) && !verdict.gone;
            let copy = verdict.visited.copy.as_ref();
            prop_assert_eq!(found, copy.is_some_and(|copy| copy.indexed));
            let outage = verdict.visited.history.outcome == Some(Outcome::Unreachable);
            prop_assert!(!(outage && verdict.gone), "an outage is no evidence");
            before = Some(verdict.visited);
        }
    }
}
