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

  cargo xtask bench peers --site DIR --beside /tmp/avocet-before

Needs wget2 and nginx, and installs them with apt-get if it may. CPU time and memory are of the crawler process alone.
In wall time the crawler shares the cores with nginx. --beside adds another build of avocet to the same rounds.")]
pub struct PeersOptions {
    /// A directory of HTML with an index.html
    #[arg(long, value_name = "DIR")]
    pub site: PathBuf,
    /// The avocet to measure [default: built from this source]
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
    /// Another avocet, such as an earlier build, that crawls in the same rounds
    #[arg(long, value_name = "PATH")]
    pub beside: Option<PathBuf>,
    /// Rounds; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub rounds: u16,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// A crawler with its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Peer {
    /// wget2; pages are read for links and dropped.
    WgetDropping,
    /// wget2; pages become files.
    WgetStoring,
    /// `avocet crawl` of this build with these flags.
    Avocet(PathBuf, &'static [&'static str]),
}

/// A row of the table: a crawler, its name, and the name of the wget2 with which it is compared.
#[derive(Debug, Clone)]
struct PeerEntry {
    name: String,
    against: &'static str,
    peer: Peer,
}

const DROPPING: &str = "wget2, nothing kept";
const STORING: &str = "wget2, storing files";

/// The variants of avocet: what a crawl keeps, the wget2 with which it is compared, its flags.
const VARIANTS: [(&str, &str, &[&str]); 3] = [
    ("ledger only", DROPPING, &["--no-archive", "--no-index"]),
    ("ledger and archive", STORING, &["--no-index"]),
    ("ledger, archive and index", STORING, &[]),
];

/// Returns all crawlers: wget2, and each of the builds of avocet with its label.
fn peers(programs: &[(&str, &Path)]) -> Vec<PeerEntry> {
    let wget = |against: &'static str, peer: Peer| PeerEntry {
        name: against.to_owned(),
        against,
        peer,
    };
    let mut peers = Vec::new();
    for (against, peer) in [(DROPPING, Peer::WgetDropping), (STORING, Peer::WgetStoring)] {
        peers.push(wget(against, peer));
        for (kept, _, flags) in VARIANTS.iter().filter(|(_, other, _)| *other == against) {
            peers.extend(programs.iter().map(|(label, program)| PeerEntry {
                name: format!("{label}, {kept}"),
                against,
                peer: Peer::Avocet(program.to_path_buf(), flags),
            }));
        }
    }
    peers
}

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
    crawler: String,
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
    let program = match &options.program {
        Some(path) => found(path)?,
        None => AvocetProgram::build()?.path().to_owned(),
    };
    let beside = options.beside.as_deref().map(found).transpose()?;
    let mut programs = vec![("avocet", program.as_path())];
    programs.extend(beside.as_deref().map(|path| ("avocet beside", path)));
    let peers = peers(&programs);
    let nginx = Nginx::start(&options.site, place)?;
    let mut rounds: Vec<Vec<PeerCost>> = Vec::new();
    for round in 1..=options.rounds {
        let mut costs = Vec::with_capacity(peers.len());
        for entry in &peers {
            eprintln!("round {round} of {}: {}", options.rounds, entry.name);
            costs.push(crawl(&entry.peer, &nginx, place)?);
        }
        rounds.push(costs);
    }
    report::print(&summary(&peers, &rounds)?, options.json)
}

/// Returns the whole path of a program, because crawls run in other directories.
fn found(program: &Path) -> Result<PathBuf> {
    fs::canonicalize(program).with_context(|| format!("cannot find {}", program.display()))
}

/// Crawls once into a new directory, and removes it.
fn crawl(peer: &Peer, nginx: &Nginx, place: &Path) -> Result<PeerCost> {
    let kept = place.join("kept");
    fs::create_dir(&kept).with_context(|| format!("cannot make {}", kept.display()))?;
    let mut command = match peer {
        Peer::WgetDropping | Peer::WgetStoring => {
            let mut command = Command::new("wget2");
            command.args(["-q", "-r", "-l", "inf", "--no-robots", "--max-threads=1"]);
            if *peer == Peer::WgetDropping {
                command.args(["-O", "/dev/null"]);
            }
            command.arg(nginx.url());
            // wget2 ends with 8 if a link is broken. The number of pages is checked instead.
            let mut shell = Command::new("sh");
            shell.args(["-c", "\"$@\"; code=$?; [ $code = 8 ] || exit $code", "sh"]);
            shell.arg("wget2").args(command.get_args());
            shell
        }
        Peer::Avocet(program, flags) => {
            let mut command = Command::new(program);
            command
                .args(["crawl", "--json", nginx.url(), "--store", "store"])
                .args(*flags);
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
fn summary(peers: &[PeerEntry], rounds: &[Vec<PeerCost>]) -> Result<PeersReport> {
    let position = |name: &str| peers.iter().position(|entry| entry.name == name);
    let mut rows = Vec::new();
    for (place, entry) in peers.iter().enumerate() {
        let of = |figure: fn(&PeerCost) -> f64| {
            let values = rounds.iter().map(|costs| figure(&costs[place]));
            median(values).context("there are no rounds")
        };
        let other = position(entry.against).context("wget2 is one of the crawlers")?;
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
            crawler: entry.name.clone(),
            median: mean,
            against: entry.against,
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
            "{:<40}{:>8}{:>10}{:>13}{:>8}{:>9}",
            "crawler", "pages", "pages/s", "CPU ms/page", "RSS MB", "x wget2"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<40}{:>8.0}{:>10.0}{:>13.3}{:>8.0}{:>9.2}",
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

    fn entries() -> Vec<PeerEntry> {
        peers(&[
            ("avocet", Path::new("/new")),
            ("avocet beside", Path::new("/old")),
        ])
    }

    #[test]
    fn a_crawler_is_compared_with_wget2_of_the_same_round() {
        let round = |slow: f64| {
            [0.2, 0.1, 0.15, 0.8, 0.4, 0.5, 0.6, 0.7]
                .map(|ms| cost(ms * slow, 100.0))
                .to_vec()
        };
        // Each round is slower than the one before, and the ratios stay.
        let report = summary(&entries(), &[round(1.0), round(2.0), round(9.0)]).unwrap();
        let ratios = report
            .rows
            .iter()
            .map(|row| (row.crawler.as_str(), row.cpu_ratio));
        let expected = [
            ("wget2, nothing kept", 1.0),
            ("avocet, ledger only", 0.5),
            ("avocet beside, ledger only", 0.75),
            ("wget2, storing files", 1.0),
            ("avocet, ledger and archive", 0.5),
            ("avocet beside, ledger and archive", 0.625),
            ("avocet, ledger, archive and index", 0.75),
            ("avocet beside, ledger, archive and index", 0.875),
        ];
        for ((name, ratio), (row, other)) in ratios.zip(expected) {
            assert!(
                name == row && (ratio - other).abs() < 1e-9,
                "{name} {ratio}"
            );
        }
        assert!((report.rows[0].median.cpu_ms_per_page - 0.4).abs() < 1e-9);
        assert!(report.to_string().contains("0.75"), "{report}");
    }

    #[test]
    fn crawls_of_different_numbers_of_pages_are_not_compared() {
        let mut round = vec![cost(1.0, 1000.0); 8];
        assert!(summary(&entries(), std::slice::from_ref(&round)).is_ok());
        round[3].pages = 900.0;
        assert!(summary(&entries(), &[round]).is_err());
        assert!(summary(&entries(), &[]).is_err());
    }
}
