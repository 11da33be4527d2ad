//! What was found, in the words of the search page.

use jiff::Timestamp;
use repository::index::{Query, Snippet};

use super::SHOWN;
use super::facets::{FacetGroup, FilterChip};
use super::form::{Asked, LONGEST};
use crate::app::is_web;
use crate::search::{Finding, Found};
use crate::wording;

/// The results of a search.
pub struct Answer {
    pub total: usize,
    pub relaxed: bool,
    pub corrected: Option<Correction>,
    /// What looks like an operator and is none.
    pub unknown: Vec<String>,
    /// What was meant, and its address.
    pub meant: Option<(String, String)>,
    pub hint: Option<String>,
    pub results: Vec<Line>,
    pub milliseconds: u128,
    pub facets: Vec<FacetGroup>,
    pub chips: Vec<FilterChip>,
    /// The address of the same search in the other order, and whether this one is by date.
    pub newest: bool,
    pub other_order: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub page: usize,
    pub last: usize,
}

/// A query that was searched for in place of the one that was typed.
pub struct Correction {
    pub text: String,
    /// The words that no page has.
    pub unknown: String,
}

/// A result, in words.
pub struct Line {
    pub rank: usize,
    pub title: String,
    /// The heading of the best section.
    pub heading: Option<String>,
    pub url: String,
    /// The page itself, at its best section; `None`: it is no page of the web.
    pub href: Option<String>,
    /// The address that counts a click.
    pub click: Option<String>,
    pub cached: Option<String>,
    pub similar: Option<String>,
    pub snippet: Vec<Piece>,
    pub missing: Vec<String>,
    /// Pages with nearly the same text.
    pub duplicates: Vec<Duplicate>,
    pub checked: bool,
    pub time: String,
    pub ago: String,
    pub pace: Option<String>,
    /// Who wrote it, and on which day, as the page itself says.
    pub author: Option<String>,
    pub day: Option<String>,
    pub language: Option<String>,
}

/// A page with nearly the same text as another.
pub struct Duplicate {
    pub url: String,
    /// Whether a browser may be led there.
    pub web: bool,
}

/// A part of a snippet.
pub struct Piece {
    pub text: String,
    pub marked: bool,
}

impl Answer {
    pub fn of(asked: &Asked, found: Found, now: Timestamp) -> Self {
        let page = asked.page;
        // Pages with nearly the same text share a result, so that there may be fewer than pages that match.
        let last = match found.results.len() {
            SHOWN => found.total.div_ceil(SHOWN).max(page),
            _ => page,
        };
        let last = last.clamp(1, Query::OFFSET / SHOWN + 1);
        let hint = hint(asked, found.total, found.results.len());
        Self {
            total: found.total,
            relaxed: found.relaxed,
            corrected: found
                .corrected
                .map(|text| Correction::of(&asked.text, text)),
            unknown: found.unknown,
            meant: found.meant.map(|text| {
                let address = asked.address(&text, 1);
                (text, address)
            }),
            hint,
            milliseconds: found.took.as_millis(),
            facets: FacetGroup::all(asked, found.facets.unwrap_or_default()),
            chips: FilterChip::all(asked),
            newest: asked.newest,
            other_order: asked.changed(|other| other.newest = !other.newest),
            before: (page > 1).then(|| asked.address(&asked.text, page - 1)),
            after: (page < last).then(|| asked.address(&asked.text, page + 1)),
            results: found
                .results
                .into_iter()
                .map(|found| Line::of(found, now))
                .collect(),
            page,
            last,
        }
    }
}

impl Correction {
    fn of(typed: &str, text: String) -> Self {
        let kept: Vec<&str> = text.split_whitespace().collect();
        let pieces = typed.split_whitespace();
        let unknown: Vec<&str> = pieces.filter(|piece| !kept.contains(piece)).collect();
        Self {
            unknown: unknown.join(" "),
            text,
        }
    }
}

