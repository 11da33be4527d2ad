//! Arguments of `avocet export`, `avocet import` and `avocet rebuild`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet export urls > urls.jsonl
  avocet export links --format csv --out links.csv
  avocet export pages --site docs.example.org --since 2026-11 --out pages.jsonl
  avocet export pages --format md --out ./pages
  avocet export pages --query 'borrow checker' --chunks 2000 --out chunks.jsonl
  avocet export warc --out ./warcs
  avocet export world --out ./my-web && avocet lab refresh --world ./my-web

Each page has a field \"extraction\": article (the text is the main part of the page), whole (the page has no main part)
or fallback (the extraction failed: all text without navigation, or all text if \"extraction_reason\" is hostile; the other
reasons are small_share and repeated). docs/science/extraction.md describes how the main text is found, and how well.")]
pub struct ExportArguments {
    /// What to export; urls, links and pages have the format of --format
    pub what: ExportKind,
    /// File to write; for warc, world and --format md a directory [default: standard output; warc,
    /// world and md require it]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Format of exported URLs, links and pages
    #[arg(long, value_enum, default_value_t = PageFormat::Jsonl, value_name = "FORMAT")]
    pub format: PageFormat,
    /// Split pages at headings into chunks of at most N characters; a longer code block, table,
    /// paragraph or list item stays whole
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub chunks: Option<u32>,
    /// Only pages of this host and its subdomains
    #[arg(long, value_name = "HOST")]
    pub site: Option<String>,
    /// Only pages of this topic (see `avocet topic train`)
    #[arg(long, value_name = "NAME")]
    pub topic: Option<String>,
    /// Only copies fetched at or after this time: 2026, 2026-11, 2026-11-17 or 2026-11-17T08:00:00Z
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only pages that have all words of this query, among its 1,100 best matches
    #[arg(long, value_name = "QUERY")]
    pub query: Option<String>,
}

/// Format of exported pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// JSON Lines: one page per line, or one chunk with --chunks
    Jsonl,
    /// Markdown files with YAML front matter, one per page or chunk, in one directory per host
    Md,
    /// CSV with a head line; also for urls and links
    Csv,
}

/// What `avocet export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportKind {
    /// All known URLs: {"url","status","fetched_at","depth","bytes","fingerprint","error"}
    Urls,
    /// Links of archived pages: {"from","to","anchor","context","path","kind","nofollow"}
    Links,
    /// Pages with text and Markdown:
    /// {"url","title","language","fetched_at","extraction","text","markdown","fields"}; with
    /// --chunks:
    /// {"url","page","index","chunks","headings","title","language","fetched_at","extraction",
    /// "markdown"}
    Pages,
    /// Copies of the WARC files
    Warc,
    /// A world for `avocet lab`: links, versions with texts, searches, sources and clicks, as
    /// tables (docs/reference/worlds.md)
    World,
}

impl ExportKind {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Urls => "urls",
            Self::Links => "links",
            Self::Pages => "pages",
            Self::Warc => "warc",
            Self::World => "world",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet rebuild --store ./docs
  avocet rebuild --store ./docs --accept-loss")]
pub struct RebuildArguments {
    /// Rebuild even if WARC files that the ledger names are missing or truncated; the pages in them
    /// are forgotten
    #[arg(long)]
    pub accept_loss: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet import warc crawl.warc.gz
  avocet import urls more-seeds.txt
  avocet export urls --store ./old | avocet import urls /dev/stdin --store ./new
  avocet import queries queries.tsv.gz
  avocet import clicks clicks.tsv")]
pub struct ImportArguments {
    /// What the files hold
    pub what: ImportKind,
    /// Files to import
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Make a store in a directory that has other files
    #[arg(long)]
    pub force: bool,
}

/// What `avocet import` reads.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ImportKind {
    /// WARC files of any tool; each response counts as fetched at its recorded time
    Warc,
    /// URLs: lines URL or URL<tab>score, the JSON Lines of `avocet export urls`, or CSV with a
    /// column url and perhaps score. The next crawl whose scope includes them fetches them; the
    /// ordering `given` uses the scores
    Urls,
    /// Search queries, plain or .gz: lines query<tab>count, or
    /// {"query","time","shown","offset","ranks","clicked","count"}, of which only the query is
    /// required
    Queries,
    /// Clicks on pages, plain or .gz: lines URL<tab>time<tab>count; the time is in seconds since
    /// 1970, or written as 2026-11-16T11:10:00Z; the count is 1 if missing
    Clicks,
}

impl ImportKind {
    /// Returns whether the imported lines go to the logs, and not to ledger and archive.
    pub fn is_log(self) -> bool {
        matches!(self, Self::Queries | Self::Clicks)
    }
}
