//! How do we get the bytes?
//!
//! A [`Fetcher`] finds a [`Route`] to a server, opens a [`Connection`] to it and asks for one page after
//! another, or for several at once where [`Http`] allows it. Who is asked, when and how often is decided
//! elsewhere.
//!
//! **Invariants.** Whatever a server does becomes an [`Answer`]: typed, bounded in bytes and in time, and
//! never a panic. Nothing reaches the network but through the [`gate`], which sees the address that is
//! then connected to. A byte belongs to the request it was sent for, or to none.

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
mod line;
mod manners;
mod network;
mod pipeline;
mod proxy;
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
mod wire;

pub use connection::{Answer, Connection};
pub use fetcher::Fetcher;
pub use gate::{AllowPrivate, Ports};
pub use network::{Network, Pipes};
pub use proxy::{Proxy, ProxyError, ProxyKind};
#[doc(hidden)]
pub use reader::{ReadResponse, read_response};
pub use request::Request;
pub use response::{Response, Truncation};
pub use robots::{RobotsAnswer, Verdict};
pub use settings::{Depth, FetchError, HostSettings, Http, Limits, Settings};
pub use shared::Route;
pub use trouble::{CertificateFault, Trouble};
