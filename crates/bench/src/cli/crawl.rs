//! What can be asked of `bench crawl`, and of the processes that it starts?

use std::path::PathBuf;

use clap::Args;

/// What to crawl.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench crawl --site /usr/share/doc/python3/html --site /usr/share/doc/git/html --runs 3
  cargo xtask bench crawl --url http://127.0.0.2:8080/ --url http://127.0.0.3:8080/   # nginx, say

CPU and memory are those of the crawler process alone. Wall time shares the cores with the server.")]
pub struct Crawl {
    /// A directory of HTML, served at a loopback address of its own (repeatable)
    #[arg(long, value_name = "DIR", required_unless_present = "url")]
    pub site: Vec<PathBuf>,
    /// The start page of a site that is served already (repeatable)
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// How often each variant runs; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Connections of the crawler to one server at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub per_server: u8,
    /// Ends a crawl that takes longer
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub time: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What to serve.
#[derive(Debug, Args)]
pub struct Serve {
    /// The directories.
    #[arg(required = true)]
    pub directories: Vec<PathBuf>,
}

/// What to fetch.
#[derive(Debug, Args)]
pub struct Bare {
    /// A file of URLs, one a line.
    pub list: PathBuf,
}
