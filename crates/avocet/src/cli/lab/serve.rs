//! Arguments of `avocet lab serve`.

use clap::Args;

use super::knob;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet lab serve --world ./my-graph --port 8500 &
  avocet crawl http://cs.stanford.edu/ --scope any --proxy http://127.0.0.1:8500 --delay 0s")]
pub struct LabServeArguments {
    /// A directory with links (see docs/reference/worlds.md), or invented:NAME
    #[arg(long, value_name = "WORLD", default_value = "invented:graph")]
    pub world: String,
    /// Set a parameter of an invented world: NAME=VALUE (repeatable)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = knob)]
    pub knobs: Vec<(String, String)>,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Port of 127.0.0.1 to listen on [default: a free one]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
}
