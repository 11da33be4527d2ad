//! Query planning: turns a parsed query into the terms that are scored and the conditions that
//! pages must meet.

use std::collections::HashMap;
use std::ops::{Bound, Range};

use tantivy::TantivyError;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, Query as Condition, RangeQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Term as Key};

use super::dictionary::Dictionary;
use super::query::{Clause, ClauseForm, ParsedQuery};
use super::schema::SchemaFields;
use super::score::Scoring;
use super::search::SearchQuery;
use super::weights::Part;

/// Maximum number of terms of a query: each has a bit of a `u64`.
const TERMS: usize = 64;

/// The parts in which a word is searched.
pub(super) const ALL_PARTS: &[Part] = &Part::ALL;

/// The parts whose postings have positions.
const IN_ORDER: &[Part] = &[
    Part::Title,
    Part::Headings,
    Part::Ids,
    Part::Anchors,
    Part::Url,
    Part::Body,
];

/// The parts in which the whole query as a phrase adds to the score.
const WHOLE: &[Part] = &[Part::Title, Part::Headings, Part::Anchors, Part::Body];

/// A term that is scored.
#[derive(Debug, Clone)]
pub(super) struct PlanTerm {
    /// What is looked up, each with the weight of an occurrence.
    pub(super) lookups: Vec<(Lookup, f32)>,
    /// The parts in which it is looked up.
    pub(super) parts: &'static [Part],
    /// The upper bound of what it adds to a score.
    pub(super) weight: f32,
}

/// A lookup in the index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lookup {
    Word(String),
    Phrase(Vec<String>),
}

/// What a page should contain for one clause, by the bits of terms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClauseNeed {
    /// A page with any of these terms contains the clause.
    pub(super) exact: u64,
    /// A page with all of these terms nearly contains the clause.
    pub(super) near: u64,
    /// The weight of the clause in the share of the query that a page contains.
    pub(super) weight: f32,
}

/// A query that is ready to run.
pub(super) struct QueryPlan {
    pub(super) terms: Vec<PlanTerm>,
    pub(super) needs: Vec<ClauseNeed>,
    /// The condition that pages must meet; `None` if there is none.
    pub(super) condition: Option<Box<dyn Condition>>,
    /// The conditions that pages must not meet.
    pub(super) unwanted: Vec<Box<dyn Condition>>,
}

/// For each word of a query, given by its byte range: the words that it may stand for, each with
/// the weight of an occurrence.
pub(super) type Variants = HashMap<Range<usize>, Vec<(String, f32)>>;

impl QueryPlan {
    pub(super) fn new(
        parsed: &ParsedQuery,
        query: &SearchQuery<'_>,
        variants: &Variants,
        dictionary: Dictionary<'_>,
        fields: &SchemaFields,
        scoring: &Scoring,
    ) -> Result<Self, TantivyError> {
        let mut planner = Planner {
            terms: Vec::new(),
            needs: Vec::new(),
            variants,
            dictionary,
            scoring,
        };
        for clause in &parsed.wanted {
            planner.clause(clause)?;
        }
        planner.whole(&parsed.wanted);
        let clauses = parsed.unwanted.iter();
        let sites = parsed.other_sites.iter();
        Ok(Self {
            condition: condition(parsed, query, fields),
            unwanted: clauses
                .map(|clause| anywhere(fields, clause))
                .chain(sites.map(|site| has(fields.site, site)))
                .collect(),
            terms: planner.terms,
            needs: planner.needs,
        })
    }
}

struct Planner<'a> {
    terms: Vec<PlanTerm>,
    needs: Vec<ClauseNeed>,
    variants: &'a Variants,
    dictionary: Dictionary<'a>,
    scoring: &'a Scoring,
}

