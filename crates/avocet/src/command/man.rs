//! `avocet man`: prints manual pages, made from the command line itself.

use std::fs;

use anyhow::{Context, Result};
use clap_mangen::{Man, generate_to};

use crate::cli::ManArguments;
use crate::logs::say;
use node::settings::Usage;

/// Prints the page of a command, or writes the pages of all commands into a directory.
pub fn run(arguments: &ManArguments) -> Result<()> {
    let mut command = crate::cli::command();
    if let Some(out) = &arguments.out {
        fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
        generate_to(command, out).with_context(|| format!("cannot write to {}", out.display()))?;
        say(&format!("the pages are in {}", out.display()));
        return Ok(());
    }
    // Gives the subcommands their full names.
    command.build();
    let (mut named, mut name) = (&command, "avocet".to_owned());
    for part in &arguments.command {
        let below = named.find_subcommand(part);
        named = below.ok_or_else(|| Usage(format!("there is no command {name} {part}")))?;
        name = format!("{name} {part}");
    }
    let mut page = Vec::new();
    Man::new(named.clone()).render(&mut page)?;
    outln!("{}", String::from_utf8_lossy(&page).trim_end());
    Ok(())
}
