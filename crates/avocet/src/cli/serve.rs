//! Arguments of `avocet serve`.

use std::path::PathBuf;

use clap::Args;

use super::settings::{OfServe, SettingFlags};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet serve --store ./docs
  avocet serve --store ./docs --listen 127.0.0.1:9000")]
pub struct ServeArguments {
    /// Configuration file [default: avocet.toml in the store, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingFlags<OfServe>,
}
