//! `bench documents`: compares what Avocet reads from PDF files with `pdftotext` (poppler).
//!
//! A word is a run of letters and digits in lower case, with ligatures as letters. The words in
//! order are the longest common subsequence of both texts. Each file is read as in a crawl, by
//! this program as a confined child.

mod subsequence;

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use node::documents::child::ARGUMENT;
use page::{PageUrl, ReadLimits};
use serde::Serialize;
use serde_json::Value;
use wait4::Wait4;

use crate::report;
use subsequence::common_length;

/// Options of `bench documents`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench documents --dir /usr/share/doc

Needs pdftotext (Debian: poppler-utils). docs/science/numbers.md names the packages of its documents.")]
pub struct DocumentsOptions {
    /// Directory whose PDF files are read, with all below it
    #[arg(long, value_name = "DIR", required = true)]
    pub dir: PathBuf,
    /// The program to compare with
    #[arg(long, value_name = "PROGRAM", default_value = "pdftotext")]
    pub pdftotext: PathBuf,
    /// Processor time for one document, in seconds
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub seconds: u32,
    /// Memory for one document, in megabytes
    #[arg(long, default_value_t = 512, value_name = "N")]
    pub memory: u32,
    /// Print every document
    #[arg(long)]
    pub verbose: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// One PDF file.
#[derive(Debug, Serialize)]
struct DocumentRow {
    path: PathBuf,
    /// Pages by pdftotext.
    pages: usize,
    /// Words by pdftotext.
    words: usize,
    /// Those of them that Avocet has in the same order.
    in_order: usize,
    /// Why Avocet has no text: an error code, or the status of the child.
    error: Option<String>,
    cpu_ms: f64,
    /// Peak memory of the child, in bytes.
    peak: u64,
}

/// The figures of all files.
#[derive(Debug, Serialize)]
struct DocumentFigures {
    documents: usize,
    /// Documents without text in both programs.
    without_text: usize,
    /// Documents of which only pdftotext has text, by error.
    failures: Vec<(String, usize)>,
    pages: usize,
    words: usize,
    in_order: usize,
    share_in_order: f64,
    /// Documents with at least 97 % of the words in order, of those with text.
    documents_above_97: usize,
    median_share: f64,
    cpu_ms_per_page: f64,
    most_memory: u64,
    rows: Vec<DocumentRow>,
}

/// Runs the benchmark and prints its figures.
pub fn run(options: &DocumentsOptions) -> Result<()> {
    let mut files = Vec::new();
    find(&options.dir, &mut files)?;
    files.sort();
    ensure!(
        !files.is_empty(),
        "no PDF file in {}",
        options.dir.display()
    );
    let rows = files.iter().map(|file| compare(file, options));
    let rows: Vec<DocumentRow> = rows.collect::<Result<_>>()?;
    if options.verbose && !options.json {
        for row in &rows {
            let share = row.in_order as f64 / row.words.max(1) as f64;
            let error = row.error.as_deref().unwrap_or("");
            println!(
                "{share:.3}\t{}\t{:.0} ms\t{error}\t{}",
                row.words,
                row.cpu_ms,
                row.path.display()
            );
        }
    }
    report::print(&figures(rows), options.json)
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        let is_pdf = path
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("pdf"));
        if kind.is_dir() {
            find(&path, files)?;
        } else if kind.is_file() && is_pdf {
            files.push(path);
        }
    }
    Ok(())
}

