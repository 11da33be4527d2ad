//! Fuzz target for predicates on pages, as a user writes them.

use policy::About;
use policy::focus::{Candidate, Meanings, Predicate, TrainingDocument};

/// Parses a predicate.
///
/// An error names a column of the text. A valid predicate means the same in parentheses, and the
/// opposite after `not`.
pub fn predicate(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let meanings = Meanings {
        topic: &|_| None,
        span: &page::span,
    };
    let read = |text: &str| Predicate::read(text, &meanings);
    let predicate = match read(&text) {
        Ok(predicate) => predicate,
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column));
            assert!(error.to_string().contains(&*text));
            return;
        }
    };
    // The combined predicate may exceed the limits of the parser.
    let same = [format!(" ( {text} ) "), format!("({text}) and ({text})")];
    let opposite = format!("not ({text})");
    let either = format!("({text}) or not ({text})");
    for page in pages() {
        let holds = predicate.holds(&page);
        for same in same.iter().filter_map(|text| read(text).ok()) {
            assert_eq!(same.holds(&page), holds);
        }
        if let Ok(opposite) = read(&opposite) {
            assert_eq!(opposite.holds(&page), !holds);
        }
        if let Ok(either) = read(&either) {
            assert!(either.holds(&page));
        }
    }
}

fn pages() -> [Candidate<'static>; 2] {
    let document = TrainingDocument {
        url: "https://www.example.org/archive/97",
        title: "Call for Papers",
        text: "A workshop on red foxes, and other FOXES. Deadline: May 1.",
        anchors: "",
    };
    let about = About {
        language: Some("pt-br"),
        date: Some(1_714_521_600),
    };
    [
        Candidate::default(),
        Candidate {
            about,
            ..Candidate::of(document)
        },
    ]
}
