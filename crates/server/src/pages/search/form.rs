//! Parses the query string of the search page, and builds the URLs of its links.
//!
//! **Invariant:** every query string is a valid search. Parameters that cannot be parsed are
//! ignored, because a searcher can do nothing about an error in a URL.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use repository::index::{SearchQuery, Sort};

use crate::search::SearchRequest;

/// The maximum number of characters of a query; the rest is ignored.
pub const LONGEST: usize = 1000;

/// Limits on the age of copies: value of the parameter, label, days.
pub const AGES: [(&str, &str, i64); 4] = [
    ("day", "Past day", 1),
    ("week", "Past week", 7),
    ("month", "Past month", 31),
    ("year", "Past year", 366),
];

/// Why the script of the page requests the results without the rest of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveUpdate {
    /// The searcher is typing: the last word is a prefix, and nothing is logged.
    Typing,
    /// The searcher has stopped typing, or has clicked: the same search, now logged.
    Settled,
    /// The searcher has submitted the form: an ordinary search.
    Submitted,
}

/// The parameters of the search page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchForm {
    /// The query.
    pub text: String,
    /// Whether the query was longer than [`LONGEST`].
    pub cut: bool,
    /// Only this host and its subdomains.
    pub site: Option<String>,
    /// Only this language.
    pub language: Option<String>,
    /// Only documents of this type.
    pub kind: Option<String>,
    /// Only pages of this topic.
    pub topic: Option<String>,
    /// Only copies of at most this age: a value of [`AGES`].
    pub age: Option<String>,
    /// Only copies that were fetched on this day or later.
    pub since: Option<Date>,
    /// Only copies that were fetched on this day or before.
    pub until: Option<Date>,
    /// Only pages that state a publication date on this day or later.
    pub published_since: Option<Date>,
    /// Only pages that state a publication date on this day or before.
    pub published_until: Option<Date>,
    /// Whether the newest results come first.
    pub newest: bool,
    /// The page of results, from 1.
    pub page: usize,
    /// Set if the script requests only the results.
    pub live: Option<LiveUpdate>,
}

