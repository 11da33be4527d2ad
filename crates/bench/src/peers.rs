//! `bench peers`: the cost of a crawl, beside wget2 on the same pages in the same run.
//!
//! nginx serves a directory of HTML on loopback, and its log counts the pages of every crawler.
//! Each round runs all crawlers once, so that other load of the machine affects all of them alike.
//!
//! **Invariant:** crawlers that are compared have fetched the same number of pages.

mod nginx;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;

use crate::child;
use crate::program::AvocetProgram;
use crate::report::{self, median};
use nginx::Nginx;

/// Options of `bench peers`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench peers --site /usr/share/doc/postgresql-doc-15/html --rounds 5

Needs wget2 and nginx, and installs them with apt-get if it may. CPU time and memory are of the crawler process alone.
In wall time the crawler shares the cores with nginx.")]
pub struct PeersOptions {
    /// A directory of HTML with an index.html
    #[arg(long, value_name = "DIR")]
    pub site: PathBuf,
    /// Rounds; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub rounds: u16,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// A crawler with its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    /// wget2; pages are read for links and dropped.
    WgetDropping,
    /// wget2; pages become files.
    WgetStoring,
    /// `avocet crawl` with these flags.
    Avocet(&'static [&'static str]),
}

/// All crawlers with their names. Each is compared with the wget2 that the second name gives.
const PEERS: [(&str, &str, Peer); 5] = [
    (
        "wget2, nothing kept",
        "wget2, nothing kept",
        Peer::WgetDropping,
    ),
    (
        "avocet, ledger only",
        "wget2, nothing kept",
        Peer::Avocet(&["--no-archive", "--no-index"]),
    ),
    (
        "wget2, storing files",
        "wget2, storing files",
        Peer::WgetStoring,
    ),
    (
        "avocet, ledger and archive",
        "wget2, storing files",
        Peer::Avocet(&["--no-index"]),
    ),
    (
        "avocet, ledger, archive and index",
        "wget2, storing files",
        Peer::Avocet(&[]),
    ),
];

/// The figures of one crawl.
#[derive(Debug, Clone, Copy, Serialize)]
struct PeerCost {
    pages: f64,
    pages_per_second: f64,
    /// CPU time of the process per page, in milliseconds.
    cpu_ms_per_page: f64,
    /// Peak memory, in millions of bytes.
    peak_mb: f64,
}

#[derive(Debug, Serialize)]
struct PeerRow {
    crawler: &'static str,
    #[serde(flatten)]
    median: PeerCost,
    /// The wget2 run with which it is compared.
    against: &'static str,
    /// Median over the rounds of its CPU time per page, as a multiple of that of wget2 in the same
    /// round.
    cpu_ratio: f64,
}

#[derive(Debug, Serialize)]
struct PeersReport {
    rounds: u16,
    rows: Vec<PeerRow>,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &PeersOptions, place: &Path) -> Result<()> {
    nginx::install()?;
    let program = AvocetProgram::build()?;
    let nginx = Nginx::start(&options.site, place)?;
    let mut rounds: Vec<Vec<PeerCost>> = Vec::new();
    for round in 1..=options.rounds {
        let mut costs = Vec::with_capacity(PEERS.len());
        for (name, _, peer) in PEERS {
            eprintln!("round {round} of {}: {name}", options.rounds);
            costs.push(crawl(peer, &nginx, program.path(), place)?);
        }
        rounds.push(costs);
    }
    report::print(&summary(&rounds)?, options.json)
}

