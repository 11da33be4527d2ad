//! The proxies that the environment names: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`,
//! in upper or lower case, as curl and other programs read them.
//!
//! Loopback is never asked through such a proxy.

use std::net::IpAddr;

use page::url::PageUrl;

use super::{ProxyError, ProxySettings};

/// The proxies that the environment names, by the scheme of the page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentProxies {
    plain: Option<ProxySettings>,
    secure: Option<ProxySettings>,
    /// Hosts that are asked directly.
    direct: Vec<DirectHosts>,
}

/// An entry of `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DirectHosts {
    All,
    /// A host name and all names below it, with a port if one is given.
    Name(String, Option<u16>),
    /// Addresses with the same first bits.
    Network(IpAddr, u8),
}

/// A variable of the environment that names no proxy.
#[derive(Debug, thiserror::Error)]
#[error("the variable {name} of the environment")]
pub struct EnvironmentProxyError {
    name: String,
    source: ProxyError,
}

impl EnvironmentProxies {
    /// Reads the proxies. `variable` returns the value of a variable.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, EnvironmentProxyError> {
        let value = |name: &str| {
            let names = [name.to_lowercase(), name.to_owned()].into_iter();
            let mut set = names.filter_map(|name| Some((variable(&name)?, name)));
            set.find(|(value, _)| !value.trim().is_empty())
        };
        let proxy = |names: [&str; 2]| {
            let Some((text, name)) = names.into_iter().find_map(value) else {
                return Ok(None);
            };
            // A proxy without a scheme speaks HTTP.
            let text = match text.contains("://") {
                true => text.trim().to_owned(),
                false => format!("http://{}", text.trim()),
            };
            let proxy = ProxySettings::parse(&text);
            proxy
                .map(Some)
                .map_err(|source| EnvironmentProxyError { name, source })
        };
        let direct = value("NO_PROXY").map_or(String::new(), |(text, _)| text);
        let direct = direct.split([',', ' ']).map(str::trim);
        Ok(Self {
            plain: proxy(["HTTP_PROXY", "ALL_PROXY"])?,
            secure: proxy(["HTTPS_PROXY", "ALL_PROXY"])?,
            direct: direct
                .filter(|entry| !entry.is_empty())
                .map(DirectHosts::parse)
                .collect(),
        })
    }

    /// Returns whether there is a proxy for any page.
    pub fn is_set(&self) -> bool {
        self.plain.is_some() || self.secure.is_some()
    }

    /// Returns the proxy for a page; `None`: it is asked directly.
    pub fn of(&self, url: &PageUrl) -> Option<&ProxySettings> {
        let proxy = match url.is_secure() {
            true => self.secure.as_ref(),
            false => self.plain.as_ref(),
        };
        proxy.filter(|_| {
            let host = url
                .host_name()
                .trim_start_matches('[')
                .trim_end_matches(']');
            let address = host.parse::<IpAddr>().ok();
            let is_here = host == "localhost" || address.is_some_and(|ip| ip.is_loopback());
            let port = Some(url.port());
            let mut direct = self.direct.iter();
            !is_here && !direct.any(|hosts| hosts.has(host, address, port))
        })
    }
}

impl DirectHosts {
    fn parse(entry: &str) -> Self {
        if entry == "*" {
            return Self::All;
        }
        let (place, bits) = match entry.split_once('/') {
            Some((place, bits)) => (place, bits.parse().ok()),
            None => (entry, None),
        };
        if let Ok(address) = place.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Self::Network(address, bits.unwrap_or(128));
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().ok()),
            None => (entry, None),
        };
        let name = name.trim_start_matches('*').trim_matches('.');
        Self::Name(name.to_ascii_lowercase(), port)
    }

    fn has(&self, host: &str, address: Option<IpAddr>, port: Option<u16>) -> bool {
        match self {
            Self::All => true,
            Self::Name(name, of_port) => {
                let rest = host.strip_suffix(name.as_str());
                let below = rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                below && (of_port.is_none() || *of_port == port)
            }
            Self::Network(network, bits) => match (network, address) {
                (IpAddr::V4(network), Some(IpAddr::V4(address))) => {
                    let left = 32 - u32::from(*bits).min(32);
                    let differ = u32::from(*network) ^ u32::from(address);
                    differ.checked_shr(left).unwrap_or(0) == 0
                }
                (IpAddr::V6(network), Some(IpAddr::V6(address))) => {
                    let left = 128 - u32::from(*bits).min(128);
                    let differ = u128::from(*network) ^ u128::from(address);
                    differ.checked_shr(left).unwrap_or(0) == 0
                }
                _ => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> EnvironmentProxies {
        let read = EnvironmentProxies::read(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        read.unwrap()
    }

    fn of(proxies: &EnvironmentProxies, url: &str) -> Option<String> {
        let url = PageUrl::parse(url).unwrap();
        proxies.of(&url).map(|proxy| proxy.host.clone())
    }

    #[test]
    fn the_scheme_of_the_page_chooses_the_proxy() {
        let all = proxies(&[
            ("https_proxy", "http://low:1"),
            ("HTTPS_PROXY", "http://high:1"),
            ("ALL_PROXY", "socks5://other"),
        ]);
        assert_eq!(of(&all, "https://a.example/"), Some("low".into()));
        assert_eq!(of(&all, "http://a.example/"), Some("other".into()));
        assert!(all.is_set() && !proxies(&[("HTTP_PROXY", " ")]).is_set());
        let plain = proxies(&[("HTTP_PROXY", "proxy:3128")]);
        assert_eq!(of(&plain, "http://a.example/"), Some("proxy".into()));
        assert_eq!(of(&plain, "https://a.example/"), None);
        let wrong = EnvironmentProxies::read(|name| {
            (name == "HTTP_PROXY").then(|| "ftp://proxy".to_owned())
        });
        let wrong = wrong.unwrap_err().to_string();
        assert_eq!(wrong, "the variable HTTP_PROXY of the environment");
    }

    #[test]
    fn no_proxy_and_loopback_are_asked_directly() {
        let none = "a.example, .b.example,*.c.example d.example:81,10.0.0.0/8,192.0.2.7,fd00::/8";
        let some = proxies(&[("ALL_PROXY", "http://p"), ("no_proxy", none)]);
        for (url, direct) in [
            ("http://a.example/", true),
            ("http://x.a.example/", true),
            ("http://xa.example/", false),
            ("http://b.example/", true),
            ("http://x.c.example/", true),
            ("http://d.example/", false),
            ("http://d.example:81/", true),
            ("http://10.2.3.4/", true),
            ("http://11.2.3.4/", false),
            ("http://192.0.2.7/", true),
            ("http://192.0.2.8/", false),
            ("http://[fd12::1]/", true),
            ("http://[fe12::1]/", false),
            ("http://127.0.0.1:8/", true),
            ("http://localhost/", true),
            ("http://[::1]/", true),
        ] {
            assert_eq!(of(&some, url).is_none(), direct, "{url}");
        }
        let nothing = proxies(&[("ALL_PROXY", "http://p"), ("NO_PROXY", "*")]);
        assert_eq!(of(&nothing, "http://x.example/"), None);
    }
}
