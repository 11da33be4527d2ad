//! Arguments of `avocet completions` and `avocet man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet completions bash > /etc/bash_completion.d/avocet
  avocet completions zsh > /usr/local/share/zsh/site-functions/_avocet
  avocet completions fish > ~/.config/fish/completions/avocet.fish")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet man | man -l -
  avocet man lab ordering | man -l -
  avocet man --out /usr/local/share/man/man1")]
pub struct ManArguments {
    /// The command to describe, such as crawl or lab ordering [default: avocet itself]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub out: Option<PathBuf>,
}
