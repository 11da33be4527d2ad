//! Published server strategies, all from Cao, Jiang & Singh (2003), one per file.

mod breadth_first;
mod crawl_ability;
mod performance;
mod quality;

pub use breadth_first::BreadthFirstServers;
pub use crawl_ability::CrawlAbility;
pub use performance::Performance;
pub use quality::Quality;
