//! The report of all experiments as one HTML page.
//!
//! Style and figures are inside the page. The page shows each claim, the finding, whether the claim
//! held, and the command that repeats the study.
//!
//! **Invariant:** equal studies give equal bytes. The page loads no resources and runs no
//! script, and all inserted text is escaped.

mod claims;
mod numbers;
mod study;
mod summary;

use figure::escaped;
use figure::page_style;

use crate::experiment::Study;
pub use claims::claims_page;

/// The claims of one paper or book, and the studies of them.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// Subject of the chapter.
    pub title: String,
    /// The paper: authors, title, year.
    pub source: String,
    /// The questions of the paper, in a few sentences; an empty line starts a paragraph.
    pub introduction: String,
    /// The studies that answer these questions.
    pub studies: Vec<Study>,
}

/// General information on the page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportInfo {
    /// Version of the program.
    pub version: String,
    /// Remarks on all experiments; an empty line starts a paragraph.
    pub text: String,
    /// Random seed of all studies.
    pub seed: u64,
    /// The command that makes the page again.
    pub command: String,
    /// Parts of the papers that were left out, each with the reason.
    pub left_out: Vec<String>,
}

/// Renders the page.
pub fn page(chapters: &[Chapter], about: &ReportInfo) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Avocet lab report</title>\n<style>\n{}{}</style>\n</head>\n<body>\n",
        include_str!("report/style.css"),
        page_style(),
    );
    page += &summary::summary(chapters, about);
    page += "<main>\n";
    for (number, chapter) in (1..).zip(chapters) {
        page += &chapter.html(number);
    }
    page + "</main>\n</body>\n</html>\n"
}

impl Chapter {
    fn html(&self, number: usize) -> String {
        let mut html = format!(
            "<section id=\"chapter-{number}\">\n<h2>{number}. {}</h2>\n<p class=\"source\">{}</p>\n{}",
            escaped(&self.title),
            escaped(&self.source),
            paragraphs(&self.introduction),
        );
        for (place, study) in (1..).zip(&self.studies) {
            html += &study::html(study, &format!("{number}-{place}"));
        }
        html + "</section>\n"
    }
}

/// Renders text as paragraphs, split at empty lines.
fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(|part| format!("<p>{}</p>\n", escaped(part)))
        .collect()
}

/// Renders a list of texts under a heading, or an empty string if there are none.
fn list(heading: &str, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let lines = texts
        .iter()
        .map(|text| format!("<li>{}</li>\n", escaped(text)));
    let lines: String = lines.collect();
    format!("{heading}\n<ul>\n{lines}</ul>\n")
}

#[cfg(test)]
mod tests;
