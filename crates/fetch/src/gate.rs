//! The gate: checks every address before the crawler connects to it (SSRF protection).
//!
//! **Invariant:** the gate checks the very address that is then connected to, after every lookup
//! and on every hop. It does so for everything that is fetched: pages, robots.txt, sitemaps,
//! feeds. Only name servers and the user's proxy are contacted without it; behind a proxy it checks
//! the port, and hosts that are written as an address. An address is judged by where it leads,
//! however it is written: `0x7f.1`, `[::ffff:7f00:1]`, a NAT64 or 6to4 form, or a name.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;

use page::url::PageUrl;

use crate::trouble::Trouble;

/// Which servers may have a private, loopback or link-local address.
#[derive(Debug, Clone, Default)]
pub enum AllowPrivate {
    /// None.
    #[default]
    Never,
    /// All: the user passed `--allow-private`.
    Always,
    /// The servers of the seeds, each as `host:port`, if their address was private at the first
    /// lookup. A seed that was public and later moves to a private address is refused.
    Seeds(HashSet<String>),
}

/// Which ports may be connected to.
#[derive(Debug, Clone)]
pub enum Ports {
    /// Every port.
    Any,
    /// Only these ports.
    Only(BTreeSet<u16>),
}

/// The rules from the settings, and what the first lookups of the seeds found.
#[derive(Debug)]
pub(crate) struct AddressGate {
    private: Private,
    ports: Ports,
    own: Vec<SocketAddr>,
}

#[derive(Debug)]
enum Private {
    Never,
    Always,
    /// By `host:port`: whether the seed had a private address at its first lookup.
    Seeds(HashMap<String, OnceLock<bool>>),
}

impl AddressGate {
    pub(crate) fn new(allow_private: &AllowPrivate, ports: &Ports, own: &[SocketAddr]) -> Self {
        let private = match allow_private {
            AllowPrivate::Never => Private::Never,
            AllowPrivate::Always => Private::Always,
            AllowPrivate::Seeds(servers) => Private::Seeds(
                servers
                    .iter()
                    .map(|server| (server.clone(), OnceLock::new()))
                    .collect(),
            ),
        };
        Self {
            private,
            ports: ports.clone(),
            own: own.to_vec(),
        }
    }

    /// Checks what is known before a lookup: the port, and a host written as an IP address.
    ///
    /// Returns that address, or `None` for a name. A [`PageUrl`] has already converted decimal,
    /// octal and hexadecimal notations to the usual one.
    pub(crate) fn check_url(&self, url: &PageUrl) -> Result<Option<IpAddr>, Trouble> {
        self.check_port(url)?;
        let host = url.host_name();
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let literal = bare.parse().ok();
        if let Some(ip) = literal {
            self.admit(url, &[ip])?;
        }
        Ok(literal)
    }

    fn check_port(&self, url: &PageUrl) -> Result<(), Trouble> {
        if self.ports.allow(url.port()) {
            Ok(())
        } else {
            Err(Trouble::Port(url.port()))
        }
    }

    /// Returns the addresses of the server that may be connected to, at least one.
    pub(crate) fn admit(
        &self,
        url: &PageUrl,
        found: &[IpAddr],
    ) -> Result<Vec<SocketAddr>, Trouble> {
        let inside_allowed = self.allows_private(url, found);
        let mut refusal = Trouble::NoAddress(url.host_name().to_owned());
        let mut admitted = Vec::with_capacity(found.len());
        for &ip in found {
            let address = SocketAddr::new(ip, url.port());
            if self.is_ours(address) {
                refusal = Trouble::Ourselves(address);
            } else if !is_public(ip) && !inside_allowed {
                refusal = Trouble::PrivateAddress(ip);
            } else {
                admitted.push(address);
            }
        }
        if admitted.is_empty() {
            Err(refusal)
        } else {
            Ok(admitted)
        }
    }

    /// Checks a connection that was made.
    ///
    /// A public address of this machine can only be recognized now: both ends have the same
    /// address.
    pub(crate) fn check_ends(&self, local: SocketAddr, peer: SocketAddr) -> Result<(), Trouble> {
        let own_port = self
            .own
            .iter()
            .any(|own| own.port() == peer.port() && own.ip().is_unspecified());
        if own_port && local.ip() == peer.ip() {
            Err(Trouble::Ourselves(peer))
        } else {
            Ok(())
        }
    }