impl Planner<'_> {
    fn clause(&mut self, clause: &Clause) -> Result<(), TantivyError> {
        let words: Vec<&[String]> = clause.forms.iter().map(|form| &form.words[..]).collect();
        let parts = match clause.part {
            None => ALL_PARTS,
            Some(Part::Title) => &[Part::Title],
            Some(_) => &[Part::Url],
        };
        if let [[word]] = words[..]
            && clause.forms[0].compound.is_none()
        {
            let form = &clause.forms[0];
            return self.word(word, form, clause, parts);
        }
        let (mut lookups, mut most, mut sum) = (Vec::new(), 0, f32::MAX);
        for form in &clause.forms {
            if let Some(compound) = &form.compound {
                let pages = self.dictionary.pages(compound, parts)?;
                most = most.max(pages);
                if pages > 0 {
                    lookups.push((Lookup::Word(compound.clone()), 1.0));
                }
            }
            match &form.words[..] {
                [_] if form.compound.is_some() => {}
                [word] => {
                    most = most.max(self.dictionary.pages(word, parts)?);
                    lookups.push((Lookup::Word(word.clone()), 1.0));
                }
                words => {
                    lookups.push((Lookup::Phrase(words.to_vec()), 1.0));
                    let mut together = 0.0;
                    for word in words {
                        together += self.scoring.idf(self.dictionary.pages(word, parts)?);
                    }
                    sum = sum.min(together);
                }
            }
        }
        // A phrase is as rare as its words together, but not rarer than a word that no page has.
        let weight = if most > 0 {
            self.scoring.idf(most)
        } else {
            sum.min(self.scoring.idf(0))
        };
        let exact = match lookups.is_empty() {
            true => 0,
            false => self.push(PlanTerm {
                lookups,
                parts,
                weight,
            }),
        };
        let mut near = 0;
        if !clause.quoted && clause.forms.len() == 1 {
            near =
                self.single_words(&clause.forms[0].words, parts, self.scoring.weights().words)?;
        }
        self.needs.push(ClauseNeed {
            exact,
            near,
            weight,
        });
        Ok(())
    }

    /// Plans a clause of one word.
    ///
    /// Its alternatives, such as other spellings, are looked up too. The parts of a word in
    /// camel case are looked up only if no page has the word or an alternative.
    fn word(
        &mut self,
        word: &str,
        form: &ClauseForm,
        clause: &Clause,
        parts: &'static [Part],
    ) -> Result<(), TantivyError> {
        let variants = self.variants.get(&clause.place);
        let mut pages = self.dictionary.pages(word, parts)?;
        let mut lookups = vec![(Lookup::Word(word.to_owned()), 1.0)];
        for (other, weight) in variants.into_iter().flatten() {
            pages = pages.max(self.dictionary.pages(other, parts)?);
            if other != word {
                lookups.push((Lookup::Word(other.clone()), *weight));
            }
        }
        let weight = self.scoring.idf(pages);
        let exact = self.push(PlanTerm {
            lookups,
            parts,
            weight,
        });
        let mut near = 0;
        if pages == 0 {
            near = self.single_words(&form.parts, parts, 1.0)?;
        }
        self.needs.push(ClauseNeed {
            exact,
            near,
            weight,
        });
        Ok(())
    }

    /// Adds a term for each of these words, with its weight multiplied by `factor`. Returns
    /// their bits.
    fn single_words(
        &mut self,
        words: &[String],
        parts: &'static [Part],
        factor: f32,
    ) -> Result<u64, TantivyError> {
        let mut bits = 0;
        for word in words {
            let weight = self.scoring.idf(self.dictionary.pages(word, parts)?) * factor;
            bits |= self.push(PlanTerm {
                lookups: vec![(Lookup::Word(word.clone()), 1.0)],
                parts,
                weight,
            });
        }
        Ok(bits)
    }

    /// Adds a term for all words of the query as a phrase, if the query has several clauses and
    /// none has alternatives or is limited to one part.
    fn whole(&mut self, wanted: &[Clause]) {
        let plain = wanted
            .iter()
            .all(|clause| clause.forms.len() == 1 && clause.part.is_none());
        if wanted.len() < 2 || !plain {
            return;
        }
        let words: Vec<String> = wanted
            .iter()
            .flat_map(|clause| clause.forms[0].words.iter().cloned())
            .collect();
        let weight = self.needs.iter().map(|need| need.weight).sum::<f32>();
        self.push(PlanTerm {
            lookups: vec![(Lookup::Phrase(words), 1.0)],
            parts: WHOLE,
            weight: weight * self.scoring.weights().order,
        });
    }

    /// Adds a term. Returns its bit, or 0 if there are too many terms.
    fn push(&mut self, term: PlanTerm) -> u64 {
        if self.terms.len() == TERMS {
            return 0;
        }
        self.terms.push(term);
        1 << (self.terms.len() - 1)
    }
}

