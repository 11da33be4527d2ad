//! Snippets: selects the sentences of a page that have the words of a query, and the section
//! they are in.
//!
//! **Invariant:** work and output are bounded. A snippet is text and ranges, never markup.
//!
//! Only the body is read, because navigation and template lines do not answer a question.

use std::ops::Range;

use page::char_floor;
use serde::{Deserialize, Serialize};

use super::safe_text::prefix;
use super::sections::IndexedSection;
use super::word_finder::WordFinder;

/// Target length of a snippet in bytes: about two lines of a result page.
const LENGTH: usize = 220;

/// Limits on the bytes of a body that are searched and on the occurrences that are used. They
/// bound the work for one result.
const SEARCHED: usize = 256 * 1024;
const OCCURRENCES: usize = 4_000;

/// A sentence with fewer bytes is shown together with the next one.
const SHORT: usize = 60;

/// Separates two sentences that do not follow each other.
const GAP: &str = " … ";

/// An excerpt of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// Plain text from a page. The caller must escape it.
    pub text: String,
    /// The matching byte ranges, in order.
    pub highlights: Vec<Range<usize>>,
}

/// Finds the words of a query in texts.
pub(super) struct SnippetFinder {
    words: WordFinder,
    /// The weight of each word.
    weights: Vec<f32>,
}

/// An occurrence of a word of the query.
#[derive(Debug, Clone, Copy)]
struct Occurrence {
    /// The bit of the word.
    word: u64,
    from: usize,
    to: usize,
}

/// A sentence with words of the query.
#[derive(Debug, Clone, Copy)]
struct Sentence {
    from: usize,
    to: usize,
    /// The words that it has, as bits.
    words: u64,
}

impl SnippetFinder {
    /// Finds words, each with its weight. Only the first 64 are used.
    pub(super) fn new(words: &[(String, f32)]) -> Self {
        let words = &words[..words.len().min(64)];
        Self {
            words: WordFinder::new(words.iter().map(|(word, _)| word.as_str())),
            weights: words.iter().map(|&(_, weight)| weight).collect(),
        }
    }

    /// Returns the best sentences of a body, and the index of the section that matches best.
    /// Returns no section if the page as a whole matches better.
    pub(super) fn show(
        &mut self,
        body: &str,
        sections: &[IndexedSection],
    ) -> (Snippet, Option<usize>) {
        let body = prefix(body, SEARCHED);
        let found = self.find(body);
        let section = self.section(body, sections, &found);
        let within = section.map(|number| {
            let start = sections[number].heading.start as usize;
            let next = sections.get(number + 1);
            start..next.map_or(body.len(), |next| next.heading.start as usize)
        });
        (self.snippet(body, &found, within), section)
    }

    fn find(&mut self, text: &str) -> Vec<Occurrence> {
        let mut found = Vec::new();
        self.words.read(text, |word, range| {
            if found.len() < OCCURRENCES {
                found.push(Occurrence {
                    word: 1 << word,
                    from: range.start,
                    to: range.end,
                });
            }
        });
        found
    }

    fn weight(&self, words: u64) -> f32 {
        let weights = self.weights.iter().enumerate();
        weights
            .filter(|(number, _)| words & 1 << number != 0)
            .map(|(_, weight)| weight)
            .sum()
    }

