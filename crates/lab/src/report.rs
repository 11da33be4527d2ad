//! What did all experiments find, on one page?
//!
//! One HTML file with its style and its figures inside: what was claimed, what was found, whether it held, and how to
//! find it again. **Invariant:** the same studies are the same bytes; the page loads nothing, runs no script, and
//! no text that is given can become markup.

mod numbers;
mod study;
mod summary;

use figure::escaped;
use figure::page_style;

use crate::experiment::Study;

/// What one paper, or one book, claimed, and what was found.
#[derive(Debug, Clone)]
pub struct Chapter {
    /// What it is about.
    pub title: String,
    /// Which paper: authors, title, year.
    pub source: String,
    /// What was asked, in a few sentences; an empty line begins a paragraph.
    pub introduction: String,
    /// What was done to answer it.
    pub studies: Vec<Study>,
}

/// What the page says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// What a reader should know of all experiments; an empty line begins a paragraph.
    pub text: String,
    /// Where all chance came from.
    pub seed: u64,
    /// How to make the page again.
    pub command: String,
    /// What of the papers is not here, each with the reason.
    pub left_out: Vec<String>,
}

/// Writes the page.
pub fn page(chapters: &[Chapter], about: &About) -> String {
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

/// Text as paragraphs, where empty lines are.
fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(|part| format!("<p>{}</p>\n", escaped(part)))
        .collect()
}

/// A list of texts, if there are any, under a heading.
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
