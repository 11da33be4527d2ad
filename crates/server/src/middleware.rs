//! Middleware: the guard, which every request passes, the rate limit of pages, API and tools,
//! the path prefix of a reverse proxy, and the count of requests.

mod base;
mod count;
mod guard;
mod limits;

pub use base::{add_base, without_base};
pub use count::count;
pub use guard::guard;
pub use limits::limit;
