//! `bench frontier`: speed and memory of the frontier at the size of a large crawl.
//!
//! It fills the frontier to nine tenths, measures links and claims at that size, and opens the
//! ledger again in another process.
//!
//! **Invariant:** the pages that the last process knows are compared with those that the first one
//! admitted. A fast frontier that loses pages is an error.

mod claims;
mod driver;
mod links;
pub mod reopen;
mod report;

use std::path::Path;

use anyhow::{Result, ensure};

use crate::cli::FrontierOptions;
use crate::machine::{Machine, occupied, resident};
use crate::urls::Urls;
use driver::FrontierDriver;
use report::{FigureTarget, FrontierFigure, FrontierReport};

/// Known links per new link: four of five links are known.
const KNOWN: u64 = 4;

/// Runs the benchmark and prints the table.
pub fn run(options: &FrontierOptions, place: &Path) -> Result<()> {
    let urls = Urls {
        servers: options.servers,
    };
    let path = place.join("ledger");
    let before = resident();
    let driver = FrontierDriver::new(&path)?;
    eprintln!("filling to {} URLs", options.urls / 10 * 9);
    let filled = links::admit(&driver, urls, options.urls / 10 * 9, 0)?;
    eprintln!(
        "{} URLs a second; now links, four of five known",
        rate(filled.new, filled.wall.as_secs_f64())
    );
    let admitted = links::admit(&driver, urls, options.urls, KNOWN)?;
    let memory = resident().saturating_sub(before);
    let disk = occupied(&path);
    eprintln!("claims");
    let settled = claims::settle(&driver, options.claims.unwrap_or(options.urls / 20))?;
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

    let count = options.urls as f64;
    let figures = vec![
        FrontierFigure::new(
            "links/s, by CPU time of all threads",
            rate(admitted.links, admitted.cpu.as_secs_f64()),
        )
        .target(FigureTarget::AtLeast(500_000.0)),
        FrontierFigure::new(
            "links/s, by wall time",
            rate(admitted.links, admitted.wall.as_secs_f64()),
        ),
        FrontierFigure::new(
            "  new URLs in a commit",
            admitted.new as f64 / admitted.commits.max(1) as f64,
        ),
        FrontierFigure::new(
            "claims+settlements/s, by wall time",
            rate(settled.pages, settled.wall.as_secs_f64()),
        )
        .target(FigureTarget::AtLeast(50_000.0)),
        FrontierFigure::new(
            "claims+settlements/s, by CPU time",
            rate(settled.pages, settled.cpu.as_secs_f64()),
        ),
        FrontierFigure::new(
            "  pages in a commit",
            settled.pages as f64 / settled.commits.max(1) as f64,
        ),
        FrontierFigure::new(
            "  share read from the ledger",
            settled.read as f64 / settled.pages.max(1) as f64,
        ),
        FrontierFigure::new("memory, bytes a URL", memory as f64 / count)
            .target(FigureTarget::AtMost(32.0)),
        FrontierFigure::new(
            "memory, bytes a URL, reopened",
            reopened.memory as f64 / count,
        )
        .target(FigureTarget::AtMost(32.0)),
        FrontierFigure::new("disk, bytes a URL", disk as f64 / count)
            .target(FigureTarget::AtMost(150.0)),
        FrontierFigure::new(
            "disk, more bytes a settled page",
            disk_settled.saturating_sub(disk) as f64 / settled.pages.max(1) as f64,
        ),
        FrontierFigure::new("reopening, seconds", reopened.seconds)
            .target(FigureTarget::AtMost(60.0)),
        FrontierFigure::new(
            "filling, URLs/s by wall time",
            rate(filled.new, filled.wall.as_secs_f64()),
        ),
        FrontierFigure::new(
            "filling, URLs/s by CPU time",
            rate(filled.new, filled.cpu.as_secs_f64()),
        ),
    ];
    let command = format!(
        "cargo xtask bench frontier --urls {} --servers {}",
        options.urls, options.servers
    );
    let report = FrontierReport {
        command,
        machine: Machine::this(),
        figures,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

fn rate(count: u64, seconds: f64) -> f64 {
    (count as f64 / seconds.max(1e-9)).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_crawl_is_driven_to_its_end_and_counted() {
        let place = tempfile::tempdir().unwrap();
        let driver = FrontierDriver::new(place.path()).unwrap();
        let urls = Urls { servers: 30 };
        let filled = links::admit(&driver, urls, 900, 0).unwrap();
        assert_eq!((filled.links, filled.new), (900, 900));
        let admitted = links::admit(&driver, urls, 1000, KNOWN).unwrap();
        assert_eq!((admitted.links, admitted.new), (500, 100));
        let settled = claims::settle(&driver, 250).unwrap();
        assert_eq!(settled.pages, 250);
        assert_eq!(driver.lock().frontier.bench.waiting(), 750);
        let known: Vec<_> = driver.ledger.scan().map(Result::unwrap).collect();
        let visited = known.iter().filter(|known| known.has_copy()).count();
        assert_eq!((known.len(), visited), (1000, 250), "all of it is durable");
        let rest = claims::settle(&driver, 10_000).unwrap();
        assert_eq!(rest.pages, 750, "no more than there is");
    }
}
