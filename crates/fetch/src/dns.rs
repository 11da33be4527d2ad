//! Which addresses does a name have?
//!
//! **Invariant:** a lookup ends in time, and its answer is kept at least a minute and at most a day,
//! whatever the name server says; names that do not exist are remembered as well. The search list of the
//! machine is not used: a link to `intranet` is not a link to `intranet.example.org`.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{Resolver, TokioResolver};

use crate::settings::{FetchError, Settings};
use crate::trouble::Trouble;

/// hostile-web.md, row 71: answers with a lifetime of 0 are a way to make us ask for ever.
const SHORTEST: Duration = Duration::from_secs(60);
/// hostile-web.md, row 71.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// A name that does not exist may be registered; an hour is what most zones ask for.
const LONGEST_ABSENCE: Duration = Duration::from_secs(60 * 60);
/// Answers kept. A crawl comes back to a server within minutes, so that this many servers in turn are
/// remembered; more would only be asked again.
const CACHED: u64 = 65_536;

/// Looks names up, and remembers.
pub(crate) struct Names {
    resolver: TokioResolver,
    within: Duration,
    at_most: usize,
}

impl Names {
    pub(crate) fn new(settings: &Settings) -> Result<Self, FetchError> {
        let limits = &settings.limits;
        let config = ResolverConfig::from_parts(None, Vec::new(), name_servers(settings));
        let mut builder = Resolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        // Two tries fit into the time that the whole lookup has.
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

    /// The addresses of a name, at least one. IPv4 comes first and addresses are in order, so that a
    /// server with several is always met at the same one and hosts that share it are seen to.
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

/// The user's name servers, else the system's, else the one that the C library falls back to.
fn name_servers(settings: &Settings) -> Vec<NameServerConfig> {
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
