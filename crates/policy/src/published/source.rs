//! Published schedulers of content sources, all of Lefortier et al. (2013). One file, one scheduler.

mod bfs;
mod greedy;
mod newpages;
mod schedule;

pub use bfs::Bfs;
pub use greedy::Greedy;
pub use newpages::NewPages;
pub use schedule::Schedule;
