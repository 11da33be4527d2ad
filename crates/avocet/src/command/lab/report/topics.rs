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

impl Author<'_> {
    pub(super) fn topics(&mut self) -> Result<Chapter> {
        let mut studies = vec![self.focus("invented:topics", &[])?];
        for (name, targets) in TOPICS {
            if let Some(world) = self.recorded(name) {
                studies.push(self.focus(&world, targets)?);
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

    fn focus(&self, world: &str, targets: &[&str]) -> Result<Study, LabError> {
        let options = focus::Options {
            targets: targets.iter().map(|&target| target.to_owned()).collect(),
            ..focus::Options::default()
        };
        let more = targets.iter().map(|target| format!(" --target {target}"));
        let setting = self.setting("focus", world, &more.collect::<String>());
        let setting = self.fewer(setting, TOPIC_RUNS);
        focus::run(&setting, &options, self.bar)
    }
}
