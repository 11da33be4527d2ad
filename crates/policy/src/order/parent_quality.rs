//! An ordering by predicted text quality: pages on good hosts that good pages link to come
//! first.
//!
//! Our own method (docs/science/theory.md, section 2). It predicts the quality of an unread page
//! from the pages that link to it, shrunk to the mean of its host (`estimate/inherited.rs`).

use crate::estimate::{Inherited, ReadParts};
use crate::words::words;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Text, Worth};

/// Number of words at which the quality of a text is ½. Our choice: a short article; shorter
/// texts are mostly menus.
const HALF: f64 = 200.0;

/// Worth is the expected quality, from 0 to 1.
#[derive(Debug, Clone, Default)]
pub struct ParentQuality {
    quality: Inherited,
    parts: ReadParts,
}

/// Returns the quality of a text: words/(words + 200).
fn quality(text: Text<'_>) -> f32 {
    let words = match text {
        Text::Nothing => return 0.0,
        Text::Whole { body, .. } => words(body).count() as f64,
        Text::Counted { words, .. } => f64::from(words),
    };
    (words / (words + HALF)) as f32
}

impl Policy for ParentQuality {
    fn needs(&self) -> Needs {
        Needs {
            links: true,
            text: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        match fact {
            Fact::Discovered(discovered) => self.quality.add(discovered.page, discovered.host),
            Fact::Read(read) => self.parts.join(read, |read| {
                for page in self.quality.read(read, quality(read.text)) {
                    moves.push(page, self.quality.worth(page));
                }
            }),
            Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        self.quality.worth(page.number)
    }

    fn importance(&self, page: Page<'_>) -> Worth {
        self.quality.value(page.number)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        vec![Term::new("quality", self.quality.estimate(page.number))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_200_words_has_quality_one_half() {
        let two_hundred = "word, ".repeat(200);
        let whole = |body| Text::Whole {
            title: "A title",
            body,
            about: crate::About::default(),
        };
        for (text, expected) in [
            (Text::Nothing, 0.0),
            (whole(""), 0.0),
            (whole(&two_hundred), 0.5),
            (
                Text::Counted {
                    in_title: 0,
                    in_body: 0,
                    words: 600,
                },
                0.75,
            ),
        ] {
            assert_eq!(quality(text), expected, "{text:?}");
        }
    }
}
