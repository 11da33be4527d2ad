//! The client of a request: the peer of its connection, or the address that a trusted proxy names.
//!
//! **Invariant:** `X-Forwarded-For` is read only on connections from trusted proxies, from its
//! right end, and only as far as trusted proxies wrote it. Rate limits and access to the dashboard
//! use the same [`RequestClient`]. Limits on connections use the peer.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

/// The header field to which each proxy appends the address of its own client.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestClient {
    /// The IP address.
    pub address: IpAddr,
    /// Whether the request came through a trusted proxy.
    pub forwarded: bool,
}

/// The addresses of trusted proxies.
#[derive(Debug, Clone, Default)]
pub struct Proxies(Vec<IpAddr>);

impl Proxies {
    /// Creates the list from these addresses.
    pub fn at(addresses: &[IpAddr]) -> Self {
        Self(addresses.iter().map(IpAddr::to_canonical).collect())
    }

    /// Tells whether a peer is a trusted proxy.
    pub fn trust(&self, peer: IpAddr) -> bool {
        self.0.contains(&peer.to_canonical())
    }

    /// Returns the client of a request from this peer with these header fields.
    ///
    /// Takes the rightmost address that is not a trusted proxy: a client can write anything to the
    /// left of it. If that address cannot be parsed, the proxy that wrote it counts as the client.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> RequestClient {
        let mut client = RequestClient {
            address: peer.to_canonical(),
            forwarded: false,
        };
        if !self.trust(peer) {
            return client;
        }
        let fields = headers.get_all(FORWARDED_FOR).iter().rev();
        let hops = fields.flat_map(|field| field.to_str().unwrap_or_default().rsplit(','));
        for hop in hops {
            client.forwarded = true;
            let Some(address) = address(hop) else { break };
            client.address = address;
            if !self.trust(address) {
                break;
            }
        }
        client
    }
}

/// Returns the address that limits count by: an IPv4 address itself, or the /64 network of IPv6.
///
/// One client usually has a whole /64 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        v4 => v4,
    }
}

/// Parses one hop. Some proxies write the port as well.
fn address(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse().ok();
    let address = address.or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let proxies = Proxies::at(&["127.0.0.1", "10.0.0.2"].map(|text| text.parse().unwrap()));
        let check = |peer: &str, fields: &[&str], address: &str, forwarded| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(FORWARDED_FOR, field.parse().unwrap());
            }
            let client = proxies.client(peer.parse().unwrap(), &headers);
            let expected = RequestClient {
                address: address.parse().unwrap(),
                forwarded,
            };
            assert_eq!(client, expected, "{peer} {fields:?}");
        };
        let near = "127.0.0.1";
        check("9.9.9.9", &["1.2.3.4"], "9.9.9.9", false);
        check("::ffff:9.9.9.9", &[], "9.9.9.9", false);
        check(near, &[], near, false);
        check(near, &["1.2.3.4"], "1.2.3.4", true);
        check("::ffff:127.0.0.1", &["1.2.3.4"], "1.2.3.4", true);
        check(near, &["[2001:db8::1]:80"], "2001:db8::1", true);
        check(near, &["1.2.3.4:567"], "1.2.3.4", true);
        // A client's own entries are to the left of its address.
        check(near, &["127.0.0.1, 6.6.6.6, 1.2.3.4"], "1.2.3.4", true);
        check(near, &["6.6.6.6", "1.2.3.4, 10.0.0.2"], "1.2.3.4", true);
        check(near, &["1.2.3.4, unknown"], near, true);
        check(near, &["1.2.3.4, "], near, true);
        check(near, &["10.0.0.2"], "10.0.0.2", true);
    }

    #[test]
    fn an_ipv6_network_is_one_client() {
        let check = |one: &str, other: &str, same| {
            let [one, other] = [one, other].map(|text| network(text.parse().unwrap()));
            assert_eq!(one == other, same, "{one} {other}");
        };
        check("2001:db8::1", "2001:db8::2:9", true);
        check("2001:db8::1", "2001:db8:0:1::1", false);
        check("127.0.0.9", "::ffff:127.0.0.9", true);
        check("127.0.0.9", "127.0.0.8", false);
    }
}
