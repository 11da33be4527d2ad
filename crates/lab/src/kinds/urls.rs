//! Unique URLs for the pages of a world.
//!
//! **Invariant:** every page has its own URL, in normal form. To a crawler, two pages with one
//! URL would be one page.

use std::collections::HashSet;

use page::PageUrl;

/// Returns a unique URL for each page.
///
/// If an earlier page has the URL, `page=N` with the page's number is added to the query, so that
/// the page stays on its host. A URL that cannot be crawled is replaced by `http://N.invalid/`: no
/// real page is under `.invalid` (RFC 2606). If the new URL is taken, too, a counter is appended.
pub(super) fn distinct<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<PageUrl> {
    let mut taken = HashSet::new();
    let mut urls = Vec::new();
    for text in texts {
        let mut free = candidates(text.as_ref(), urls.len());
        urls.extend(free.find(|url| taken.insert(url.id())));
    }
    urls
}

/// Returns an infinite sequence of URLs for a page, best first.
fn candidates(text: &str, index: usize) -> impl Iterator<Item = PageUrl> {
    let own = PageUrl::parse(text).ok();
    let base = match &own {
        Some(url) if url.query().is_some() => format!("{url}&page={index}"),
        Some(url) => format!("{url}?page={index}"),
        None => format!("http://{index}.invalid/"),
    };
    let others = (0_u64..).map(move |n| match n {
        0 => base.clone(),
        _ if base.contains('?') => format!("{base}.{n}"),
        _ => format!("{base}{n}"),
    });
    own.into_iter()
        .chain(others.filter_map(|url| PageUrl::parse(&url).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_url_of_its_own() {
        let given = [
            "http://1.invalid/",
            "mailto:x",
            "HTTP://1.invalid",
            "http://e.org/?",
            "http://e.org/a?b=c#d",
            "http://e.org/a?b=c",
            "http://e.org/a?b=c&page=7",
            "http://e.org/a?b=c",
        ];
        let urls = distinct(given);
        let found: Vec<&str> = urls.iter().map(PageUrl::as_str).collect();
        let expected = [
            "http://1.invalid/",
            "http://1.invalid/1",
            "http://1.invalid/?page=2",
            "http://e.org/?",
            "http://e.org/a?b=c",
            "http://e.org/a?b=c&page=5",
            "http://e.org/a?b=c&page=7",
            "http://e.org/a?b=c&page=7.1",
        ];
        assert_eq!(found, expected);
        assert_eq!(distinct(found), urls, "what is distinct stays");
    }
}
