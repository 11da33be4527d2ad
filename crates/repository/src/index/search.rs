//! Searching: the pages that hold what was asked for, best first.
//!
//! **Invariant:** a search touches no more than [`Query::LIMIT`] pages of results and reads a
//! bounded part of each; what it returns is text and ranges, never markup.
//!
//! BM25 over title, text and URL. All words should be there; where no page has them all, those with
//! some are returned, and the answer says so.

use std::ops::{Bound, Range};

use page::PageId;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, Occur, PhraseQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption, Term, Value};
use tantivy::snippet::SnippetGenerator;
use tantivy::{Searcher, TantivyDocument, TantivyError};

use super::forward::Forward;
use super::query::{self, Clause, Parsed};
use super::schema::Fields;
use super::shown::prefix;
use super::{Index, IndexError, words};

/// What a word is worth by where it is. A title is a summary someone chose; a URL often repeats it.
const TITLE_BOOST: f32 = 2.0;
const URL_BOOST: f32 = 0.5;

/// Letters of a snippet: two lines of a result page.
const SNIPPET_LENGTH: usize = 200;

/// Bytes of a text that are searched for the best snippet: so many take 1 to 2 ms a hit, the
/// megabyte that is indexed would take ten, and people read the start.
const SNIPPET_SEARCH: usize = 128 * 1024;

/// A search.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// What the searcher typed: words, `"phrases"`, `-exclusions`, `site:example.org`, `author:name`, `date:2024-05`.
    pub text: &'a str,
    /// How many hits to return, up to [`Query::LIMIT`].
    pub limit: usize,
    /// How many to pass over, up to [`Query::OFFSET`].
    pub offset: usize,
    /// Only pages of this host or of hosts below it; wins over `site:` in the text.
    pub site: Option<&'a str>,
    /// Only pages in this language.
    pub language: Option<&'a str>,
    /// Only copies that were fetched at this time or later, in Unix seconds.
    pub since: Option<i64>,
    /// Only copies that were fetched before this time, in Unix seconds.
    pub until: Option<i64>,
}

impl Query<'_> {
    /// The most hits of one search.
    pub const LIMIT: usize = 100;
    /// The deepest page of hits: finding the n-th best means keeping n.
    pub const OFFSET: usize = 1000;
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// How many pages match.
    pub total: usize,
    /// No page has all the words; these have some.
    pub relaxed: bool,
    /// The best of them, or those after `offset`.
    pub hits: Vec<Hit>,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The page.
    pub id: PageId,
    /// Its URL.
    pub url: String,
    /// Its host name.
    pub host: String,
    /// Its title; may be empty.
    pub title: String,
    /// Where its text mentions the words.
    pub snippet: Snippet,
    /// How well it matches; comparable only within one search.
    pub score: f32,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// What it says of itself to machines.
    pub stated: page::Fields,
}

/// A part of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Plain text, from a page: to be escaped wherever it is shown.
    pub text: String,
    /// The byte ranges of it that match, in order.
    pub highlights: Vec<Range<usize>>,
}

impl Index {
    /// Searches what was last committed.
    pub fn search(&self, query: &Query<'_>) -> Result<Hits, IndexError> {
        self.try_search(query)
            .map_err(|error| self.fail("search", error))
    }

    fn try_search(&self, query: &Query<'_>) -> Result<Hits, TantivyError> {
        let mut parsed = query::parse(query.text, &mut words::analyzer());
        if let Some(site) = query.site {
            // A site that is none has no pages; it is not the same as no site.
            parsed.site = Some(query::site(site).unwrap_or_default());
        }
        if parsed.is_empty() {
            return Ok(Hits::default());
        }
        let searcher = self.reader.searcher();
        let strict = self.query(&parsed, query, Occur::Must);
        let hits = self.run(&searcher, strict, query)?;
        if hits.total > 0 || parsed.wanted.len() < 2 {
            return Ok(hits);
        }
        let loose = self.query(&parsed, query, Occur::Should);
        let hits = self.run(&searcher, loose, query)?;
        Ok(Hits {
            relaxed: hits.total > 0,
            ..hits
        })
    }

