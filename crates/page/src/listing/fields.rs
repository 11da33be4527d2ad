//! Which elements of a listing say what?
//!
//! **Invariant:** names are compared without their prefix and case, but a link counts only with the prefix
//! of its entry: `image:loc` and `itunes:link` lead elsewhere.

use super::Kind;

/// How a format writes its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Urlset,
    Sitemapindex,
    /// RSS of any version, RDF included.
    Rss,
    Atom,
}

/// The dates of RSS are its own, those of Dublin Core and those of Atom.
const RSS_DATES: [&str; 6] = [
    "pubDate",
    "date",
    "issued",
    "modified",
    "published",
    "updated",
];

/// What the words of an element are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The URL.
    Link,
    /// The URL, before a service that counts readers put its own in its place.
    Original,
    /// An id that is often the URL.
    Guid,
    /// One of the dates.
    Date,
}

impl Format {
    /// The format of a document with this root.
    pub(super) fn of(root: &str) -> Option<Self> {
        const ROOTS: [(&str, Format); 5] = [
            ("urlset", Format::Urlset),
            ("sitemapindex", Format::Sitemapindex),
            ("rss", Format::Rss),
            ("rdf", Format::Rss),
            ("feed", Format::Atom),
        ];
        let found = ROOTS
            .iter()
            .find(|(name, _)| root.eq_ignore_ascii_case(name));
        found.map(|(_, format)| *format)
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Urlset => Kind::Sitemap,
            Self::Sitemapindex => Kind::Index,
            Self::Rss | Self::Atom => Kind::Feed,
        }
    }

    /// The name of its entries.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Self::Urlset => "url",
            Self::Sitemapindex => "sitemap",
            Self::Rss => "item",
            Self::Atom => "entry",
        }
    }

    /// Whether an element of this name within a child of an entry holds the date of the page.
    pub(super) fn dates(self, child: &str, name: &str) -> bool {
        let is = |name: &str, this| name.eq_ignore_ascii_case(this);
        self == Self::Urlset && is(child, "news") && is(name, "publication_date")
    }

    /// What a child of an entry says. `akin`: it has the prefix of the entry.
    pub(super) fn field(self, name: &str, akin: bool) -> Option<Field> {
        let is = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
        match self {
            Self::Urlset | Self::Sitemapindex => match () {
                () if akin && is(&["loc"]) => Some(Field::Link),
                () if akin && is(&["lastmod"]) => Some(Field::Date),
                () => None,
            },
            Self::Rss => match () {
                () if akin && is(&["link"]) => Some(Field::Link),
                () if akin && is(&["guid"]) => Some(Field::Guid),
                () if is(&["origLink"]) => Some(Field::Original),
                () if is(&RSS_DATES) => Some(Field::Date),
                () => None,
            },
            Self::Atom => match () {
                () if akin && is(&["link"]) => Some(Field::Link),
                () if is(&["origLink"]) => Some(Field::Original),
                () if akin && is(&["updated", "modified", "published", "issued"]) => {
                    Some(Field::Date)
                }
                () => None,
            },
        }
    }
}
