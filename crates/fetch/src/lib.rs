//! The HTTP client of the crawler.
//!
//! A [`Fetcher`] finds a [`Route`] to a server, opens a [`Connection`] and requests one page
//! after another, or several at once where [`HttpMode`] allows it. Which server to ask, when and
//! how often is decided in other crates.
//!
//! **Invariants.** Whatever a server does becomes a [`FetchAnswer`]: typed, bounded in bytes and in
//! time, and never a panic. Every connection passes the [`gate`], which checks the very address
//! that is then connected to; only name servers and the user's proxy are contacted without it.
//! Every byte received is attributed to the request it answers, or ends the connection.

mod body;
mod chunks;
mod coding;
mod connection;
mod cookies;
mod deadline;
mod dial;
mod dns;
mod fetcher;
pub mod gate;
mod heads;
mod hyper_connection;
mod monitored_socket;
mod network;
mod pipeline;
mod post;
mod proxy;
mod quirks;
mod reader;
mod reply;
mod request;
mod response;
mod robots;
mod settings;
mod shared;
mod socket;
mod tls;
mod trouble;

pub use connection::{Connection, FetchAnswer};
pub use fetcher::Fetcher;
pub use gate::{AllowPrivate, Ports};
pub use network::{NetworkTransport, Pipes};
pub use proxy::{EnvironmentProxies, EnvironmentProxyError, ProxyError, ProxyKind, ProxySettings};
#[doc(hidden)]
pub use reader::{ReadResponse, read_response};
pub use request::FetchRequest;
pub use response::{Response, Truncation};
pub use robots::{RobotsAnswer, RobotsVerdict};
pub use settings::{FetchError, FetchLimits, FetchOptions, HostSettings, HttpMode, PipelineDepth};
pub use shared::Route;
pub use trouble::{CertificateFault, Trouble};
