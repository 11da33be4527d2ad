//! The honest part of a lying server: an index, and pages that must all be crawled.
//!
//! **Invariant:** every honest page is linked from the index, among the lies, so that none depends on how
//! a lie is taken.

use std::fmt::Write;

use super::script::{Script, page};
use super::table::LIES;

/// How many honest pages there are: `/honest/1` to this.
pub const HONEST: usize = 20;

pub(super) fn index() -> Script {
    let mut links = String::new();
    for n in 0..LIES.len().max(HONEST) {
        if let Some(lie) = LIES.get(n) {
            let _ = writeln!(links, "<li><a href=\"{}\">{}</a></li>", lie.path, lie.what);
        }
        if n < HONEST {
            let _ = writeln!(
                links,
                "<li><a href=\"/honest/{}\">an honest page</a></li>",
                n + 1
            );
        }
    }
    Script::html(page("lies", &format!("<ul>\n{links}</ul>")))
}

/// The honest page at a path, if there is one.
pub(super) fn at(path: &str) -> Option<Script> {
    let name = path.strip_prefix("/honest/")?;
    let number: usize = name.parse().ok().filter(|n| (1..=HONEST).contains(n))?;
    let body = format!("<p>Page {number} of {HONEST} says what it is.</p><a href=\"/\">all</a>");
    Some(Script::html(page(&format!("honest {number}"), &body)))
}
