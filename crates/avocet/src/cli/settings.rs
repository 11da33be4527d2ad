//! Command-line flags for settings, generated from the declarations of the settings.
//!
//! The flags of a command form one [`Layer`] that overrides `avocet.toml`. A flag takes its help
//! text, default, range and choices from the setting.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use node::settings::{Effect, Flag, Layer, Setting, declared};
use toml::Value;

/// The settings given by the flags of command `C`.
#[derive(Debug, Clone)]
pub struct SettingFlags<C> {
    pub layer: Layer,
    command: PhantomData<C>,
}

impl<C> Default for SettingFlags<C> {
    fn default() -> Self {
        Self {
            layer: Layer::default(),
            command: PhantomData,
        }
    }
}

/// A command with flags for settings.
pub trait HasSettings: 'static {
    /// The sections whose flags the command has.
    const SECTIONS: &'static [&'static str];
    /// The keys of these sections that have a flag. Empty: all of them.
    const KEYS: &'static [&'static str] = &[];
}

/// Flags of `crawl`, which `run` has too.
#[derive(Debug, Clone)]
pub struct OfCrawl;

/// Flags of `check`: those that decide whether a page is requested, and how.
#[derive(Debug, Clone)]
pub struct OfCheck;

/// Flags that only `run` has.
#[derive(Debug, Clone)]
pub struct OfRun;

/// Flags of `serve`.
#[derive(Debug, Clone)]
pub struct OfServe;

/// Flags of `cluster`.
#[derive(Debug, Clone)]
pub struct OfCluster;

impl HasSettings for OfCluster {
    const SECTIONS: &'static [&'static str] = &["cluster"];
}

impl HasSettings for OfCrawl {
    const SECTIONS: &'static [&'static str] = &["crawl", "archive", "store", "fetch", "documents"];
}

impl HasSettings for OfCheck {
    const SECTIONS: &'static [&'static str] = &["crawl", "fetch"];
    const KEYS: &'static [&'static str] = &[
        "scope",
        "include",
        "exclude",
        "depth",
        "delay",
        "contact",
        "proxy",
        "cookies",
        "allow_private",
        "http",
    ];
}

impl HasSettings for OfRun {
    const SECTIONS: &'static [&'static str] = &["budget", "refresh", "source", "serve", "cluster"];
}

impl HasSettings for OfServe {
    const SECTIONS: &'static [&'static str] = &["serve"];
}

/// Returns the settings for which command `C` has a flag, with the flag.
fn with_flags<C: HasSettings>() -> impl Iterator<Item = (Setting, Flag)> {
    let ours = declared()
        .into_iter()
        .filter(|setting| C::SECTIONS.contains(&setting.section))
        .filter(|setting| C::KEYS.is_empty() || C::KEYS.contains(&setting.key));
    ours.filter_map(|setting| {
        let flag = setting.flag.clone()?;
        Some((setting, flag))
    })
}

