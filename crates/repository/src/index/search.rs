//! Search: finds the pages that match a query, best first.
//!
//! **Invariant:** a search reads the stored texts of a bounded number of pages
//! ([`SearchQuery::LIMIT`], [`SearchQuery::OFFSET`]). It returns text and ranges, never markup.
//!
//! Pages that have all words come first. If they are fewer than requested, pages follow that
//! lack some words; each of them names the missing words.

use page::PageId;
use page::url::with_fragment;
use serde::{Deserialize, Serialize};
use tantivy::{DocAddress, Searcher, TantivyError};

use super::dictionary::Dictionary;
use super::duplicates::{group, representative, sketch};
use super::evaluate::{Completeness, PlanOutcome, PlanRun, RankedPage, Sort};
use super::facets::{FacetCounts, FacetSums, Facets};
use super::plan::{Lookup, QueryPlan};
use super::query::{self, ParsedQuery};
use super::score::Scoring;
use super::snippet::{Snippet, SnippetFinder};
use super::spelling::expansions;
use super::stored::{StoredPage, place};
use super::weights::Weights;
use super::{Index, IndexError, words};

/// Results that are checked for near-duplicates: `SPARE_EACH` for each that is requested, and
/// `SPARE` more.
const SPARE: usize = 40;
const SPARE_EACH: usize = 3;

/// A search request.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchQuery<'a> {
    /// The text of the query: words, `a OR b`, `"phrases"`, `-exclusions`, `site:example.org`,
    /// `title:word`, `url:word`, `author:name`, `date:2024-05`, `filetype:html`.
    pub text: &'a str,
    /// Maximum number of hits to return, up to [`SearchQuery::LIMIT`].
    pub limit: usize,
    /// Number of hits to skip, up to [`SearchQuery::OFFSET`].
    pub offset: usize,
    /// Only pages of this host or its subdomains; overrides `site:` in the text.
    pub site: Option<&'a str>,
    /// Only pages in this language.
    pub language: Option<&'a str>,
    /// Only documents of this kind (`html`, `text`); overrides `filetype:` in the text.
    pub kind: Option<&'a str>,
    /// Only copies fetched at this time or later, in Unix seconds.
    pub since: Option<i64>,
    /// Only copies fetched before this time, in Unix seconds.
    pub until: Option<i64>,
    /// Only pages that state a date (of publication, or else of change) at or after this, in Unix
    /// seconds.
    pub published_since: Option<i64>,
    /// Only pages that state a date (of publication, or else of change) before this, in Unix
    /// seconds.
    pub published_until: Option<i64>,
    /// The order of the hits.
    pub sort: Sort,
    /// Whether the last word may be a prefix, because the user is still typing.
    pub prefix: bool,
    /// Whether to count the pages that match by site, language, kind and year.
    pub facets: bool,
    /// Language codes that the user prefers, best first. Of near-duplicates, the page in the most
    /// preferred language is shown.
    pub readers: &'a [&'a str],
    /// Factors for the scores of some pages: evidence from clicks
    /// ([`Choices`](crate::log::Choices)).
    pub chosen: &'a [(PageId, f32)],
    /// The weights of the ranking function; [`Weights::default`] if `None`.
    pub weights: Option<&'a Weights>,
}

impl SearchQuery<'_> {
    /// Maximum number of hits of one search.
    pub const LIMIT: usize = 100;
    /// Maximum offset. To find the n-th best page, a search must keep n pages.
    pub const OFFSET: usize = 1000;

    /// Parses the text, and replaces its site and kind by those that are given apart from it.
    pub(super) fn parsed(&self) -> ParsedQuery {
        let mut parsed = query::parse(self.text, &mut words::analyzer());
        if let Some(site) = self.site {
            // An invalid site matches no page; without a site, all pages match.
            parsed.site = Some(query::site(site).unwrap_or_default());
        }
        if let Some(kind) = self.kind {
            parsed.kind = Some(query::kind(kind));
        }
        parsed
    }

    fn range(&self) -> HitRange {
        HitRange::new(self.limit, self.offset)
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hits {
    /// Number of pages that have all the words. If no page has all, number of pages that have some.
    pub total: usize,
    /// Whether no page has all the words, so that these hits lack some.
    pub relaxed: bool,
    /// The query with corrected spelling, as it was searched. `None` if nothing was corrected.
    pub corrected: Option<String>,
    /// Operators that were not understood. An unknown operator is searched as words. An invalid
    /// date is ignored, and so is an author, date or file type that is to be excluded.
    pub unknown: Vec<String>,
    /// The best pages, without the first `offset`.
    pub hits: Vec<Hit>,
    /// Counts of the matching pages, if requested.
    pub facets: Option<Facets>,
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The page.
    pub id: PageId,
    /// Its URL.
    pub url: String,
    /// Its host name.
    pub host: String,
    /// Its title; may be empty.
    pub title: String,
    /// The section that matches best, if it is not the page as a whole.
    pub section: Option<SectionRef>,
    /// An excerpt of its text with the words.
    pub snippet: Snippet,
    /// How well it matches; comparable only within one search.
    pub score: f32,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// `html`, `text`, …, if known.
    pub kind: Option<String>,
    /// The metadata that the page states.
    #[serde(with = "stated_as_json")]
    pub stated: page::Fields,
    /// The factor from click evidence that is part of its score.
    pub chosen: f32,
    /// The clauses of the query that it does not contain.
    pub missing: Vec<String>,
    /// URLs of matching near-duplicates, in the order of their ranks.
    pub duplicates: Vec<String>,
}

impl Hit {
    /// Returns the URL of the page, with the fragment of the section that matches best.
    pub fn address(&self) -> String {
        let section = self.section.as_ref();
        with_fragment(&self.url, section.and_then(|section| section.id.as_deref()))
    }
}

/// A section of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionRef {
    /// Its heading.
    pub heading: String,
    /// The fragment that links to it, if any.
    pub id: Option<String>,
}

