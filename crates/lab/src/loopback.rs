//! Worlds served on loopback, to be crawled by the program itself.
//!
//! [`Proxy`] serves pages and links, [`Press`] sources that publish, and [`Trial`] judges a crawler on a
//! small press.

mod press;
mod proxy;
mod trial;

pub use press::{Had, Press};
pub use proxy::Proxy;
pub use trial::Trial;