/// Returns the condition that pages must meet.
fn condition(
    parsed: &ParsedQuery,
    query: &SearchQuery<'_>,
    fields: &SchemaFields,
) -> Option<Box<dyn Condition>> {
    let mut all: Vec<Box<dyn Condition>> = Vec::new();
    all.extend(parsed.site.as_ref().map(|site| has(fields.site, site)));
    all.extend(query.language.map(|code| has(fields.language, code)));
    all.extend(parsed.kind.as_ref().map(|kind| has(fields.kind, kind)));
    // Quoted clauses and clauses for one part must match exactly. Pages without them are not
    // shown.
    let exact = parsed
        .wanted
        .iter()
        .filter(|clause| clause.quoted || clause.part.is_some());
    all.extend(exact.map(|clause| anywhere(fields, clause)));
    for name in &parsed.authors {
        all.push(in_field(fields.author, name));
    }
    let date = parsed.date.clone();
    let dates = [
        (
            fields.date,
            date.as_ref().map(|date| date.start),
            date.as_ref().map(|date| date.end),
        ),
        (fields.date, query.published_since, query.published_until),
        (fields.fetched_at, query.since, query.until),
    ];
    for (field, since, until) in dates {
        if since.is_some() || until.is_some() {
            all.push(within(field, since, until));
        }
    }
    if all.is_empty() {
        return None;
    }
    let all = all.into_iter().map(|condition| (Occur::Must, condition));
    Some(Box::new(BooleanQuery::new(all.collect())))
}

fn within(field: Field, since: Option<i64>, until: Option<i64>) -> Box<dyn Condition> {
    let at = |seconds| Key::from_field_i64(field, seconds);
    let since = since.map_or(Bound::Unbounded, |time| Bound::Included(at(time)));
    let until = until.map_or(Bound::Unbounded, |time| Bound::Excluded(at(time)));
    Box::new(RangeQuery::new(since, until))
}

fn has(field: Field, value: &str) -> Box<dyn Condition> {
    Box::new(TermQuery::new(
        Key::from_field_text(field, value),
        IndexRecordOption::Basic,
    ))
}

/// Returns the condition that a clause occurs in its part, or in any part with positions if it is
/// not limited to one.
fn anywhere(fields: &SchemaFields, clause: &Clause) -> Box<dyn Condition> {
    let only = clause.part.map(|part| vec![part]);
    let parts = only.as_deref().unwrap_or(IN_ORDER);
    let mut any: Vec<(Occur, Box<dyn Condition>)> = Vec::new();
    for form in &clause.forms {
        for &part in parts {
            let field = fields.part(part);
            let words = match (&form.compound, &form.words[..]) {
                (Some(compound), [_]) => std::slice::from_ref(compound),
                (_, words) => words,
            };
            any.push((Occur::Should, in_field(field, words)));
        }
    }
    Box::new(BooleanQuery::new(any))
}

/// Returns the condition that words follow each other in one field.
fn in_field(field: Field, words: &[String]) -> Box<dyn Condition> {
    let mut terms: Vec<Key> = words
        .iter()
        .map(|word| Key::from_field_text(field, word))
        .collect();
    if terms.len() == 1 {
        return Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic));
    }
    Box::new(PhraseQuery::new(terms))
}

#[cfg(test)]
mod tests {
    use page::PageId;

    use super::super::query::parse;
    use super::super::weights::Weights;
    use super::super::words::analyzer;
    use super::super::{Document, Index};
    use super::*;

    /// Twelve pages: `rare` is on one, `some` on four, `all` on twelve, `os.path` on two.
    fn index(dir: &std::path::Path) -> Index {
        let index = Index::open(dir).unwrap();
        let mut writer = index.writer(15_000_000).unwrap();
        for n in 0..12u32 {
            let mut text = "all".to_owned();
            for (word, pages) in [
                ("rare", 1),
                ("some", 4),
                ("os.path", 2),
                ("os path apart", 3),
            ] {
                if n < pages {
                    text += " ";
                    text += word;
                }
            }
            let url = format!("http://a.example/{n}");
            let page = Document {
                text: &text,
                ..Document::new(PageId(n.into()), &url, "a.example")
            };
            writer.put(&page).unwrap();
        }
        writer.commit(1).unwrap();
        index
    }

    fn with_plan<T>(
        text: &str,
        variants: &Variants,
        see: impl Fn(&QueryPlan, &dyn Fn(u64) -> f32, &Weights) -> T,
    ) -> T {
        let dir = tempfile::tempdir().unwrap();
        let index = index(dir.path());
        let searcher = index.reader.searcher();
        let weights = Weights::default();
        let dictionary = Dictionary::Index(&searcher, &index.fields);
        let scoring = Scoring::new(&dictionary.size().unwrap(), &weights);
        let parsed = parse(text, &mut analyzer());
        let plan = QueryPlan::new(
            &parsed,
            &SearchQuery::default(),
            variants,
            dictionary,
            &index.fields,
            &scoring,
        )
        .unwrap();
        see(&plan, &|pages| scoring.idf(pages), &weights)
    }

