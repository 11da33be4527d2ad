//! What do the facts so far say of a page that nobody has read? One file, one way to keep the answer
//! up to date.

mod column;
mod flow;
mod inherited;
mod links;

pub use column::Column;
pub use flow::Flow;
pub use inherited::Inherited;
pub use links::Links;
