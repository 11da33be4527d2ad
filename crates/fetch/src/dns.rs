//! Resolves host names to addresses, with a cache.
//!
//! **Invariant:** every lookup has a deadline. Whatever TTL the name server sends, an answer is
//! cached for at least a minute. An address is cached for at most a day, and the absence of a name
//! for at most an hour. The machine's search list is not used: a link to `intranet` must not become
//! `intranet.example.org`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, TokioResolver};

use crate::settings::{FetchError, FetchOptions};
use crate::trouble::Trouble;

/// Minimum time for which an answer is cached (hostile-web.md, row 71): answers with a TTL of 0
/// would force a lookup for every connection.
const SHORTEST: Duration = Duration::from_secs(60);
/// Maximum time for which an address is cached (hostile-web.md, row 71).
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum time for which the absence of a name is cached. A missing name may be registered at any
/// time; one hour is the negative TTL of most zones.
const LONGEST_ABSENCE: Duration = Duration::from_secs(60 * 60);
/// Capacity of the cache, in answers. A crawl returns to a server within minutes, so 65,536
/// entries cover the servers it visits in turn.
const CACHED: u64 = 65_536;

/// A caching resolver.
pub(crate) struct NameResolver {
    resolver: TokioResolver,
    within: Duration,
    at_most: usize,
}

impl NameResolver {
    pub(crate) fn new(settings: &FetchOptions) -> Result<Self, FetchError> {
        let limits = &settings.limits;
        let config = ResolverConfig::from_parts(None, Vec::new(), name_servers(settings));
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        // Two attempts fit into the deadline of the whole lookup.
        options.timeout = limits.dns / 2;
        options.attempts = 2;
        options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
        options.cache_size = CACHED;
        options.use_hosts_file = ResolveHosts::Always;
        options.positive_min_ttl = Some(SHORTEST);
        options.negative_min_ttl = Some(SHORTEST);
        options.positive_max_ttl = Some(LONGEST);
        options.negative_max_ttl = Some(LONGEST_ABSENCE);
        let resolver = builder.build().map_err(FetchError::Resolver)?;
        Ok(Self {
            resolver,
            within: limits.dns,
            at_most: limits.addresses,
        })
    }

    /// Returns the addresses of a name, at least one.
    ///
    /// The addresses are sorted, IPv4 first. Of several addresses, the same one is therefore always
    /// tried first, and hosts that share it are recognized as one server.
    pub(crate) async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, Trouble> {
        let found = tokio::time::timeout(self.within, self.resolver.lookup_ip(name)).await;
        let found = found
            .map_err(|_| Trouble::DnsTimeout(name.to_owned()))?
            .map_err(|error| trouble_of(name, &error))?;
        let mut addresses: Vec<IpAddr> = found.iter().take(self.at_most).collect();
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.is_empty() {
            return Err(Trouble::NoAddress(name.to_owned()));
        }
        Ok(addresses)
    }
}

/// Returns the user's name servers, else the system's, else `127.0.0.1:53` like the C library.
fn name_servers(settings: &FetchOptions) -> Vec<NameServerConfig> {
    if !settings.name_servers.is_empty() {
        return settings
            .name_servers
            .iter()
            .copied()
            .map(name_server)
            .collect();
    }
    match hickory_resolver::system_conf::read_system_conf() {
        Ok((config, _)) if !config.name_servers().is_empty() => config.name_servers().to_vec(),
        Ok(_) | Err(_) => vec![name_server(SocketAddr::from(([127, 0, 0, 1], 53)))],
    }
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    let with_port = |mut connection: ConnectionConfig| {
        connection.port = address.port();
        connection
    };
    server.connections = server.connections.into_iter().map(with_port).collect();
    server
}

fn trouble_of(name: &str, error: &NetError) -> Trouble {
    let name = name.to_owned();
    if error.is_nx_domain() {
        return Trouble::NoSuchName(name);
    }
    if error.is_no_records_found() {
        return Trouble::NoAddress(name);
    }
    match error {
        NetError::Timeout => Trouble::DnsTimeout(name),
        other => Trouble::DnsFailed {
            name,
            reason: other.to_string(),
        },
    }
}
