//! Facets: links that add a filter to a search, and links that remove one.
//!
//! **Invariant:** a link changes one filter and keeps the query, the order and all other filters.
//! It leads to the first page of results.

use jiff::civil::Date;
use repository::index::Facets;

use super::form::{AGES, SearchForm};
use crate::wording;

/// Values of one property, with the number of results that have each.
#[derive(Debug)]
pub struct FacetGroup {
    pub name: &'static str,
    pub links: Vec<FacetLink>,
}

/// One value of a property, as a link.
#[derive(Debug)]
pub struct FacetLink {
    pub label: String,
    pub pages: u64,
    pub address: String,
}

/// A filter that is set, with the URL of the search without it.
#[derive(Debug)]
pub struct FilterChip {
    pub label: String,
    pub address: String,
}

impl FacetGroup {
    /// Returns the groups that can narrow the search: more than one value, and no filter yet.
    pub fn all(form: &SearchForm, facets: Facets) -> Vec<Self> {
        let published = form.published_since.is_some() || form.published_until.is_some();
        let groups = [
            form.site.is_none().then(|| {
                group("Site", facets.sites, |site| {
                    let address = form.changed(|other| other.site = Some(site.to_owned()));
                    Some((site.to_owned(), address))
                })
            }),
            form.language.is_none().then(|| {
                group("Language", facets.languages, |code| {
                    let address = form.changed(|other| other.language = Some(code.to_owned()));
                    Some((wording::language(code).to_owned(), address))
                })
            }),
            form.kind.is_none().then(|| {
                group("Type", facets.kinds, |kind| {
                    let address = form.changed(|other| other.kind = Some(kind.to_owned()));
                    Some((kind.to_owned(), address))
                })
            }),
            (!published).then(|| {
                group("Year", facets.years, |year| {
                    let number: i16 = year.parse().ok().filter(|year| *year > 0)?;
                    let address = form.changed(|other| {
                        other.published_since = Date::new(number, 1, 1).ok();
                        other.published_until = Date::new(number, 12, 31).ok();
                    });
                    Some((year.to_owned(), address))
                })
            }),
        ];
        let narrows = |group: &Self| group.links.len() > 1;
        groups.into_iter().flatten().filter(narrows).collect()
    }
}

fn group(
    name: &'static str,
    values: Vec<(String, u64)>,
    link: impl Fn(&str) -> Option<(String, String)>,
) -> FacetGroup {
    let values = values.into_iter().filter(|(value, _)| !value.is_empty());
    let links = values.filter_map(|(value, pages)| {
        let (label, address) = link(&value)?;
        Some(FacetLink {
            label,
            pages,
            address,
        })
    });
    FacetGroup {
        name,
        links: links.collect(),
    }
}

impl FilterChip {
    /// Returns the filters that are set.
    pub fn all(form: &SearchForm) -> Vec<Self> {
        let mut chips = Vec::new();
        let mut add = |label: Option<String>, clear: fn(&mut SearchForm)| {
            if let Some(label) = label {
                let address = form.changed(clear);
                chips.push(Self { label, address });
            }
        };
        let language = form.language.as_deref().map(wording::language);
        let age = form.age.as_deref();
        let age = age.and_then(|age| AGES.iter().find(|(value, ..)| *value == age));
        add(form.site.clone(), |form| form.site = None);
        add(language.map(str::to_owned), |form| form.language = None);
        add(form.kind.clone(), |form| form.kind = None);
        add(form.topic.clone(), |form| form.topic = None);
        add(
            age.map(|(_, name, _)| format!("Fetched: {}", name.to_lowercase())),
            |form| {
                form.age = None;
            },
        );
        add(days("Fetched", form.since, form.until), |form| {
            (form.since, form.until) = (None, None);
        });
        let published = days("Published", form.published_since, form.published_until);
        add(published, |form| {
            (form.published_since, form.published_until) = (None, None);
        });
        chips
    }
}

