//! Fuzz target for absolute URLs, and for links resolved against the page they are on.

use page::{PageUrl, Rules};

/// Parses the first line as a URL, and resolves both the first line and the rest as links on
/// that page.
///
/// Every resulting URL is in normal form.
pub fn url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let base = match PageUrl::parse(first) {
        Ok(url) => {
            normal(&url);
            url
        }
        Err(_) => crate::found_at(),
    };
    for link in [first, rest] {
        if let Ok(url) = base.join(link) {
            normal(&url);
        }
    }
}

fn normal(url: &PageUrl) {
    let text = url.as_str();
    assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
    assert!(!text.contains('#'), "{text}");
    let parsed = url.to_url();
    assert!(parsed.username().is_empty() && parsed.password().is_none());
    assert!(matches!(parsed.scheme(), "http" | "https"));
    assert_eq!(parsed.as_str(), text);
    assert!(!url.host_name().is_empty());
    assert!(url.path().starts_with('/'));
    assert_eq!(format!("{}{}", url.origin(), url.path_and_query()), text);
    // The standard accepts the host `a..`, but the public suffix list does not.
    let bare = |name: &str| name.trim_end_matches('.').to_owned();
    assert!(bare(url.host_name()).ends_with(&bare(url.registrable_domain())));

    // Normalization is idempotent, and the ids stay the same.
    let again = PageUrl::parse(text).expect("what was accepted is accepted again");
    assert_eq!(&again, url);
    assert_eq!(
        (again.id(), again.host(), again.pattern()),
        (url.id(), url.host(), url.pattern())
    );
    assert_eq!(url.join(text).as_ref(), Ok(url));
    assert_eq!(url.id().host(), url.host());

    let rules = Rules {
        strip_tracking: true,
        ..Rules::default()
    };
    if let Ok(admitted) = rules.admit(url.clone()) {
        assert!(admitted.as_str().len() <= url.as_str().len());
        assert_eq!(PageUrl::parse(admitted.as_str()).as_ref(), Ok(&admitted));
        assert_eq!(rules.admit(admitted.clone()), Ok(admitted));
    }
}
