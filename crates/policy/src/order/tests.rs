//! Tests of orderings on webs that are small enough to work out by hand.

use std::sync::Arc;

use super::Scores;
use crate::catalog::{Catalog, Wishes};
use crate::{
    About, Discovered, Fact, History, LinkFact, Moment, Moves, Number, Page, Part, Policy, Read,
    Text, Worth,
};

/// An ordering, with short methods to feed it facts.
struct TestOrder {
    order: Box<dyn Policy>,
    known: u32,
}

impl TestOrder {
    fn by(expression: &str) -> Self {
        let inputs = Wishes {
            query: Some("Computer science".into()),
            location: [
                "host:.edu=2",
                "host:a.org=5",
                "path:/docs/=3",
                "path:/shut=0",
                "depth=0.5",
            ]
            .map(str::to_owned)
            .to_vec(),
            scores: Some(Arc::new(Scores::default())),
            topic: Some(Arc::new(crate::focus::tests::red())),
        };
        let order = Catalog::standard().order(expression, &inputs).unwrap();
        Self { order, known: 0 }
    }

    /// Discovers these pages; the very first is a seed.
    fn discovers(mut self, urls: &[&str]) -> Self {
        for url in urls {
            let discovered = Discovered {
                page: Number(self.known),
                url,
                host: 0,
                depth: 0,
                seed: self.known == 0,
                at: crate::Moment::START,
                appeared: None,
            };
            self.known += 1;
            self.order
                .observe(&Fact::Discovered(discovered), &mut Moves::default());
        }
        self
    }

    /// Reads a page. Returns the pages whose worth changed.
    fn reads(
        &mut self,
        page: u32,
        text: Text<'_>,
        links: &[(u32, &str)],
        outside: u32,
    ) -> Vec<u32> {
        let links: Vec<_> = links
            .iter()
            .map(|&(to, anchor)| LinkFact::new(Number(to), anchor))
            .collect();
        let mut moves = Moves::default();
        let read = Read {
            page: Number(page),
            text,
            links: &links,
            out_links: links.len() as u32 + outside,
            part: Part::WHOLE,
        };
        self.order.observe(&Fact::Read(read), &mut moves);
        let mut moved: Vec<u32> = moves.drain().map(|(page, _)| page.0).collect();
        moved.sort_unstable();
        moved
    }

    fn worths(&self) -> Vec<f64> {
        let history = History::default();
        let worth = |number| {
            let number = Number(number);
            let page = Page {
                number,
                history: &history,
            };
            let worth = self.order.worth(page, Moment::START).value();
            (worth * 1e6).round() / 1e6
        };
        (0..self.known).map(worth).collect()
    }
}

const NOTHING: Text<'_> = Text::Nothing;

fn counted(in_title: u32, in_body: u32) -> Text<'static> {
    Text::Counted {
        in_title,
        in_body,
        words: 100,
    }
}

#[test]
fn backlink_counts_the_pages_that_link_to_a_page() {
    let mut test = TestOrder::by("backlink").discovers(&["a", "b", "c", "d"]);
    assert_eq!(
        test.reads(0, NOTHING, &[(0, ""), (1, ""), (2, "")], 9),
        [1, 2]
    );
    assert_eq!(
        test.reads(1, NOTHING, &[(2, ""), (0, "")], 0),
        [2],
        "a page that was read does not move"
    );
    assert_eq!(
        test.worths(),
        [2.0, 1.0, 2.0, 0.0],
        "a seed counts one more in-link"
    );
    // Page 0 is read again: the link to 1 stays, that to 2 is gone, and that to 3 is new. Only 2
    // and 3 move.
    assert_eq!(test.reads(0, NOTHING, &[(3, ""), (1, "")], 0), [2, 3]);
    assert_eq!(test.worths(), [2.0, 1.0, 1.0, 1.0]);
    assert_eq!(test.reads(1, NOTHING, &[], 0), [2]);
    assert_eq!(test.worths()[2], 0.0);
}

#[test]
fn rankmass_coverage_is_a_lower_bound() {
    let mut test = TestOrder::by("rankmass").discovers(&["seed", "b", "c"]);
    let coverage = |test: &TestOrder| (test.order.report().coverage.unwrap() * 1e6).round() / 1e6;
    assert_eq!(coverage(&test), 0.0);
    test.reads(0, NOTHING, &[(1, "")], 1);
    assert_eq!(test.worths(), [0.1, 0.045, 0.0]);
    assert_eq!(coverage(&test), 0.1);
    test.reads(1, NOTHING, &[(0, "")], 0);
    // The two pages link to each other: x = 0.1 + 0.9·y for the seed, and y = 0.45·x.
    let (seed, other) = (0.1 / (1.0 - 0.405), 0.045 / (1.0 - 0.405));
    let covered = coverage(&test);
    assert!(
        covered <= seed + other && covered > 0.97 * (seed + other),
        "{covered}"
    );
    // A second seed halves the trust of the first.
    let second = Discovered {
        page: Number(3),
        url: "",
        host: 0,
        depth: 0,
        seed: true,
        at: crate::Moment::START,
        appeared: None,
    };
    test.order
        .observe(&Fact::Discovered(second), &mut Moves::default());
    assert!((coverage(&test) - covered / 2.0).abs() < 1e-5);
}

