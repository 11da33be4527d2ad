//! Checks that the program accepts every command in README and guide.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;

use super::CommandLine;

/// Returns README and the pages of the guide.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).unwrap();
    let guide = guide.map(|page| page.unwrap().path());
    guide.chain([root.join("README.md")]).collect()
}

/// Returns the command lines in the `sh` and `console` blocks of a page.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut block: Option<&str> = None;
    let mut open: Option<String> = None;
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            block = match block {
                Some(_) => None,
                None => Some(kind),
            };
            continue;
        }
        let command = match block {
            Some("sh") => Some(line),
            Some("console") if open.is_some() => Some(line),
            Some("console") => line.strip_prefix("$ "),
            _ => None,
        };
        let Some(command) = command else {
            continue;
        };
        let whole = match open.take() {
            Some(begun) => format!("{begun} {}", command.trim_start_matches("> ")),
            None => command.to_owned(),
        };
        match whole.strip_suffix('\\') {
            Some(begun) => open = Some(begun.to_owned()),
            None => lines.push(whole),
        }
    }
    lines
}

/// Splits a line as a shell does, into the words of each simple command. The file of a redirection
/// counts as a command of its own.
fn commands(line: &str) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ') => words.extend(word.take()),
            (None, '|' | ';' | '&' | '>' | '<' | '(' | ')') => {
                // The number of a redirected stream is no argument.
                let stream = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
                words.extend(word.take().filter(|word| letter != '>' || !stream(word)));
                all.push(std::mem::take(&mut words));
            }
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    all.push(words);
    all
}

#[test]
fn clap_accepts_every_command_of_readme_and_guide() {
    let mut checked = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for words in command_lines(&text).iter().flat_map(|line| commands(line)) {
            let from_source = ["cargo", "run", "--release", "-p", "avocet", "--"];
            let arguments = match words.strip_prefix(&from_source.map(str::to_owned)) {
                Some(rest) => rest,
                None if words.first().is_some_and(|word| word == "avocet") => &words[1..],
                None => continue,
            };
            let line = ["avocet".to_owned()]
                .into_iter()
                .chain(arguments.iter().cloned());
            if let Err(error) = CommandLine::try_parse_from(line) {
                assert!(
                    !error.use_stderr(),
                    "{}: {words:?}: {error}",
                    page.display()
                );
            }
            checked += 1;
        }
    }
    assert!(
        checked > 60,
        "{checked} commands: are the blocks still called sh and console?"
    );
}

#[test]
fn lines_are_split_as_a_shell_does() {
    let split = commands("avocet search 'a b' --store x 2>log | head  # why");
    assert_eq!(split[0], ["avocet", "search", "a b", "--store", "x"]);
    assert_eq!(split[1..], [vec!["log"], vec!["head"]]);
    let page = "```sh\navocet a \\\n  b\n```\nno\n```console\n$ avocet c\nout\n```\n";
    assert_eq!(command_lines(page), ["avocet a    b", "avocet c"]);
}
