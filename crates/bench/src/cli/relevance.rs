//! Options of `bench relevance`.

use std::path::PathBuf;

use clap::Args;

/// Options of `bench relevance`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench relevance --questions questions.tsv --store my-store
  cargo xtask bench relevance --questions docs/science/relevance/questions.tsv --site zsh.test=/usr/share/doc/zsh-common/html

A question is a line of four fields, separated by tabs: kind, site, query, and the URLs of the right pages, separated by
spaces. docs/science/relevance.md explains how to write questions.")]
pub struct RelevanceOptions {
    /// File of questions
    #[arg(long, value_name = "FILE")]
    pub questions: PathBuf,
    /// A crawled store whose index is searched
    #[arg(long, value_name = "DIR", required_unless_present = "site")]
    pub store: Option<PathBuf>,
    /// A directory of HTML files, indexed as http://NAME/path/of/file.html (repeatable)
    #[arg(long, value_name = "NAME=DIR", conflicts_with = "store")]
    pub site: Vec<String>,
    /// Rank with another weight (repeatable): title, headings, ids, anchors, url, body, rest, each
    /// also with `.length`; saturation, links, hub, words, order, missing
    #[arg(long, value_name = "NAME=NUMBER")]
    pub set: Vec<String>,
    /// Tune the weights one at a time, keeping changes that raise MRR@10 by 0.0003; takes minutes
    #[arg(long)]
    pub tune: bool,
    /// Print the queries whose right page is not first, with its rank and the first page
    #[arg(long)]
    pub failures: bool,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}
