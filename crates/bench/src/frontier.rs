//! `bench frontier`: speed and memory of the frontier at the size of a large crawl.
//!
//! It fills the frontier with nine tenths of the URLs, measures links and claims at that size, and
//! opens the ledger again in another process.
//!
//! **Invariant:** the pages that the last process knows are compared with those that the first one
//! admitted. A fast frontier that loses pages is an error.

mod claims;
mod driver;
mod links;
pub mod reopen;
mod report;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;

use crate::machine::{occupied, resident};
use crate::report::per_second;
use crate::urls::Urls;
use driver::FrontierDriver;
use report::{FrontierFigure, FrontierReport};

/// Known links per new link: four of five links are known.
const KNOWN: u64 = 4;

/// Options of `bench frontier`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench frontier --urls 20000000 --servers 100000

Needs about 200 MB of memory, plus 50 bytes of memory and 200 bytes of disk (under target/) per URL.")]
pub struct FrontierOptions {
    /// URLs known at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: u64,
    /// Servers that hold them; the n-th has about 1/n of the pages of the first
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: u64,
    /// Claims to settle [default: one URL in twenty]
    #[arg(long, value_name = "N")]
    pub claims: Option<u64>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &FrontierOptions, place: &Path) -> Result<()> {
    let urls = Urls {
        servers: options.servers,
    };
    let path = place.join("ledger");
    let before = resident();
    let mut driver = FrontierDriver::new(&path)?;
    eprintln!("filling to {} URLs", options.urls / 10 * 9);
    let filled = links::admit(&mut driver, urls, options.urls / 10 * 9, 0)?;
    eprintln!(
        "{} URLs a second; now links, four of five known",
        per_second(filled.new, filled.wall.as_secs_f64())
    );
    let admitted = links::admit(&mut driver, urls, options.urls, KNOWN)?;
    let memory = resident().saturating_sub(before);
    let disk = occupied(&path);
    eprintln!("claims");
    let settled = claims::settle(&mut driver, options.claims.unwrap_or(options.urls / 20))?;
    let disk_settled = occupied(&path);
    drop(driver);
    eprintln!("reopening");
    let reopened = reopen::measure(&path, place)?;
    ensure!(
        reopened.known == options.urls,
        "only {} of {} URLs are in the ledger",
        reopened.known,
        options.urls
    );
    let waiting = options.urls - settled.pages;
    ensure!(
        reopened.waiting == waiting,
        "{} URLs wait for a fetch, but {waiting} should",
        reopened.waiting
    );

    let per_url = |bytes: u64| bytes as f64 / options.urls as f64;
    let per_page = |count: u64| count as f64 / settled.pages.max(1) as f64;
    let links = |time: Duration| per_second(admitted.links, time.as_secs_f64());
    let claims = |time: Duration| per_second(settled.pages, time.as_secs_f64());
    let filling = |time: Duration| per_second(filled.new, time.as_secs_f64());
    let new_in_commit = admitted.new as f64 / admitted.commits.max(1) as f64;
    let pages_in_commit = settled.pages as f64 / settled.commits.max(1) as f64;
    let settled_disk = per_page(disk_settled.saturating_sub(disk));
    let figure = FrontierFigure::new;
    let figures = vec![
        figure("links/s, by CPU time of all threads", links(admitted.cpu)).at_least(500_000.0),
        figure("links/s, by wall time", links(admitted.wall)),
        figure("  new URLs in a commit", new_in_commit),
        figure("claims+settlements/s, by wall time", claims(settled.wall)).at_least(50_000.0),
        figure("claims+settlements/s, by CPU time", claims(settled.cpu)),
        figure("  pages in a commit", pages_in_commit),
        figure("  share read from the ledger", per_page(settled.read)),
        figure("memory, bytes a URL", per_url(memory)).at_most(32.0),
        figure("memory, bytes a URL, reopened", per_url(reopened.memory)).at_most(32.0),
        figure("disk, bytes a URL", per_url(disk)).at_most(150.0),
        figure("disk, more bytes a settled page", settled_disk),
        figure("reopening, seconds", reopened.seconds).at_most(60.0),
        figure("filling, URLs/s by wall time", filling(filled.wall)),
        figure("filling, URLs/s by CPU time", filling(filled.cpu)),
    ];
    crate::report::print(&FrontierReport { figures }, options.json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_crawl_is_driven_to_its_end_and_counted() {
        let place = tempfile::tempdir().unwrap();
        let mut driver = FrontierDriver::new(place.path()).unwrap();
        let urls = Urls { servers: 30 };
        let filled = links::admit(&mut driver, urls, 900, 0).unwrap();
        assert_eq!((filled.links, filled.new), (900, 900));
        let admitted = links::admit(&mut driver, urls, 1000, KNOWN).unwrap();
        assert_eq!((admitted.links, admitted.new), (500, 100));
        let settled = claims::settle(&mut driver, 250).unwrap();
        assert_eq!(settled.pages, 250);
        assert_eq!(driver.frontier.bench.waiting(), 750);
        let known: Vec<_> = driver.ledger.scan().map(Result::unwrap).collect();
        let visited = known.iter().filter(|known| known.has_copy()).count();
        assert_eq!((known.len(), visited), (1000, 250), "all is durable");
        let rest = claims::settle(&mut driver, 10_000).unwrap();
        assert_eq!(rest.pages, 750, "all remaining pages");
    }
}
