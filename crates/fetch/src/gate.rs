//! May we connect there?
//!
//! **Invariant:** the question is asked of the address that is then connected to, after every lookup and
//! on every hop, and for everything that is fetched: pages, robots.txt, sitemaps, feeds. There is no other
//! way to the network. However an address is written (`0x7f.1`, `[::ffff:7f00:1]`, a NAT64 or 6to4 form,
//! a name), it is judged by where it leads.

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
    /// All: the user said `--allow-private`.
    Always,
    /// Those of the seeds, each as `host:port`, and only those that were there when they were first
    /// looked up: a public seed whose name later moves inside is refused like any other.
    Seeds(HashSet<String>),
}

/// Which ports may be connected to.
#[derive(Debug, Clone)]
pub enum Ports {
    /// Every port.
    Any,
    /// These.
    Only(BTreeSet<u16>),
}

/// What the settings allow, and what was learned about the seeds.
#[derive(Debug)]
pub(crate) struct Gate {
    private: Private,
    ports: Ports,
    own: Vec<SocketAddr>,
}

#[derive(Debug)]
enum Private {
    Never,
    Always,
    /// By `host:port`: whether the seed was at a private address when it was first looked up.
    Seeds(HashMap<String, OnceLock<bool>>),
}

impl Gate {
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

    /// Asks what can be asked before anything is looked up: about the port, and about a host that is written
    /// as an address, which is returned. Decimal, octal and hexadecimal forms are canonical in a [`PageUrl`].
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

    /// Returns those of the server's addresses that may be connected to, at least one.
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

    /// Asks about a connection that was made: an address of this machine that is not known as private
    /// (a public one of its own) shows itself only now, by being both ends.
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
            // A listener on 0.0.0.0 answers on every loopback address, and connecting to 0.0.0.0
            // reaches every listener of this machine.
            let everywhere = own.ip().is_unspecified() && !is_public(ip);
            own.port() == address.port()
                && (leads_to(own.ip()) == ip || everywhere || ip.is_unspecified())
        })
    }
}

/// Whether an address is of the public internet, by the IANA special-purpose registries (RFC 6890) and
/// where the forms that embed an IPv4 address lead to.
pub fn is_public(ip: IpAddr) -> bool {
    match leads_to(ip) {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

/// The IPv4 address that an IPv6 form of one leads to; every other address itself.
fn leads_to(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = ip else { return ip };
    let last = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match v6.segments() {
        // Unspecified and loopback, which are no IPv4 address although they look like one.
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

/// Only 2000::/3 is given out; within it Teredo and the other protocol assignments of 2001::/23, and the
/// two ranges for documentation, are not the public internet.
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
    /// The default ports and those that the seeds name.
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
    /// The servers of the seeds. A seed on port 80 or 443 stands for both, because a site moves its
    /// visitors from `http` to `https`.
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
    use crate::settings::Settings;
    use proptest::prelude::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Row 24: the first and the last address of every range, and its neighbours outside.
    #[test]
    fn ranges_have_exact_edges() {
        let private = [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.0",
            "10.255.255.255",
            "100.64.0.0",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.0.0",
            "169.254.169.254",
            "172.16.0.0",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.0",
            "192.168.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::5",
            "2001::1",
            "2001:db8::1",
            "2001:1ff:ffff::",
            "3fff::1",
            "fc00::1",
            "fdff::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "100::1",
            "5f00::1",
            "1fff::1",
            "4000::1",
        ];
        for text in private {
            assert!(!is_public(ip(text)), "{text} is not public");
        }
        let public = [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:1.1.1.1",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:200::1",
            "2606:4700::1111",
            "2000::1",
            "3ffe::1",
        ];
        for text in public {
            assert!(is_public(ip(text)), "{text} is public");
        }
    }

    proptest! {
        /// Whatever form an IPv4 address takes, the verdict is that on the address.
        #[test]
        fn a_disguise_changes_nothing(bits: u32) {
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
        let gate = Settings::default().gate();
        // The public one remains, and only it.
        assert_eq!(
            gate.admit(&page, &found).unwrap(),
            ["1.1.1.1:80".parse().unwrap()]
        );
        assert_eq!(
            gate.admit(&page, &found[..1]),
            Err(Trouble::PrivateAddress(found[0]))
        );
        let all = Settings {
            allow_private: AllowPrivate::Always,
            ..Settings::default()
        };
        assert_eq!(all.gate().admit(&page, &found).unwrap().len(), 2);
    }

    /// Row 23: a public seed that moves inside is refused, a seed that was inside is not.
    #[test]
    fn a_seed_stays_where_it_was_first_found() {
        let seeds = [
            url("http://outside.example/"),
            url("http://inside.example:8080/"),
        ];
        let allow_private = AllowPrivate::of_seeds(&seeds);
        let gate = Settings {
            allow_private,
            ..Settings::default()
        }
        .gate();
        let (public, private) = ([ip("1.1.1.1")], [ip("10.0.0.1")]);
        assert!(gate.admit(&seeds[0], &public).is_ok());
        assert!(gate.admit(&seeds[0], &private).is_err(), "rebound");
        assert!(gate.admit(&seeds[1], &private).is_ok());
        assert!(
            gate.admit(&url("http://inside.example:8081/"), &private)
                .is_err(),
            "another port"
        );
        assert!(
            gate.admit(&url("http://other.example:8080/"), &private)
                .is_err(),
            "another host"
        );
    }

    #[test]
    fn a_seed_on_a_default_port_stands_for_both_schemes() {
        let seeds = [url("http://inside.example/")];
        let allow_private = AllowPrivate::of_seeds(&seeds);
        let gate = Settings {
            allow_private,
            ..Settings::default()
        }
        .gate();
        assert!(
            gate.admit(&url("https://inside.example/"), &[ip("10.0.0.1")])
                .is_ok()
        );
    }

    /// Row 26: our own listeners are refused, whatever is allowed and however they are written.
    #[test]
    fn nobody_leads_us_to_ourselves() {
        let settings = Settings {
            allow_private: AllowPrivate::Always,
            ports: Ports::Any,
            own_listeners: vec![
                "127.0.0.1:7700".parse().unwrap(),
                "0.0.0.0:7701".parse().unwrap(),
            ],
            ..Settings::default()
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
    fn only_named_ports_are_open() {
        let ports = Ports::of_seeds(&[url("http://example.org:8080/")]);
        let gate = Settings {
            ports,
            ..Settings::default()
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
