//! Arguments of `avocet search`.

use clap::Args;

/// Order of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SearchOrder {
    /// Best match first
    Relevance,
    /// Newest first, by the stated publication date, or else by the time of the fetch
    Newest,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet search borrow checker --site doc.rust-lang.org
  avocet search '\"garbage collection\" -java' --json
  avocet search 'git commit --amend'
  avocet search 'engine author:lovelace date:..1900' --topic history

If the first word of the query begins with a dash, write -- before the query: avocet search -- --amend. If another word does,
put the whole query in quotes.")]
pub struct SearchArguments {
    /// Words, a OR b, "phrases", -without, site:HOST, title:WORD, url:WORD, author:NAME,
    /// date:2024-05 or date:2019..2021, filetype:html
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Maximum number of results, 1 to 100
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
    /// Number of results to skip, 0 to 1000
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub offset: u16,
    /// Only pages of this host and its subdomains
    #[arg(long)]
    pub site: Option<String>,
    /// Only pages in this language (en, de, …)
    #[arg(long)]
    pub language: Option<String>,
    /// Only pages of this topic (see `avocet topic train`), among the 1,100 best matches
    #[arg(long, value_name = "NAME")]
    pub topic: Option<String>,
    /// Order of the results
    #[arg(long, value_enum, default_value_t = SearchOrder::Relevance)]
    pub sort: SearchOrder,
    /// Do not write this search to the query log, from which crawls learn what people search for
    #[arg(long)]
    pub no_log: bool,
}
