//! Published methods of focused crawling, one per file.

mod agents;
mod anchor;
mod best_first;
mod context_graph;
mod fish;
mod hard;
mod intelligent;
mod laser;
mod reinforcement;
mod shark;
mod soft;

pub use agents::{AgentInputs, Agents};
pub use anchor::Anchor;
pub use best_first::BestFirst;
pub use context_graph::ContextGraph;
pub use fish::Fish;
pub use hard::Hard;
pub use intelligent::Intelligent;
pub use laser::{Laser, LaserParameters};
pub use reinforcement::Reinforcement;
pub use shark::{Shark, SharkParameters};
pub use soft::Soft;
