//! Middleware: the guard, which every request passes, and the rate limit of pages, API and tools.

mod guard;
mod limits;

pub use guard::guard;
pub use limits::limit;
