//! The chapter on focused crawling: Figures 6.2 and 6.3, BK7 and BK8.

use anyhow::Result;
use lab::LabError;
use lab::experiment::{Study, focus};
use lab::report::Chapter;

use super::Author;

/// Runs of the focus experiment, at most: each of four universities once.
const TOPIC_RUNS: u32 = 4;

/// Webs whose pages have labels, and the labels that are topics there.
const TOPICS: [(&str, &[&str]); 2] = [
    ("webkb", &["course", "faculty", "project"]),
    (
        "wikispeedia",
        &["Science", "Geography", "People", "History", "Music"],
    ),
];

/// Hard focusing was published for crawls that begin at many pages of the topic; webkb has not so many.
const STARTS: u32 = 20;
const MANY_STARTS: [&str; 2] = ["invented:topics", "wikispeedia"];

impl Author<'_> {
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
        Ok(Chapter {
            title: "Which pages of a topic?".into(),
            source: "The same, chapter 6.2, after Chakrabarti, van den Berg & Dom, Focused crawling (1999), and others"
                .into(),
            introduction: "Somebody wants the pages of one topic and nothing else. A classifier that learned elsewhere \
                judges what was fetched; which links lead to more of it?"
                .into(),
            studies,
        })
    }

    /// Crawls from so many starts, by these policies; none: all.
    fn focus(
        &self,
        world: &str,
        targets: &[&str],
        starts: u32,
        policies: &[&str],
    ) -> Result<Study, LabError> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let options = focus::Options {
            targets: owned(targets),
            starts,
            ..focus::Options::default()
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
        let setting = self.fewer(setting, TOPIC_RUNS);
        focus::run(&setting, &options, self.bar)
    }
}
