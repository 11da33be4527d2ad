//! `avocet completions`: prints a script that completes commands, flags and their values in a
//! shell.
//!
//! The scripts are made from the command line itself: for each command, its subcommands and flags;
//! for each flag, its values, or file names.

use clap::{Arg, Command};

use crate::cli::{CompletionShell, CompletionsArguments};

/// Prints the script of a shell.
pub fn run(arguments: &CompletionsArguments) {
    let mut command = crate::cli::command();
    command.build();
    let commands = commands(&command);
    let script = match arguments.shell {
        CompletionShell::Bash => bash(&commands),
        CompletionShell::Zsh => zsh(&commands),
        CompletionShell::Fish => fish(&commands),
    };
    outln!("{}", script.trim_end());
}

/// A command, as a script sees it.
struct CompletedCommand {
    /// The names from the program on, such as `avocet lab ordering`.
    place: String,
    /// The subcommands with what they do.
    below: Vec<(String, String)>,
    flags: Vec<CompletedFlag>,
    /// The values of its first argument, if they are limited.
    values: Vec<String>,
}

/// A flag, as a script sees it.
struct CompletedFlag {
    /// The long name, with dashes.
    name: String,
    about: String,
    takes_value: bool,
    /// The values that it may have; empty: any text, such as a file name.
    values: Vec<String>,
}

/// Returns a command and all commands below it.
fn commands(command: &Command) -> Vec<CompletedCommand> {
    let mut all = Vec::new();
    collect(command, command.get_name(), &mut all);
    all
}

fn collect(command: &Command, place: &str, all: &mut Vec<CompletedCommand>) {
    let visible = || {
        command
            .get_subcommands()
            .filter(|below| !below.is_hide_set())
    };
    let arguments = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set());
    let flags = arguments.filter_map(|argument| {
        Some(CompletedFlag {
            name: format!("--{}", argument.get_long()?),
            about: first_line(argument.get_help()),
            takes_value: argument.get_action().takes_values(),
            values: values(argument),
        })
    });
    let about = |below: &Command| (below.get_name().to_owned(), first_line(below.get_about()));
    let first = command.get_positionals().next();
    all.push(CompletedCommand {
        place: place.to_owned(),
        below: visible().map(about).collect(),
        flags: flags.collect(),
        values: first.map(values).unwrap_or_default(),
    });
    for below in visible() {
        collect(below, &format!("{place} {}", below.get_name()), all);
    }
}

fn values(argument: &Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    let values = argument.get_possible_values().into_iter();
    values.map(|value| value.get_name().to_owned()).collect()
}

/// Returns the beginning of a help text, without characters that a shell would interpret.
fn first_line(text: Option<&clap::builder::StyledStr>) -> String {
    let text = text.map(ToString::to_string).unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let clean = line
        .chars()
        .filter(|letter| !"'\"`$\\:[]".contains(*letter));
    clean.take(80).collect()
}

impl CompletedCommand {
    /// Returns what can follow the command: subcommands, values and flags.
    fn words(&self) -> String {
        let below = self.below.iter().map(|(name, _)| name.as_str());
        let values = self.values.iter().map(String::as_str);
        let flags = self.flags.iter().map(|flag| flag.name.as_str());
        below
            .chain(values)
            .chain(flags)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// Returns the patterns of all commands below the program, for the search of the command that a
/// line names.
fn places(commands: &[CompletedCommand]) -> String {
    let places = commands[1..].iter().map(|one| format!("\"{}\"", one.place));
    places.collect::<Vec<_>>().join("|")
}

fn bash(commands: &[CompletedCommand]) -> String {
    let mut after_flag = String::new();
    let mut words = String::new();
    for one in commands {
        for flag in one.flags.iter().filter(|flag| flag.takes_value) {
            let place = format!("{} {}", one.place, flag.name);
            let reply = match flag.values.is_empty() {
                true => "compgen -f -- \"$cur\"".to_owned(),
                false => format!("compgen -W \"{}\" -- \"$cur\"", flag.values.join(" ")),
            };
            after_flag += &format!("        \"{place}\") COMPREPLY=($({reply})); return ;;\n");
        }
        words += &format!("        \"{}\") words=\"{}\" ;;\n", one.place, one.words());
    }
    format!(
        "\
# Completion of avocet for bash, made by `avocet completions bash`.
_avocet() {{
    local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" place=avocet word words=
    for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do
        case \"$place $word\" in
            {}) place=\"$place $word\" ;;
        esac
    done
    case \"$place $before\" in
{after_flag}    esac
    case \"$place\" in
{words}    esac
    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))
}}
complete -o default -F _avocet avocet
",
        places(commands)
    )
}

