//! The relationships of a part of an Office Open XML file: which id means which file or URL.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::Unreadable;
use crate::package::Package;
use crate::xml::{XmlPart, walk};

/// The targets of the relationships of one part.
#[derive(Debug, Default)]
pub(super) struct Relations {
    /// The directory of the part, to which the targets of files are relative.
    directory: String,
    files: HashMap<String, String>,
    urls: HashMap<String, String>,
}

impl Relations {
    /// Reads the relationships of a part such as `word/document.xml`. Most parts have none.
    pub fn of(package: &mut Package<'_>, part: &str) -> Result<Self, Unreadable> {
        let (directory, name) = part.rsplit_once('/').unwrap_or(("", part));
        let mut relations = Self {
            directory: directory.to_owned(),
            ..Self::default()
        };
        let Some(xml) = package.file(&format!("{directory}/_rels/{name}.rels"))? else {
            return Ok(relations);
        };
        walk(&xml, |part| {
            if let XmlPart::Start(element) = part
                && element.name() == "Relationship"
                && let (Some(id), Some(target)) =
                    (element.attribute("Id"), element.attribute("Target"))
            {
                let is_url = element.attribute("TargetMode").as_deref() == Some("External");
                let targets = match is_url {
                    true => &mut relations.urls,
                    false => &mut relations.files,
                };
                targets.insert(id, target);
            }
            ControlFlow::Continue(())
        });
        Ok(relations)
    }

    /// Returns the URL that an id means.
    pub fn url(&self, id: &str) -> Option<&str> {
        self.urls.get(id).map(String::as_str)
    }

    /// Returns the name in the package of the file that an id means.
    pub fn file(&self, id: &str) -> Option<String> {
        self.files
            .get(id)
            .map(|target| within(&self.directory, target))
    }
}

/// Returns the name in a package of a file that is named relative to a directory.
pub(super) fn within(directory: &str, target: &str) -> String {
    if let Some(absolute) = target.strip_prefix('/') {
        return absolute.to_owned();
    }
    let mut steps: Vec<&str> = directory
        .split('/')
        .filter(|step| !step.is_empty())
        .collect();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop();
            }
            name => steps.push(name),
        }
    }
    steps.join("/")
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn targets_are_relative_to_their_directory() {
        for (directory, target, name) in [
            ("ppt", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("ppt/slides", "../media/a.png", "ppt/media/a.png"),
            ("", "./a.xml", "a.xml"),
            ("xl", "/xl/sheet.xml", "xl/sheet.xml"),
            ("a", "../../b", "b"),
        ] {
            assert_eq!(within(directory, target), name);
        }
    }
}
