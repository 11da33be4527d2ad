//! Arguments of `avocet export`, `avocet import` and `avocet rebuild`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet export urls > urls.jsonl
  avocet export pages --site docs.example.org --since 2026-11 --out pages.jsonl
  avocet export pages --format md --out ./pages
  avocet export pages --query 'borrow checker' --chunks 2000 --out chunks.jsonl
  avocet export warc --out ./warcs

Pages have an \"extraction\": article (the main part of the page), whole (the page has no such part) or fallback (the
extraction failed: all text of the page, with an \"extraction_reason\": small_share, repeated or hostile).
docs/science/extraction.md says how the main text is found, and how well.")]
pub struct Export {
    /// URLs ever admitted; links; pages with text and Markdown (all JSON Lines); or the WARC files
    pub what: Exported,
    /// A file; for warc and for --format md a directory [default: standard output; warc and md: required]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// How pages are written
    #[arg(long, value_enum, default_value_t = PageFormat::Jsonl, value_name = "FORMAT")]
    pub format: PageFormat,
    /// Split pages at headings into chunks of at most N characters; a longer code block, table, paragraph or list item stays whole
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub chunks: Option<u32>,
    /// Only pages of this host and of hosts below it
    #[arg(long, value_name = "HOST")]
    pub site: Option<String>,
    /// Only pages of this topic, which `avocet topic train` taught
    #[arg(long, value_name = "NAME")]
    pub topic: Option<String>,
    /// Only copies fetched at this time or later: 2026, 2026-11, 2026-11-17 or 2026-11-17T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only pages that match this search; of the 1,100 that match best
    #[arg(long, value_name = "QUERY")]
    pub query: Option<String>,
}

/// How pages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// JSON Lines: a page, or with --chunks a chunk, a line
    Jsonl,
    /// Markdown files with YAML front matter, one a page or chunk, in a directory for each host
    Md,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Exported {
    /// {"url","status","fetched_at","depth","bytes","fingerprint","error"}
    Urls,
    /// {"from","to","anchor","context","path","kind","nofollow"}
    Links,
    /// {"url","title","language","fetched_at","extraction","text","markdown","fields"}; with --chunks
    /// {"url","page","index","chunks","headings","title","language","fetched_at","extraction","markdown"}
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
    /// Queries, plain or .gz: lines query<tab>count, or {"query","time","shown","clicked","count"} (all but the query optional)
    Queries,
    /// Clicks on pages, plain or .gz: lines URL<tab>time<tab>count, the time in seconds since 1970 or as 2026-11-16T11:10:00Z
    Clicks,
}
