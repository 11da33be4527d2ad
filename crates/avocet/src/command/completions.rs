//! `avocet completions`: prints a script that completes commands, flags and their values in a
//! shell.

use crate::cli::CompletionsArguments;

/// Prints the script of a shell.
pub fn run(arguments: &CompletionsArguments) {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut crate::cli::command(),
        "avocet",
        &mut script,
    );
    outln!("{}", String::from_utf8_lossy(&script).trim_end());
}
