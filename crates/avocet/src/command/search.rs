//! `avocet search`: the index, from the terminal.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use repository::index::{Hit, Hits, Query, Sort};
use repository::log::{self, Log};
use serde_json::json;

use crate::cli::{Order, Search};
use node::readable::stated::Stated;
use node::settings::topic::Subject;
use node::{store, topics};

/// Searches.
pub fn run(root: &Path, json: bool, wishes: &Search) -> Result<()> {
    let index = store::search_index(root)?;
    let text = wishes.query.join(" ");
    let query = Query {
        text: &text,
        limit: wishes.limit.into(),
        offset: wishes.offset.into(),
        site: wishes.site.as_deref(),
        language: wishes.language.as_deref(),
        sort: match wishes.sort {
            Order::Relevance => Sort::Relevance,
            Order::Newest => Sort::Newest,
        },
        ..Query::default()
    };
    let found = match &wishes.topic {
        Some(name) => topics::search(&index, &query, &Subject::of(root, name)?.open()?)?,
        None => index.search(&query)?,
    };
    if !wishes.no_log
        && let Err(error) = Log::open(&store::log(root)).append(&logged(&text, wishes, &found))
    {
        // Who searches a store that is read only still wants an answer.
        eprintln!("this search is not in the log: {error}: {}", error.source);
    }
    let mut out = std::io::stdout().lock();
    if json {
        let results: Vec<_> = found.hits.iter().map(document).collect();
        let answer = json!({
            "query": text,
            "corrected": found.corrected,
            "unknown_operators": found.unknown,
            "total": found.total,
            "relaxed": found.relaxed,
            "results": results,
        });
        writeln!(out, "{answer}")?;
        return Ok(());
    }
    let note = match (&found.corrected, found.relaxed) {
        (_, true) => ", none with all words".to_owned(),
        (Some(corrected), false) => format!(" for {}", tame(corrected)),
        (None, false) => String::new(),
    };
    for operator in &found.unknown {
        eprintln!(
            "{} is no operator; it was searched for as words",
            tame(operator)
        );
    }
    writeln!(out, "{} results{note}", found.total)?;
    let bold = out.is_terminal();
    for (rank, hit) in found.hits.iter().enumerate() {
        let rank = rank + 1 + usize::from(wishes.offset);
        show(&mut out, rank, hit, bold)?;
    }
    Ok(())
}

/// Prints a result.
fn show(out: &mut impl Write, rank: usize, hit: &Hit, bold: bool) -> Result<()> {
    let title = if hit.title.is_empty() {
        &hit.url
    } else {
        &tame(&hit.title)
    };
    writeln!(out, "\n{rank:>3}. {title}\n     {}", tame(&hit.address()))?;
    if let Some(section) = &hit.section {
        writeln!(out, "     {}", one_line(&tame(&section.heading)))?;
    }
    writeln!(out, "     {}", snippet(hit, bold))?;
    if !hit.missing.is_empty() {
        writeln!(out, "     without: {}", tame(&hit.missing.join(", ")))?;
    }
    match &hit.duplicates[..] {
        [] => {}
        [other] => writeln!(out, "     and one more like it: {}", tame(other))?,
        [first, ..] => writeln!(
            out,
            "     and {} more like it: {}, …",
            hit.duplicates.len(),
            tame(first)
        )?,
    }
    Ok(())
}

/// What the log keeps of a search: nothing of the person.
fn logged(text: &str, wishes: &Search, found: &Hits) -> log::Search {
    let mut search = log::Search::new(jiff::Timestamp::now(), text);
    search.offset = wishes.offset.into();
    search.shown = found.hits.iter().map(|hit| hit.url.clone()).collect();
    search
}

fn document(hit: &Hit) -> serde_json::Value {
    json!({
        "url": hit.url,
        "title": hit.title,
        "section": hit.section.as_ref().map(|section| json!({
            "heading": section.heading,
            "id": section.id,
            "url": hit.address(),
        })),
        "snippet": hit.snippet.text,
        "highlights": hit.snippet.highlights.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>(),
        "score": hit.score,
        "missing": hit.missing,
        "duplicates": hit.duplicates,
        "kind": hit.kind,
        "language": hit.language,
        "fetched_at": fetched_at(hit.fetched_at),
        "fields": Stated::from(hit.stated.clone()),
    })
}

fn fetched_at(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds)
        .ok()
        .map(|at| at.to_string())
}

/// The snippet on one line, its words of the query bold on a terminal.
fn snippet(hit: &Hit, bold: bool) -> String {
    let mut line = String::new();
    let mut last = 0;
    for range in &hit.snippet.highlights {
        line += &tame(&hit.snippet.text[last..range.start]);
        let word = tame(&hit.snippet.text[range.clone()]);
        line += &if bold {
            format!("\x1b[1m{word}\x1b[0m")
        } else {
            word
        };
        last = range.end;
    }
    line += &tame(&hit.snippet.text[last..]);
    one_line(&line)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of strangers without the characters that a terminal would obey.
fn tame(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_cannot_command_the_terminal() {
        assert_eq!(tame("a\x1b[2Jb\nc\u{9b}d é"), "a [2Jb c d é");
    }
}
