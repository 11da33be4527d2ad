//! Which URL does each page have?
//!
//! **Invariant:** every page has a URL of its own, in normal form: two pages with one URL would be one
//! page to every crawler.

use std::collections::HashSet;

use page::PageUrl;

/// The URLs of these pages.
///
/// One that an earlier page has gets `page=N`, the page's number, added to its query, so that it stays on its
/// host. One that cannot be crawled is replaced by one on a host of its own under `.invalid`, the domain that
/// no page has (RFC 2606).
pub(super) fn distinct<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Vec<PageUrl> {
    let mut taken = HashSet::new();
    let mut urls = Vec::new();
    for text in texts {
        let mut free = candidates(text.as_ref(), urls.len());
        urls.extend(free.find(|url| taken.insert(url.id())));
    }
    urls
}

/// URLs for a page, the best first, without end.
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
