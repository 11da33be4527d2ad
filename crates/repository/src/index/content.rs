//! Divides the text of a page into the parts that are searched.
//!
//! **Invariant:** body and rest together contain every line of the text that is not empty, once,
//! without its permalink sign. The body is what is particular to the page; the rest is
//! navigation and template.

use std::borrow::Cow;
use std::ops::Range;

use super::sections::IndexedSection;
use super::weights::Part;

/// The searchable texts of a page, by [`Part`]. Headings, ids and anchors have one entry per
/// line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PageTexts<'a>(pub(super) [Cow<'a, str>; Part::COUNT]);

impl PageTexts<'_> {
    pub(super) fn of(&self, part: Part) -> &str {
        &self.0[part as usize]
    }

    pub(super) fn into_owned(self) -> PageTexts<'static> {
        PageTexts(self.0.map(|text| Cow::Owned(text.into_owned())))
    }
}

/// A text divided into body, rest and sections.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DividedText {
    pub(super) body: String,
    pub(super) rest: String,
    pub(super) sections: Vec<IndexedSection>,
}

/// Divides a text by lines. `asides` are the byte ranges of navigation. `is_template` decides
/// for a single line, but a line with a heading is never template.
pub(super) fn divide(
    text: &str,
    asides: &[Range<u32>],
    sections: &[page::PageSection],
    is_template: impl Fn(&str) -> bool,
) -> DividedText {
    let mut divided = DividedText {
        body: String::with_capacity(text.len()),
        ..DividedText::default()
    };
    let (mut asides, mut sections) = (asides.iter().peekable(), sections.iter().peekable());
    let mut start = 0;
    for whole in text.split('\n') {
        let next = start + whole.len() + 1;
        let line = without_permalink(whole);
        let end = start + line.len();
        while asides
            .next_if(|aside| aside.end as usize <= start)
            .is_some()
        {}
        let in_aside = asides
            .peek()
            .is_some_and(|aside| aside.start as usize <= start);
        let begun = divided.sections.len();
        // Where the line starts in the body, if it goes there.
        let place = divided.body.len() + usize::from(!divided.body.is_empty());
        while let Some(section) = sections.next_if(|section| (section.heading.start as usize) < end)
        {
            let from = section.heading.start as usize;
            let to = (section.heading.end as usize).min(end);
            if !in_aside && (start..to).contains(&from) {
                divided.sections.push(IndexedSection {
                    heading: (place + from - start) as u32..(place + to - start) as u32,
                    level: section.level,
                    id: section.id.as_deref().map(str::to_owned),
                });
            }
        }
        let has_heading = divided.sections.len() > begun;
        let into = if in_aside || !has_heading && is_template(line) {
            &mut divided.rest
        } else {
            &mut divided.body
        };
        push_line(into, line);
        start = next;
    }
    divided
}

/// Returns a line without the permalink sign that documentation tools append to headings and
/// definitions.
fn without_permalink(line: &str) -> &str {
    match line.strip_suffix(['¶', '🔗']) {
        Some(rest) => rest.trim_end(),
        None => line,
    }
}

/// Returns the headings of a body and the ids of its sections, one per line.
pub(super) fn headings(body: &str, sections: &[IndexedSection]) -> (String, String) {
    let (mut headings, mut ids) = (String::new(), String::new());
    for section in sections {
        push_line(&mut headings, section.title(body));
        if let Some(id) = &section.id {
            push_line(&mut ids, id);
        }
    }
    (headings, ids)
}

pub(super) fn push_line(lines: &mut String, line: &str) {
    if !lines.is_empty() {
        lines.push('\n');
    }
    lines.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str, heading: &str) -> page::PageSection {
        let start = text.find(heading).unwrap() as u32;
        page::PageSection {
            heading: start..start + heading.len() as u32,
            level: 2,
            id: Some("x".into()),
        }
    }

    #[test]
    fn lines_are_divided_and_sections_keep_their_headings() {
        let text = "Menu\nAvocet\nA wader.\nRead on\nFood\nShrimps.\nImprint";
        let sections = [
            section(text, "Avocet"),
            section(text, "Food"),
            section(text, "Imprint"),
        ];
        let divided = divide(text, &[0..4, 43..50], &sections, |line| {
            matches!(line, "Read on" | "Food")
        });
        assert_eq!(divided.body, "Avocet\nA wader.\nFood\nShrimps.");
        assert_eq!(divided.rest, "Menu\nRead on\nImprint");
        let titles: Vec<&str> = divided
            .sections
            .iter()
            .map(|section| section.title(&divided.body))
            .collect();
        assert_eq!(
            titles,
            ["Avocet", "Food"],
            "a heading is never template, but it may be in a menu"
        );
        assert_eq!(
            headings(&divided.body, &divided.sections),
            ("Avocet\nFood".into(), "x\nx".into())
        );
    }

    #[test]
    fn permalinks_are_left_out() {
        let text = "Food¶\nShrimps.\nBirds ¶\nThe end";
        let sections = [section(text, "Food¶"), section(text, "Birds ¶")];
        let divided = divide(text, &[], &sections, |_| false);
        assert_eq!(divided.body, "Food\nShrimps.\nBirds\nThe end");
        let (headings, _) = headings(&divided.body, &divided.sections);
        assert_eq!(headings, "Food\nBirds");
    }

    #[test]
    fn every_line_is_in_body_or_rest() {
        for text in ["", "\n", "a", "a\n", "\na\n\nb"] {
            assert_eq!(
                divide(text, &[], &[], |_| false)
                    .body
                    .lines()
                    .collect::<String>(),
                text.replace('\n', "")
            );
            assert_eq!(
                divide(text, &[], &[], |_| true)
                    .rest
                    .lines()
                    .collect::<String>(),
                text.replace('\n', "")
            );
        }
    }
}
