//! Measures relevance: how early the right page stands among the results.
//!
//! **Invariant:** the answers come with the questions; nothing here decides which page is right. A search is
//! [`Index::search`], the one that people use.
//!
//! MRR@10 is the mean of 1/rank of the first right page, 0 if it is not among the first ten; S@k is the share of
//! questions with a right page among the first k.

mod questions;
mod sites;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use repository::index::{Index, Query};
use serde::Serialize;
use xtask::cli::Relevance;

use questions::Question;

/// Results that are looked at.
const DEPTH: usize = 10;

/// How good the answers to some questions are.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Quality {
    questions: usize,
    mrr: f64,
    s1: f64,
    s5: f64,
}

/// One way to search, and the quality by kind of question; `all` is every kind together.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    kinds: BTreeMap<String, Quality>,
}

/// Asks every question, and prints the tables.
pub fn run(wishes: &Relevance, place: &Path) -> Result<()> {
    let questions = questions::read(&wishes.questions)?;
    ensure!(!questions.is_empty(), "there are no questions");
    let index = match &wishes.store {
        Some(store) => Index::open(&store.join("index")).context("cannot open the index")?,
        None => sites::index(&wishes.site, &place.join("index"))?,
    };
    eprintln!("{} pages, {} questions", index.count(), questions.len());
    let mut rows = vec![
        row("one site", &index, &questions, true, wishes.failures)?,
        row("all sites", &index, &questions, false, false)?,
    ];
    rows.retain(|row| !row.kinds.is_empty());
    if wishes.json {
        println!("{}", serde_json::to_string(&rows)?);
    } else {
        print(&rows);
    }
    Ok(())
}

/// Asks every question in one way.
fn row(
    name: &str,
    index: &Index,
    questions: &[Question],
    of_site: bool,
    failures: bool,
) -> Result<Row> {
    let mut kinds: BTreeMap<String, Quality> = BTreeMap::new();
    for question in questions {
        let query = Query {
            text: &question.query,
            limit: DEPTH,
            site: of_site.then_some(question.site.as_str()),
            ..Query::default()
        };
        let hits = index.search(&query)?.hits;
        let rank = hits.iter().position(|hit| question.urls.contains(&hit.url));
        if failures && rank != Some(0) {
            let first = hits.first().map_or("", |hit| hit.url.as_str());
            let rank = rank.map_or("-".to_owned(), |rank| (rank + 1).to_string());
            let Question {
                kind, query, urls, ..
            } = question;
            println!("{kind}\t{query}\t{rank}\t{}\t{first}", urls[0]);
        }
        for kind in [question.kind.as_str(), "all"] {
            kinds.entry(kind.to_owned()).or_default().add(rank);
        }
    }
    for quality in kinds.values_mut() {
        quality.finish();
    }
    Ok(Row {
        name: name.to_owned(),
        kinds,
    })
}

impl Quality {
    /// Counts a question whose right page has this place, from 0.
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
        for sum in [&mut self.mrr, &mut self.s1, &mut self.s5] {
            *sum /= self.questions as f64;
        }
    }
}

fn print(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    for (title, of) in [
        ("MRR@10", (|quality| quality.mrr) as fn(&Quality) -> f64),
        ("S@1", |quality| quality.s1),
        ("S@5", |quality| quality.s5),
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
    fn qualities_are_means() {
        let mut quality = Quality::default();
        for place in [Some(0), Some(3), Some(9), None] {
            quality.add(place);
        }
        quality.finish();
        assert!((quality.mrr - (1.0 + 0.25 + 0.1) / 4.0).abs() < 1e-12);
        assert!((quality.s1 - 0.25).abs() < 1e-12);
        assert!((quality.s5 - 0.5).abs() < 1e-12);
    }
}