    fn allows_private(&self, url: &PageUrl, found: &[IpAddr]) -> bool {
        match &self.private {
            Private::Never => false,
            Private::Always => true,
            Private::Seeds(servers) => servers
                .get(&format!("{}:{}", url.host_name(), url.port()))
                .is_some_and(|first| *first.get_or_init(|| found.iter().any(|&ip| !is_public(ip)))),
        }
    }

    fn is_ours(&self, address: SocketAddr) -> bool {
        let ip = leads_to(address.ip());
        self.own.iter().any(|own| {
            // A listener on 0.0.0.0 accepts on every loopback address, and connecting to 0.0.0.0
            // reaches every listener of this machine.
            let everywhere = own.ip().is_unspecified() && !is_public(ip);
            own.port() == address.port()
                && (leads_to(own.ip()) == ip || everywhere || ip.is_unspecified())
        })
    }
}

/// Returns whether an address belongs to the public internet.
///
/// Follows the IANA special-purpose registries (RFC 6890). A form that embeds an IPv4 address is
/// judged by that address.
pub fn is_public(ip: IpAddr) -> bool {
    match leads_to(ip) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// Returns the IPv4 address that an IPv6 form embeds, or the address itself.
fn leads_to(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let last = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match v6.segments() {
        // Unspecified and loopback. They look like embedded IPv4 addresses but are not.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => ip,
        // IPv4-mapped and the obsolete IPv4-compatible form.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => last(high, low),
        // NAT64 (RFC 6052).
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => last(high, low),
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => last(high, low),
        _ => ip,
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    !matches!(
        ip.octets(),
        [0 | 10 | 127, ..]
            | [100, 64..=127, ..]
            | [169, 254, ..]
            | [172, 16..=31, ..]
            | [192, 168, ..]
            | [192, 0, 0 | 2, _]
            | [192, 88, 99, _]
            | [198, 18 | 19, ..]
            | [198, 51, 100, _]
            | [203, 0, 113, _]
            | [224..=255, ..]
    )
}

/// Only 2000::/3 is allocated. Within it, 2001::/23 (Teredo and other protocol assignments) and
/// the two documentation ranges are not public.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    match ip.segments() {
        [0x2001, 0..=0x01ff, ..] | [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

impl Default for Ports {
    fn default() -> Self {
        Self::Only(BTreeSet::from([80, 443]))
    }
}

impl Ports {
    /// Allows ports 80 and 443 and those that the seeds name.
    pub fn of_seeds<'a>(seeds: impl IntoIterator<Item = &'a PageUrl>) -> Self {
        let named = seeds.into_iter().map(PageUrl::port);
        Self::Only(named.chain([80, 443]).collect())
    }

    fn allow(&self, port: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Only(ports) => ports.contains(&port),
        }
    }
}

impl AllowPrivate {
    /// Allows the servers of the seeds.
    ///
    /// A seed on port 80 or 443 stands for both, because sites redirect from `http` to `https`.
    pub fn of_seeds<'a>(seeds: impl IntoIterator<Item = &'a PageUrl>) -> Self {
        let mut servers = HashSet::new();
        for seed in seeds {
            let host = seed.host_name();
            servers.insert(format!("{host}:{}", seed.port()));
            if matches!(seed.port(), 80 | 443) {
                servers.extend([format!("{host}:80"), format!("{host}:443")]);
            }
        }
        Self::Seeds(servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::FetchOptions;
    use proptest::prelude::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Returns a gate that allows private addresses of these seeds only.
    fn gate_for(seeds: &[PageUrl]) -> AddressGate {
        AddressGate::new(&AllowPrivate::of_seeds(seeds), &Ports::default(), &[])
    }

    /// Row 24: addresses in every special range, and addresses next to most of the ranges.
    #[test]
    fn addresses_in_special_ranges_are_not_public_and_their_neighbours_are() {
        let private = "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 \
            127.255.255.255 169.254.0.0 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.8 \
            192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 \
            198.51.100.7 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 \
            ::ffff:10.1.2.3 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 \
            2002:7f00:1:: 2002:c0a8:101::5 2001::1 2001:db8::1 2001:1ff:ffff:: 3fff::1 fc00::1 \
            fdff::1 fe80::1 fec0::1 ff02::1 100::1 5f00::1 1fff::1 4000::1";
        for text in private.split_whitespace() {
            assert!(!is_public(ip(text)), "{text} is not public");
        }
        let public = "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 \
            169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 \
            192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:1.1.1.1 \
            64:ff9b::808:808 2002:808:808::1 2001:200::1 2606:4700::1111 2000::1 3ffe::1";
        for text in public.split_whitespace() {
            assert!(is_public(ip(text)), "{text} is public");
        }
    }

    proptest! {
        /// An IPv4 address gets the same verdict in every form.
        #[test]
        fn every_form_of_an_address_gets_the_same_verdict(bits: u32) {
            let v4 = Ipv4Addr::from(bits);
            prop_assume!(bits > 1);
            let [a, b, c, d] = v4.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            let plain = is_public(v4.into());
            for disguise in [
                v4.to_ipv6_mapped(),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                prop_assert_eq!(is_public(disguise.into()), plain, "{}", disguise);
            }
        }
    }

    #[test]
    fn a_private_address_needs_a_permission() {
        let found = [ip("10.0.0.1"), ip("1.1.1.1")];
        let page = url("http://example.org/");
        let gate = FetchOptions::default().gate();
        // Only the public address remains.
        assert_eq!(
            gate.admit(&page, &found).unwrap(),
            ["1.1.1.1:80".parse().unwrap()]
        );
        assert_eq!(
            gate.admit(&page, &found[..1]),
            Err(Trouble::PrivateAddress(found[0]))
        );
        let all = FetchOptions {
            allow_private: AllowPrivate::Always,
            ..FetchOptions::default()
        };
        assert_eq!(all.gate().admit(&page, &found).unwrap().len(), 2);
    }

    /// Row 23: a public seed that moves to a private address is refused.
    #[test]
    fn a_seed_may_be_private_only_if_it_was_private_at_its_first_lookup() {
        let seeds = [
            url("http://outside.example/"),
            url("http://inside.example:8080/"),
        ];
        let gate = gate_for(&seeds);
        let (public, private) = ([ip("1.1.1.1")], [ip("10.0.0.1")]);
        assert!(gate.admit(&seeds[0], &public).is_ok());
        assert!(gate.admit(&seeds[0], &private).is_err(), "rebound");
        assert!(gate.admit(&seeds[1], &private).is_ok());
        for other in ["http://inside.example:8081/", "http://other.example:8080/"] {
            assert!(gate.admit(&url(other), &private).is_err(), "{other}");
        }
    }

    #[test]
    fn a_seed_on_a_default_port_stands_for_both_schemes() {
        let gate = gate_for(&[url("http://inside.example/")]);
        let admitted = gate.admit(&url("https://inside.example/"), &[ip("10.0.0.1")]);
        assert!(admitted.is_ok());
    }

    /// Row 26: our own listeners are refused, whatever is allowed and however they are written.
    #[test]
    fn our_own_listeners_are_refused() {
        let settings = FetchOptions {
            allow_private: AllowPrivate::Always,
            ports: Ports::Any,
            own_listeners: vec![
                "127.0.0.1:7700".parse().unwrap(),
                "0.0.0.0:7701".parse().unwrap(),
            ],
            ..FetchOptions::default()
        };
        let gate = settings.gate();
        let check = |host: &str, port: u16, refused: bool| {
            let page = url(&format!("http://example.org:{port}/"));
            let verdict = gate.admit(&page, &[ip(host)]);
            assert_eq!(verdict.is_err(), refused, "{host}:{port}");
        };
        check("127.0.0.1", 7700, true);
        check("::ffff:127.0.0.1", 7700, true);
        check("0.0.0.0", 7700, true);
        check("127.0.0.2", 7700, false);
        check("127.0.0.1", 7702, false);
        check("127.0.0.2", 7701, true);
        check("::1", 7701, true);
        check("1.1.1.1", 7701, false);
        let (here, there) = (
            "1.1.1.1:5".parse().unwrap(),
            "1.1.1.1:7701".parse().unwrap(),
        );
        assert_eq!(gate.check_ends(here, there), Err(Trouble::Ourselves(there)));
        assert!(gate.check_ends("1.1.1.2:5".parse().unwrap(), there).is_ok());
    }

    #[test]
    fn only_ports_80_443_and_those_of_seeds_are_allowed() {
        let ports = Ports::of_seeds(&[url("http://example.org:8080/")]);
        let gate = FetchOptions {
            ports,
            ..FetchOptions::default()
        }
        .gate();
        for (text, open) in [
            ("http://a.example/", true),
            ("https://a.example/", true),
            ("http://a.example:8080/", true),
            ("http://a.example:22/", false),
            ("http://a.example:6379/", false),
        ] {
            assert_eq!(gate.check_port(&url(text)).is_ok(), open, "{text}");
        }
    }
}