fn compare(file: &Path, options: &DocumentsOptions) -> Result<DocumentRow> {
    let theirs = Command::new(&options.pdftotext)
        .args(["-enc", "UTF-8"])
        .arg(file)
        .arg("-")
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", options.pdftotext.display()))?;
    let theirs = String::from_utf8_lossy(&theirs.stdout);
    let mut child = Command::new(std::env::current_exe()?)
        .args([
            ARGUMENT,
            &options.seconds.to_string(),
            &options.memory.to_string(),
        ])
        .env_clear()
        .env("MIMALLOC_ARENA_RESERVE", "0")
        .stdin(File::open(file)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut output = Vec::new();
    let mut pipe = child.stdout.take().context("the child has no output")?;
    pipe.read_to_end(&mut output)?;
    let used = child.wait4()?;
    let read = match used.status.success() {
        true => html(&output)?,
        false => Err(used.status.to_string()),
    };
    let mut numbers = HashMap::new();
    let expected = numbered(&words(&theirs), &mut numbers);
    let (in_order, error) = match read {
        Ok(html) => {
            let nowhere = PageUrl::parse("http://document.invalid/")?;
            let limits = ReadLimits {
                text: usize::MAX,
                ..ReadLimits::default()
            };
            let ours = page::read(&html, &nowhere, &limits).text;
            let found = numbered(&words(&ours), &mut numbers);
            (common_length(&expected, &found), None)
        }
        Err(error) => (0, Some(error)),
    };
    Ok(DocumentRow {
        path: file.to_owned(),
        pages: theirs.matches('\u{c}').count(),
        words: expected.len(),
        in_order,
        error,
        cpu_ms: (used.rusage.utime + used.rusage.stime).as_secs_f64() * 1_000.0,
        peak: used.rusage.maxrss,
    })
}

/// Returns the HTML that the child sent, or its error code.
fn html(output: &[u8]) -> Result<Result<String, String>> {
    let end = output.iter().position(|byte| *byte == b'\n');
    let end = end.context("the child sent no line")?;
    let head: Value = serde_json::from_slice(&output[..end])?;
    Ok(match head["refused"].as_str() {
        Some(code) => Err(code.to_owned()),
        None => Ok(String::from_utf8(output[end + 1..].to_vec())?),
    })
}

fn words(text: &str) -> Vec<String> {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{fb00}' => plain.push_str("ff"),
            '\u{fb01}' => plain.push_str("fi"),
            '\u{fb02}' => plain.push_str("fl"),
            '\u{fb03}' => plain.push_str("ffi"),
            '\u{fb04}' => plain.push_str("ffl"),
            // Soft hyphen.
            '\u{ad}' => {}
            other => plain.extend(other.to_lowercase()),
        }
    }
    plain
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Replaces each word by a number, the same for the same word.
fn numbered(words: &[String], numbers: &mut HashMap<String, u32>) -> Vec<u32> {
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        let next = numbers.len() as u32;
        found.push(*numbers.entry(word.clone()).or_insert(next));
    }
    found
}

fn figures(rows: Vec<DocumentRow>) -> DocumentFigures {
    let with_text = || rows.iter().filter(|row| row.words > 0);
    let share = |row: &DocumentRow| row.in_order as f64 / row.words as f64;
    let mut failures: HashMap<String, usize> = HashMap::new();
    for row in with_text() {
        if let Some(error) = &row.error {
            *failures.entry(error.clone()).or_default() += 1;
        }
    }
    let mut failures: Vec<(String, usize)> = failures.into_iter().collect();
    failures.sort();
    let words: usize = rows.iter().map(|row| row.words).sum();
    let in_order: usize = rows.iter().map(|row| row.in_order).sum();
    let pages: usize = rows.iter().map(|row| row.pages).sum();
    let cpu: f64 = rows.iter().map(|row| row.cpu_ms).sum();
    DocumentFigures {
        documents: rows.len(),
        without_text: rows.len() - with_text().count(),
        failures,
        pages,
        words,
        in_order,
        share_in_order: in_order as f64 / words.max(1) as f64,
        documents_above_97: with_text().filter(|row| share(row) >= 0.97).count(),
        median_share: report::median(with_text().map(share)).unwrap_or(0.0),
        cpu_ms_per_page: cpu / pages.max(1) as f64,
        most_memory: rows.iter().map(|row| row.peak).max().unwrap_or(0),
        rows,
    }
}

impl fmt::Display for DocumentFigures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} documents, {} without text, {} pages, {} words by pdftotext",
            self.documents, self.without_text, self.pages, self.words
        )?;
        writeln!(
            out,
            "in order      {:.2} % of all words; median document {:.2} %; {} documents have at least 97 %",
            self.share_in_order * 100.0,
            self.median_share * 100.0,
            self.documents_above_97
        )?;
        for (error, count) in &self.failures {
            writeln!(out, "failed        {count:>4}  {error}")?;
        }
        writeln!(
            out,
            "cost          {:.2} ms of CPU a page; at most {:.0} MB of memory",
            self.cpu_ms_per_page,
            self.most_memory as f64 / 1e6
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_letters_and_digits_in_lower_case_without_ligatures() {
        assert_eq!(
            words("E\u{fb03}cient, 3.1 re\u{ad}sults-- \u{dc}BER"),
            ["efficient", "3", "1", "results", "\u{fc}ber"]
        );
    }

    #[test]
    fn figures_count_failures_as_words_that_are_missing() {
        let row = |words, in_order, error: Option<&str>| DocumentRow {
            path: PathBuf::new(),
            pages: 2,
            words,
            in_order,
            error: error.map(str::to_owned),
            cpu_ms: 8.0,
            peak: 5,
        };
        let found = figures(vec![
            row(100, 98, None),
            row(100, 0, Some("document:time")),
            row(0, 0, Some("document:no-text")),
        ]);
        assert_eq!(
            (found.words, found.in_order, found.without_text),
            (200, 98, 1)
        );
        assert_eq!(found.failures, [("document:time".to_owned(), 1)]);
        assert_eq!(found.documents_above_97, 1);
        assert!((found.cpu_ms_per_page - 4.0).abs() < 1e-9);
    }
}
