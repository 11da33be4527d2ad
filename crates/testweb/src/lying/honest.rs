//! The honest part of the hostile server: an index, and pages that must all be crawled.
//!
//! **Invariant:** every honest page is linked from the index, among the lies, so that its
//! discovery does not depend on how a lie is handled.

use std::fmt::Write;

use super::script::{Script, page};
use super::table::LIES;

/// Number of honest pages: `/honest/1` to `/honest/20`.
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

/// Returns the honest page at a path. Returns `None` if there is none.
pub(super) fn at(path: &str) -> Option<Script> {
    let name = path.strip_prefix("/honest/")?;
    let number: usize = name.parse().ok().filter(|n| (1..=HONEST).contains(n))?;
    let body = format!("<p>Page {number} of {HONEST} says what it is.</p><a href=\"/\">all</a>");
    Some(Script::html(page(&format!("honest {number}"), &body)))
}
