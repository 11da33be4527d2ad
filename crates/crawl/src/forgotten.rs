//! Pages that the operator has forgotten (`avocet forget`), which a crawl must not bring back.

use page::PageUrl;
use regex::Regex;

use crate::blocked::Blocked;

/// What the operator named: one page, a host, or a pattern of URLs.
#[derive(Debug, Clone)]
pub enum ForgottenPages {
    /// One page, by its URL in normal form.
    Page(String),
    /// All pages of a host: `example.org`, `example.org:8080` or `*.example.org`.
    Host(Blocked),
    /// All pages whose URL matches. It was written as a URL with `*` for any characters.
    Pattern(Regex),
}

impl ForgottenPages {
    /// Parses what the operator wrote. A text with `://` is a URL, or a pattern if it has a `*`; any
    /// other text is a host.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if !text.contains("://") {
            let host = Blocked::parse(text).map(Self::Host);
            return host.map_err(|why| {
                format!("{why}, or a URL such as https://example.org/page, in which * stands for any characters")
            });
        }
        if text.contains('*') {
            let pieces: Vec<String> = text.split('*').map(regex::escape).collect();
            let pattern = Regex::new(&format!("^{}$", pieces.join(".*")));
            return pattern
                .map(Self::Pattern)
                .map_err(|error| error.to_string());
        }
        let url = PageUrl::parse(text).map_err(|why| format!("{text:?}: {why}"))?;
        Ok(Self::Page(url.as_str().to_owned()))
    }

    /// Returns whether a page is one of these.
    pub fn has(&self, url: &PageUrl) -> bool {
        match self {
            Self::Page(page) => page == url.as_str(),
            Self::Host(host) => host.holds(url),
            Self::Pattern(pattern) => pattern.is_match(url.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hosts_and_patterns_are_told_apart() {
        let has = |target: &str, url: &str| {
            let url = PageUrl::parse(url).unwrap();
            ForgottenPages::parse(target).unwrap().has(&url)
        };
        assert!(has("http://E.org", "http://e.org/"));
        assert!(!has("http://e.org/", "http://e.org/x"));
        assert!(has("e.org", "https://e.org:8443/x") && !has("e.org:80", "https://e.org/x"));
        assert!(has("*.e.org", "http://a.e.org/") && !has("*.e.org", "http://e.org/"));
        assert!(has("https://e.org/p/*", "https://e.org/p/a?b=c"));
        assert!(
            !has("https://e.org/p/*", "https://e.org/q")
                && !has("https://e.org/p/*", "http://e.org/p/a")
        );
        assert!(has("*://e.org/*.pdf", "http://e.org/a/b.pdf"));
        assert!(
            !has("http://e.org/a.b*", "http://e.org/axb"),
            "only * is special"
        );
        for wrong in ["", "*", "a b", "http://", "e.org/x"] {
            assert!(ForgottenPages::parse(wrong).is_err(), "{wrong}");
        }
    }
}
