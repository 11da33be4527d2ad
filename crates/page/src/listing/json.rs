//! Reads JSON feeds (jsonfeed.org, versions 1 and 1.1).
//!
//! **Invariant:** an incomplete feed is refused entirely. Feeds of more than 8 MiB are refused,
//! because they are parsed in memory.

use serde::Deserialize;

use super::{Listing, ListingKind, Refused, date};
use crate::url::PageUrl;

const BYTES: usize = 8 << 20;

#[derive(Deserialize)]
struct Feed {
    version: String,
    items: Vec<Post>,
    #[serde(default)]
    hubs: Vec<Hub>,
}

#[derive(Deserialize)]
struct Hub {
    #[serde(rename = "type")]
    kind: String,
    url: String,
}

#[derive(Deserialize)]
struct Post {
    url: Option<String>,
    date_modified: Option<String>,
    date_published: Option<String>,
}

pub(super) fn read(text: &str, base: &PageUrl, now: i64) -> Result<Listing, Refused> {
    let feed: Feed = Some(text)
        .filter(|text| text.len() <= BYTES)
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or(Refused::Other)?;
    if !feed.version.contains("jsonfeed.org") {
        return Err(Refused::Other);
    }
    let mut listing = Listing::new(ListingKind::Feed);
    let hub = feed
        .hubs
        .iter()
        .find(|hub| hub.kind.eq_ignore_ascii_case("WebSub"));
    listing.hub = hub.and_then(|hub| base.join(&hub.url).ok());
    for post in feed.items {
        let dates = [post.date_modified, post.date_published];
        let modified = dates
            .iter()
            .flatten()
            .filter_map(|text| date::plausible(text, now))
            .max();
        let url = post.url.and_then(|url| base.join(&url).ok());
        listing.add(base, url, modified);
    }
    Ok(listing)
}
