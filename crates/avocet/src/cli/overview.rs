//! The help of `avocet` itself: the commands in groups, by what people want to do.

use clap::{Command, CommandFactory};

use super::CommandLine;

/// The commands in groups. Each command is in one group.
pub const GROUPS: [(&str, &[&str]); 7] = [
    ("Begin", &["init", "check", "demo"]),
    ("Crawl", &["crawl", "run", "pause", "resume"]),
    ("Search and serve", &["search", "serve", "mcp"]),
    (
        "Watch and plan",
        &["status", "explain", "links", "report", "sources", "plan"],
    ),
    (
        "Look after a store",
        &["export", "import", "verify", "rebuild", "forget", "config"],
    ),
    ("Go further", &["topic", "cluster", "lab"]),
    ("Install", &["completions", "man"]),
];

/// The longest line of the overview, in characters.
const WIDTH: usize = 100;
/// The column at which the descriptions begin.
const INDENT: usize = 12;

/// Returns the command line of the program, with the commands in groups in its help.
pub fn command() -> Command {
    let command = CommandLine::command();
    let overview = overview(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{overview}Options:\n{{options}}{{after-help}}"
    ))
}

/// Returns the groups, each with its commands and what they do.
fn overview(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text += &format!("{title}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &entry(name, &about);
        }
        text.push('\n');
    }
    text
}

/// Returns the lines of one command.
fn entry(name: &str, about: &str) -> String {
    let mut lines = vec![format!("  {name:<width$}", width = INDENT - 2)];
    for word in about.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        let begins = last.chars().count() == INDENT;
        if !begins && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{:INDENT$}{word}", ""));
        } else if begins {
            last.push_str(word);
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = CommandLine::command();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(known, grouped);
    }

    #[test]
    fn long_descriptions_are_folded() {
        let text = entry("run", &"word ".repeat(30));
        assert!(text.starts_with("  run       word word"), "{text}");
        assert!(text.lines().count() == 2 && text.lines().all(|line| line.len() <= WIDTH));
        assert!(
            text.lines()
                .nth(1)
                .is_some_and(|line| line.starts_with("            word"))
        );
    }
}
