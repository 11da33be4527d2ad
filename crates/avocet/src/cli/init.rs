//! Arguments of `avocet init` and `avocet check`.

use std::path::PathBuf;

use clap::Args;
use node::settings::Layer;

use super::settings::{OfCheck, OfCrawl, OfRun, SettingFlags};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet init --store ./docs
  avocet init https://docs.example.org/ --contact mailto:me@example.org --budget 5000/day --store ./docs
  avocet run --store ./docs

Without a URL, the command asks a few questions, if standard input is a terminal. The file lists every setting with its
explanation; settings that neither a flag nor an answer gives are comments.")]
pub struct InitArguments {
    /// Seeds: the URLs at which the crawl starts
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// File to write; it must not exist [default: avocet.toml in the store]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub crawl: SettingFlags<OfCrawl>,
    #[command(flatten)]
    pub run: SettingFlags<OfRun>,
}

impl InitArguments {
    /// Returns the settings that the flags give.
    pub fn layer(&self) -> Layer {
        let flags = self.run.layer.over(&self.crawl.layer);
        flags.with_seeds(self.urls.clone())
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet check https://docs.example.org/guide/
  avocet check https://docs.example.org/ --scope prefix --json | jq .why_not_indexed

Exit code 0: a crawl would get this page; 1: it would not.")]
pub struct CheckArguments {
    /// URL of the page
    #[arg(value_name = "URL")]
    pub url: String,
    /// Configuration file [default: avocet.toml in the store, if it exists]; without seeds in it,
    /// the URL is the seed
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingFlags<OfCheck>,
}