impl Index {
    /// Searches the last commit.
    pub fn search(&self, query: &SearchQuery<'_>) -> Result<Hits, IndexError> {
        self.try_search(query)
            .map_err(|error| self.fail("search", error))
    }

    fn try_search(&self, query: &SearchQuery<'_>) -> Result<Hits, TantivyError> {
        let parsed = query.parsed();
        if parsed.is_empty() {
            return Ok(Hits {
                unknown: parsed.unknown,
                ..Hits::default()
            });
        }
        let searcher = self.reader.searcher();
        let dictionary = Dictionary::Index(&searcher, &self.fields);
        let found = self.run(&searcher, query, &parsed, dictionary)?;
        let shown = self.shown(&searcher, &found.outcome, query)?;
        let mut finder = found.finder();
        let mut hits = Vec::with_capacity(shown.len());
        for group in shown {
            let page = StoredPage::read(&searcher, &self.fields, group[0].address)?;
            let mut hit = found.hit(&group[0], page, &parsed, &mut finder);
            for other in &group[1..] {
                let page = StoredPage::read(&searcher, &self.fields, other.address)?;
                hit.duplicates.push(page.url);
            }
            hits.push(hit);
        }
        let (total, relaxed) = found.outcome.counts.total();
        Ok(Hits {
            total,
            relaxed,
            corrected: found.corrected,
            unknown: parsed.unknown,
            hits,
            facets: found.facets.map(FacetSums::facets),
        })
    }

    /// Finds and ranks the pages of this index, with the statistics of a dictionary.
    pub(super) fn run(
        &self,
        searcher: &Searcher,
        query: &SearchQuery<'_>,
        parsed: &ParsedQuery,
        dictionary: Dictionary<'_>,
    ) -> Result<FoundPages, TantivyError> {
        let weights = query.weights.cloned().unwrap_or_default();
        let scoring = Scoring::new(&dictionary.size()?, &weights);
        let expansions = expansions(parsed, query, dictionary)?;
        let plan = QueryPlan::new(
            parsed,
            query,
            &expansions.words,
            dictionary,
            &self.fields,
            &scoring,
        )?;
        let mut chosen = Vec::with_capacity(query.chosen.len());
        for &(page, factor) in query.chosen {
            let address = place(searcher, &self.fields, page)?;
            chosen.extend(address.map(|address| (address, factor)));
        }
        let run = PlanRun {
            searcher,
            fields: &self.fields,
            scoring: &scoring,
            plan: &plan,
            sort: query.sort,
            chosen: &chosen,
            keep: query.range().candidates(),
        };
        let mut counting = match query.facets {
            true => Some(FacetCounts::new(searcher)?),
            false => None,
        };
        let outcome = run.run(&mut |segment, doc| {
            if let Some(counting) = &mut counting {
                counting.count(segment, doc);
            }
        })?;
        Ok(FoundPages {
            plan,
            outcome,
            corrected: expansions.corrected(query.text),
            facets: counting.map(FacetCounts::finish).transpose()?,
        })
    }

    /// Returns the groups of near-duplicates that are shown, each with its representative first.
    fn shown(
        &self,
        searcher: &Searcher,
        outcome: &PlanOutcome,
        query: &SearchQuery<'_>,
    ) -> Result<Vec<Vec<RankedPage>>, TantivyError> {
        let best = &outcome.best;
        let mut hashes = Vec::with_capacity(best.len());
        for candidate in best {
            let DocAddress {
                segment_ord,
                doc_id,
            } = candidate.address;
            let columns = searcher.segment_reader(segment_ord).fast_fields();
            hashes.push(columns.u64("simhash")?.first(doc_id).unwrap_or(0));
        }
        let read = |page: &RankedPage| StoredPage::read(searcher, &self.fields, page.address);
        let groups = group(&hashes, |place| {
            read(&best[place]).map(|page| sketch(&page.body))
        })?;
        let mut shown = Vec::new();
        for group in query.range().of(groups) {
            let mut group: Vec<RankedPage> = group.into_iter().map(|place| best[place]).collect();
            if group.len() > 1 {
                let complete: Vec<Completeness> = group.iter().map(|page| page.complete).collect();
                let first = representative(&complete, |place| {
                    read(&group[place]).map(|page| preference(&page, query))
                })?;
                group[..=first].rotate_right(1);
            }
            shown.push(group);
        }
        Ok(shown)
    }
}