    fn near(one: f32, other: f32) {
        assert!((one - other).abs() < 1e-5, "{one} {other}");
    }

    fn none() -> Variants {
        Variants::new()
    }

    #[test]
    fn a_compound_is_looked_up_as_it_is_and_by_its_words() {
        with_plan("os.path", &none(), |plan, idf, weights| {
            let lookups = &plan.terms[0].lookups;
            assert_eq!(lookups[0].0, Lookup::Word("os.path".into()));
            assert_eq!(
                lookups[1].0,
                Lookup::Phrase(vec!["os".into(), "path".into()])
            );
            near(plan.terms[0].weight, idf(2));
            near(plan.terms[1].weight, idf(3) * weights.words);
            assert_eq!(
                plan.needs,
                [ClauseNeed {
                    exact: 1,
                    near: 0b110,
                    weight: plan.terms[0].weight
                }]
            );
            assert_eq!(plan.terms.len(), 3);
        });
        // No page has the compound, so only the phrase is left.
        with_plan("path.all", &none(), |plan, idf, _| {
            assert_eq!(
                plan.terms[0].lookups,
                [(Lookup::Phrase(vec!["path".into(), "all".into()]), 1.0)]
            );
            near(plan.terms[0].weight, idf(3) + idf(12));
        });
        with_plan("rare.os", &none(), |plan, idf, _| {
            near(plan.terms[0].weight, idf(0))
        });
        with_plan("--rare", &none(), |plan, idf, _| {
            assert_eq!((plan.needs[0].exact, plan.terms.len()), (0, 1));
            near(plan.needs[0].weight, idf(0));
            assert_eq!(plan.needs[0].near.count_ones(), 1);
        });
    }

    #[test]
    fn clauses_that_are_quoted_or_have_alternatives_have_no_near_terms() {
        with_plan("\"os path\"", &none(), |plan, _, _| {
            assert_eq!((plan.terms.len(), plan.needs[0].near), (1, 0));
            assert!(plan.condition.is_some());
        });
        with_plan("rare OR some", &none(), |plan, idf, _| {
            assert_eq!((plan.terms.len(), plan.needs[0].near), (1, 0));
            near(plan.terms[0].weight, idf(4));
            assert_eq!(plan.terms[0].lookups.len(), 2);
            assert!(plan.condition.is_none());
        });
        with_plan("title:rare", &none(), |plan, idf, _| {
            assert_eq!(plan.terms[0].parts, [Part::Title]);
            near(plan.terms[0].weight, idf(0));
            assert!(plan.condition.is_some());
        });
    }

    #[test]
    fn the_whole_query_as_a_phrase_is_an_additional_term() {
        with_plan("rare some all", &none(), |plan, idf, weights| {
            assert_eq!((plan.terms.len(), plan.needs.len()), (4, 3));
            let words = ["rare", "some", "all"].map(str::to_owned);
            assert_eq!(
                plan.terms[3].lookups,
                [(Lookup::Phrase(words.to_vec()), 1.0)]
            );
            near(
                plan.terms[3].weight,
                weights.order * (idf(1) + idf(4) + idf(12)),
            );
        });
        for single in ["rare", "rare OR some all", "title:rare some"] {
            with_plan(single, &none(), |plan, _, _| {
                assert_eq!(plan.terms.len(), plan.needs.len(), "{single}")
            });
        }
    }

    #[test]
    fn other_spellings_are_looked_up_too() {
        let others = vec![("rare".into(), 0.5), ("some".into(), 0.25)];
        let variants = Variants::from([(0..5, others)]);
        with_plan("rrare", &variants, |plan, idf, _| {
            let word = |word: &str, weight| (Lookup::Word(word.into()), weight);
            assert_eq!(
                plan.terms[0].lookups,
                [word("rrare", 1.0), word("rare", 0.5), word("some", 0.25)]
            );
            near(plan.terms[0].weight, idf(4));
        });
        // The parts of a word in camel case count only if no page has the word.
        with_plan("someRare", &none(), |plan, _, _| {
            assert_eq!(plan.needs[0].near.count_ones(), 2)
        });
        with_plan("Some", &none(), |plan, _, _| {
            assert_eq!(plan.needs[0].near, 0)
        });
    }
}