impl<C: HasSettings> Args for SettingFlags<C> {
    fn augment_args(command: Command) -> Command {
        let names: Vec<(String, &str)> = with_flags::<C>()
            .map(|(setting, flag)| (setting.path(), flag.name))
            .collect();
        with_flags::<C>().fold(command, |command, (setting, flag)| {
            let conflicts = setting.excludes.iter().filter_map(|key| {
                let path = format!("{}.{key}", setting.section);
                let known = names.iter().find(|(known, _)| *known == path);
                known.map(|(_, name)| *name)
            });
            let conflicts: Vec<&str> = conflicts.collect();
            command.arg(argument(setting, &flag).conflicts_with_all(conflicts))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: HasSettings> FromArgMatches for SettingFlags<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut layer = Layer::default();
        for (setting, flag) in with_flags::<C>() {
            match flag.effect {
                Effect::Switch(value) => {
                    if matches.get_flag(flag.name) {
                        layer.set(&setting, Value::Boolean(value));
                    }
                }
                Effect::Value | Effect::Append => {
                    let values = matches.get_many::<Value>(flag.name);
                    for value in values.into_iter().flatten() {
                        layer.set(&setting, value.clone());
                    }
                }
            }
        }
        Ok(Self {
            layer,
            command: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn argument(setting: Setting, flag: &Flag) -> Arg {
    let repeats = match flag.effect {
        Effect::Append => " (repeatable)",
        Effect::Value | Effect::Switch(_) => "",
    };
    let range = setting.range.filter(|range| range.is_bounded());
    let default = setting.default_text();
    let default = default.filter(|_| !matches!(flag.effect, Effect::Switch(_)));
    let range = range.map(|range| range.to_string());
    let default = default.map(|default| format!("default: {default}"));
    let limits: Vec<String> = range.into_iter().chain(default).collect();
    let limits = match limits.is_empty() {
        true => String::new(),
        false => format!(" [{}]", limits.join("; ")),
    };
    let doc = flag.help.unwrap_or(setting.doc.trim_end_matches('.'));
    let help = format!("{doc}{repeats}{limits}");
    let argument = Arg::new(flag.name)
        .long(flag.name)
        .help(help)
        .help_heading(heading(setting.section));
    let action = match flag.effect {
        Effect::Switch(_) => return argument.action(ArgAction::SetTrue),
        Effect::Value => ArgAction::Set,
        Effect::Append => ArgAction::Append,
    };
    argument
        .action(action)
        .value_name(flag.value_name)
        .value_parser(parser(setting))
}

/// Returns the heading of the flags for a section.
fn heading(section: &str) -> &'static str {
    match section {
        "crawl" => "What is crawled, and how fast",
        "archive" | "store" => "Disk space",
        "fetch" => "Requests",
        "documents" => "Documents",
        "budget" | "refresh" | "source" => "Budget and freshness",
        "serve" => "Search page and API",
        "cluster" => "Several machines",
        _ => "Options",
    }
}

fn parser(setting: Setting) -> ValueParser {
    if setting.choices.is_empty() {
        return ValueParser::new(move |text: &str| setting.read(text));
    }
    let words = setting.choices.iter();
    let words = words.map(|(word, meaning)| PossibleValue::new(word.clone()).help(meaning.clone()));
    let words: Vec<PossibleValue> = words.collect();
    PossibleValuesParser::new(words).map(Value::String).into()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use crate::cli::{Command, CommandLine, RunArguments};

    fn run(line: &str) -> Result<RunArguments, clap::Error> {
        let words = line.split_whitespace();
        let words = ["avocet", "run"].into_iter().chain(words);
        match CommandLine::try_parse_from(words)?.command {
            Command::Run(run) => Ok(*run),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn flags_become_settings() {
        let line = "--include /a --include /b --budget 90/min --no-archive --cookies \
                    --listen 127.0.0.1:9 --http 2 --delay 500ms --sources none --threshold 1e-3";
        let settings = run(line).unwrap().layer().settings().unwrap();
        assert_eq!(settings.crawl.include, ["/a", "/b"]);
        assert_eq!(settings.budget(), 1.5);
        assert!(!settings.crawl.archive && settings.crawl.index && settings.fetch.cookies);
        assert_eq!(settings.serve.listen, "127.0.0.1:9".parse().ok());
        assert_eq!(settings.fetch.http, node::settings::HttpVersion::Http2);
        assert_eq!(settings.crawl.delay, "500ms".parse().ok());
        assert_eq!(settings.source.policy, "none");
        assert_eq!(settings.crawl.threshold, Some(0.001));
        assert_eq!(settings.crawl.connections, 64);
    }

    #[test]
    fn wrong_flags_say_what_to_write() {
        for (line, says) in [
            ("--connections 0", "must be 1 to 10000"),
            ("--budget 2", "2/s"),
            ("--delay soon", "500ms"),
            ("--scope planet", "prefix"),
            ("--order a --focus b", "cannot be used with"),
            ("--topic a --where b", "cannot be used with"),
            ("--listen 127.0.0.1:1 --no-serve", "cannot be used with"),
            ("--threshold 0", "a number above 0"),
        ] {
            let why = run(line).unwrap_err().to_string();
            assert!(why.contains(says), "{line}: {why}");
        }
    }

    #[test]
    fn clap_accepts_the_whole_command_line() {
        CommandLine::command().debug_assert();
    }
}