/// Says what to do about a search that found nothing, or was not read as typed.
fn hint(asked: &Asked, total: usize, shown: usize) -> Option<String> {
    if asked.cut {
        return Some(format!(
            "Only the first {LONGEST} characters were searched for."
        ));
    }
    if total > 0 {
        let more =
            "There are no more results: other pages have nearly the same text as those before.";
        return (shown == 0).then(|| more.to_owned());
    }
    let hint = if !asked.text.chars().any(char::is_alphanumeric) {
        "There is no word in this search. Write one or more, such as: pied avocet"
    } else if asked.is_filtered() {
        "No page matches with these filters. Take some away."
    } else if asked.text.contains('"') {
        "No page has these words in this order. Take the quotation marks away."
    } else {
        "No page has these words. Try others, or fewer."
    };
    Some(hint.to_owned())
}

impl Line {
    pub fn of(found: Finding, now: Timestamp) -> Self {
        let href = found.link();
        let hit = found.hit;
        let fetched = Timestamp::from_second(hit.fetched_at).unwrap_or_default();
        let checked = found.freshness.and_then(|facts| facts.checked);
        let time = checked.unwrap_or(fetched);
        let about = |path: &str| {
            let start = format!("{path}?");
            let length = start.len();
            let mut address = form_urlencoded::Serializer::for_suffix(start, length);
            address.append_pair("url", &hit.url);
            href.is_some().then(|| address.finish())
        };
        let heading = hit.section.map(|section| section.heading);
        let heading = heading.filter(|heading| !wording::repeats(heading, &hit.title));
        Self {
            rank: found.rank,
            title: if hit.title.trim().is_empty() {
                hit.url.clone()
            } else {
                hit.title
            },
            heading,
            cached: about("/cached"),
            similar: about("/similar"),
            url: hit.url,
            href,
            click: found.click,
            snippet: pieces(&hit.snippet),
            missing: hit.missing,
            duplicates: hit.duplicates.into_iter().map(Duplicate::of).collect(),
            checked: checked.is_some(),
            time: time.to_string(),
            ago: wording::ago(time, now),
            pace: found.freshness.and_then(|facts| wording::pace(facts.pace)),
            author: wording::authors(&hit.stated.authors),
            day: hit.stated.date().and_then(wording::day),
            language: hit.language,
        }
    }
}

impl Duplicate {
    fn of(url: String) -> Self {
        let web = is_web(&url);
        Self { url, web }
    }
}

/// A snippet, with dots where it begins or ends within a sentence.
fn pieces(snippet: &Snippet) -> Vec<Piece> {
    let text = snippet.text.trim_end();
    let mut pieces = Vec::new();
    let dots = |text: &str| Piece {
        text: text.to_owned(),
        marked: false,
    };
    pieces.extend(text.starts_with(char::is_lowercase).then(|| dots("… ")));
    let mut last = 0;
    for range in &snippet.highlights {
        pieces.extend(Piece::of(text, last..range.start, false));
        pieces.extend(Piece::of(text, range.clone(), true));
        last = range.end;
    }
    pieces.extend(Piece::of(text, last..text.len(), false));
    let whole = text.is_empty() || text.ends_with(['.', '!', '?', '。', '…', '"', '”', ')']);
    pieces.extend((!whole).then(|| dots(" …")));
    pieces
}

impl Piece {
    fn of(text: &str, range: std::ops::Range<usize>, marked: bool) -> Option<Self> {
        let text = text.get(range).filter(|text| !text.is_empty())?.to_owned();
        Some(Self { text, marked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_name_the_words_that_no_page_has() {
        for (typed, text, unknown) in [
            ("avocte", "avocet", "avocte"),
            ("pied avocte bird", "pied avocet bird", "avocte"),
            ("pide avocte", "pied avocet", "pide avocte"),
            ("site:e.org  avocte", "site:e.org  avocet", "avocte"),
        ] {
            assert_eq!(Correction::of(typed, text.into()).unknown, unknown);
        }
    }

    #[test]
    fn snippets_are_marked_and_dotted() {
        let check = |text: &str, marked: Option<std::ops::Range<usize>>, expected: &str| {
            let snippet = Snippet {
                text: text.into(),
                highlights: marked.into_iter().collect(),
            };
            let shown: String = pieces(&snippet)
                .iter()
                .map(|piece| match piece.marked {
                    true => format!("[{}]", piece.text),
                    false => piece.text.clone(),
                })
                .collect();
            assert_eq!(shown, expected);
        };
        check("", None, "");
        check("The avocet wades.", Some(4..10), "The [avocet] wades.");
        check("of avocets and", Some(3..10), "… of [avocets] and …");
        check("avocet", Some(0..6), "… [avocet] …");
    }
}