fn zsh(commands: &[CompletedCommand]) -> String {
    let mut after_flag = String::new();
    let mut words = String::new();
    for one in commands {
        for flag in one.flags.iter().filter(|flag| flag.takes_value) {
            let place = format!("{} {}", one.place, flag.name);
            let reply = match flag.values.is_empty() {
                true => "_files".to_owned(),
                false => format!("compadd -- {}", flag.values.join(" ")),
            };
            after_flag += &format!("        \"{place}\") {reply}; return ;;\n");
        }
        let below = one
            .below
            .iter()
            .map(|(name, about)| format!("'{name}:{about}'"));
        let flags = one
            .flags
            .iter()
            .map(|flag| format!("'{}:{}'", flag.name, flag.about));
        let values = one.values.iter().map(|value| format!("'{value}'"));
        let all: Vec<String> = below.chain(values).chain(flags).collect();
        words += &format!("        \"{}\") known=({}) ;;\n", one.place, all.join(" "));
    }
    format!(
        "\
#compdef avocet
# Completion of avocet for zsh, made by `avocet completions zsh`.
_avocet() {{
    local place=avocet word
    local -a known
    for word in ${{words[2,CURRENT-1]}}; do
        case \"$place $word\" in
            {}) place=\"$place $word\" ;;
        esac
    done
    case \"$place ${{words[CURRENT-1]}}\" in
{after_flag}    esac
    case \"$place\" in
{words}    esac
    _describe 'avocet' known || _files
}}
if [ \"$funcstack[1]\" = \"_avocet\" ]; then _avocet \"$@\"; else compdef _avocet avocet; fi
",
        places(commands)
    )
}

fn fish(commands: &[CompletedCommand]) -> String {
    let mut script =
        String::from("# Completion of avocet for fish, made by `avocet completions fish`.\n");
    for one in commands {
        let names: Vec<&str> = one.place.split(' ').skip(1).collect();
        let mut conditions: Vec<String> = names
            .iter()
            .map(|name| format!("__fish_seen_subcommand_from {name}"))
            .collect();
        if names.is_empty() {
            conditions.push("__fish_use_subcommand".into());
        } else if !one.below.is_empty() {
            let below: Vec<&str> = one.below.iter().map(|(name, _)| name.as_str()).collect();
            conditions.push(format!(
                "not __fish_seen_subcommand_from {}",
                below.join(" ")
            ));
        }
        let when = conditions.join("; and ");
        let line = |rest: &str| format!("complete -c avocet -n '{when}' {rest}\n");
        for (name, about) in &one.below {
            script += &line(&format!("-f -a {name} -d '{about}'"));
        }
        if !one.values.is_empty() {
            script += &line(&format!("-f -a '{}'", one.values.join(" ")));
        }
        for flag in &one.flags {
            let long = flag.name.trim_start_matches("--");
            let value = match (flag.takes_value, flag.values.is_empty()) {
                (false, _) => String::new(),
                (true, true) => " -r".into(),
                (true, false) => format!(" -x -a '{}'", flag.values.join(" ")),
            };
            script += &line(&format!("-l {long}{value} -d '{}'", flag.about));
        }
    }
    script
}