#[test]
fn opic_passes_cash_to_links_and_the_root_pays_all_pages() {
    let mut test = TestOrder::by("opic").discovers(&["seed", "b", "c", "d"]);
    assert_eq!(test.worths(), [1.0, 0.0, 0.0, 0.0]);
    // Half of the cash leaves the crawl and goes to the root. The root pays at the first read.
    assert_eq!(test.reads(0, NOTHING, &[(1, ""), (2, "")], 2), [1, 2, 3]);
    assert_eq!(test.worths(), [0.125, 0.375, 0.375, 0.125]);
    // Cash that reaches a page already read goes to the root. The next payment is at the fifth
    // read.
    assert_eq!(
        test.reads(1, NOTHING, &[(0, ""), (2, ""), (3, "")], 0),
        [2, 3]
    );
    assert_eq!(test.worths(), [0.125, 0.0, 0.5, 0.25]);
    assert_eq!(test.reads(2, NOTHING, &[(3, "")], 0), [3]);
    assert_eq!(test.worths(), [0.125, 0.0, 0.0, 0.75]);
}

#[test]
fn location_multiplies_the_factors_of_matching_rules() {
    let test = TestOrder::by("location").discovers(&[
        "https://a.edu/",
        "https://a.edu:8080",
        "https://a.education/",
        "https://x.a.org/docs/?q=/docs/",
        "https://xa.org/x/y/z?p=/docs/#f",
        "https://a.org/docs/1/2",
        "https://b.org/shut/",
        "https://a.edu/p?next=https://a.org/docs/",
        "https://u:p@a.edu/",
    ]);
    assert_eq!(
        test.worths(),
        [2.0, 2.0, 1.0, 7.5, 0.125, 1.875, 0.0, 1.0, 2.0]
    );
}

#[test]
fn a_location_product_that_underflows_is_worth_the_least_and_not_nothing() {
    let deep = format!("https://a.org/{}", "x/".repeat(5000));
    let test = TestOrder::by("location").discovers(&[&deep, "https://b.org/shut"]);
    let history = History::default();
    let worth = |number| {
        let page = Page {
            number: Number(number),
            history: &history,
        };
        test.order.worth(page, Moment::START)
    };
    assert_eq!(worth(0), Worth::LEAST);
    assert_eq!(worth(1), Worth::NONE);
}

#[test]
fn malformed_location_rules_are_errors() {
    for rule in [
        "",
        "host:.edu",
        "host:=2",
        "path:docs=2",
        "depth=-1",
        "depth=x",
        "depth=inf",
        "port:80=2",
        "deep=2",
    ] {
        let inputs = Wishes {
            location: vec![rule.to_owned()],
            ..Wishes::default()
        };
        let error = Catalog::standard()
            .order("location", &inputs)
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("`{rule}`")) && error.contains("host:.edu=2"),
            "{error}"
        );
    }
}

#[test]
fn similarity_takes_the_best_parent() {
    let mut test =
        TestOrder::by("similarity").discovers(&["a", "b/computer", "c/computer-science.html", "d"]);
    assert_eq!(test.worths(), [0.25, 0.125, 0.25, 0.0]);
    // Half of the query is in the anchor text; the parent's text has no word of it.
    assert_eq!(
        test.reads(
            0,
            counted(0, 0),
            &[(1, "Science!"), (2, "here"), (3, "")],
            0
        ),
        [1]
    );
    assert_eq!(test.worths(), [0.25, 0.375, 0.25, 0.0]);
    // One occurrence in the title makes the parent's text half similar. That is worse than
    // before for page 1 and better for page 3.
    assert_eq!(test.reads(2, counted(1, 0), &[(1, ""), (3, "")], 0), [3]);
    assert_eq!(test.worths(), [0.25, 0.375, 0.25, 0.125]);
    assert_eq!(
        test.reads(
            3,
            counted(0, 0),
            &[(1, "COMPUTER SCIENCE"), (0, "computer")],
            0
        ),
        [1]
    );
    assert_eq!(test.worths()[1], 0.625);
    let importance = |test: &TestOrder, number| {
        let history = History::discovered(Moment::START, 0);
        let page = Page {
            number: Number(number),
            history: &history,
        };
        test.order.importance(page).value()
    };
    let own = [0, 1, 2].map(|page| importance(&test, page));
    assert_eq!(own, [0.0, 0.0, 0.5], "the similarity of their own texts");
}

