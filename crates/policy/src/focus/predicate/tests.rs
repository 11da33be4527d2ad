//! Tests of predicates: evaluation, error positions, and robustness of the parser.

use proptest::prelude::*;

use super::*;

/// The year 2024 in Unix seconds.
const YEAR: Range<i64> = 1_704_067_200..1_735_689_600;
/// Knows no topic and only the year 2024.
const NOTHING: Meanings<'static> = Meanings {
    topic: &|_| None,
    span: &|text| (text == "2024").then_some(YEAR),
};

fn read(text: &str) -> Result<Predicate, Unreadable> {
    Predicate::read(text, &NOTHING)
}

#[test]
fn predicates_hold_for_the_pages_that_they_describe() {
    let page = Candidate {
        document: TrainingDocument {
            url: "http://www.e.org/archive/97",
            title: "Call for Papers",
            text: "A workshop on red foxes, and other FOXES. Deadline: May 1.",
            anchors: "",
        },
        host: "www.e.org",
        about: About {
            language: Some("pt-br"),
            date: Some(YEAR.start + 9),
        },
    };
    for (text, holds) in [
        ("contains(\"workshop\")", true),
        ("contains('red foxes')", true),
        ("contains('foxes red')", false),
        (
            "contains(\"call for papers\") and contains(\"deadline\")",
            true,
        ),
        ("title(\"papers\") and not title(\"deadline\")", true),
        ("url(\"/archive/\")", true),
        ("not url(\"/archive/\") or host(\"e.org\")", true),
        ("host(\"www.e.org\")", true),
        ("host(\".org\")", false),
        ("host(\"w.e.org\")", false),
        ("not (url(\"/archive/\") or title(\"x\"))", false),
        ("not not contains(\"workshop\")", true),
        ("language('pt') and date('2024')", true),
        ("language('PT-BR')", true),
        ("language('p') or language('en') or not date('2024')", false),
        ("similar(\"workshop on foxes\") > .1", true),
        ("similar(\"workshop on foxes\") >= 0.99", false),
        ("similar(\"bread\") < .1 and similar(\"bread\") <= 0", true),
        (
            "contains('x') and contains('y') or contains('workshop')",
            true,
        ),
        (
            "contains('x') and (contains('y') or contains('workshop'))",
            false,
        ),
    ] {
        assert_eq!(read(text).unwrap().holds(&page), holds, "{text}");
    }
}

#[test]
fn topics_are_looked_up_by_name() {
    let red = Arc::new(crate::focus::tests::red());
    let known = |name: &str| (name == "red").then(|| Arc::clone(&red));
    let meanings = Meanings {
        topic: &known,
        span: &|_| None,
    };
    let predicate = Predicate::read("topic(\"red\") > .7", &meanings).unwrap();
    let page = |text| {
        Candidate::of(TrainingDocument {
            text,
            ..TrainingDocument::default()
        })
    };
    assert!(predicate.holds(&page("red")) && !predicate.holds(&page("blue")));
    let unknown = Predicate::read("topic('green')", &meanings).unwrap_err();
    assert_eq!(
        (unknown.column, unknown.why.as_str()),
        (7, "no topic is called \"green\"")
    );
}

#[test]
fn errors_give_the_column_and_the_reason() {
    for (text, column, why) in [
        ("", 1, "a test is expected"),
        ("contains", 9, "`(` is expected"),
        ("contains(workshop)", 10, "a text in quotes"),
        ("contains(\"workshop)", 10, "not closed"),
        ("contains(\"?!\")", 10, "no word"),
        ("contains(\"a b\"", 15, "`)` is expected"),
        (
            "contains(\"é\") annd url(\"x\")",
            15,
            "`and`, `or` or the end",
        ),
        ("contians(\"x\")", 1, "a test is expected"),
        ("topic(\"x\")", 7, "no topic is called"),
        ("similar(\"xy\") > much", 17, "a number"),
        ("url('x') or date(\"2025\")", 18, "a date is expected"),
        ("(url(\"x\")", 10, "`)` is expected"),
        ("not", 4, "a test is expected"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.column, column, "{text}: {error}");
        assert!(error.why.contains(why), "{text}: {error}");
    }
    let deep = read(&"(".repeat(10_000)).unwrap_err();
    assert!(deep.why.contains("too deep"));
    let long = "url('x') or ".repeat(100_000);
    assert!(read(&long).unwrap_err().why.contains("too many"));
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_its_error_has_a_column_within_the_text(text in "\\PC{0,60}") {
        if let Err(error) = read(&text) {
            prop_assert!(error.column >= 1 && error.column <= text.chars().count() + 1);
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn texts_made_of_valid_tokens_never_panic(
        parts in prop::collection::vec(prop::sample::select(vec![
            "contains", "(", ")", "\"a b\"", "'x'", " and ", " or ", "not ", "url", "topic", "language", "date", "'2024'", ">", "<=", ".7", "similar", "é",
        ]), 0..20)
    ) {
        let text = parts.concat();
        if let Ok(predicate) = read(&text) {
            predicate.holds(&Candidate::default());
        }
    }
}
