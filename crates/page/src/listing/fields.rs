//! The elements of each XML listing format and their meaning.
//!
//! **Invariant:** names are compared in any case and without their namespace prefix. A link counts
//! only if it has the prefix of its entry: `image:loc` and `itunes:link` lead elsewhere.

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

/// The meaning of the text of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListingField {
    /// The URL.
    Link,
    /// The URL of the page itself, where a tracking service has replaced the link.
    Original,
    /// An id that is often the URL.
    Guid,
    /// A date of the page; of several dates the latest counts.
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
        match (self, name.to_ascii_lowercase().as_str()) {
            (Self::Urlset | Self::Sitemapindex, "loc") if akin => Some(ListingField::Link),
            (Self::Urlset | Self::Sitemapindex, "lastmod") if akin => Some(ListingField::Date),
            (Self::Urlset | Self::Sitemapindex, _) => None,
            (Self::Rss | Self::Atom, "link") if akin => Some(ListingField::Link),
            (Self::Rss | Self::Atom, "origlink") => Some(ListingField::Original),
            (Self::Rss, "guid") if akin => Some(ListingField::Guid),
            // RSS uses its own date elements, those of Dublin Core and those of Atom.
            (Self::Rss, "pubdate" | "date") => Some(ListingField::Date),
            (Self::Rss | Self::Atom, "updated" | "modified" | "published" | "issued")
                if akin || self == Self::Rss =>
            {
                Some(ListingField::Date)
            }
            (Self::Rss | Self::Atom, _) => None,
        }
    }
}
