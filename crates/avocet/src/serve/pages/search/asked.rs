//! What a searcher asked the page for.
//!
//! **Invariant:** whatever stands after the question mark is a search: what cannot be understood is left out, since
//! a person can do nothing with an error about an address.

use jiff::{SignedDuration, Timestamp};
use repository::index::Query;

use crate::serve::search::Wish;

/// The most characters of a query that are read.
pub const LONGEST: usize = 1000;

/// How old copies may be: as written, as shown, in days.
pub const AGES: [(&str, &str, i64); 4] = [
    ("day", "Past day", 1),
    ("week", "Past week", 7),
    ("month", "Past month", 31),
    ("year", "Past year", 366),
];

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
    /// Only pages of this topic.
    pub topic: Option<String>,
    /// Only copies that are not older: a name of [`AGES`].
    pub age: Option<String>,
    /// From 1.
    pub page: usize,
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
            match name.as_ref() {
                "q" => {
                    asked.text = first(&value, LONGEST);
                    asked.cut = asked.text.len() < value.len();
                }
                "site" => asked.site = set(255),
                "language" => asked.language = set(8),
                "topic" => asked.topic = set(100),
                "age" => asked.age = set(8),
                "page" => {
                    let last = Query::OFFSET / super::SHOWN + 1;
                    asked.page = value.parse().unwrap_or(1).clamp(1, last);
                }
                _ => {}
            }
        }
        asked
    }

    /// Whether something beside words was asked for.
    pub fn is_filtered(&self) -> bool {
        let others = self.topic.is_some() || self.age.is_some();
        others || self.site.is_some() || self.language.is_some()
    }

    /// The search that is made for it.
    pub fn wish(&self, shown: usize, now: Timestamp) -> Wish {
        let age = AGES
            .iter()
            .find(|(value, ..)| self.age.as_deref() == Some(value));
        Wish {
            text: self.text.clone(),
            site: self.site.clone(),
            language: self.language.clone(),
            topic: self.topic.clone(),
            since: age.map(|(_, _, days)| now - SignedDuration::from_hours(24 * days)),
            limit: shown,
            offset: (self.page - 1) * shown,
            ..Wish::default()
        }
    }

    /// The address of the same search with other words, or another page.
    pub fn address(&self, text: &str, page: usize) -> String {
        let mut address = form_urlencoded::Serializer::for_suffix(String::from("/?"), 2);
        address.append_pair("q", text);
        let filters = [
            ("site", &self.site),
            ("language", &self.language),
            ("topic", &self.topic),
            ("age", &self.age),
        ];
        for (name, value) in filters {
            if let Some(value) = value {
                address.append_pair(name, value);
            }
        }
        if page > 1 {
            address.append_pair("page", &page.to_string());
        }
        address.finish()
    }
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
            topic: Some("waders".into()),
            age: Some("week".into()),
            page: 3,
            ..Asked::default()
        };
        let address = asked.address(&asked.text, asked.page);
        assert_eq!(Asked::read(address.strip_prefix("/?").unwrap()), asked);
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let wish = asked.wish(10, now);
        assert_eq!((wish.limit, wish.offset), (10, 20));
        assert_eq!(wish.since, Some("2026-11-09T12:00:00Z".parse().unwrap()));
    }

    #[test]
    fn what_cannot_be_understood_is_left_out() {
        let asked = Asked::read("q=a&page=many&age=&site=%20&language=&x=y&&=&q");
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