/// Formats a range of days, or returns `None` if it has no bound.
fn days(what: &str, since: Option<Date>, until: Option<Date>) -> Option<String> {
    match (since, until) {
        (None, None) => None,
        (Some(since), None) => Some(format!("{what} since {since}")),
        (None, Some(until)) => Some(format!("{what} until {until}")),
        (Some(since), Some(until)) => {
            let year = since.year();
            let ends = [(since.month(), since.day()), (until.month(), until.day())];
            let whole = until.year() == year && ends == [(1, 1), (12, 31)];
            Some(match whole {
                true => format!("{what} {year}"),
                false => format!("{what} {since} to {until}"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(values: &[&str]) -> Vec<(String, u64)> {
        values
            .iter()
            .map(|value| ((*value).to_owned(), 2))
            .collect()
    }

    #[test]
    fn links_keep_the_other_filters() {
        let form = SearchForm::read("q=a+b&topic=t&age=week&since=2026-01-02&sort=newest&page=4");
        let facets = Facets {
            sites: counts(&["a.example", "b.example"]),
            languages: counts(&["de", "en"]),
            kinds: counts(&["html", "text"]),
            years: counts(&["2024", "2019", "0"]),
        };
        let rest = "topic=t&age=week&since=2026-01-02";
        let found: Vec<(&str, String)> = FacetGroup::all(&form, facets)
            .into_iter()
            .map(|group| (group.name, group.links[0].address.clone()))
            .collect();
        let expected = [
            ("Site", format!("/?q=a+b&site=a.example&{rest}&sort=newest")),
            (
                "Language",
                format!("/?q=a+b&language=de&{rest}&sort=newest"),
            ),
            ("Type", format!("/?q=a+b&type=html&{rest}&sort=newest")),
            (
                "Year",
                format!(
                    "/?q=a+b&{rest}&published_since=2024-01-01&published_until=2024-12-31&sort=newest"
                ),
            ),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_set_filter_can_be_removed_and_is_not_offered() {
        let raw = "q=a&site=x.example&language=de&type=text&published_since=2024-01-01&published_until=2024-12-31&until=2026-05-06";
        let form = SearchForm::read(raw);
        let facets = Facets {
            sites: counts(&["x.example", "y.x.example"]),
            languages: counts(&["de", "en"]),
            kinds: counts(&["html", "text"]),
            years: counts(&["2024", "2019"]),
        };
        assert!(FacetGroup::all(&form, facets).is_empty());
        let chips = FilterChip::all(&form);
        let labels: Vec<&str> = chips.iter().map(|chip| chip.label.as_str()).collect();
        let expected = [
            "x.example",
            "German",
            "text",
            "Fetched until 2026-05-06",
            "Published 2024",
        ];
        assert_eq!(labels, expected);
        assert_eq!(
            chips[0].address,
            "/?q=a&language=de&type=text&until=2026-05-06&published_since=2024-01-01&published_until=2024-12-31"
        );
        assert_eq!(
            chips[4].address,
            "/?q=a&site=x.example&language=de&type=text&until=2026-05-06"
        );
        assert!(FilterChip::all(&SearchForm::read("q=a&sort=newest")).is_empty());
    }

    #[test]
    fn hostile_values_are_percent_encoded_in_links() {
        let form = SearchForm::read("q=%22%3E%3Cscript%3E");
        let facets = Facets {
            sites: counts(&["\"><script>", "a&b=c#d"]),
            ..Facets::default()
        };
        let groups = FacetGroup::all(&form, facets);
        let addresses: Vec<&str> = groups[0]
            .links
            .iter()
            .map(|link| link.address.as_str())
            .collect();
        assert_eq!(
            addresses,
            [
                "/?q=%22%3E%3Cscript%3E&site=%22%3E%3Cscript%3E",
                "/?q=%22%3E%3Cscript%3E&site=a%26b%3Dc%23d"
            ]
        );
    }
}
