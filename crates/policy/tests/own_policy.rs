//! Tests that users can write their own ordering against the public interface and use it by
//! name.

use policy::catalog::{Catalog, Order, Wishes};
use policy::{Discovered, Fact, History, Moment, Moves, Needs, Number, Page, Policy, Worth};

// begin
/// Ranks URLs with fewer parameters first, because pages with many parameters are often alike.
#[derive(Default)]
struct FewParameters {
    parameters: Vec<usize>,
}

impl Policy for FewParameters {
    fn needs(&self) -> Needs {
        Needs {
            words: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, _moves: &mut Moves) {
        if let Fact::Discovered(page) = fact {
            self.parameters.push(page.url.matches(['?', '&']).count());
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        Worth::new(1.0 / (1.0 + self.parameters[page.number.index()] as f64))
    }
}
// end

fn catalog() -> Catalog {
    let build =
        |_: &Wishes, _: Option<&str>| Ok(Box::new(FewParameters::default()) as Box<dyn Policy>);
    Catalog::standard().with(Order::new(
        "few-parameters",
        "URLs with fewer parameters first",
        build,
    ))
}

#[test]
fn a_users_own_policy_is_used_by_its_name() {
    let catalog = catalog();
    assert!(catalog.help().contains("few-parameters"));
    for (expression, expected) in [
        ("few-parameters", [1.0, 0.25, 0.5]),
        ("few-parameters*2 + breadth-first", [3.0, 1.5, 2.0]),
    ] {
        let mut order = catalog.order(expression, &Wishes::default()).unwrap();
        let urls = [
            "https://a.example/",
            "https://a.example/?a=1&b=2&c=3",
            "https://a.example/?a=1",
        ];
        for (number, url) in (0..).zip(urls) {
            let page = Number(number);
            let discovered = Discovered {
                page,
                url,
                host: 0,
                depth: 0,
                seed: true,
                at: policy::Moment::START,
                appeared: None,
            };
            order.observe(&Fact::Discovered(discovered), &mut Moves::default());
        }
        let history = History::discovered(Moment::START, 0);
        let worths = [0, 1, 2].map(|number| {
            let page = Page {
                number: Number(number),
                history: &history,
            };
            order.worth(page, Moment::START).value()
        });
        assert_eq!(worths, expected, "{expression}");
    }
}

#[test]
fn the_example_is_in_the_guide_and_has_at_most_25_lines() {
    let source = include_str!("own_policy.rs");
    let (_, example) = source.split_once("// begin\n").unwrap();
    let (example, _) = example.split_once("// end").unwrap();
    assert!(
        example.lines().count() <= 25,
        "{} lines",
        example.lines().count()
    );
    let page = include_str!("../../../docs/guide/own-policy.md");
    assert!(
        page.contains(&format!("```rust\n{example}```")),
        "docs/guide/own-policy.md shows another example"
    );
}
