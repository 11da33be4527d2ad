//! The head of the report: verdict, failed claims, omissions and contents.

use figure::escaped;

use super::{Chapter, ReportInfo, list, paragraphs};
use crate::experiment::{PublishedClaim, Study};

/// Renders the head of the report.
pub(super) fn summary(chapters: &[Chapter], about: &ReportInfo) -> String {
    let checked = checked_claims(chapters);
    let held = checked.iter().filter(|checked| checked.claim.holds).count();
    let mut html = format!(
        "<header>\n<h1>Avocet lab report</h1>\n\
         <p>Published experiments on web crawling, run again with Avocet’s policies in recorded and invented webs. \
         Each claim of the papers is shown with our finding, whether it held or not, and the command that repeats the experiment.</p>\n\
         {}<p class=\"again\">Avocet {}, seed {}. To make this page again: <code>{}</code></p>\n</header>\n",
        paragraphs(&about.text),
        escaped(&about.version),
        about.seed,
        escaped(&about.command),
    );
    html += &format!(
        "<nav id=\"claims\" aria-label=\"Contents\">\n<h2>{}</h2>\n{}",
        verdict(held, checked.len() - held),
        contents(chapters)
    );
    if held < checked.len() {
        let failed = checked.iter().filter(|checked| !checked.claim.holds);
        let lines: String = failed.map(CheckedClaim::line).collect();
        html += &format!(
            "<details>\n<summary>What did not hold, and by how much</summary>\n<ul class=\"failed\">\n{lines}</ul>\n</details>\n"
        );
    }
    html += &list("<h3>Left out, and why</h3>", &about.left_out);
    html + "</nav>\n"
}

/// Returns the title of a study, for its heading and for the contents.
pub(super) fn study_title(study: &Study) -> String {
    let findings = &study.findings;
    let title = format!(
        "{} <span>in</span> {}",
        escaped(&findings.experiment),
        escaped(&findings.world)
    );
    match flags(&findings.command) {
        flags if flags.is_empty() => title,
        flags => format!("{title} <span>with</span> {}", escaped(&flags)),
    }
}

/// Returns the flags that distinguish a study from others in the same world: all but world, seed
/// and runs.
fn flags(command: &str) -> String {
    let words = words(command);
    let mut words = words.iter().skip_while(|word| !word.starts_with("--"));
    let mut flags: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        if ["--world", "--seed", "--runs"].contains(word) {
            words.next();
        } else {
            flags.push(word);
        }
    }
    flags.join(" ")
}

/// Splits a command at spaces, except inside single quotes.
fn words(command: &str) -> Vec<&str> {
    let mut quoted = false;
    let between = move |c: char| {
        quoted ^= c == '\'';
        c == ' ' && !quoted
    };
    command.split(between).collect()
}

/// A claim, the id of its table row and its world.
struct CheckedClaim<'c> {
    place: String,
    world: &'c str,
    claim: &'c PublishedClaim,
}

fn checked_claims(chapters: &[Chapter]) -> Vec<CheckedClaim<'_>> {
    let mut all = Vec::new();
    for (number, chapter) in (1..).zip(chapters) {
        for (at, study) in (1..).zip(&chapter.studies) {
            all.extend((1..).zip(&study.claims).map(|(row, claim)| CheckedClaim {
                place: format!("{number}-{at}-{row}"),
                world: &study.findings.world,
                claim,
            }));
        }
    }
    all
}

fn verdict(held: usize, failed: usize) -> String {
    match (held, failed) {
        (0, 0) => "No claim was judged".into(),
        (1, 0) => "The one claim held".into(),
        (0, 1) => "The one claim did not hold".into(),
        (held, 0) => format!("All {held} claims held"),
        (0, failed) => format!("None of {failed} claims held"),
        (held, failed) => format!("{held} of {} claims held, {failed} did not", held + failed),
    }
}

impl CheckedClaim<'_> {
    fn line(&self) -> String {
        format!(
            "<li><a href=\"#claim-{}\">{}</a> {} <small>({})</small> \
             <span class=\"soft\">Published: {}. Found: {}.</span></li>\n",
            self.place,
            escaped(self.claim.id),
            escaped(&self.claim.says),
            escaped(self.world),
            escaped(&self.claim.published),
            escaped(&self.claim.found),
        )
    }
}

/// Renders a table of chapters and studies, with the number of claims that held.
fn contents(chapters: &[Chapter]) -> String {
    let mut rows = String::new();
    for (number, chapter) in (1..).zip(chapters) {
        rows += &format!(
            "<tr><th scope=\"rowgroup\" colspan=\"2\"><a href=\"#chapter-{number}\">{number}. {}</a></th></tr>\n",
            escaped(&chapter.title)
        );
        for (place, study) in (1..).zip(&chapter.studies) {
            rows += &format!(
                "<tr><td><a href=\"#study-{number}-{place}\">{}</a></td><td>{}</td></tr>\n",
                study_title(study),
                score(&study.claims)
            );
        }
    }
    format!("<table class=\"contents\">\n{rows}</table>\n")
}

/// Returns the number of claims that held, as text.
fn score(claims: &[PublishedClaim]) -> String {
    let held = claims.iter().filter(|claim| claim.holds).count();
    match claims.len() {
        0 => "no claims of its own".into(),
        all => format!("{held} of {all} held"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_show_all_flags_except_world_seed_and_runs() {
        let command = "avocet lab servers --world w --connections 16 --seed 1 --runs 5";
        assert_eq!(flags(command), "--connections 16");
        assert_eq!(flags("avocet lab ordering --seed 1"), "");
        let quoted = "avocet lab ordering --world 'my data' --query 'two words' --seed 1";
        assert_eq!(flags(quoted), "--query 'two words'");
    }

    #[test]
    fn the_verdict_counts_the_claims_that_held_and_failed() {
        let check = |held: usize, failed: usize, expected: &str| {
            assert_eq!(verdict(held, failed), expected);
        };
        check(0, 0, "No claim was judged");
        check(1, 0, "The one claim held");
        check(0, 1, "The one claim did not hold");
        check(12, 0, "All 12 claims held");
        check(0, 2, "None of 2 claims held");
        check(9, 3, "9 of 12 claims held, 3 did not");
    }
}
