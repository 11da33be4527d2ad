//! What can be asked of `avocet serve`?

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet serve --store ./docs
  avocet serve --store ./docs --listen 127.0.0.1:9000")]
pub struct Serve {
    /// Where to listen [default: 127.0.0.1:8321]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
    /// The configuration [default: avocet.toml in the store, if there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}