    /// Returns the section that has most of the query, where its heading counts most.
    ///
    /// Returns `None` if the page as a whole is the better answer, in two cases:
    /// - The best section is the first of the page, and its heading has level 1.
    /// - No section has a word in its heading or id, and none has all found words in its text.
    fn section(
        &mut self,
        body: &str,
        sections: &[IndexedSection],
        found: &[Occurrence],
    ) -> Option<usize> {
        let everywhere = found
            .iter()
            .fold(0, |all, occurrence| all | occurrence.word);
        let mut best: Option<(f32, usize)> = None;
        let mut found = found.iter().peekable();
        while found
            .next_if(|next| {
                next.from
                    < sections
                        .first()
                        .map_or(0, |first| first.heading.start as usize)
            })
            .is_some()
        {}
        for (number, section) in sections.iter().enumerate() {
            let end = sections
                .get(number + 1)
                .map_or(body.len(), |next| next.heading.start as usize);
            let (mut heading, mut text) = (0u64, 0u64);
            while let Some(next) = found.next_if(|next| next.from < end) {
                text |= next.word;
                if next.from < section.heading.end as usize {
                    heading |= next.word;
                }
            }
            if let Some(id) = &section.id {
                self.words.read(id, |word, _| heading |= 1 << word);
            }
            if heading == 0 && text != everywhere || text | heading == 0 {
                continue;
            }
            // A longer heading is less specific to the query.
            let others = section.title(body).split_whitespace().count() as f32;
            let score = 3.0 * self.weight(heading) / (4.0 + others).sqrt() + self.weight(text);
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, number));
            }
        }
        let (_, number) = best?;
        (number > 0 || sections[0].level > 1).then_some(number)
    }

    fn snippet(&self, body: &str, found: &[Occurrence], within: Option<Range<usize>>) -> Snippet {
        let sentences = sentences(body, found);
        let value = |sentence: &Sentence, already: u64| {
            let inside = within
                .as_ref()
                .is_some_and(|within| within.contains(&sentence.from));
            let new = self.weight(sentence.words & !already);
            let prose = ((sentence.to - sentence.from) as f32 / SHORT as f32).min(1.0);
            new * (1.0 + 0.2 * prose + 0.3 * f32::from(u8::from(inside)))
        };
        let best = |already: u64| {
            // `max_by` returns the last of equal values, so the reversed order gives the first
            // sentence.
            let ranked = sentences
                .iter()
                .rev()
                .map(|sentence| (value(sentence, already), sentence));
            ranked
                .max_by(|one, other| one.0.total_cmp(&other.0))
                .filter(|(value, _)| *value > 0.0)
        };
        let Some((_, &first)) = best(0) else {
            return start(body);
        };
        let mut chosen = vec![first];
        let mut already = first.words;
        let mut room = LENGTH.saturating_sub(first.to - first.from);
        while room > SHORT
            && let Some((_, &next)) = best(already)
        {
            already |= next.words;
            room = room.saturating_sub(next.to - next.from);
            chosen.push(next);
        }
        chosen.sort_by_key(|sentence| sentence.from);
        let mut snippet = Snippet::default();
        let each = (LENGTH / chosen.len()).max(SHORT);
        let mut last = 0;
        for sentence in chosen {
            let first = found.iter().find(|one| one.from >= sentence.from);
            let range = excerpt(body, sentence, first, each, room);
            if range.start < last {
                continue;
            }
            if !snippet.text.is_empty() {
                let follows = body[last..range.start].trim().is_empty();
                snippet.text += if follows { " " } else { GAP };
            }
            let offset = snippet.text.len();
            snippet.text += &body[range.clone()];
            last = range.end;
            let within = |one: &&Occurrence| one.from >= range.start && one.to <= range.end;
            for one in found.iter().filter(within) {
                let place = one.from - range.start + offset..one.to - range.start + offset;
                match snippet.highlights.last_mut() {
                    // A compound and its words are highlighted as one range.
                    Some(before) if place.start < before.end => {
                        before.end = before.end.max(place.end)
                    }
                    _ => snippet.highlights.push(place),
                }
            }
        }
        snippet
    }
}

/// Returns the sentences that have occurrences, in order.
fn sentences(body: &str, found: &[Occurrence]) -> Vec<Sentence> {
    let mut sentences: Vec<Sentence> = Vec::new();
    for occurrence in found {
        let bit = occurrence.word;
        match sentences.last_mut() {
            Some(last) if occurrence.from < last.to => last.words |= bit,
            last => {
                let least = last.map_or(0, |last| last.to);
                let from = sentence_start(body, occurrence.from).max(least);
                let to = sentence_end(body, occurrence.to);
                sentences.push(Sentence {
                    from,
                    to,
                    words: bit,
                });
            }
        }
    }
    sentences
}

/// Bytes before or after a word that are searched for the boundary of its sentence.
const LONGEST_SENTENCE: usize = 600;

/// Returns the start of the sentence at this offset.
fn sentence_start(body: &str, at: usize) -> usize {
    let bytes = body.as_bytes();
    let least = at.saturating_sub(LONGEST_SENTENCE);
    let mut from = at;
    while from > least {
        let ends = match bytes[from - 1] {
            b'\n' => true,
            b' ' => from >= 2 && matches!(bytes[from - 2], b'.' | b'!' | b'?'),
            _ => false,
        };
        if ends {
            return from;
        }
        from -= 1;
    }
    (from..=at)
        .find(|&from| body.is_char_boundary(from))
        .unwrap_or(at)
}

/// Returns the end of the sentence at this offset.
fn sentence_end(body: &str, at: usize) -> usize {
    let bytes = body.as_bytes();
    let most = (at + LONGEST_SENTENCE).min(bytes.len());
    for to in at..most {
        match bytes[to] {
            b'\n' => return to,
            b'.' | b'!' | b'?'
                if bytes
                    .get(to + 1)
                    .is_none_or(|next| matches!(next, b' ' | b'\n')) =>
            {
                return to + 1;
            }
            _ => {}
        }
    }
    char_floor(body, most)
}

/// Returns the part of a sentence that is shown: all of it if it fits, otherwise the text around
/// its first word. A short sentence is continued with the next ones while there is room.
fn excerpt(
    body: &str,
    sentence: Sentence,
    first: Option<&Occurrence>,
    length: usize,
    room: usize,
) -> Range<usize> {
    let (mut from, mut to) = (sentence.from, sentence.to);
    if to - from > length {
        let first = first.map_or(from, |first| first.from);
        if first > from + length / 3 {
            from = word_start(body, first - length / 3);
        }
        if to - from > length {
            to = word_end(body, from, from + length);
        }
        return from..to;
    }
    let most = to + room;
    while to - from < SHORT.max(room) && to < body.len() {
        let next = sentence_end(body, (to + 1).min(body.len()));
        if next > most || !body.is_char_boundary(next) {
            if to - from < SHORT && most > to {
                to = word_end(body, to, most.min(body.len()));
            }
            break;
        }
        to = next;
    }
    from..to
}

