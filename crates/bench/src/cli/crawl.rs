//! Options of `bench crawl`, and of the processes that it starts.

use std::path::PathBuf;

use clap::Args;

/// Options of `bench crawl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench crawl --site /usr/share/doc/python3/html --site /usr/share/doc/git/html --runs 3
  cargo xtask bench crawl --url http://127.0.0.2:8080/ --url http://127.0.0.3:8080/   # served by nginx, for example

CPU time and memory are of the crawler process alone. In wall time the crawler shares the cores with the server.")]
pub struct CrawlOptions {
    /// A directory of HTML, served at its own loopback address (repeatable)
    #[arg(long, value_name = "DIR", required_unless_present = "url")]
    pub site: Vec<PathBuf>,
    /// The start page of a site that another server serves (repeatable)
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// Runs of each variant; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Connections of the crawler to one server at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub per_server: u8,
    /// Time limit of a crawl
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub time: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench serve`.
#[derive(Debug, Args)]
pub struct ServeOptions {
    /// The directories to serve.
    #[arg(required = true)]
    pub directories: Vec<PathBuf>,
}

/// Options of `bench bare`.
#[derive(Debug, Args)]
pub struct BareOptions {
    /// A file with one URL per line.
    pub list: PathBuf,
}
