//! Published refresh policies, one per file.

mod adaptive;
mod age;
mod freshness;
mod proportional;
mod site_sampling;
mod slotted;
mod user_centric;

pub use adaptive::Adaptive;
pub use age::Age;
pub use freshness::Freshness;
pub use proportional::Proportional;
pub use site_sampling::SiteSampling;
pub use slotted::{Horizon, Objective, Slotted};
pub use user_centric::{UserCentric, WindowMean};
