//! `avocet init`: writes an `avocet.toml` from flags, or from the answers to a few questions.

use std::fs::{self, File};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cli::InitArguments;
use crate::logs::say;
use node::settings::check::check;
use node::settings::reference::written;
use node::settings::{Layer, Setting, Settings, Usage, declared};

/// The settings that the command asks for, each with its question.
const QUESTIONS: [(&str, &str); 5] = [
    (
        "crawl.seeds",
        "Where does the crawl start? One or more URLs",
    ),
    (
        "crawl.scope",
        "How far from there: host, domain, prefix or any?",
    ),
    (
        "fetch.contact",
        "How can site owners reach you? A mailto: or a URL",
    ),
    (
        "budget.fetches_per_second",
        "How many fetches at most: 2/s, 90/min, 5000/day?",
    ),
    ("serve.title", "The title of the search page?"),
];

/// Writes the file. Fails if it exists.
pub fn run(root: &Path, json: bool, arguments: &InitArguments) -> Result<()> {
    let own = Settings::path(root);
    let path = arguments.out.as_deref().unwrap_or(&own);
    if path.exists() {
        return Err(exists(path));
    }
    let mut layer = arguments.layer();
    let has_seeds = layer.get("crawl", "seeds").is_some();
    if !has_seeds && io::stdin().is_terminal() && !json {
        let (input, mut output) = (io::stdin().lock(), io::stderr());
        answers(&mut layer, input, &mut output)?;
    }
    if layer.get("crawl", "seeds").is_none() {
        let why = "give a URL: avocet init https://docs.example.org/";
        return Err(Usage(why.into()).into());
    }
    let text = written(&layer);
    if let Some(wrong) = check(&text, root).first() {
        return Err(Usage(format!("{}: {}", wrong.key, wrong.why)).into());
    }
    create(path, &text)?;
    if json {
        outln!("{}", json!({ "file": path, "settings": layer.paths() }));
    } else {
        outln!(
            "{} is written; `avocet run --store {}` follows it",
            path.display(),
            root.display()
        );
    }
    Ok(())
}

fn exists(path: &Path) -> anyhow::Error {
    let path = path.display();
    anyhow::anyhow!(
        "{path} exists already and is not overwritten: edit it, or name another file with --out"
    )
}

/// Writes a new file durably. Removes it again if it cannot be written completely.
fn create(path: &Path, text: &str) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(cannot)?;
    }
    let mut file = match File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(exists(path)),
        file => file.with_context(cannot)?,
    };
    let done = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    if done.is_err() {
        fs::remove_file(path).ok();
    }
    done.with_context(cannot)
}

/// Asks the questions whose settings no flag gives, and adds the answers. An empty answer leaves a
/// setting at its default, and a wrong one is asked again.
fn answers(layer: &mut Layer, mut input: impl BufRead, output: &mut impl Write) -> Result<()> {
    let declared = declared();
    for (path, question) in QUESTIONS {
        let setting = declared.iter().find(|setting| setting.path() == path);
        let setting = setting.with_context(|| format!("the setting {path} is not declared"))?;
        if layer.get(setting.section, setting.key).is_some() {
            continue;
        }
        ask(layer, setting, question, &mut input, output)?;
    }
    Ok(())
}

fn ask(
    layer: &mut Layer,
    setting: &Setting,
    question: &str,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<()> {
    let default = setting.default_text();
    let default = default.map_or(String::new(), |default| format!(" [{default}]"));
    loop {
        write!(output, "{question}{default}\n> ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            bail!("the input ended; nothing was written");
        }
        let words = line.trim();
        if words.is_empty() {
            return Ok(());
        }
        match add(layer, setting, words) {
            Ok(()) => return Ok(()),
            Err(why) => say(&format!("{words}: {why}")),
        }
    }
}

/// Adds an answer to the layer. The answer for a list has its elements separated by spaces.
fn add(layer: &mut Layer, setting: &Setting, words: &str) -> Result<(), String> {
    let mut tried = layer.clone();
    if setting.path() == "crawl.seeds" {
        let seeds = words.split_whitespace().map(str::to_owned);
        tried = tried.with_seeds(seeds.collect());
    } else {
        tried.set(setting, setting.read(words)?);
    }
    if let Some(wrong) = check(&written(&tried), Path::new(".")).first() {
        return Err(wrong.why.clone());
    }
    *layer = tried;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_settings_and_wrong_ones_are_asked_again() {
        let typed = "ftp://e.org/\nhttps://e.org/ f.org\nplanet\ndomain\n\n90/min\nExample\n";
        let mut layer = Layer::default();
        let mut shown = Vec::new();
        answers(&mut layer, typed.as_bytes(), &mut shown).unwrap();
        let settings = layer.settings().unwrap();
        assert_eq!(settings.crawl.seeds, ["https://e.org/", "f.org"]);
        assert_eq!(settings.crawl.scope, Some(crawl::scope::Reach::Domain));
        assert_eq!(settings.fetch.contact, None);
        assert_eq!(settings.budget(), 1.5);
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown.matches("> ").count(), 7, "{shown}");
        let read = Layer::parse(&written(&layer)).unwrap();
        assert_eq!(read, layer);
    }

    #[test]
    fn an_end_of_the_input_and_flags_ask_nothing_more() {
        let mut layer = Layer::default().with_seeds(vec!["https://e.org/".into()]);
        let mut shown = Vec::new();
        let ended = answers(&mut layer, &b"host\n"[..], &mut shown);
        assert!(ended.is_err());
        assert!(!String::from_utf8(shown).unwrap().contains("start"));
    }
}