#[test]
fn a_waiting_page_becomes_hot_when_an_anchor_text_has_a_query_word() {
    let mut test = TestOrder::by("hot-anchor").discovers(&["a", "computer/b", "c", "d"]);
    assert_eq!(test.worths(), [1.0, 2.0, 1.0, 1.0]);
    assert_eq!(
        test.reads(
            0,
            counted(9, 99),
            &[(1, "science"), (2, "scientific"), (3, "more")],
            0
        ),
        [0u32; 0]
    );
    assert_eq!(
        test.reads(1, NOTHING, &[(0, "science"), (3, "Science")], 0),
        [3]
    );
    assert_eq!(test.worths()[2..], [1.0, 2.0]);
}

#[test]
fn pages_up_to_two_links_from_a_hot_page_are_hot() {
    let urls = ["a", "b", "c", "d", "e"];
    let chain = |page: u32| [(page + 1, "")];
    let body = "computer ".repeat(10);
    let cold = "computer ".repeat(9);
    let whole = |title, body| Text::Whole {
        title,
        body,
        about: About::default(),
    };
    for (text, hot) in [
        (whole("", body.as_str()), true),
        (whole("A science", ""), true),
        (whole("sciences", cold.as_str()), false),
        (counted(0, 10), true),
        (counted(0, 9), false),
        (NOTHING, false),
    ] {
        let mut test = TestOrder::by("hot-page").discovers(&urls);
        let moved = test.reads(0, text, &chain(0), 0);
        assert_eq!(moved.contains(&1), hot, "{text:?}");
        assert_eq!(test.reads(1, NOTHING, &chain(1), 0).contains(&2), hot);
        assert_eq!(
            test.reads(2, NOTHING, &chain(2), 0),
            [0u32; 0],
            "three links are too far"
        );
        assert_eq!(test.worths()[3], 1.0);
    }
    // The hot page is read last. The pages behind its links were read before it.
    let mut test = TestOrder::by("hot-page").discovers(&urls);
    test.reads(1, NOTHING, &[(2, ""), (4, "")], 0);
    test.reads(2, NOTHING, &chain(2), 0);
    assert_eq!(test.reads(0, counted(1, 0), &chain(0), 0), [4], "0 → 1 → 4");
    assert_eq!(test.worths()[3], 1.0, "0 → 1 → 2 → 3");
    assert_eq!(
        test.reads(4, NOTHING, &[(3, "computer")], 0),
        [3],
        "by its anchor"
    );
}

#[test]
fn a_combination_reports_each_page_that_any_term_moves_once() {
    let mut test = TestOrder::by("backlink + hot-anchor*10 + depth-limited(3)")
        .discovers(&["a", "b", "c", "science"]);
    assert_eq!(test.worths(), [12.0, 11.0, 11.0, 21.0]);
    assert_eq!(
        test.reads(0, NOTHING, &[(1, "computer"), (3, "")], 0),
        [1, 3],
        "each once"
    );
    assert_eq!(test.worths(), [12.0, 22.0, 11.0, 22.0]);
    let needs = test.order.needs();
    assert!(needs.links && needs.words && !needs.text);
    assert!(test.order.report().unseen_words.is_empty());
    let names = [
        "backlink*1",
        "in-links",
        "hot-anchor*10",
        "query in anchor or url",
        "depth-limited*1",
        "depth",
        "deepest",
    ];
    let history = History::default();
    let page = Page {
        number: Number(1),
        history: &history,
    };
    let terms = test.order.terms(page);
    assert_eq!(
        terms
            .iter()
            .map(|term| term.name.as_str())
            .collect::<Vec<_>>(),
        names
    );
}

#[test]
fn orderings_ignore_undiscovered_pages() {
    for order in Catalog::standard().orders() {
        let expression = order.examples().pop().expect("an ordering has a name");
        let mut test = TestOrder::by(&expression).discovers(&["a"]);
        assert_eq!(
            test.reads(7, counted(1, 1), &[(8, "x"), (7, "y")], 0),
            [0u32; 0],
            "{}",
            order.name
        );
        test.reads(0, counted(1, 1), &[(8, "computer"), (0, "y")], 0);
        test.known = 10;
        assert!(
            test.worths().iter().all(|worth| worth.is_finite()),
            "{}",
            order.name
        );
    }
}
