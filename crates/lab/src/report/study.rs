//! The part of the report about one study.
//!
//! It has figures, claims, notes, numbers and the command.
//!
//! **Invariant:** a verdict is stated in words; its colour only repeats it.

use figure::Figure;
use figure::escaped;

use super::summary::study_title;
use super::{list, numbers};
use crate::experiment::Study;

/// Renders a study; `place` is its chapter and number.
pub(super) fn html(study: &Study, place: &str) -> String {
    let title = study_title(study);
    let mut html = format!("<article id=\"study-{place}\">\n<h3>{title}</h3>\n");
    if !study.figures.is_empty() {
        let figures: String = study
            .figures
            .iter()
            .map(|(_, figure)| drawn(figure))
            .collect();
        html += &format!("<div class=\"figures\">\n{figures}</div>\n");
    }
    html += &claims(study, place);
    html += &list("<h4>Notes</h4>", &study.notes);
    html += &numbers::html(study);
    html += &again(study);
    html + "</article>\n"
}

fn drawn(figure: &Figure) -> String {
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n{}</figure>\n",
        escaped(&figure.title),
        figure.svg_in_page()
    )
}

fn claims(study: &Study, place: &str) -> String {
    if study.claims.is_empty() {
        return String::new();
    }
    let rows = (1..).zip(&study.claims).map(|(number, claim)| {
        let (class, verdict) = match (claim.holds, study.by_construction(claim)) {
            (true, Some(why)) => ("yes", format!("✓ held by construction: {why}")),
            (true, None) => ("yes", "✓ held".to_owned()),
            (false, _) => ("no", "✗ did not hold".to_owned()),
        };
        format!(
            "<tr id=\"claim-{place}-{number}\"><th scope=\"row\">{}</th>\
             <td>{}</td><td data-label=\"Published\">{}</td><td data-label=\"Found\">{}</td>\
             <td><span class=\"verdict {class}\">{verdict}</span></td></tr>\n",
            escaped(claim.id),
            escaped(&claim.says),
            escaped(&claim.published),
            escaped(&claim.found),
        )
    });
    let rows: String = rows.collect();
    format!(
        "<table class=\"claims\">\n<thead><tr><th scope=\"col\">Id</th><th scope=\"col\">Claim</th>\
         <th scope=\"col\">Published</th><th scope=\"col\">Found</th><th scope=\"col\">Verdict</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n"
    )
}

fn again(study: &Study) -> String {
    let findings = &study.findings;
    let runs = match findings.runs {
        1 => "one run".to_owned(),
        runs => format!("{runs} runs"),
    };
    format!(
        "<p class=\"again\">Seed {}, {runs}. To repeat: <code>{}</code></p>\n",
        findings.seed,
        escaped(&findings.command),
    )
}
