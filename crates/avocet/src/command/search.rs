//! `avocet search`: searches the index and prints the results.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use repository::index::{Hit, Hits, SearchQuery, Sort};
use repository::log::{self, EventLog};
use serde_json::json;

use crate::cli::{SearchArguments, SearchOrder};
use crate::logs::say;
use node::number::counted;
use node::readable::stated::Stated;
use node::settings::topic::Subject;
use node::{store, topics};

/// Runs a search, writes it to the query log unless `--no-log` is given, and prints the results.
pub fn run(root: &Path, json: bool, arguments: &SearchArguments) -> Result<()> {
    let index = store::search_index(root)?;
    let text = arguments.query.join(" ");
    let query = SearchQuery {
        text: &text,
        limit: arguments.limit.into(),
        offset: arguments.offset.into(),
        site: arguments.site.as_deref(),
        language: arguments.language.as_deref(),
        sort: match arguments.sort {
            SearchOrder::Relevance => Sort::Relevance,
            SearchOrder::Newest => Sort::Newest,
        },
        ..SearchQuery::default()
    };
    let found = match &arguments.topic {
        Some(name) => topics::search(&index, &query, &Subject::of(root, name)?.open()?)?,
        None => index.search(&query)?,
    };
    if !arguments.no_log
        && let Err(error) =
            EventLog::open(&store::log(root)).append(&logged(&text, arguments, &found))
    {
        // A store on a read-only disk can still be searched.
        say(&format!(
            "this search is not in the log: {error}: {}",
            error.source
        ));
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
        (Some(corrected), false) => format!(" for {}", without_controls(corrected)),
        (None, false) => String::new(),
    };
    for operator in &found.unknown {
        say(&format!(
            "{} was not understood as an operator",
            without_controls(operator)
        ));
    }
    let filled = !found.relaxed && found.hits.len() > found.total;
    let filled = match filled {
        true => " with all words; pages with some of them follow",
        false => "",
    };
    let results = counted(found.total, "result");
    writeln!(out, "{results}{note}{filled}")?;
    let bold = out.is_terminal();
    for (rank, hit) in found.hits.iter().enumerate() {
        let rank = rank + 1 + usize::from(arguments.offset);
        show(&mut out, rank, hit, bold)?;
    }
    Ok(())
}

fn show(out: &mut impl Write, rank: usize, hit: &Hit, bold: bool) -> Result<()> {
    let title = if hit.title.is_empty() {
        &hit.url
    } else {
        &without_controls(&hit.title)
    };
    writeln!(
        out,
        "\n{rank:>3}. {title}\n     {}",
        without_controls(&hit.address())
    )?;
    if let Some(section) = &hit.section {
        writeln!(
            out,
            "     {}",
            one_line(&without_controls(&section.heading))
        )?;
    }
    writeln!(out, "     {}", snippet(hit, bold))?;
    if !hit.missing.is_empty() {
        writeln!(
            out,
            "     without: {}",
            without_controls(&hit.missing.join(", "))
        )?;
    }
    match &hit.duplicates[..] {
        [] => {}
        [other] => writeln!(
            out,
            "     and one more like it: {}",
            without_controls(other)
        )?,
        [first, ..] => writeln!(
            out,
            "     and {} more like it: {}, …",
            hit.duplicates.len(),
            without_controls(first)
        )?,
    }
    Ok(())
}

/// Returns the entry for the query log, which holds nothing about the searcher.
fn logged(text: &str, arguments: &SearchArguments, found: &Hits) -> log::Search {
    let mut search = log::Search::new(jiff::Timestamp::now(), text);
    search.offset = arguments.offset.into();
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

/// Returns the snippet on one line, with the words of the query in bold if `bold`.
fn snippet(hit: &Hit, bold: bool) -> String {
    let mut line = String::new();
    let mut last = 0;
    for range in &hit.snippet.highlights {
        line += &without_controls(&hit.snippet.text[last..range.start]);
        let word = without_controls(&hit.snippet.text[range.clone()]);
        line += &if bold {
            format!("\x1b[1m{word}\x1b[0m")
        } else {
            word
        };
        last = range.end;
    }
    line += &without_controls(&hit.snippet.text[last..]);
    one_line(&line)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Replaces control characters, so that text of a page cannot send commands to the terminal.
fn without_controls(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(without_controls("a\x1b[2Jb\nc\u{9b}d é"), "a [2Jb c d é");
    }
}
