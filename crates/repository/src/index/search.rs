//! Search: finds the pages that match a query, best first.
//!
//! **Invariant:** a search reads the stored texts of a bounded number of pages
//! ([`SearchQuery::LIMIT`], [`SearchQuery::OFFSET`]). It returns text and ranges, never markup.
//!
//! Pages that have all words come first. If they are fewer than requested, pages follow that
//! lack some words; each of them names the missing words.

use page::PageId;
use page::url::with_fragment;
use tantivy::{DocAddress, Searcher, TantivyError};

use super::duplicates::group;
use super::evaluate::{Completeness, PlanOutcome, PlanRun, RankedPage, Sort};
use super::facets::{FacetCounts, Facets};
use super::plan::{Lookup, QueryPlan};
use super::query::{self, ParsedQuery};
use super::score::Scoring;
use super::snippet::{Snippet, SnippetFinder};
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
        let mut parsed = query::parse(query.text, &mut words::analyzer());
        if let Some(site) = query.site {
            // An invalid site matches no page; without a site, all pages match.
            parsed.site = Some(query::site(site).unwrap_or_default());
        }
        if let Some(kind) = query.kind {
            parsed.kind = Some(query::kind(kind));
        }
        let unknown = std::mem::take(&mut parsed.unknown);
        if parsed.is_empty() {
            return Ok(Hits {
                unknown,
                ..Hits::default()
            });
        }
        let searcher = self.reader.searcher();
        let weights = query.weights.cloned().unwrap_or_default();
        let scoring = Scoring::new(&searcher, &self.fields, &weights)?;
        let expansions = self.expansions(&searcher, &parsed, query)?;
        let plan = QueryPlan::new(
            &parsed,
            query,
            &expansions.words,
            &searcher,
            &self.fields,
            &scoring,
        )?;
        let wanted = query.offset.min(SearchQuery::OFFSET) + query.limit.min(SearchQuery::LIMIT);
        let mut chosen = Vec::with_capacity(query.chosen.len());
        for &(page, factor) in query.chosen {
            let address = place(&searcher, &self.fields, page)?;
            chosen.extend(address.map(|address| (address, factor)));
        }
        let run = PlanRun {
            searcher: &searcher,
            fields: &self.fields,
            scoring: &scoring,
            plan: &plan,
            sort: query.sort,
            chosen: &chosen,
            keep: wanted * SPARE_EACH + SPARE,
        };
        let mut counting = match query.facets {
            true => Some(FacetCounts::new(&searcher)?),
            false => None,
        };
        let outcome = run.run(&mut |segment, doc| {
            if let Some(counting) = &mut counting {
                counting.count(segment, doc);
            }
        })?;
        let shown = self.shown(&searcher, &outcome, query, wanted)?;
        let mut finder = finder(&plan);
        let mut hits = Vec::with_capacity(shown.len());
        for group in shown {
            hits.push(self.hit(&searcher, &group, &plan, &parsed, &mut finder)?);
        }
        let complete = outcome.exact + outcome.near;
        Ok(Hits {
            total: if complete > 0 {
                complete
            } else {
                outcome.partial
            },
            relaxed: complete == 0 && outcome.partial > 0,
            corrected: expansions.corrected(query.text),
            unknown,
            hits,
            facets: counting.map(FacetCounts::finish).transpose()?,
        })
    }

    /// Returns the groups of near-duplicates that are shown, each with its representative first.
    fn shown(
        &self,
        searcher: &Searcher,
        outcome: &PlanOutcome,
        query: &SearchQuery<'_>,
        wanted: usize,
    ) -> Result<Vec<Vec<RankedPage>>, TantivyError> {
        let best = &outcome.best[..outcome.best.len().min(wanted * SPARE_EACH + SPARE)];
        let mut hashes = Vec::with_capacity(best.len());
        for candidate in best {
            let DocAddress {
                segment_ord,
                doc_id,
            } = candidate.address;
            let columns = searcher.segment_reader(segment_ord).fast_fields();
            hashes.push(columns.u64("simhash")?.first(doc_id).unwrap_or(0));
        }
        let groups = group(&hashes, |place| {
            StoredPage::read(searcher, &self.fields, best[place].address).map(|page| page.body)
        })?;
        let groups = groups.into_iter();
        let mut shown = Vec::new();
        for group in groups
            .skip(query.offset.min(SearchQuery::OFFSET))
            .take(query.limit.min(SearchQuery::LIMIT))
        {
            let mut group: Vec<RankedPage> = group.into_iter().map(|place| best[place]).collect();
            if group.len() > 1 {
                let first = self.representative(searcher, &group, query.readers)?;
                group[..=first].rotate_right(1);
            }
            shown.push(group);
        }
        Ok(shown)
    }

    /// Returns the index of the page that represents a group: first by the user's languages,
    /// then by the number of links to it, then by rank.
    ///
    /// Only pages that have as much of the query as the best one are considered.
    fn representative(
        &self,
        searcher: &Searcher,
        group: &[RankedPage],
        readers: &[&str],
    ) -> Result<usize, TantivyError> {
        let mut best = (0, None);
        for (place, candidate) in group
            .iter()
            .enumerate()
            .filter(|(_, other)| other.complete >= group[0].complete)
        {
            let stored = StoredPage::read(searcher, &self.fields, candidate.address)?;
            let language = stored.language.as_deref();
            let preferred =
                language.and_then(|code| readers.iter().position(|reader| *reader == code));
            let preferred = preferred.map_or(0, |place| readers.len() - place);
            let rank = (preferred, stored.link_stats.in_links);
            if best.1.is_none_or(|most| rank > most) {
                best = (place, Some(rank));
            }
        }
        Ok(best.0)
    }

    fn hit(
        &self,
        searcher: &Searcher,
        group: &[RankedPage],
        plan: &QueryPlan,
        parsed: &ParsedQuery,
        finder: &mut SnippetFinder,
    ) -> Result<Hit, TantivyError> {
        let candidate = &group[0];
        let page = StoredPage::read(searcher, &self.fields, candidate.address)?;
        let (snippet, section) = finder.show(&page.body, &page.sections);
        let section = section.map(|number| {
            let section = &page.sections[number];
            SectionRef {
                heading: section.title(&page.body).to_owned(),
                id: section.id.clone(),
            }
        });
        let needs = plan.needs.iter().zip(&parsed.wanted);
        let missing = needs.filter(|(need, _)| {
            let near = need.near != 0 && candidate.terms & need.near == need.near;
            candidate.complete == Completeness::Partial
                && candidate.terms & need.exact == 0
                && !near
        });
        let mut duplicates = Vec::new();
        for other in &group[1..] {
            duplicates.push(StoredPage::read(searcher, &self.fields, other.address)?.url);
        }
        Ok(Hit {
            id: page.id,
            url: page.url,
            host: page.host,
            title: page.title,
            section,
            snippet,
            score: candidate.score,
            chosen: candidate.chosen,
            fetched_at: page.fetched_at,
            language: page.language,
            kind: page.kind,
            stated: page.stated,
            missing: missing
                .map(|(_, clause)| clause.forms[0].words.join(" "))
                .collect(),
            duplicates,
        })
    }
}

/// Returns the finder for the words of a plan. A compound counts more than its words.
fn finder(plan: &QueryPlan) -> SnippetFinder {
    let mut words: Vec<(String, f32)> = Vec::new();
    for (bit, term) in plan.terms.iter().enumerate() {
        let needed = plan
            .needs
            .iter()
            .any(|need| (need.exact | need.near) & 1 << bit != 0);
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
