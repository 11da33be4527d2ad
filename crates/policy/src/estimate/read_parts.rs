//! Joins the parts of a read, for policies that need all links of a page at once.
//!
//! The last part of a page with many links then takes such a policy long: the step of the core
//! that reports it has no bound. The orderings by links alone process each part when it comes.

use crate::{LinkFact, Number, Part, Read};

/// The links of the read that is being reported, before its last part.
#[derive(Debug, Clone, Default)]
pub struct ReadParts(Vec<LinkCopy>);

#[derive(Debug, Clone)]
struct LinkCopy {
    to: Number,
    anchor: String,
    around: String,
    path: String,
}

impl ReadParts {
    /// Processes a part of a read. Calls `process` with the whole read when the part is the last.
    pub fn join(&mut self, read: &Read<'_>, process: impl FnOnce(&Read<'_>)) {
        if read.part == Part::WHOLE {
            return process(read);
        }
        self.0.extend(read.links.iter().map(|link| LinkCopy {
            to: link.to,
            anchor: link.anchor.to_owned(),
            around: link.around.to_owned(),
            path: link.path.to_owned(),
        }));
        if !read.part.is_last() {
            return;
        }
        let copies = std::mem::take(&mut self.0);
        let links = copies.iter().map(|link| LinkFact {
            to: link.to,
            anchor: &link.anchor,
            around: &link.around,
            path: &link.path,
        });
        process(&Read {
            links: &links.collect::<Vec<_>>(),
            part: Part::WHOLE,
            ..*read
        });
    }
}
