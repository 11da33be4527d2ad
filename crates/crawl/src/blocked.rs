//! Hosts to which no request is made.

use page::PageUrl;

/// A blocked host: `example.org`, `example.org:8080` for one port, `*.example.org` for all
/// subdomains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    name: String,
    port: Option<u16>,
    below: bool,
}

impl Blocked {
    /// Parses a blocked host.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("{text:?} is not a host: write example.org, example.org:8080 or *.example.org")
        };
        let (below, host) = match text.trim().strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text.trim()),
        };
        let url = PageUrl::parse(&format!("http://{host}/")).map_err(|_| wrong())?;
        let plain = !host.is_empty() && !host.contains(['/', '?', '#', '@', '*', '\\']);
        if !plain || url.path_and_query() != "/" {
            return Err(wrong());
        }
        let port = host
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok());
        Ok(Self {
            name: url.host_name().to_owned(),
            port: port.filter(|_| !host.ends_with(']')),
            below,
        })
    }

    /// Returns whether a page is on this host.
    pub fn holds(&self, url: &PageUrl) -> bool {
        let name = url.host_name();
        let named = match self.below {
            false => name == self.name,
            true => name
                .strip_suffix(&self.name)
                .is_some_and(|rest| rest.ends_with('.')),
        };
        named && self.port.is_none_or(|port| port == url.port())
    }
}

impl std::fmt::Display for Blocked {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let below = if self.below { "*." } else { "" };
        write!(out, "{below}{}", self.name)?;
        self.port.map_or(Ok(()), |port| write!(out, ":{port}"))
    }
}
