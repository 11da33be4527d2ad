//! The meaning of the section `[[webhook]]`.

use page::PageUrl;
use repository::changes::PageChange;

use super::WebhookSettings;

impl WebhookSettings {
    /// Returns the URL of the receiver. Fails if the URL or the secret cannot be used.
    pub fn receiver(&self) -> Result<PageUrl, String> {
        let url = PageUrl::parse(&self.url);
        let url = url.map_err(|why| format!("webhook.url {:?}: {why}", self.url))?;
        let secret = self.secret.read();
        let secret = secret.map_err(|why| format!("webhook.secret of {url}: {why:#}"))?;
        match secret.is_empty() {
            true => Err(format!(
                "webhook.secret of {url} is empty: write a long random text"
            )),
            false => Ok(url),
        }
    }

    /// Returns whether the receiver wants a change.
    pub fn wants(&self, change: &PageChange) -> bool {
        let of_kind = self.changes.is_empty() || self.changes.contains(&change.change);
        let of_site = self
            .site
            .as_deref()
            .is_none_or(|site| is_of_site(&change.url, site));
        of_kind && of_site
    }
}

/// Returns whether a URL is of a host or one of its subdomains.
pub fn is_of_site(url: &str, site: &str) -> bool {
    let Ok(url) = PageUrl::parse(url) else {
        return false;
    };
    let rest = url
        .host_name()
        .strip_suffix(&*site.trim_matches('.').to_lowercase());
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use repository::changes::ChangeKind;

    use super::*;

    #[test]
    fn receivers_name_what_they_want() {
        let change = |change, url: &str| PageChange {
            number: 1,
            at: String::new(),
            change,
            url: url.into(),
            status: None,
            title: None,
        };
        let hook = WebhookSettings {
            url: "https://hooks.example.org/".into(),
            changes: vec![ChangeKind::Gone],
            site: Some("Example.org".into()),
            ..WebhookSettings::default()
        };
        assert!(hook.wants(&change(ChangeKind::Gone, "http://a.example.org/")));
        assert!(!hook.wants(&change(ChangeKind::New, "http://a.example.org/")));
        assert!(!hook.wants(&change(ChangeKind::Gone, "http://anexample.org/")));
        assert!(hook.receiver().unwrap_err().contains("secret"));
    }
}
