//! Middleware that every request passes before a page or the API answers it.

mod guard;
mod limits;

pub use guard::guard;
pub use limits::limit;
