//! The tool `latest`: changes since a time.

use anyhow::Result;
use node::handle::NodeHandle;
use node::settings::is_of_site;
use serde_json::{Value, json};

use super::parameters::{ChangesSince, ListLatest};

/// Changes that are read at once.
const GROUP: usize = 1000;

/// Returns at most `most` changes that fulfil the conditions, and the number from which on the next
/// ones are.
pub fn changes(
    node: &NodeHandle,
    since: ChangesSince,
    list: &ListLatest,
    most: usize,
) -> Result<Value> {
    let mut next = match since {
        ChangesSince::Number(number) => number,
        ChangesSince::Time(at) => node.change_before(at)?,
    };
    let mut found = Vec::new();
    'reading: loop {
        let group = node.changes(next, GROUP)?;
        if group.is_empty() {
            break;
        }
        for change in group {
            if found.len() == most {
                break 'reading;
            }
            next = change.number;
            let site = list.site.as_deref().filter(|site| !site.is_empty());
            let is_wanted = list.change.is_none_or(|kind| kind == change.change)
                && site.is_none_or(|site| is_of_site(&change.url, site));
            if is_wanted {
                found.push(json!({
                    "at": change.at,
                    "change": change.change,
                    "url": change.url,
                    "title": change.title,
                }));
            }
        }
    }
    Ok(json!({ "changes": found, "next": next.to_string() }))
}
