//! Arguments of `bench extraction`.

use std::path::PathBuf;

use clap::Args;

/// Pages whose main text was labelled by hand.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench extraction --site zsh=/usr/share/doc/zsh-common/html --site postfix=/usr/share/doc/postfix/html

docs/science/extraction.md says what the labels mean and how the sites are had.")]
pub struct ExtractionWishes {
    /// The labels
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/science/extraction/labels.tsv"
    )]
    pub labels: PathBuf,
    /// A directory of HTML files that the labels call NAME (repeatable)
    #[arg(long, value_name = "NAME=DIR", required = true)]
    pub site: Vec<String>,
    /// Print every page, and of those below .9 what is missing or too much
    #[arg(long)]
    pub verbose: bool,
}