/// Crawls once into a new directory, and removes it.
fn crawl(peer: Peer, nginx: &Nginx, avocet: &Path, place: &Path) -> Result<PeerCost> {
    let kept = place.join("kept");
    fs::create_dir(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
    let mut command = match peer {
        Peer::WgetDropping | Peer::WgetStoring => {
            let mut command = Command::new("wget2");
            command.args(["-q", "-r", "-l", "inf", "--no-robots", "--max-threads=1"]);
            if peer == Peer::WgetDropping {
                command.args(["-O", "/dev/null"]);
            }
            command.arg(nginx.url());
            // wget2 ends with 8 if a link is broken. The number of pages is checked instead.
            let mut shell = Command::new("sh");
            shell.args(["-c", "\"$@\"; code=$?; [ $code = 8 ] || exit $code", "sh"]);
            shell.arg("wget2").args(command.get_args());
            shell
        }
        Peer::Avocet(flags) => {
            let mut command = Command::new(avocet);
            command
                .args(["crawl", "--json", nginx.url(), "--store", "store"])
                .args(flags);
            command
        }
    };
    let before = nginx.pages()?;
    let ended = child::run(command.current_dir(&kept), &place.join("errors.txt"))?;
    let pages = nginx.pages()? - before;
    fs::remove_dir_all(&kept).with_context(|| format!("cannot remove {}", kept.display()))?;
    ensure!(pages > 0, "the crawler fetched no page");
    let count = pages as f64;
    Ok(PeerCost {
        pages: count,
        pages_per_second: count / ended.wall.as_secs_f64(),
        cpu_ms_per_page: ended.cpu.as_secs_f64() * 1e3 / count,
        peak_mb: ended.peak as f64 / 1e6,
    })
}

/// Summarizes the rounds, each with the costs of all crawlers in their order.
fn summary(rounds: &[Vec<PeerCost>]) -> Result<PeersReport> {
    let position = |name: &str| PEERS.iter().position(|(other, ..)| *other == name);
    let mut rows = Vec::new();
    for (place, (crawler, against, _)) in PEERS.into_iter().enumerate() {
        let of = |figure: fn(&PeerCost) -> f64| {
            let values = rounds.iter().map(|costs| figure(&costs[place]));
            median(values).context("there are no rounds")
        };
        let other = position(against).context("wget2 is one of the crawlers")?;
        let ratios = rounds
            .iter()
            .map(|costs| costs[place].cpu_ms_per_page / costs[other].cpu_ms_per_page);
        let mean = PeerCost {
            pages: of(|cost| cost.pages)?,
            pages_per_second: of(|cost| cost.pages_per_second)?,
            cpu_ms_per_page: of(|cost| cost.cpu_ms_per_page)?,
            peak_mb: of(|cost| cost.peak_mb)?,
        };
        rows.push(PeerRow {
            crawler,
            median: mean,
            against,
            cpu_ratio: median(ratios).context("there are no rounds")?,
        });
    }
    let all = rows.iter().map(|row| row.median.pages);
    let (least, most) = all.fold((f64::MAX, 0.0f64), |(least, most), pages| {
        (least.min(pages), most.max(pages))
    });
    // A link that only one crawler understands may add a page or two.
    ensure!(
        most - least <= most / 100.0,
        "the crawlers fetched {least} to {most} pages, so their costs cannot be compared"
    );
    Ok(PeersReport {
        rounds: rounds.len() as u16,
        rows,
    })
}

impl fmt::Display for PeersReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "median of {} rounds", self.rounds)?;
        writeln!(
            out,
            "{:<34}{:>8}{:>10}{:>13}{:>8}{:>9}",
            "crawler", "pages", "pages/s", "CPU ms/page", "RSS MB", "x wget2"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<34}{:>8.0}{:>10.0}{:>13.3}{:>8.0}{:>9.2}",
                row.crawler,
                row.median.pages,
                row.median.pages_per_second,
                row.median.cpu_ms_per_page,
                row.median.peak_mb,
                row.cpu_ratio
            )?;
        }
        writeln!(
            out,
            "x wget2: against wget2 that keeps nothing, or that stores files"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(cpu_ms_per_page: f64, pages: f64) -> PeerCost {
        PeerCost {
            pages,
            pages_per_second: 1.0,
            cpu_ms_per_page,
            peak_mb: 1.0,
        }
    }

    #[test]
    fn a_crawler_is_compared_with_wget2_of_the_same_round() {
        let round = |slow: f64| {
            [0.2, 0.1, 0.8, 0.4, 0.6]
                .map(|ms| cost(ms * slow, 100.0))
                .to_vec()
        };
        // Each round is slower than the one before, and the ratios stay.
        let report = summary(&[round(1.0), round(2.0), round(9.0)]).unwrap();
        let ratios: Vec<f64> = report.rows.iter().map(|row| row.cpu_ratio).collect();
        for (ratio, expected) in ratios.iter().zip([1.0, 0.5, 1.0, 0.5, 0.75]) {
            assert!((ratio - expected).abs() < 1e-9, "{ratios:?}");
        }
        assert!((report.rows[0].median.cpu_ms_per_page - 0.4).abs() < 1e-9);
        assert!(report.to_string().contains("0.75"), "{report}");
    }

    #[test]
    fn crawls_of_different_numbers_of_pages_are_not_compared() {
        let mut round = vec![cost(1.0, 1000.0); 5];
        assert!(summary(std::slice::from_ref(&round)).is_ok());
        round[3].pages = 900.0;
        assert!(summary(&[round]).is_err());
        assert!(summary(&[]).is_err());
    }
}
