//! Fuzz target for sitemaps and feeds.

use page::listing::{ENTRIES, ListingKind, read};

/// 14 July 2017 in Unix seconds, which lies between the dates in the corpus.
const NOW: i64 = 1_500_000_000;

/// Reads a sitemap or feed.
///
/// The number of entries is limited, a sitemap names pages of its own site only, and a document
/// type declaration is always refused.
pub fn listing(data: &[u8]) {
    let base = crate::found_at();
    for content_type in [None, Some("application/xml"), Some("text/plain")] {
        let Ok(listing) = read(data, content_type, &base, NOW) else {
            continue;
        };
        assert!(listing.entries.len() <= ENTRIES);
        for entry in &listing.entries {
            let ours = entry.url.registrable_domain() == base.registrable_domain();
            assert!(ours || listing.kind == ListingKind::Feed);
            assert!(
                ours || entry.modified.is_none(),
                "a date of another site's page"
            );
        }
        let again = read(data, content_type, &base, NOW).expect("as it was read before");
        assert_eq!(again, listing);
        assert_eq!(again.digest(), listing.digest());
    }
    for declaration in ["<!DOCTYPE urlset>", "<!DOCTYPE urlset [<!ENTITY a \"b\">"] {
        let declared = [b"<?xml version=\"1.0\"?>", declaration.as_bytes(), data].concat();
        assert!(read(&declared, Some("application/xml"), &base, NOW).is_err());
    }
}
