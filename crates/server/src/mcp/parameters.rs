//! The parameters of the tools. Their documentation and their limits are in the schema that an
//! agent gets.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use repository::changes::ChangeKind;
use repository::index::{SearchQuery, Sort};
use rmcp::schemars;
use serde::Deserialize;

use crate::search::SearchRequest;

/// Parameters of the tool `search`.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchFor {
    /// Words, "phrases", -exclusions, a OR b, site:example.org, title:word, filetype:html.
    /// Finds pages with all words; if there are none, pages with some.
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// The number of results. The default is 10.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u8>,
    /// The number of results to skip.
    #[schemars(range(min = 0, max = 1000))]
    offset: Option<u16>,
    /// Only pages of this host and of its subdomains.
    site: Option<String>,
    /// Only pages in this language: en, de, …
    language: Option<String>,
    /// Only pages of this topic, by its name in this index. Leave it out unless you know the name.
    topic: Option<String>,
    /// Only copies that were fetched at this time or later: a date (2026-11-19) or an RFC 3339
    /// time.
    since: Option<String>,
    /// Only copies that were fetched before this time.
    until: Option<String>,
    /// Only pages that state a publication date at this time or later.
    published_since: Option<String>,
    /// Only pages that state a publication date before this time.
    published_until: Option<String>,
    /// Whether the newest pages come first. By default, the best matches come first.
    newest_first: Option<bool>,
}

impl SearchFor {
    /// Returns the query as the agent wrote it.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns the search, or what is wrong with a parameter.
    pub fn request(&self) -> Result<SearchRequest, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let sort = match self.newest_first {
            Some(true) => Sort::Newest,
            _ => Sort::default(),
        };
        Ok(SearchRequest {
            text: self.query.clone(),
            limit: self.limit.unwrap_or(10).clamp(1, 50).into(),
            offset: usize::from(self.offset.unwrap_or(0)).min(SearchQuery::OFFSET),
            site: given(&self.site),
            language: given(&self.language),
            topic: given(&self.topic),
            since: time("since", self.since.as_deref())?,
            until: time("until", self.until.as_deref())?,
            published_since: time("published_since", self.published_since.as_deref())?,
            published_until: time("published_until", self.published_until.as_deref())?,
            sort,
            ..SearchRequest::default()
        })
    }
}

/// Parameters of the tool `fetch_page`.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadPage {
    /// The URL of the page.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The character to begin at, to read the rest of a long page: a result has at most 20,000
    /// characters. The default is 0.
    pub start: Option<u32>,
}

/// Parameters of the tool `explain`.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainPage {
    /// The URL of the page.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
}

/// Parameters of the tool `section`.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadSection {
    /// The URL of the page.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The heading or the id of the section. Without it, all sections are listed.
    #[schemars(length(min = 1, max = 1000))]
    pub section: Option<String>,
}

/// Parameters of the tool `list_sites`.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSites {
    /// Only sites whose host name has this text.
    pub name: Option<String>,
    /// The number of sites. The default is 50.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u8>,
    /// The number of sites to skip.
    pub offset: Option<u32>,
}

/// Parameters of the tool `links`.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLinks {
    /// The URL of the page.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// The number of links to list in each direction. The default is 100.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u16>,
}

/// Parameters of the tool `latest`.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListLatest {
    /// A date (2026-11-19), an RFC 3339 time, or the `next` of the answer before.
    #[schemars(length(min = 1, max = 40))]
    since: String,
    /// Only pages of this host and of its subdomains.
    pub site: Option<String>,
    /// Only this kind of change.
    pub change: Option<ChangeKind>,
    /// The number of changes. The default is 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u16>,
}

/// Where a list of changes begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangesSince {
    /// After the change with this number.
    Number(u64),
    /// At this time.
    Time(Timestamp),
}

impl ListLatest {
    /// Returns where the list begins, or what is wrong with the parameter.
    pub fn since(&self) -> Result<ChangesSince, String> {
        if let Ok(number) = self.since.trim().parse() {
            return Ok(ChangesSince::Number(number));
        }
        let wrong = || "since is missing".to_owned();
        let at = time("since", Some(&self.since))?.ok_or_else(wrong)?;
        Ok(ChangesSince::Time(at))
    }
}

/// Reads a date or a time; a date means its beginning in UTC.
fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, String> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let date = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    let at = text.parse().ok().or_else(|| Some(date()?.timestamp()));
    let wrong = || format!("{name} is not a time: write 2026-11-19 or 2026-11-19T08:00:00Z");
    at.map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_read_and_other_texts_are_refused() {
        let at = |text: &str| time("since", Some(text)).unwrap().map(|at| at.to_string());
        assert_eq!(at("2026-11-19"), Some("2026-11-19T00:00:00Z".to_owned()));
        let hour = at("2026-11-19T08:00:00+01:00");
        assert_eq!(hour, Some("2026-11-19T07:00:00Z".to_owned()));
        assert_eq!(at(" "), None);
        let wrong = time("until", Some("yesterday")).unwrap_err();
        assert!(wrong.starts_with("until is not a time"), "{wrong}");
        let since = |text: &str| {
            let list = ListLatest {
                since: text.to_owned(),
                ..ListLatest::default()
            };
            list.since()
        };
        assert_eq!(since("17"), Ok(ChangesSince::Number(17)));
        assert!(since("").is_err() && since("2026").is_ok());
    }
}