impl SearchForm {
    /// Parses a query string.
    pub fn read(raw: &str) -> Self {
        let mut form = Self {
            page: 1,
            ..Self::default()
        };
        for (name, value) in form_urlencoded::parse(raw.as_bytes()) {
            let set = |most| Some(first(value.trim(), most)).filter(|value| !value.is_empty());
            let day = || value.trim().parse().ok();
            match name.as_ref() {
                "q" => {
                    form.text = first(&value, LONGEST);
                    form.cut = form.text.len() < value.len();
                }
                "site" => form.site = set(255),
                "language" => form.language = set(8),
                "type" => {
                    let letters = |kind: &String| kind.bytes().all(|b| b.is_ascii_alphanumeric());
                    form.kind = set(16).filter(letters);
                }
                "topic" => form.topic = set(100),
                "age" => form.age = set(8),
                "since" => form.since = day(),
                "until" => form.until = day(),
                "published_since" => form.published_since = day(),
                "published_until" => form.published_until = day(),
                "sort" => form.newest = value == "newest",
                "page" => {
                    let last = SearchQuery::OFFSET / super::SHOWN + 1;
                    form.page = value.parse().unwrap_or(1).clamp(1, last);
                }
                "live" => {
                    form.live = match value.as_ref() {
                        "typing" => Some(LiveUpdate::Typing),
                        "settled" => Some(LiveUpdate::Settled),
                        "submitted" => Some(LiveUpdate::Submitted),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        form
    }

    /// Tells whether a filter is set.
    pub fn is_filtered(&self) -> bool {
        self.filters().next().is_some()
    }

    /// Returns the search for these parameters.
    pub fn request(&self, shown: usize, readers: Vec<String>, now: Timestamp) -> SearchRequest {
        let age = AGES
            .iter()
            .find(|(value, ..)| self.age.as_deref() == Some(value));
        let young = age.map(|(_, _, days)| now - SignedDuration::from_hours(24 * days));
        let behind = |day: Option<Date>| midnight(day.and_then(|day| day.tomorrow().ok()));
        SearchRequest {
            text: self.text.clone(),
            site: self.site.clone(),
            language: self.language.clone(),
            topic: self.topic.clone(),
            since: young.max(midnight(self.since)),
            until: behind(self.until),
            published_since: midnight(self.published_since),
            published_until: behind(self.published_until),
            kind: self.kind.clone(),
            sort: if self.newest {
                Sort::Newest
            } else {
                Sort::Relevance
            },
            readers,
            facets: true,
            prefix: matches!(self.live, Some(LiveUpdate::Typing | LiveUpdate::Settled)),
            limit: shown,
            offset: (self.page - 1) * shown,
            unlogged: self.live == Some(LiveUpdate::Typing),
        }
    }

    /// Returns the filters that are set, as names and values of parameters.
    fn filters(&self) -> impl Iterator<Item = (&'static str, String)> {
        let day = |day: &Option<Date>| day.map(|day| day.to_string());
        let filters = [
            ("site", self.site.clone()),
            ("language", self.language.clone()),
            ("type", self.kind.clone()),
            ("topic", self.topic.clone()),
            ("age", self.age.clone()),
            ("since", day(&self.since)),
            ("until", day(&self.until)),
            ("published_since", day(&self.published_since)),
            ("published_until", day(&self.published_until)),
        ];
        let set = filters.into_iter();
        set.filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns the URL of the same search with another query, or another page of results.
    pub fn address(&self, text: &str, page: usize) -> String {
        let mut address = form_urlencoded::Serializer::for_suffix(String::from("/?"), 2);
        address.append_pair("q", text);
        for (name, value) in self.filters() {
            address.append_pair(name, &value);
        }
        if self.newest {
            address.append_pair("sort", "newest");
        }
        if page > 1 {
            address.append_pair("page", &page.to_string());
        }
        address.finish()
    }

    /// Returns the parameters of the same search, from its first result on.
    pub fn parameters(&self) -> String {
        let address = self.address(&self.text, 1);
        address.trim_start_matches("/?").to_owned()
    }

    /// Returns the URL of the first page of the same search with a change.
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut other = self.clone();
        change(&mut other);
        other.address(&other.text, 1)
    }
}

/// Returns the beginning of a day in UTC.
fn midnight(day: Option<Date>) -> Option<Timestamp> {
    let start = day?.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp())
}

/// Returns the first characters of a text.
fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_url_of_a_search_is_parsed_into_the_same_form() {
        let form = SearchForm {
            text: "\"a & b\" -c +d%".into(),
            site: Some("e.org".into()),
            language: Some("de".into()),
            kind: Some("html".into()),
            topic: Some("waders".into()),
            age: Some("week".into()),
            since: Some("2026-01-02".parse().unwrap()),
            until: Some("2026-03-04".parse().unwrap()),
            published_since: Some("2019-01-01".parse().unwrap()),
            published_until: Some("2019-12-31".parse().unwrap()),
            newest: true,
            page: 3,
            ..SearchForm::default()
        };
        let address = form.address(&form.text, form.page);
        assert_eq!(SearchForm::read(address.strip_prefix("/?").unwrap()), form);
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let request = form.request(10, Vec::new(), now);
        assert_eq!((request.limit, request.offset), (10, 20));
        assert_eq!(
            [
                request.since,
                request.until,
                request.published_since,
                request.published_until
            ],
            [
                "2026-11-09T12:00:00Z",
                "2026-03-05T00:00:00Z",
                "2019-01-01T00:00:00Z",
                "2020-01-01T00:00:00Z",
            ]
            .map(|time| Some(time.parse().unwrap())),
            "days are whole, and the narrower of two bounds holds"
        );
        assert!(!request.unlogged && !request.prefix);
    }

    #[test]
    fn only_typing_is_not_logged() {
        for (raw, prefix, unlogged) in [
            ("q=a&live=typing", true, true),
            ("q=a&live=settled", true, false),
            ("q=a&live=submitted", false, false),
            ("q=a&live=x", false, false),
            ("q=a", false, false),
        ] {
            let form = SearchForm::read(raw);
            let request = form.request(10, Vec::new(), Timestamp::UNIX_EPOCH);
            assert_eq!(
                (request.prefix, request.unlogged),
                (prefix, unlogged),
                "{raw}"
            );
            assert_eq!(
                form.address("a", 1),
                "/?q=a",
                "a URL leads to the whole page"
            );
        }
    }

    #[test]
    fn invalid_parameters_are_ignored() {
        let form = SearchForm::read(
            "q=a&page=many&age=&site=%20&language=&x=y&&=&since=soon&until=2026-13-01&type=a%20b&sort=up&q",
        );
        assert_eq!(
            (form.text.as_str(), form.page),
            ("", 1),
            "the last q counts"
        );
        assert!(!form.is_filtered());
        assert_eq!(SearchForm::read("q=%ff%00%e2").text, "\u{fffd}\0\u{fffd}");
        assert_eq!(SearchForm::read("page=999999").page, 101);
        assert_eq!(SearchForm::read("page=0").page, 1);
        let long = SearchForm::read(&format!("q={}", "é".repeat(2000)));
        assert_eq!((long.text.chars().count(), long.cut), (LONGEST, true));
    }

    proptest! {
        #[test]
        fn every_query_string_is_parsed_and_its_url_has_the_same_query(raw in "\\PC{0,80}") {
            let form = SearchForm::read(&raw);
            let address = form.address(&form.text, form.page);
            prop_assert!(address.is_ascii());
            prop_assert_eq!(SearchForm::read(&address[2..]).text, form.text);
        }
    }
}