    fn query(&self, parsed: &Parsed, query: &Query<'_>, occur: Occur) -> BooleanQuery {
        let fields = &self.fields;
        let wanted = parsed
            .wanted
            .iter()
            .map(|clause| (occur, anywhere(fields, clause)));
        let wanted: Vec<_> = wanted.collect();
        let mut parts: Vec<(Occur, Box<dyn tantivy::query::Query>)> = if wanted.is_empty() {
            vec![(Occur::Must, Box::new(AllQuery))]
        } else {
            vec![(Occur::Must, Box::new(BooleanQuery::new(wanted)))]
        };
        for clause in &parsed.unwanted {
            parts.push((Occur::MustNot, Box::new(Forward(anywhere(fields, clause)))));
        }
        let filters = [
            (fields.site, parsed.site.as_deref()),
            (fields.language, query.language),
        ];
        for (field, value) in filters {
            let Some(value) = value else { continue };
            let term = TermQuery::new(
                Term::from_field_text(field, value),
                IndexRecordOption::Basic,
            );
            parts.push((
                Occur::Must,
                Box::new(ConstScoreQuery::new(Box::new(term), 0.0)),
            ));
        }
        for name in &parsed.authors {
            let named = ConstScoreQuery::new(named_in(fields.author, name), 0.0);
            parts.push((Occur::Must, Box::new(named)));
        }
        if let Some(date) = &parsed.date {
            let at = |seconds| Term::from_field_i64(fields.date, seconds);
            let of = RangeQuery::new(
                Bound::Included(at(date.start)),
                Bound::Excluded(at(date.end)),
            );
            let of = ConstScoreQuery::new(Box::new(of), 0.0);
            parts.push((Occur::Must, Box::new(of)));
        }
        if query.since.is_some() || query.until.is_some() {
            let at = |seconds| Term::from_field_i64(fields.fetched_at, seconds);
            let since = query
                .since
                .map_or(Bound::Unbounded, |time| Bound::Included(at(time)));
            let until = query
                .until
                .map_or(Bound::Unbounded, |time| Bound::Excluded(at(time)));
            let then = RangeQuery::new(since, until);
            parts.push((
                Occur::Must,
                Box::new(ConstScoreQuery::new(Box::new(then), 0.0)),
            ));
        }
        BooleanQuery::new(parts)
    }

    fn run(
        &self,
        searcher: &Searcher,
        asked: BooleanQuery,
        query: &Query<'_>,
    ) -> Result<Hits, TantivyError> {
        // The collector refuses to collect nothing.
        let limit = query.limit.clamp(1, Query::LIMIT);
        let best = TopDocs::with_limit(limit).and_offset(query.offset.min(Query::OFFSET));
        let (total, best) = searcher.search(&asked, &(Count, best.order_by_score()))?;
        let mut snippets = SnippetGenerator::create(searcher, &asked, self.fields.body)?;
        snippets.set_max_num_chars(SNIPPET_LENGTH);
        let best = best.into_iter().take(query.limit);
        let hits = best.map(|(score, address)| {
            let document = searcher.doc::<TantivyDocument>(address)?;
            Ok(self.hit(&document, score, &snippets))
        });
        let hits = hits.collect::<Result<_, TantivyError>>()?;
        Ok(Hits {
            total,
            relaxed: false,
            hits,
        })
    }

    fn hit(&self, document: &TantivyDocument, score: f32, snippets: &SnippetGenerator) -> Hit {
        let fields = &self.fields;
        let text = |field: Field| document.get_first(field).and_then(|value| value.as_str());
        let owned = |field| text(field).unwrap_or_default().to_owned();
        let id = document
            .get_first(fields.id)
            .and_then(|value| value.as_bytes());
        let id = id
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u128::from_be_bytes);
        let fetched_at = document
            .get_first(fields.fetched_at)
            .and_then(|value| value.as_i64());
        Hit {
            id: PageId(id),
            url: owned(fields.url),
            host: owned(fields.host),
            title: owned(fields.title),
            snippet: snippet(text(fields.body).unwrap_or_default(), snippets),
            score,
            fetched_at: fetched_at.unwrap_or_default(),
            language: text(fields.language).map(str::to_owned),
            stated: text(fields.stated)
                .and_then(|json| serde_json::from_str(json).ok())
                .unwrap_or_default(),
        }
    }
}

/// Where a word is looked for, and what it is worth there.
pub(super) fn places(fields: &Fields) -> [(Field, f32); 3] {
    [
        (fields.title, TITLE_BOOST),
        (fields.body, 1.0),
        (fields.url, URL_BOOST),
    ]
}

/// A clause in any of the fields; where it is in several, the page is worth more.
fn anywhere(fields: &Fields, clause: &Clause) -> Box<dyn tantivy::query::Query> {
    let places = places(fields).map(|(field, boost)| {
        let query = BoostQuery::new(named_in(field, clause), boost);
        (
            Occur::Should,
            Box::new(query) as Box<dyn tantivy::query::Query>,
        )
    });
    Box::new(BooleanQuery::new(places.into()))
}

/// A clause in one field.
fn named_in(field: Field, clause: &Clause) -> Box<dyn tantivy::query::Query> {
    let mut terms: Vec<Term> = clause
        .iter()
        .map(|word| Term::from_field_text(field, word))
        .collect();
    if terms.len() == 1 {
        return Box::new(TermQuery::new(
            terms.remove(0),
            IndexRecordOption::WithFreqs,
        ));
    }
    Box::new(PhraseQuery::new(terms))
}

/// The best part of a text; its start if the words are elsewhere.
fn snippet(text: &str, generator: &SnippetGenerator) -> Snippet {
    let found = generator.snippet(prefix(text, SNIPPET_SEARCH));
    if found.is_empty() {
        let end = text
            .char_indices()
            .nth(SNIPPET_LENGTH)
            .map_or(text.len(), |(at, _)| at);
        return Snippet {
            text: text[..end].to_owned(),
            highlights: Vec::new(),
        };
    }
    let highlights = tantivy::snippet::collapse_overlapped_ranges(found.highlighted());
    Snippet {
        text: found.fragment().to_owned(),
        highlights,
    }
}
