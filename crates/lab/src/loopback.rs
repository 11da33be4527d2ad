//! Worlds served on loopback, for crawls with the real program.
//!
//! [`Proxy`] serves a web graph and [`Press`] serves news. [`Trial`] tests a crawler on a small
//! [`Press`].

mod press;
mod proxy;
mod trial;

pub use press::{Had, Press};
pub use proxy::Proxy;
pub use trial::Trial;
