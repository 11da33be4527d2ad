//! The elements of each XML listing format and their meaning.
//!
//! **Invariant:** names are compared without namespace prefix and case. A link counts only if it
//! has the prefix of its entry: `image:loc` and `itunes:link` lead elsewhere.

use super::ListingKind;

/// An XML format of a sitemap or feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Urlset,
    Sitemapindex,
    /// RSS of any version, RDF included.
    Rss,
    Atom,
}

/// RSS uses its own date elements, those of Dublin Core and those of Atom.
const RSS_DATES: [&str; 6] = [
    "pubDate",
    "date",
    "issued",
    "modified",
    "published",
    "updated",
];

/// What the text of an element means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingField {
    /// The URL.
    Link,
    /// The URL of the page itself, where a tracking service has replaced the link.
    Original,
    /// An id that is often the URL.
    Guid,
    /// One of the dates.
    Date,
}

impl Format {
    /// Returns the format of a document with this root element.
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

    pub(super) fn kind(self) -> ListingKind {
        match self {
            Self::Urlset => ListingKind::Sitemap,
            Self::Sitemapindex => ListingKind::Index,
            Self::Rss | Self::Atom => ListingKind::Feed,
        }
    }

    /// Returns the name of an entry element.
    pub(super) fn entry(self) -> &'static str {
        match self {
            Self::Urlset => "url",
            Self::Sitemapindex => "sitemap",
            Self::Rss => "item",
            Self::Atom => "entry",
        }
    }

    /// Returns whether the element `name` inside the child `child` of an entry holds the date of
    /// the page.
    pub(super) fn dates(self, child: &str, name: &str) -> bool {
        let is = |name: &str, this| name.eq_ignore_ascii_case(this);
        self == Self::Urlset && is(child, "news") && is(name, "publication_date")
    }

    /// Returns the meaning of a child of an entry. `akin` says that it has the prefix of the
    /// entry.
    pub(super) fn field(self, name: &str, akin: bool) -> Option<ListingField> {
        let is = |names: &[&str]| names.iter().any(|one| name.eq_ignore_ascii_case(one));
        match self {
            Self::Urlset | Self::Sitemapindex => match () {
                () if akin && is(&["loc"]) => Some(ListingField::Link),
                () if akin && is(&["lastmod"]) => Some(ListingField::Date),
                () => None,
            },
            Self::Rss => match () {
                () if akin && is(&["link"]) => Some(ListingField::Link),
                () if akin && is(&["guid"]) => Some(ListingField::Guid),
                () if is(&["origLink"]) => Some(ListingField::Original),
                () if is(&RSS_DATES) => Some(ListingField::Date),
                () => None,
            },
            Self::Atom => match () {
                () if akin && is(&["link"]) => Some(ListingField::Link),
                () if is(&["origLink"]) => Some(ListingField::Original),
                () if akin && is(&["updated", "modified", "published", "issued"]) => {
                    Some(ListingField::Date)
                }
                () => None,
            },
        }
    }
}
