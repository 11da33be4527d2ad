//! What a searcher asked the page for.
//!
//! **Invariant:** whatever stands after the question mark is a search: what cannot be understood is left out, since
//! a person can do nothing with an error about an address.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use repository::index::{Query, Sort};

use crate::search::SearchRequest;

/// The most characters of a query that are read.
pub const LONGEST: usize = 1000;

/// How old copies may be: as written, as shown, in days.
pub const AGES: [(&str, &str, i64); 4] = [
    ("day", "Past day", 1),
    ("week", "Past week", 7),
    ("month", "Past month", 31),
    ("year", "Past year", 366),
];

/// How the script of the page asks for results, in place of a whole page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// The searcher is typing: the last word is a prefix, and nothing is logged.
    Typing,
    /// The searcher has stopped typing, or has clicked: the same search, and it is logged.
    Settled,
    /// The searcher has submitted the form: a search like any other.
    Submitted,
}

/// A search, and which page of its results.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// What was typed.
    pub text: String,
    /// Whether more was typed than is read.
    pub cut: bool,
    /// Only this site.
    pub site: Option<String>,
    /// Only this language.
    pub language: Option<String>,
    /// Only documents of this type.
    pub kind: Option<String>,
    /// Only pages of this topic.
    pub topic: Option<String>,
    /// Only copies that are not older: a name of [`AGES`].
    pub age: Option<String>,
    /// Only copies that were fetched on this day or later.
    pub since: Option<Date>,
    /// Only copies that were fetched on this day or before.
    pub until: Option<Date>,
    /// Only pages that say they were published on this day or later.
    pub published_since: Option<Date>,
    /// Only pages that say they were published on this day or before.
    pub published_until: Option<Date>,
    /// Whether the newest come first.
    pub newest: bool,
    /// From 1.
    pub page: usize,
    /// Whether only results are wanted.
    pub live: Option<Live>,
}

impl Asked {
    /// Reads what stands after the question mark.
    pub fn read(raw: &str) -> Self {
        let mut asked = Self {
            page: 1,
            ..Self::default()
        };
        for (name, value) in form_urlencoded::parse(raw.as_bytes()) {
            let set = |most| Some(first(value.trim(), most)).filter(|value| !value.is_empty());
            let day = || value.trim().parse().ok();
            match name.as_ref() {
                "q" => {
                    asked.text = first(&value, LONGEST);
                    asked.cut = asked.text.len() < value.len();
                }
                "site" => asked.site = set(255),
                "language" => asked.language = set(8),
                "type" => {
                    let letters = |kind: &String| kind.bytes().all(|b| b.is_ascii_alphanumeric());
                    asked.kind = set(16).filter(letters);
                }
                "topic" => asked.topic = set(100),
                "age" => asked.age = set(8),
                "since" => asked.since = day(),
                "until" => asked.until = day(),
                "published_since" => asked.published_since = day(),
                "published_until" => asked.published_until = day(),
                "sort" => asked.newest = value == "newest",
                "page" => {
                    let last = Query::OFFSET / super::SHOWN + 1;
                    asked.page = value.parse().unwrap_or(1).clamp(1, last);
                }
                "live" => {
                    asked.live = match value.as_ref() {
                        "typing" => Some(Live::Typing),
                        "settled" => Some(Live::Settled),
                        "submitted" => Some(Live::Submitted),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        asked
    }

    /// Whether something beside words was asked for.
    pub fn is_filtered(&self) -> bool {
        self.filters().next().is_some()
    }

    /// The search that is made for it.
    pub fn wish(&self, shown: usize, readers: Vec<String>, now: Timestamp) -> SearchRequest {
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
            prefix: matches!(self.live, Some(Live::Typing | Live::Settled)),
            limit: shown,
            offset: (self.page - 1) * shown,
            unlogged: self.live == Some(Live::Typing),
        }
    }

    /// The filters that are set, as they are written.
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

    /// The address of the same search with other words, or another page.
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

    /// The address of the first page of the same search with something changed.
    pub fn changed(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut other = self.clone();
        change(&mut other);
        other.address(&other.text, 1)
    }
}

/// The beginning of a day, in UTC.
fn midnight(day: Option<Date>) -> Option<Timestamp> {
    let start = day?.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp())
}

/// The first characters of a text.
fn first(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_are_read_back() {
        let asked = Asked {
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
            ..Asked::default()
        };
        let address = asked.address(&asked.text, asked.page);
        assert_eq!(Asked::read(address.strip_prefix("/?").unwrap()), asked);
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let wish = asked.wish(10, Vec::new(), now);
        assert_eq!((wish.limit, wish.offset), (10, 20));
        assert_eq!(
            [
                wish.since,
                wish.until,
                wish.published_since,
                wish.published_until
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
        assert!(!wish.unlogged && !wish.prefix);
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
            let asked = Asked::read(raw);
            let wish = asked.wish(10, Vec::new(), Timestamp::UNIX_EPOCH);
            assert_eq!((wish.prefix, wish.unlogged), (prefix, unlogged), "{raw}");
            assert_eq!(
                asked.address("a", 1),
                "/?q=a",
                "addresses are of whole pages"
            );
        }
    }

    #[test]
    fn what_cannot_be_understood_is_left_out() {
        let asked = Asked::read(
            "q=a&page=many&age=&site=%20&language=&x=y&&=&since=soon&until=2026-13-01&type=a%20b&sort=up&q",
        );
        assert_eq!(
            (asked.text.as_str(), asked.page),
            ("", 1),
            "the last counts"
        );
        assert!(!asked.is_filtered());
        assert_eq!(Asked::read("q=%ff%00%e2").text, "\u{fffd}\0\u{fffd}");
        assert_eq!(Asked::read("page=999999").page, 101);
        assert_eq!(Asked::read("page=0").page, 1);
        let long = Asked::read(&format!("q={}", "é".repeat(2000)));
        assert_eq!((long.text.chars().count(), long.cut), (LONGEST, true));
    }

    proptest! {
        #[test]
        fn anything_is_a_search(raw in "\\PC{0,80}") {
            let asked = Asked::read(&raw);
            let address = asked.address(&asked.text, asked.page);
            prop_assert!(address.is_ascii());
            prop_assert_eq!(Asked::read(&address[2..]).text, asked.text);
        }
    }
}
