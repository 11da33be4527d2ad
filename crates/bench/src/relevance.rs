//! `bench relevance`: the rank of the right page in search results.
//!
//! MRR@10 is the mean of 1/rank of the first right page, or 0 if it is not among the first ten.
//! S@k is the share of questions with a right page among the first k.
//!
//! **Invariant:** the right pages come with the questions; this code does not decide which page is
//! right. Searches use [`Index::search`], as the search page does.

mod questions;
mod sites;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use repository::index::{Hit, Index, Part, SearchQuery, Weights};
use serde::Serialize;

use questions::RelevanceQuestion;

/// Results per search.
const DEPTH: usize = 10;

/// The minimum gain in MRR@10 for which tuning keeps a change.
const CLEARLY: f64 = 0.0003;

/// The quality of the answers to some questions.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct AnswerQuality {
    questions: usize,
    mrr: f64,
    s1: f64,
    s5: f64,
    /// The share of first results whose snippet has all words of the query.
    snippet: f64,
}

/// One variant of the search, with its quality by kind of question; `all` is for all kinds
/// together.
#[derive(Debug, Serialize)]
struct RelevanceRow {
    name: String,
    kinds: BTreeMap<String, AnswerQuality>,
}

/// Options of `bench relevance`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench relevance --questions my-questions.tsv --store my-store
  cargo xtask bench relevance --questions docs/science/relevance/tuning.tsv --site zsh.test=/usr/share/doc/zsh-common/html

A question is a line of four fields, separated by tabs: kind, site, query, and the URLs of the right pages, separated by
spaces. docs/science/relevance.md explains how to write questions.")]
pub struct RelevanceOptions {
    /// File of questions
    #[arg(long, value_name = "FILE")]
    pub questions: PathBuf,
    /// A crawled store whose index is searched
    #[arg(long, value_name = "DIR", required_unless_present = "site")]
    pub store: Option<PathBuf>,
    /// A directory of HTML files, indexed as http://NAME/path/of/file.html (repeatable)
    #[arg(long, value_name = "NAME=DIR", conflicts_with = "store")]
    pub site: Vec<String>,
    /// Rank with another weight (repeatable): title, headings, ids, anchors, url, body, rest, each
    /// also with `.length`; saturation, links, hub, words, order, missing
    #[arg(long, value_name = "NAME=NUMBER")]
    pub set: Vec<String>,
    /// Tune the weights one at a time, keeping changes that raise MRR@10 by more than 0.0003; takes
    /// minutes
    #[arg(long)]
    pub tune: bool,
    /// Print the queries whose right page is not first, with its rank and the first page
    #[arg(long)]
    pub failures: bool,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Searches for every question, and prints the tables.
pub fn run(options: &RelevanceOptions, place: &Path) -> Result<()> {
    let questions = questions::read(&options.questions)?;
    ensure!(!questions.is_empty(), "the file has no questions");
    let index = match &options.store {
        Some(store) => Index::open(&store.join("index")).context("cannot open the index")?,
        None => sites::index(&options.site, &place.join("index"))?,
    };
    eprintln!("{} pages, {} questions", index.count(), questions.len());
    let mut weights = chosen(&options.set)?;
    if options.tune {
        weights = tuned(weights, &index, &questions)?;
    }
    let variant = |name: &str, weights: &Weights, of_site| SearchVariant {
        name: name.to_owned(),
        weights: weights.clone(),
        of_site,
    };
    let mut variants = vec![
        variant("one site", &weights, true),
        variant("all sites", &weights, false),
    ];
    for part in Part::ALL {
        let mut without = weights.clone();
        without.parts[part as usize] = 0.0;
        variants.push(variant(&format!("without {}", part.name()), &without, true));
    }
    for name in ["links", "hub", "order"] {
        let mut without = weights.clone();
        set(&mut without, name, 0.0)?;
        variants.push(variant(&format!("without {name}"), &without, true));
    }
    let mut rows = Vec::new();
    for (number, variant) in variants.iter().enumerate() {
        rows.push(row(
            variant,
            &index,
            &questions,
            options.failures && number == 0,
        )?);
    }
    if options.json {
        println!("{}", serde_json::to_string(&rows)?);
    } else {
        print(&rows);
    }
    Ok(())
}

/// A variant of the search.
struct SearchVariant {
    name: String,
    weights: Weights,
    /// Whether a question is limited to its site.
    of_site: bool,
}

/// Returns the default weights with the changes of `NAME=NUMBER`.
fn chosen(set_to: &[String]) -> Result<Weights> {
    let mut weights = Weights::default();
    for setting in set_to {
        let (name, value) = setting
            .split_once('=')
            .with_context(|| format!("not NAME=NUMBER: {setting}"))?;
        let value = value
            .parse()
            .with_context(|| format!("not a number: {value}"))?;
        set(&mut weights, name, value)?;
    }
    Ok(weights)
}

fn set(weights: &mut Weights, name: &str, value: f32) -> Result<()> {
    let mut named = weights.named();
    let known: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
    let found = named.iter_mut().find(|(other, _)| other == name);
    let (_, weight) =
        found.with_context(|| format!("no weight {name}; there are: {}", known.join(", ")))?;
    **weight = value;
    Ok(())
}

/// Tunes the weights by coordinate ascent.
///
/// Tries each weight larger and smaller, keeps a change that raises MRR@10 by more than
/// [`CLEARLY`], and stops when no change does.
fn tuned(mut best: Weights, index: &Index, questions: &[RelevanceQuestion]) -> Result<Weights> {
    let quality = |weights: &Weights| -> Result<f64> {
        let variant = SearchVariant {
            name: String::new(),
            weights: weights.clone(),
            of_site: true,
        };
        Ok(row(&variant, index, questions, false)?.kinds["all"].mrr)
    };
    let mut most = quality(&best)?;
    eprintln!("MRR@10 {most:.4}");
    let names: Vec<String> = best.named().into_iter().map(|(name, _)| name).collect();
    for factor in [2.0, 1.4] {
        loop {
            let before = most;
            for name in &names {
                for factor in [factor, 1.0 / factor] {
                    let mut other = best.clone();
                    let mut named = other.named();
                    let Some((_, weight)) = named.iter_mut().find(|(other, _)| other == name)
                    else {
                        continue;
                    };
                    **weight *= factor;
                    if name.ends_with(".length") || name == "hub" {
                        **weight = weight.min(1.0);
                    }
                    let value = **weight;
                    let mrr = quality(&other)?;
                    if mrr > most + CLEARLY {
                        eprintln!("MRR@10 {mrr:.4} with {name} = {value:.3}");
                        (best, most) = (other, mrr);
                    }
                }
            }
            if most < before + CLEARLY {
                break;
            }
        }
    }
    for (name, value) in best.named() {
        eprintln!("{name} = {value:.3}");
    }
    Ok(best)
}

/// Searches for every question with one variant.
fn row(
    variant: &SearchVariant,
    index: &Index,
    questions: &[RelevanceQuestion],
    failures: bool,
) -> Result<RelevanceRow> {
    let mut kinds: BTreeMap<String, AnswerQuality> = BTreeMap::new();
    for question in questions {
        let query = SearchQuery {
            text: &question.query,
            limit: DEPTH,
            site: variant.of_site.then_some(question.site.as_str()),
            weights: Some(&variant.weights),
            ..SearchQuery::default()
        };
        let hits = index.search(&query)?.hits;
        let rank = hits.iter().position(|hit| question.urls.contains(&hit.url));
        if failures && rank != Some(0) {
            let first = hits.first().map_or("", |hit| hit.url.as_str());
            let rank = rank.map_or("-".to_owned(), |rank| (rank + 1).to_string());
            let RelevanceQuestion {
                kind, query, urls, ..
            } = question;
            println!("{kind}\t{query}\t{rank}\t{}\t{first}", urls[0]);
        }
        for kind in [question.kind.as_str(), "all"] {
            let quality = kinds.entry(kind.to_owned()).or_default();
            quality.add(rank);
            quality.snippet += f64::from(u8::from(shows_all(&question.query, hits.first())));
        }
    }
    for quality in kinds.values_mut() {
        quality.finish();
    }
    Ok(RelevanceRow {
        name: variant.name.clone(),
        kinds,
    })
}

/// Returns whether the snippet of a result has every word of a query.
fn shows_all(query: &str, hit: Option<&Hit>) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let shown = hit.map(|hit| words(&hit.snippet.text)).unwrap_or_default();
    words(query).iter().all(|word| shown.contains(word))
}

