//! Options of `bench extraction`.

use std::path::PathBuf;

use clap::Args;

/// Options of `bench extraction`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench extraction --site zsh=/usr/share/doc/zsh-common/html --site postfix=/usr/share/doc/postfix/html

docs/science/extraction.md explains the labels, and how to get the sites.")]
pub struct ExtractionOptions {
    /// File of labels
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/science/extraction/labels.tsv"
    )]
    pub labels: PathBuf,
    /// Directory of the HTML files of the labelled site NAME (repeatable)
    #[arg(long, value_name = "NAME=DIR", required = true)]
    pub site: Vec<String>,
    /// Print every page, and for scores below 0.9 the missing and the extra lines
    #[arg(long)]
    pub verbose: bool,
}
