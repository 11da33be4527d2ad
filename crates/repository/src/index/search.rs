//! Searching: the pages that hold what was asked for, best first.
//!
//! **Invariant:** a search touches no more than [`Query::LIMIT`] pages of results and reads a
//! bounded part of each; what it returns is text and ranges, never markup.
//!
//! Pages that have all words come first. Where they are fewer than asked for, pages follow that lack some, and each
//! says which.

use page::PageId;
use page::url::with_fragment;
use tantivy::{DocAddress, Searcher, TantivyError};

use super::duplicates::group;
use super::evaluate::{Candidate, Completeness, Outcome, Run, Sort};
use super::facets::{Counting, Facets};
use super::plan::{Lookup, Plan};
use super::query::{self, Parsed};
use super::score::Scoring;
use super::snippet::{Finder, Snippet};
use super::stored::{Stored, place};
use super::weights::Weights;
use super::{Index, IndexError, words};

/// Pages that are looked at for near-duplicates beyond those that are shown, and for each that is shown.
const SPARE: usize = 40;
const SPARE_EACH: usize = 3;

/// A search.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    /// What the searcher typed: words, `a OR b`, `"phrases"`, `-exclusions`, `site:example.org`, `title:word`,
    /// `url:word`, `author:name`, `date:2024-05`, `filetype:html`.
    pub text: &'a str,
    /// How many hits to return, up to [`Query::LIMIT`].
    pub limit: usize,
    /// How many to pass over, up to [`Query::OFFSET`].
    pub offset: usize,
    /// Only pages of this host or of hosts below it; wins over `site:` in the text.
    pub site: Option<&'a str>,
    /// Only pages in this language.
    pub language: Option<&'a str>,
    /// Only documents of this kind (`html`, `text`); wins over `filetype:` in the text.
    pub kind: Option<&'a str>,
    /// Only copies that were fetched at this time or later, in Unix seconds.
    pub since: Option<i64>,
    /// Only copies that were fetched before this time, in Unix seconds.
    pub until: Option<i64>,
    /// Only pages that say they were published at this time or later, in Unix seconds.
    pub published_since: Option<i64>,
    /// Only pages that say they were published before this time, in Unix seconds.
    pub published_until: Option<i64>,
    /// What comes first.
    pub sort: Sort,
    /// Whether the last word may be the beginning of one: the searcher is still typing.
    pub prefix: bool,
    /// Whether to count the pages by site, language, kind and year.
    pub facets: bool,
    /// The languages that the reader prefers: of pages with nearly the same text, one in these is shown.
    pub readers: &'a [&'a str],
    /// What the scores of some pages are multiplied by: evidence from clicks ([`Choices`](crate::log::Choices)).
    pub chosen: &'a [(PageId, f32)],
    /// How pages are ranked; [`Weights::default`] if `None`.
    pub weights: Option<&'a Weights>,
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
    /// What was searched for in place of the text, where no page had some of its words.
    pub corrected: Option<String>,
    /// What looks like an operator and is none; it was searched for as words.
    pub unknown: Vec<String>,
    /// The best of them, or those after `offset`.
    pub hits: Vec<Hit>,
    /// The pages that match, counted, if that was asked for.
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
    /// The section that answers best, if it is not the page as a whole.
    pub section: Option<Place>,
    /// Where its text mentions the words.
    pub snippet: Snippet,
    /// How well it matches; comparable only within one search.
    pub score: f32,
    /// When it was fetched, in Unix seconds.
    pub fetched_at: i64,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// `html`, `text`, …, if known.
    pub kind: Option<String>,
    /// What it says of itself to machines.
    pub stated: page::Fields,
    /// What evidence from clicks multiplied its score by.
    pub chosen: f32,
    /// What was asked for and it does not have.
    pub missing: Vec<String>,
    /// Other pages that match with nearly the same text, in the order of their scores.
    pub duplicates: Vec<String>,
}

impl Hit {
    /// Where it is best opened: its URL, with the section that answers best.
    pub fn address(&self) -> String {
        let section = self.section.as_ref();
        with_fragment(&self.url, section.and_then(|section| section.id.as_deref()))
    }
}

/// A section of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its heading.
    pub heading: String,
    /// What a URL's fragment names it by, if anything.
    pub id: Option<String>,
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
        let plan = Plan::new(
            &parsed,
            query,
            &expansions,
            &searcher,
            &self.fields,
            &scoring,
        )?;
        let wanted = query.offset.min(Query::OFFSET) + query.limit.min(Query::LIMIT);
        let mut chosen = Vec::with_capacity(query.chosen.len());
        for &(page, factor) in query.chosen {
            let address = place(&searcher, &self.fields, page)?;
            chosen.extend(address.map(|address| (address, factor)));
        }
        let run = Run {
            searcher: &searcher,
            fields: &self.fields,
            scoring: &scoring,
            plan: &plan,
            sort: query.sort,
            chosen: &chosen,
            keep: wanted * SPARE_EACH + SPARE,
        };
        let mut counting = match query.facets {
            true => Some(Counting::new(&searcher)?),
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
            facets: counting.map(Counting::finish).transpose()?,
        })
    }

    /// The groups of near-duplicates that are shown, each with the page that stands for it first.
    fn shown(
        &self,
        searcher: &Searcher,
        outcome: &Outcome,
        query: &Query<'_>,
        wanted: usize,
    ) -> Result<Vec<Vec<Candidate>>, TantivyError> {
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
            Stored::read(searcher, &self.fields, best[place].address).map(|page| page.body)
        })?;
        let groups = groups.into_iter();
        let mut shown = Vec::new();
        for group in groups
            .skip(query.offset.min(Query::OFFSET))
            .take(query.limit.min(Query::LIMIT))
        {
            let mut group: Vec<Candidate> = group.into_iter().map(|place| best[place]).collect();
            if group.len() > 1 {
                let first = self.representative(searcher, &group, query.readers)?;
                group[..=first].rotate_right(1);
            }
            shown.push(group);
        }
        Ok(shown)
    }

    /// The page of a group that is shown: one in a language of the reader, then the one with most links to it, then
    /// the best. Only pages that have as much of the query as the best one can stand for it.
    fn representative(
        &self,
        searcher: &Searcher,
        group: &[Candidate],
        readers: &[&str],
    ) -> Result<usize, TantivyError> {
        let mut best = (0, None);
        for (place, candidate) in group
            .iter()
            .enumerate()
            .filter(|(_, other)| other.complete >= group[0].complete)
        {
            let stored = Stored::read(searcher, &self.fields, candidate.address)?;
            let language = stored.language.as_deref();
            let preferred =
                language.and_then(|code| readers.iter().position(|reader| *reader == code));
            let preferred = preferred.map_or(0, |place| readers.len() - place);
            let rank = (preferred, stored.standing.in_links);
            if best.1.is_none_or(|most| rank > most) {
                best = (place, Some(rank));
            }
        }
        Ok(best.0)
    }

    fn hit(
        &self,
        searcher: &Searcher,
        group: &[Candidate],
        plan: &Plan,
        parsed: &Parsed,
        finder: &mut Finder,
    ) -> Result<Hit, TantivyError> {
        let candidate = &group[0];
        let page = Stored::read(searcher, &self.fields, candidate.address)?;
        let (snippet, section) = finder.show(&page.body, &page.sections);
        let section = section.map(|number| {
            let section = &page.sections[number];
            Place {
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
            duplicates.push(Stored::read(searcher, &self.fields, other.address)?.url);
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

/// What finds the words of a plan in a text. A compound counts more than its words.
fn finder(plan: &Plan) -> Finder {
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
    Finder::new(&words)
}
