//! Arguments of `avocet forget`.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet forget https://docs.example.org/people/ada --dry-run --store ./docs
  avocet forget 'https://docs.example.org/people/*' --store ./docs
  avocet forget old.example.org --store ./docs
  avocet forget --list --store ./docs

Removes the pages with all their versions from index, ledger and archive. The file forgotten.jsonl in the store records
it. Crawls, imports and rebuilds do not bring the pages back, until --allow is given for the same URL, host or pattern.
The logs of searches and clicks, topics, exports and backups are not changed.")]
pub struct ForgetArguments {
    /// A URL; a host (example.org, example.org:8080, *.example.org for its subdomains); or a URL in
    /// which * stands for any characters
    #[arg(value_name = "URL|HOST|PATTERN", required_unless_present = "list")]
    pub target: Option<String>,
    /// Show what would be removed, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Let crawls fetch these pages again; nothing is restored
    #[arg(long, conflicts_with = "dry_run")]
    pub allow: bool,
    /// List what was forgotten, and when
    #[arg(long, conflicts_with_all = ["target", "dry_run", "allow"])]
    pub list: bool,
}
