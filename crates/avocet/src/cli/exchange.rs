//! Arguments of `avocet export`, `avocet import` and `avocet rebuild`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet export urls > urls.jsonl
  avocet export pages --out pages.jsonl
  avocet export warc --out ./warcs")]
pub struct Export {
    /// URLs ever admitted; links; pages with text and Markdown (all JSON Lines); or the WARC files
    pub what: Exported,
    /// A file, or for warc a directory [default: standard output; warc: required]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Exported {
    /// {\"url\",\"status\",\"fetched_at\",\"depth\",\"bytes\",\"fingerprint\",\"error\"}
    Urls,
    /// {\"from\",\"to\",\"anchor\",\"context\",\"path\",\"kind\",\"nofollow\"}
    Links,
    /// {\"url\",\"title\",\"language\",\"fetched_at\",\"text\",\"markdown\",\"fields\"}
    Pages,
    /// Copies of the WARC files
    Warc,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet rebuild --store ./docs
  avocet rebuild --store ./docs --accept-loss")]
pub struct Rebuild {
    /// Go on although WARC files that the ledger names are missing or too short, and forget what they held
    #[arg(long)]
    pub accept_loss: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet import warc crawl.warc.gz
  avocet import urls more-seeds.txt
  avocet import queries queries.tsv.gz
  avocet import clicks clicks.tsv")]
pub struct Import {
    /// WARC files of any tool, a list of URLs to crawl, or what people searched for or clicked
    pub what: Imported,
    /// The files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Imported {
    /// Answers, as if they had been fetched when the file says
    Warc,
    /// URLs, one a line: the next crawl whose scope they are in fetches them
    Urls,
    /// Queries, plain or .gz: lines query<tab>count, or {\"query\",\"time\",\"shown\",\"clicked\",\"count\"} (all but the query optional)
    Queries,
    /// Clicks on pages, plain or .gz: lines URL<tab>time<tab>count, the time in seconds since 1970 or as 2026-11-16T11:10:00Z
    Clicks,
}