/// Returns the start of the first word after an offset.
fn word_start(body: &str, at: usize) -> usize {
    let at = (at..body.len())
        .find(|&at| body.is_char_boundary(at))
        .unwrap_or(body.len());
    let blank = body[at..].find(char::is_whitespace);
    blank.map_or(at, |blank| at + blank + 1).min(body.len())
}

/// Returns the end of the last word between `least` and `most`.
fn word_end(body: &str, least: usize, most: usize) -> usize {
    let most = char_floor(body, most).max(least);
    if most == body.len() {
        return most;
    }
    let blank = body[least..most]
        .rfind(char::is_whitespace)
        .filter(|&blank| blank > 0);
    blank.map_or(most, |blank| least + blank)
}

/// Returns the start of a body, for a page whose body has none of the words.
fn start(body: &str) -> Snippet {
    let end = if body.len() <= LENGTH {
        body.len()
    } else {
        word_end(body, 0, LENGTH)
    };
    Snippet {
        text: body[..end].to_owned(),
        highlights: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn finder(words: &[&str]) -> SnippetFinder {
        let words: Vec<(String, f32)> = words.iter().map(|word| (word.to_string(), 1.0)).collect();
        SnippetFinder::new(&words)
    }

    fn marked(snippet: &Snippet) -> String {
        let (mut text, mut last) = (String::new(), 0);
        for range in &snippet.highlights {
            text += &snippet.text[last..range.start];
            text += &format!("[{}]", &snippet.text[range.clone()]);
            last = range.end;
        }
        text + &snippet.text[last..]
    }

    #[test]
    fn sentences_with_all_words_come_first() {
        let body = "A list of birds of many kinds that live near the sea and inland.\nThe avocet wades. It sweeps its bill \
                    through shallow water where there is food, and the avocet is a patient wader as all observers say.";
        let shown = marked(&finder(&["avocet", "bill"]).show(body, &[]).0);
        assert!(
            shown.starts_with("It sweeps its [bill] through") && shown.contains("[avocet]"),
            "{shown}"
        );
        let apart = format!(
            "The bill is long. {} The avocet is a wader.",
            "Filler words stand here. ".repeat(40)
        );
        let shown = marked(&finder(&["avocet", "bill"]).show(&apart, &[]).0);
        assert!(
            shown.contains("[bill]") && shown.contains("[avocet]") && shown.contains(GAP),
            "{shown}"
        );
    }

    #[test]
    fn words_in_the_sentence_after_a_short_one_are_marked_too() {
        let shown = finder(&["avocet"])
            .show("The avocet wades. An avocet flies.", &[])
            .0;
        assert_eq!(marked(&shown), "The [avocet] wades. An [avocet] flies.");
    }

    #[test]
    fn a_page_without_the_words_shows_its_start() {
        let shown = finder(&["x"]).show("The avocet wades.", &[]).0;
        assert_eq!(shown.text, "The avocet wades.");
        assert_eq!(finder(&["x"]).show("", &[]).0, Snippet::default());
        assert!(finder(&["x"]).show(&"word ".repeat(500), &[]).0.text.len() <= LENGTH);
    }

    #[test]
    fn the_section_that_matches_best_is_returned() {
        let body =
            "Birds\nAbout birds.\nAvocet\nA wader with a bill.\nStilt\nIt resembles the avocet.";
        let section = |title: &str, id: &str| {
            let start = body.find(title).unwrap() as u32;
            IndexedSection {
                heading: start..start + title.len() as u32,
                level: 1 + u8::from(start > 0),
                id: Some(id.into()),
            }
        };
        let sections = [
            section("Birds", "b"),
            section("Avocet", "a"),
            section("Stilt", "bird.stilt"),
        ];
        let found = |words: &[&str]| finder(words).show(body, &sections).1;
        assert_eq!(found(&["avocet"]), Some(1));
        assert_eq!(found(&["stilt"]), Some(2));
        assert_eq!(found(&["bird.stilt"]), Some(2), "by its id");
        assert_eq!(found(&["bird"]), None, "the page as a whole");
        assert_eq!(found(&["nothing"]), None);
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in "(\\PC|[a-c ]|[.!?] |\n|é|東){0,900}") {
            let (shown, _) = finder(&["a", "ab", "é", "b.c"]).show(&text, &[]);
            prop_assert!(shown.text.len() <= 3 * LENGTH, "{}", shown.text.len());
            let mut last = 0;
            for range in &shown.highlights {
                prop_assert!(range.start >= last && shown.text.get(range.clone()).is_some());
                last = range.end;
            }
        }
    }
}