/// Returns what decides whether a page represents its near-duplicates: the preference of its
/// language, and the number of links to it.
pub(super) fn preference(page: &StoredPage, query: &SearchQuery<'_>) -> (usize, u32) {
    let language = page.language.as_deref();
    let readers = query.readers.iter();
    let place = language.and_then(|code| readers.clone().position(|reader| *reader == code));
    let preferred = place.map_or(0, |place| query.readers.len() - place);
    (preferred, page.link_stats.in_links)
}

/// The pages of one index that a search found.
pub(super) struct FoundPages {
    plan: QueryPlan,
    pub(super) outcome: PlanOutcome,
    /// The query with corrected spelling, if anything was corrected.
    pub(super) corrected: Option<String>,
    pub(super) facets: Option<FacetSums>,
}

impl FoundPages {
    /// Returns a page as it is shown, without near-duplicates.
    pub(super) fn hit(
        &self,
        found: &RankedPage,
        page: StoredPage,
        parsed: &ParsedQuery,
        finder: &mut SnippetFinder,
    ) -> Hit {
        let (snippet, section) = finder.show(&page.body, &page.sections);
        let section = section.map(|number| {
            let section = &page.sections[number];
            SectionRef {
                heading: section.title(&page.body).to_owned(),
                id: section.id.clone(),
            }
        });
        let needs = self.plan.needs.iter().zip(&parsed.wanted);
        let missing = needs.filter(|(need, _)| {
            let near = need.near != 0 && found.terms & need.near == need.near;
            found.complete == Completeness::Partial && found.terms & need.exact == 0 && !near
        });
        Hit {
            id: page.id,
            url: page.url,
            host: page.host,
            title: page.title,
            section,
            snippet,
            score: found.score,
            chosen: found.chosen,
            fetched_at: page.fetched_at,
            language: page.language,
            kind: page.kind,
            stated: page.stated,
            missing: missing
                .map(|(_, clause)| clause.forms[0].words.join(" "))
                .collect(),
            duplicates: Vec::new(),
        }
    }

    /// Returns the finder for the words of the plan. A compound counts more than its words.
    pub(super) fn finder(&self) -> SnippetFinder {
        let mut words: Vec<(String, f32)> = Vec::new();
        for (bit, term) in self.plan.terms.iter().enumerate() {
            let mut needs = self.plan.needs.iter();
            let needed = needs.any(|need| (need.exact | need.near) & 1 << bit != 0);
            for (lookup, _) in term.lookups.iter().filter(|_| needed) {
                let (these, weight) = match lookup {
                    Lookup::Word(word) => (std::slice::from_ref(word), term.weight),
                    Lookup::Phrase(words) => (&words[..], term.weight / words.len() as f32),
                };
                for word in these {
                    match words.iter_mut().find(|(known, _)| known == word) {
                        Some((_, known)) => *known = known.max(weight),
                        None => words.push((word.clone(), weight)),
                    }
                }
            }
        }
        SnippetFinder::new(&words)
    }
}

/// The hits that a search returns, as a range of all its hits.
#[derive(Debug, Clone, Copy)]
pub(super) struct HitRange {
    offset: usize,
    limit: usize,
}

impl HitRange {
    /// Limits a range to the bounds of a search.
    pub(super) fn new(limit: usize, offset: usize) -> Self {
        Self {
            offset: offset.min(SearchQuery::OFFSET),
            limit: limit.min(SearchQuery::LIMIT),
        }
    }

    /// Returns the number of the best pages that are checked for near-duplicates.
    pub(super) fn candidates(self) -> usize {
        (self.offset + self.limit) * SPARE_EACH + SPARE
    }

    /// Returns the values in the range.
    pub(super) fn of<T>(self, values: Vec<T>) -> impl Iterator<Item = T> {
        values.into_iter().skip(self.offset).take(self.limit)
    }
}

/// Serialises stated metadata as JSON text. It leaves out empty fields, so formats without field
/// names cannot read it.
mod stated_as_json {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

    pub(super) fn serialize<S: Serializer>(
        stated: &page::Fields,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let json = serde_json::to_string(stated).map_err(ser::Error::custom)?;
        json.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<page::Fields, D::Error> {
        let json = String::deserialize(from)?;
        serde_json::from_str(&json).map_err(de::Error::custom)
    }
}
