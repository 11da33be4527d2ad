//! Worlds served on loopback, for crawls with the real program.
//!
//! [`WorldProxy`] serves a web graph and [`Press`] serves news. [`Trial`] tests a crawler on a
//! small [`Press`].

mod press;
mod proxy;
mod trial;

pub use press::{Had, Press};
pub use proxy::WorldProxy;
pub use trial::Trial;
