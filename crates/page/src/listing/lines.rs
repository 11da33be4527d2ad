//! Reads plain-text sitemaps: one URL per line.
//!
//! **Invariant:** a text is a sitemap only if every non-empty line is a complete URL on the site
//! that serves it. A text with any other word, or a list of another site's pages, is an ordinary
//! text.

use super::{Listing, ListingKind, Refused};
use crate::url::PageUrl;

pub(super) fn read(text: &str, base: &PageUrl) -> Result<Listing, Refused> {
    let mut listing = Listing::new(ListingKind::Sitemap);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if listing.is_full() {
            listing.cut = true;
            break;
        }
        let is_url = line.starts_with("http") && !line.contains(char::is_whitespace);
        let url = is_url.then(|| PageUrl::parse(line).ok()).flatten();
        let ours = |url: &PageUrl| url.registrable_domain() == base.registrable_domain();
        let url = url.filter(ours).ok_or(Refused::Other)?;
        listing.add(base, Some(url), None);
    }
    if listing.entries.is_empty() {
        return Err(Refused::Other);
    }
    Ok(listing)
}