impl AnswerQuality {
    /// Adds a question whose right page has this position, from 0; `None` if it was not found.
    fn add(&mut self, place: Option<usize>) {
        self.questions += 1;
        if let Some(place) = place {
            self.mrr += 1.0 / (place + 1) as f64;
            self.s1 += f64::from(u8::from(place < 1));
            self.s5 += f64::from(u8::from(place < 5));
        }
    }

    /// Turns sums into means.
    fn finish(&mut self) {
        for sum in [&mut self.mrr, &mut self.s1, &mut self.s5, &mut self.snippet] {
            *sum /= self.questions as f64;
        }
    }
}

fn print(rows: &[RelevanceRow]) {
    let Some(first) = rows.first() else { return };
    for (title, of) in [
        (
            "MRR@10",
            (|quality| quality.mrr) as fn(&AnswerQuality) -> f64,
        ),
        ("S@1", |quality| quality.s1),
        ("S@5", |quality| quality.s5),
        ("all words in the snippet", |quality| quality.snippet),
    ] {
        print!("{title:<24}");
        for (kind, quality) in &first.kinds {
            print!(" {:>14}", format!("{kind} ({})", quality.questions));
        }
        println!();
        for row in rows {
            print!("{:<24}", row.name);
            for quality in row.kinds.values() {
                print!(" {:>14.3}", of(quality));
            }
            println!();
        }
        println!();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mrr_and_success_rates_are_means_over_questions() {
        let mut quality = AnswerQuality::default();
        for place in [Some(0), Some(3), Some(9), None] {
            quality.add(place);
        }
        quality.finish();
        assert!((quality.mrr - (1.0 + 0.25 + 0.1) / 4.0).abs() < 1e-12);
        assert!((quality.s1 - 0.25).abs() < 1e-12);
        assert!((quality.s5 - 0.5).abs() < 1e-12);
    }
}
