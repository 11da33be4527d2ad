//! Which pages `avocet export pages` writes.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Result;
use frontier::{Known, Visited};
use page::{PageId, PageUrl};
use policy::focus::{Document, ON_TOPIC, Topic};
use repository::index::Query;

use crate::cli::Export;
use node::clock::timestamp;
use node::readable::Readable;
use node::settings::Usage;
use node::settings::topic::Subject;
use node::store;

/// The conditions that a page must meet, all of them.
pub(super) struct Filter {
    site: Option<String>,
    since: Option<i64>,
    found: Option<HashSet<PageId>>,
    topic: Option<Topic>,
}

impl Filter {
    /// Reads the user's wishes.
    pub fn open(root: &Path, wishes: &Export) -> Result<Self> {
        let topic = wishes
            .topic
            .as_ref()
            .map(|name| Subject::of(root, name)?.open());
        let found = wishes.query.as_ref().map(|query| search(root, query));
        Ok(Self {
            site: wishes
                .site
                .as_ref()
                .map(|site| site.trim_matches('.').to_lowercase()),
            since: wishes.since.as_deref().map(time).transpose()?,
            found: found.transpose()?,
            topic: topic.transpose()?,
        })
    }

    /// Whether what the ledger knows of a page meets the conditions on it.
    pub fn admits(&self, known: &Known, visited: &Visited) -> bool {
        let Ok(url) = PageUrl::parse(&known.discovery.url) else {
            return false;
        };
        let copied = visited
            .copy
            .as_ref()
            .map(|copy| timestamp(copy.at).as_second());
        self.site
            .as_ref()
            .is_none_or(|site| is_of_site(url.host_name(), site))
            && self
                .since
                .is_none_or(|since| copied.is_some_and(|at| at >= since))
            && self
                .found
                .as_ref()
                .is_none_or(|found| found.contains(&url.id()))
    }

    /// Whether the text of a page is of the topic.
    pub fn admits_text(&self, page: &Readable) -> bool {
        self.topic.as_ref().is_none_or(|topic| {
            let probability = topic.probability(&Document {
                url: &page.url,
                title: &page.title,
                text: &page.text,
                anchors: "",
            });
            probability >= f64::from(ON_TOPIC)
        })
    }
}

fn is_of_site(host: &str, site: &str) -> bool {
    host.strip_suffix(site)
        .is_some_and(|above| above.is_empty() || above.ends_with('.'))
}

/// The pages that match a search: as many as a search can reach.
fn search(root: &Path, text: &str) -> Result<HashSet<PageId>> {
    let index = store::search_index(root)?;
    let mut found = HashSet::new();
    for offset in (0..=Query::OFFSET).step_by(Query::LIMIT) {
        let batch = index.search(&Query {
            text,
            limit: Query::LIMIT,
            offset,
            ..Query::default()
        })?;
        let last = batch.hits.len() < Query::LIMIT;
        // Those that lack words only fill up; near-duplicates match as well.
        let complete = batch.hits.iter().filter(|hit| hit.missing.is_empty());
        for hit in complete {
            found.insert(hit.id);
            let others = hit
                .duplicates
                .iter()
                .filter_map(|url| PageUrl::parse(url).ok());
            found.extend(others.map(|url| url.id()));
        }
        if last {
            break;
        }
    }
    Ok(found)
}

/// A time in Unix seconds: the start of a year, a month or a day, or a full timestamp.
fn time(text: &str) -> Result<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time.as_second());
    }
    let span = page::span(text).filter(|_| !text.contains(".."));
    let wrong = || {
        Usage(format!(
            "--since {text:?} is no time: write 2026-11-17 or 2026-11-17T08:00:00Z"
        ))
    };
    Ok(span.ok_or_else(wrong)?.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_host_and_those_below() {
        let table = [
            ("a.example", "a.example", true),
            ("b.a.example", "a.example", true),
            ("ba.example", "a.example", false),
            ("a.example", "b.a.example", false),
        ];
        for (host, site, expected) in table {
            assert_eq!(is_of_site(host, site), expected, "{host} {site}");
        }
    }

    #[test]
    fn a_time_is_a_date_or_more() {
        assert_eq!(time("1970-01-02").unwrap(), 86_400);
        assert_eq!(time("1970").unwrap(), 0);
        assert_eq!(time("1970-01-01T00:00:09Z").unwrap(), 9);
        for wrong in ["", "soon", "1970..1971", "1970-13"] {
            assert!(time(wrong).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }
}
