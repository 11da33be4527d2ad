//! Turns the results of a search into the texts and links that the search page shows.

use jiff::Timestamp;
use repository::index::{SearchQuery, Snippet};

use super::SHOWN;
use super::facets::{FacetGroup, FilterChip};
use super::form::{LONGEST, SearchForm};
use crate::app::is_web;
use crate::search::{SearchResult, SearchResults};
use crate::wording;

/// The results of a search, as shown.
pub struct ShownAnswer {
    pub total: usize,
    pub relaxed: bool,
    /// In a cluster: the number of nodes whose pages are missing.
    pub silent_nodes: usize,
    /// In a cluster: the number of nodes that have not indexed all of their pages yet.
    pub indexing_nodes: usize,
    pub corrected: Option<Correction>,
    /// Operators that were not understood.
    pub unknown: Vec<String>,
    /// Another spelling that may have been meant, with the URL of its search.
    pub meant: Option<(String, String)>,
    pub hint: Option<String>,
    pub results: Vec<ResultLine>,
    pub milliseconds: u128,
    pub facets: Vec<FacetGroup>,
    pub chips: Vec<FilterChip>,
    /// Whether the newest results come first.
    pub newest: bool,
    /// The URL of the same search in the other order.
    pub other_order: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub page: usize,
    pub last: usize,
}

/// The query that was searched for instead of the typed one.
pub struct Correction {
    pub text: String,
    /// The typed words that no page has.
    pub unknown: String,
}

/// One result, as shown.
pub struct ResultLine {
    pub rank: usize,
    pub title: String,
    /// The format of a document in capital letters, such as `PDF`; `None` if it is a plain page.
    pub format: Option<String>,
    /// The heading of the best section.
    pub heading: Option<String>,
    pub url: String,
    /// The URL of the best section; `None` if the URL is not `http` or `https`.
    pub href: Option<String>,
    /// The link that counts a click.
    pub click: Option<String>,
    pub cached: Option<String>,
    pub similar: Option<String>,
    pub snippet: Vec<SnippetPiece>,
    pub missing: Vec<String>,
    /// Near-duplicates of the page.
    pub duplicates: Vec<Duplicate>,
    pub checked: bool,
    pub time: String,
    pub ago: String,
    pub pace: Option<String>,
    /// The authors that the page states.
    pub author: Option<String>,
    /// The date that the page states.
    pub day: Option<String>,
    pub language: Option<String>,
}

/// A near-duplicate of a result.
pub struct Duplicate {
    pub url: String,
    /// Whether the URL may be a link.
    pub web: bool,
}

/// A part of a snippet.
pub struct SnippetPiece {
    pub text: String,
    pub marked: bool,
}

impl ShownAnswer {
    pub fn of(form: &SearchForm, found: SearchResults, now: Timestamp) -> Self {
        let page = form.page;
        // Near-duplicates share a result, so there may be fewer results than pages that match.
        let last = match found.results.len() {
            SHOWN => found.total.div_ceil(SHOWN).max(page),
            _ => page,
        };
        let last = last.clamp(1, SearchQuery::OFFSET / SHOWN + 1);
        let hint = hint(form, found.total, found.results.len());
        Self {
            total: found.total,
            relaxed: found.relaxed,
            silent_nodes: found.silent_nodes,
            indexing_nodes: found.indexing_nodes,
            corrected: found.corrected.map(|text| Correction::of(&form.text, text)),
            unknown: found.unknown,
            meant: found.meant.map(|text| {
                let address = form.address(&text, 1);
                (text, address)
            }),
            hint,
            milliseconds: found.took.as_millis(),
            facets: FacetGroup::all(form, found.facets.unwrap_or_default()),
            chips: FilterChip::all(form),
            newest: form.newest,
            other_order: form.changed(|other| other.newest = !other.newest),
            before: (page > 1).then(|| form.address(&form.text, page - 1)),
            after: (page < last).then(|| form.address(&form.text, page + 1)),
            results: found
                .results
                .into_iter()
                .map(|found| ResultLine::of(found, now))
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

/// Returns advice on a search that found nothing, or of which only a part was used.
fn hint(form: &SearchForm, total: usize, shown: usize) -> Option<String> {
    if form.cut {
        return Some(format!(
            "Only the first {LONGEST} characters were searched for."
        ));
    }
    if total > 0 {
        let more = "There are no more results: the other pages have nearly the same text as those shown before.";
        return (shown == 0).then(|| more.to_owned());
    }
    let hint = if !form.text.chars().any(char::is_alphanumeric) {
        "There is no word in this search. Write one or more, such as: pied avocet"
    } else if form.is_filtered() {
        "No page matches with these filters. Remove some of them."
    } else if form.text.contains('"') {
        "No page has these words in this order. Remove the quotation marks."
    } else {
        "No page has these words. Try others, or fewer."
    };
    Some(hint.to_owned())
}

impl ResultLine {
    pub fn of(found: SearchResult, now: Timestamp) -> Self {
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
        let format = hit
            .kind
            .filter(|kind| !matches!(kind.as_str(), "" | "html" | "text"));
        Self {
            rank: found.rank,
            title: if hit.title.trim().is_empty() {
                hit.url.clone()
            } else {
                hit.title
            },
            format: format.map(|format| format.to_uppercase()),
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

/// Splits a snippet into pieces, with dots where it begins or ends within a sentence.
fn pieces(snippet: &Snippet) -> Vec<SnippetPiece> {
    let text = snippet.text.trim_end();
    let mut pieces = Vec::new();
    let dots = |text: &str| SnippetPiece {
        text: text.to_owned(),
        marked: false,
    };
    pieces.extend(text.starts_with(char::is_lowercase).then(|| dots("… ")));
    let mut last = 0;
    for range in &snippet.highlights {
        pieces.extend(SnippetPiece::of(text, last..range.start, false));
        pieces.extend(SnippetPiece::of(text, range.clone(), true));
        last = range.end;
    }
    pieces.extend(SnippetPiece::of(text, last..text.len(), false));
    let whole = text.is_empty() || text.ends_with(['.', '!', '?', '。', '…', '"', '”', ')']);
    pieces.extend((!whole).then(|| dots(" …")));
    pieces
}

impl SnippetPiece {
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
    fn snippets_mark_matches_and_have_dots_where_they_are_cut() {
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
