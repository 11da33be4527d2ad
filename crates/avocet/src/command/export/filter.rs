//! The filter of `avocet export pages`: site, time, search and topic.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Result;
use frontier::{Known, Visited};
use page::{PageId, PageUrl};
use policy::focus::{ON_TOPIC, Topic, TrainingDocument};
use repository::index::SearchQuery;

use crate::cli::ExportArguments;
use node::clock::timestamp;
use node::readable::Readable;
use node::settings::Usage;
use node::settings::topic::Subject;
use node::store;

/// Conditions for a page to be exported; it must meet all.
pub(super) struct ExportFilter {
    site: Option<String>,
    /// The earliest time of the copy, in Unix seconds.
    since: Option<i64>,
    /// The pages that the search found.
    found: Option<HashSet<PageId>>,
    topic: Option<Topic>,
}

impl ExportFilter {
    /// Builds the filter: opens the topic and runs the search.
    pub fn open(root: &Path, arguments: &ExportArguments) -> Result<Self> {
        let topic = arguments
            .topic
            .as_ref()
            .map(|name| Subject::of(root, name)?.open());
        let found = arguments.query.as_ref().map(|query| search(root, query));
        Ok(Self {
            site: arguments
                .site
                .as_ref()
                .map(|site| site.trim_matches('.').to_lowercase()),
            since: arguments.since.as_deref().map(time).transpose()?,
            found: found.transpose()?,
            topic: topic.transpose()?,
        })
    }

    /// Returns whether a page meets the conditions on site and time, and the search found it.
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

    /// Returns whether the text of a page is on topic. Without a topic, every text is.
    pub fn admits_text(&self, page: &Readable) -> bool {
        self.topic.as_ref().is_none_or(|topic| {
            let probability = topic.probability(&TrainingDocument {
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

/// Returns the pages that match a search: of its first 1100 results, those that have all words, and
/// their near-duplicates.
fn search(root: &Path, text: &str) -> Result<HashSet<PageId>> {
    let index = store::search_index(root)?;
    let mut found = HashSet::new();
    for offset in (0..=SearchQuery::OFFSET).step_by(SearchQuery::LIMIT) {
        let batch = index.search(&SearchQuery {
            text,
            limit: SearchQuery::LIMIT,
            offset,
            ..SearchQuery::default()
        })?;
        let last = batch.hits.len() < SearchQuery::LIMIT;
        // Hits that lack words of the query do not match; near-duplicates of a match do.
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

/// Parses a year, a month, a day (each means its start) or a timestamp, to Unix seconds.
pub(super) fn time(text: &str) -> Result<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(time.as_second());
    }
    let span = page::span(text).filter(|_| !text.contains(".."));
    let wrong = || {
        Usage(format!(
            "--since {text:?} is not a time: write 2026-11-17 or 2026-11-17T08:00:00Z"
        ))
    };
    Ok(span.ok_or_else(wrong)?.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_a_host_and_its_subdomains() {
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
    fn since_accepts_years_months_days_and_timestamps() {
        assert_eq!(time("1970-01-02").unwrap(), 86_400);
        assert_eq!(time("1970").unwrap(), 0);
        assert_eq!(time("1970-01-01T00:00:09Z").unwrap(), 9);
        for wrong in ["", "soon", "1970..1971", "1970-13"] {
            assert!(time(wrong).unwrap_err().is::<Usage>(), "{wrong}");
        }
    }
}
