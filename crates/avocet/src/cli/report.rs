//! Arguments of `avocet report` and `avocet links`.

use clap::{Args, ValueEnum};
use node::reports::ReportKind;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet report duplicates --store ./docs
  avocet report searches-without-result --csv > searches.csv

If a crawl runs on the store, its process makes the report; it must serve HTTP.")]
pub struct ReportArguments {
    /// The report
    pub kind: NamedReport,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("links").required(true),
    after_help = "\
Example:
  avocet links --broken --store ./docs
  avocet links --broken --csv > broken.csv
  avocet links --sitemap-only --json

Links out of the scope of the crawl are not checked, because their targets are never requested."
)]
pub struct LinksArguments {
    /// Links to pages that are missing or do not answer, with the pages that have them
    #[arg(long, group = "links")]
    pub broken: bool,
    /// Pages to which no page links: only a sitemap or a feed names them
    #[arg(long, group = "links")]
    pub sitemap_only: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
}

impl LinksArguments {
    /// Returns the report that the flags name.
    pub fn report(&self) -> ReportKind {
        match self.broken {
            true => ReportKind::BrokenLinks,
            false => ReportKind::SitemapOnly,
        }
    }
}

/// A report, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NamedReport {
    /// Links to pages that are missing or do not answer
    BrokenLinks,
    /// Pages to which no page links: only a sitemap or a feed names them
    SitemapOnly,
    /// Pages with the same text
    Duplicates,
    /// Servers by their response time
    SlowServers,
    /// Queries by their number of searches
    TopSearches,
    /// Queries that found nothing
    SearchesWithoutResult,
    /// Queries with results of which none was clicked, after at least 3 searches
    SearchesWithoutClick,
}

impl From<NamedReport> for ReportKind {
    fn from(named: NamedReport) -> Self {
        match named {
            NamedReport::BrokenLinks => Self::BrokenLinks,
            NamedReport::SitemapOnly => Self::SitemapOnly,
            NamedReport::Duplicates => Self::Duplicates,
            NamedReport::SlowServers => Self::SlowServers,
            NamedReport::TopSearches => Self::TopSearches,
            NamedReport::SearchesWithoutResult => Self::SearchesWithoutResult,
            NamedReport::SearchesWithoutClick => Self::SearchesWithoutClick,
        }
    }
}
