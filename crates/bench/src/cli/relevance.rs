//! Arguments of `bench relevance`.

use std::path::PathBuf;

use clap::Args;

/// Questions, and the pages that answer them.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench relevance --questions questions.tsv --store my-store
  cargo xtask bench relevance --questions docs/science/relevance/questions.tsv --site zsh.test=/usr/share/doc/zsh-common/html

A question is a line of four fields, separated by tabs: kind, site, query, and the URLs of the right pages, separated by
blanks. docs/science/relevance.md says how to make questions.")]
pub struct Relevance {
    /// The questions
    #[arg(long, value_name = "FILE")]
    pub questions: PathBuf,
    /// A store that was crawled; its index is searched as it is
    #[arg(long, value_name = "DIR", required_unless_present = "site")]
    pub store: Option<PathBuf>,
    /// A directory of HTML files, indexed as http://NAME/path/of/file.html (repeatable)
    #[arg(long, value_name = "NAME=DIR", conflicts_with = "store")]
    pub site: Vec<String>,
    /// Rank with another weight: title, headings, ids, anchors, url, body, rest, each also with `.length`, saturation,
    /// links, hub, words, order, missing (repeatable)
    #[arg(long, value_name = "NAME=NUMBER")]
    pub set: Vec<String>,
    /// Try other weights one at a time, and keep what raises MRR@10 by at least .0003; takes minutes
    #[arg(long)]
    pub tune: bool,
    /// Print the queries whose right page is not first, with its rank and the page that is
    #[arg(long)]
    pub failures: bool,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}
