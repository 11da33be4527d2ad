//! `avocet man`: prints manual pages, made from the command line itself.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Arg, Command};

use crate::cli::ManArguments;
use crate::logs::say;
use node::number::counted;
use node::settings::Usage;

/// Prints the page of a command, or writes the pages of all commands into a directory.
pub fn run(arguments: &ManArguments) -> Result<()> {
    let mut command = crate::cli::command();
    command.build();
    if let Some(out) = &arguments.out {
        fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
        let pages = write(&command, "avocet", out)?;
        say(&format!(
            "{} written to {}",
            counted(pages, "page"),
            out.display()
        ));
        return Ok(());
    }
    let (mut named, mut name) = (&command, "avocet".to_owned());
    for part in &arguments.command {
        let below = named.find_subcommand(part);
        named = below.ok_or_else(|| Usage(format!("there is no command {name} {part}")))?;
        name = format!("{name} {part}");
    }
    outln!("{}", page(named, &name).trim_end());
    Ok(())
}

/// Writes the pages of a command and of all commands below it. Returns their number.
fn write(command: &Command, name: &str, out: &Path) -> Result<usize> {
    let path = out.join(format!("{}.1", name.replace(' ', "-")));
    fs::write(&path, page(command, name))
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut pages = 1;
    for below in visible(command) {
        pages += write(below, &format!("{name} {}", below.get_name()), out)?;
    }
    Ok(pages)
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    let below = command.get_subcommands();
    below.filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

/// Returns the page of a command in the format of man(7).
fn page(command: &Command, name: &str) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let dashed = name.replace(' ', "-");
    let mut text = format!(
        ".TH {} 1 \"\" \"avocet {}\" \"Avocet\"\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
        escaped(&dashed.to_uppercase()),
        env!("CARGO_PKG_VERSION"),
        escaped(&dashed),
        escaped(&about)
    );
    let usage = command.clone().render_usage().to_string();
    text += &paragraph(usage.trim_start_matches("Usage:").trim());
    if command.get_positionals().next().is_some() {
        text += ".SH ARGUMENTS\n";
        for argument in command.get_positionals().filter(|one| !one.is_hide_set()) {
            text += &described(
                &format!("\\fI{}\\fR", escaped(&value_name(argument))),
                argument,
            );
        }
    }
    let mut headings: Vec<Option<&str>> = Vec::new();
    let flags = || {
        command
            .get_arguments()
            .filter(|one| one.get_long().is_some() && !one.is_hide_set())
    };
    for flag in flags() {
        if !headings.contains(&flag.get_help_heading()) {
            headings.push(flag.get_help_heading());
        }
    }
    for heading in headings {
        let title = heading.unwrap_or("Options").to_uppercase();
        text += &format!(".SH {}\n", escaped(&title));
        for flag in flags().filter(|flag| flag.get_help_heading() == heading) {
            let mut label = format!(
                "\\fB\\-\\-{}\\fR",
                escaped(flag.get_long().unwrap_or_default())
            );
            if flag.get_action().takes_values() {
                label += &format!(" \\fI{}\\fR", escaped(&value_name(flag)));
            }
            text += &described(&label, flag);
        }
    }
    if visible(command).next().is_some() {
        text += ".SH COMMANDS\n";
        for below in visible(command) {
            let about = below
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default();
            let page = format!("{dashed}-{}(1)", below.get_name());
            text += &format!(".TP\n\\fB{}\\fR\n{}", escaped(&page), paragraph(&about));
        }
    }
    let more = command.get_after_long_help().or(command.get_after_help());
    if let Some(more) = more {
        text += ".SH EXAMPLES AND NOTES\n.nf\n";
        text += &paragraph(&more.to_string());
        text += ".fi\n";
    }
    text
}

/// Returns the entry of an argument: its label, help and values.
fn described(label: &str, argument: &Arg) -> String {
    let help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = format!(".TP\n{label}\n{}", paragraph(&help));
    if !argument.get_action().takes_values() {
        return text;
    }
    for value in argument.get_possible_values() {
        let about = value
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let entry = format!("{}: {about}", value.get_name());
        text += &format!(".br\n{}", paragraph(entry.trim_end_matches(": ")));
    }
    text
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    match names.is_empty() {
        true => argument.get_id().as_str().to_uppercase(),
        false => names.join(" "),
    }
}

/// Returns the lines of a text, escaped.
fn paragraph(text: &str) -> String {
    text.lines().map(|line| escaped(line) + "\n").collect()
}

/// Escapes a line: a backslash and a dash have a meaning in roff, and so has a dot or an apostrophe
/// at the start of a line.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_roff_would_interpret_are_escaped() {
        assert_eq!(escaped(".TH a\\b --c"), "\\&.TH a\\eb \\-\\-c");
        assert_eq!(escaped("'a'"), "\\&'a'");
        assert_eq!(paragraph("a\n.b"), "a\n\\&.b\n");
    }
}
