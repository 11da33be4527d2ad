//! The claims of a report as a Markdown page, for the documentation.

use std::fmt::Write;
use std::path::Path;

use super::{Chapter, ReportInfo};
use crate::experiment::Study;

/// Renders the claims of all studies as a Markdown page.
pub fn claims_page(chapters: &[Chapter], about: &ReportInfo) -> String {
    let studies = || chapters.iter().flat_map(|chapter| &chapter.studies);
    let claims =
        || studies().flat_map(|study| study.claims.iter().map(move |claim| (study, claim)));
    let held = claims().filter(|(_, claim)| claim.holds).count();
    let built = claims().filter(|(study, claim)| study.by_construction(claim).is_some());
    let mut page = format!(
        "# What became of the published claims\n\n\
         `avocet lab report --claims FILE` writes this page; do not edit it. It was made by\n\n\
         ```sh\n{}\n```\n\n\
         with Avocet {}. {held} of {} claims held. {} of these hold by construction: they follow \
         from a formula, a definition or\na parameter, and check our code, not the web.\n\n\
         The letters of a claim name its source: UO is Cho, Garcia-Molina & Page 1998, 2L Cao, \
         Jiang & Singh 2003, BK the\nchapter of Baldi, Frasconi & Smyth 2003, UC Pandey & Olston \
         2005, E Lefortier et al. 2013. [Theory](theory.md) defines\nthe symbols. \
         [Claims discussed](claims-discussed.md) says why some did not hold. Worlds other than \
         `invented:…` are\nrecorded: [data](data.md) says where to get them.\n",
        about.command,
        about.version,
        claims().count(),
        built.count(),
    );
    for (number, chapter) in (1..).zip(chapters) {
        let with_claims = chapter
            .studies
            .iter()
            .filter(|study| !study.claims.is_empty());
        let _ = write!(
            page,
            "\n## {number}. {}\n\n{}.\n",
            chapter.title, chapter.source
        );
        page += "\n| claim | world | published | found | verdict |\n|---|---|---|---|---|\n";
        with_claims.for_each(|study| page += &rows(study));
        page += "\nCommands:\n\n```sh\n";
        for study in &chapter.studies {
            let _ = writeln!(page, "{}", study.findings.command);
        }
        page += "```\n";
    }
    if !about.left_out.is_empty() {
        page += "\n## Left out, and why\n\n";
        for reason in &about.left_out {
            let _ = writeln!(page, "- {reason}");
        }
    }
    page
}

fn rows(study: &Study) -> String {
    let world = study.findings.world.trim_end_matches('/');
    let world = Path::new(world).file_name().unwrap_or(world.as_ref());
    let world = world.to_string_lossy();
    let row = |claim: &crate::experiment::PublishedClaim| {
        let verdict = match (claim.holds, study.by_construction(claim)) {
            (true, Some(why)) => format!("held by construction: {why}"),
            (true, None) => "held".to_owned(),
            (false, _) => "**did not hold**".to_owned(),
        };
        format!(
            "| {} {} | {} | {} | {} | {} |\n",
            claim.id,
            cell(&claim.says),
            cell(&world),
            cell(&claim.published),
            cell(&claim.found),
            cell(&verdict),
        )
    };
    study.claims.iter().map(row).collect()
}

/// Returns text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
