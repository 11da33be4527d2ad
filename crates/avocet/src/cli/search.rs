//! The command line of `avocet search`.

use clap::Args;

/// What results are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// How well they match
    Relevance,
    /// When they were published, as they say, or else fetched
    Newest,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet search borrow checker --site doc.rust-lang.org
  avocet search '\"garbage collection\" -java' --json
  avocet search 'git commit --amend'
  avocet search 'engine author:lovelace date:..1900' --topic history

Quote a word that begins with a dash together with others, or write -- before the words: avocet search -- --amend")]
pub struct Search {
    /// Words, a OR b, \"phrases\", -without, site:HOST, title:WORD, url:WORD, author:NAME, date:2024-05 or
    /// date:2019..2021, filetype:html
    #[arg(required = true)]
    pub query: Vec<String>,
    /// How many results
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub limit: u16,
    /// How many results to pass over
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub offset: u16,
    /// Only this host
    #[arg(long)]
    pub site: Option<String>,
    /// Only this language (en, de, …)
    #[arg(long)]
    pub language: Option<String>,
    /// Only pages of this topic, which `avocet topic train` taught; of the 1,100 that match best
    #[arg(long, value_name = "NAME")]
    pub topic: Option<String>,
    /// What comes first
    #[arg(long, value_enum, default_value_t = Order::Relevance)]
    pub sort: Order,
    /// Leave this search out of the log, from which a crawl learns what is searched for
    #[arg(long)]
    pub no_log: bool,
}
