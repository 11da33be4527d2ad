//! The chapter of the report on focused crawling: figures 6.2 and 6.3 of Baldi, Frasconi & Smyth,
//! and the claims BK7 and BK8 (`docs/science/claims.md`).

use anyhow::Result;
use lab::LabError;
use lab::experiment::{Study, focus};
use lab::report::Chapter;

use super::{ReportAuthor, chapter};

/// Maximum number of runs of the focus experiment: one for each of the four universities in the
/// world `webkb`.
const TOPIC_RUNS: u32 = 4;

/// Recorded worlds whose pages have labels, and the labels that are used as topics.
const TOPICS: [(&str, &[&str]); 2] = [
    ("webkb", &["course", "faculty", "project"]),
    (
        "wikispeedia",
        &["Science", "Geography", "People", "History", "Music"],
    ),
];

/// Number of start pages in the comparison of hard and soft focusing: the published crawls had many
/// start pages.
const STARTS: u32 = 20;
/// Worlds with enough pages of a topic for [`STARTS`] start pages; `webkb` has too few.
const MANY_STARTS: [&str; 2] = ["invented:topics", "wikispeedia"];

impl ReportAuthor<'_> {
    pub(super) fn topics(&mut self) -> Result<Chapter> {
        let mut worlds: Vec<(&str, String, &[&str])> =
            vec![("invented:topics", "invented:topics".into(), &[])];
        for (name, targets) in TOPICS {
            worlds.extend(self.recorded(name).map(|world| (name, world, targets)));
        }
        let mut studies = Vec::new();
        for (_, world, targets) in &worlds {
            studies.push(self.focus(world, targets, 1, &[])?);
        }
        for (name, world, targets) in &worlds {
            if MANY_STARTS.contains(name) {
                let policies = ["hard", "soft", "breadth-first"];
                studies.push(self.focus(world, targets, STARTS, &policies)?);
            }
        }
        Ok(chapter(
            studies,
            "Focused crawling",
            "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.2 (2003), after Chakrabarti, \
             van den Berg & Dom, Focused crawling (1999), and others",
            "A crawl looks for the pages of one topic. A classifier that was trained on other pages judges \
             fetched pages; a policy chooses the links that lead to more of them.",
        ))
    }

    /// Runs the focus experiment from `starts` pages, by these policies, or by all if none is
    /// given.
    fn focus(
        &self,
        world: &str,
        targets: &[&str],
        starts: u32,
        policies: &[&str],
    ) -> Result<Study, LabError> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let options = focus::FocusExperimentOptions {
            targets: owned(targets),
            starts,
            ..focus::FocusExperimentOptions::default()
        };
        let mut more: String = targets
            .iter()
            .map(|target| format!(" --target {target}"))
            .collect();
        if !policies.is_empty() {
            more += &format!(" --starts {starts} --policies {}", policies.join(","));
        }
        let mut setting = self.setting("focus", world, &more);
        setting.policies = owned(policies);
        let setting = self.with_at_most(setting, TOPIC_RUNS);
        focus::run(&setting, &options, self.bar)
    }
}
