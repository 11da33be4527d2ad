//! Arguments of `avocet cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::settings::{OfCluster, SettingFlags};

/// Subcommands of `avocet cluster`.
#[derive(Debug, Subcommand)]
pub enum ClusterCommand {
    /// Show the nodes, who owns which slots, and the traffic between nodes
    #[command(
        after_help = "Example:\n  avocet cluster status --cluster nats://10.0.0.1:4222 --name docs"
    )]
    Status(ClusterArguments),
    /// Let a node give all its slots to the others, before it is stopped or upgraded
    #[command(
        after_help = "Example:\n  avocet cluster drain node-2 --cluster nats://10.0.0.1:4222 --name docs"
    )]
    Drain(DrainArguments),
    /// Let a node own a slot
    #[command(
        after_help = "Example:\n  avocet cluster move 17 node-2 --cluster nats://10.0.0.1:4222 --name docs"
    )]
    Move(MoveArguments),
    /// Compare the facts in the ledger of every node with the logs of its slots
    #[command(
        after_help = "Example:\n  avocet cluster verify --cluster nats://10.0.0.1:4222 --name docs"
    )]
    Verify(ClusterArguments),
}

#[derive(Debug, Args)]
pub struct ClusterArguments {
    /// Configuration file [default: avocet.toml in the store, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingFlags<OfCluster>,
}

#[derive(Debug, Args)]
pub struct DrainArguments {
    /// The node
    #[arg(value_name = "NODE")]
    pub target: String,
    /// Let the node take its share of the slots again
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}

#[derive(Debug, Args)]
pub struct MoveArguments {
    /// The slot, as `avocet cluster status` numbers it
    #[arg(value_name = "SLOT")]
    pub slot: u16,
    /// The node that should own it
    #[arg(value_name = "NODE")]
    pub target: String,
    #[command(flatten)]
    pub cluster: ClusterArguments,
}
