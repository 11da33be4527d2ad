//! Published schedulers of content sources, all from Lefortier et al. (2013), one per file.

mod bfs;
mod greedy;
mod newpages;
mod schedule;

pub use bfs::Bfs;
pub use greedy::Greedy;
pub use newpages::NewPages;
pub use schedule::Schedule;
