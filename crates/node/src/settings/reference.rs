//! The reference of `avocet.toml`, made from the declarations of the settings.
//!
//! **Invariant:** the reference has exactly the keys that can be set.

use policy::catalog::{Catalog, PUBLISHED_HEADING, Wish};

use toml::Value;

use super::declared::{REPEATED, sections};
use super::layer::Layer;
use super::setting::Setting;

const HEAD: &str = "\
# avocet.toml: the settings of a store. It is in the store's directory, or is named with --config; flags win over it.
# Every key may be left out. The value shown is the default where there is one, else an example.
";

/// Returns the whole file, with everything in it commented out.
pub fn reference() -> String {
    written(&Layer::default())
}

/// Returns the whole file with the settings of a layer in force. Everything else in it is commented
/// out.
pub fn written(layer: &Layer) -> String {
    let mut text = String::from(HEAD);
    for section in sections() {
        let name = match section.name {
            name if REPEATED.contains(&name) => format!("[[{name}]]"),
            name => format!("[{name}]"),
        };
        let set = |setting: &Setting| layer.get(setting.section, setting.key);
        let comment = match section
            .settings
            .iter()
            .any(|setting| set(setting).is_some())
        {
            true => "",
            false => "# ",
        };
        text += &format!("\n# {}\n{comment}{name}\n", section.about);
        for setting in &section.settings {
            text += &format!("\n{}", entry(setting, set(setting)));
        }
    }
    text
}

/// Returns the comment on a setting and the line that sets it: to `value`, or to what the reference
/// shows, as a comment.
fn entry(setting: &Setting, value: Option<&Value>) -> String {
    let mut notes = Vec::new();
    if let Some(usual) = setting.usual {
        notes.push(format!("default: {usual}"));
    }
    if let Some(range) = setting.range {
        notes.push(range.to_string());
    }
    if let Some(flag) = &setting.flag {
        notes.push(format!("flag: --{}", flag.name));
    }
    let mut lines = wrap(&setting.doc);
    if !notes.is_empty() {
        lines.push(format!("({})", notes.join("; ")));
    }
    for (word, meaning) in &setting.choices {
        lines.push(format!("  {word:?}: {meaning}"));
    }
    let lines: String = lines.iter().map(|line| format!("# {line}\n")).collect();
    let policies = policies(setting.section, setting.key);
    let line = match value {
        Some(value) => format!("{} = {value}", setting.key),
        None => format!("# {} = {}", setting.key, setting.shown()),
    };
    format!("{lines}{policies}{line}\n")
}

/// Breaks a text into lines of at most 110 characters.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + word.chars().count() < 110 {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns the policies that a key may name, in two lines: those for users, then the published
/// baselines. Returns an empty text for any other key.
fn policies(section: &str, key: &str) -> String {
    let catalog = Catalog::standard();
    macro_rules! names {
        ($policies:expr) => {
            $policies.map(|one| (one.published, one.name)).collect()
        };
    }
    let orders = catalog.orders().iter();
    let names: Vec<(bool, &str)> = match (section, key) {
        ("crawl", "order") => names!(orders.filter(|one| one.wish != Some(Wish::Topic))),
        ("crawl", "focus") => names!(catalog.focuses()),
        ("crawl", "servers") => names!(catalog.strategies().iter()),
        ("refresh", "policy") => names!(catalog.refreshes().iter()),
        ("refresh", "rate") => names!(catalog.estimators().iter()),
        ("source", "policy") => names!(catalog.schedulers().iter()),
        _ => return String::new(),
    };
    let list = |published: bool| {
        let names = names.iter().filter(|(is, _)| *is == published);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    };
    let (pick, published) = (list(false), list(true));
    format!("#   {pick}\n#   {PUBLISHED_HEADING}: {published}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, Settings};

    /// Returns the reference with its settings in force: prose is left out, and so is one of the
    /// two budgets.
    fn in_force() -> String {
        let lines = reference();
        let lines = lines.lines().filter_map(|line| line.strip_prefix("# "));
        let set = |line: &&str| {
            line.starts_with('[')
                || line
                    .split_once(" = ")
                    .is_some_and(|(key, _)| !key.contains(' '))
        };
        let kept = lines
            .filter(set)
            .filter(|line| !line.starts_with("fetches_per_day"));
        kept.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_key_of_the_reference_can_be_set_to_the_value_shown() {
        let text = in_force();
        let layer = Layer::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(layer.wrong_values(), []);
        let shown = layer.settings().unwrap();
        let usual = Settings::default();
        assert_eq!(shown.limits, usual.limits, "defaults are shown as they are");
        assert_eq!(shown.source, usual.source);
        assert_eq!(shown.crawl.connections, 64);
        assert_eq!(shown.host.len(), 1);
        let every = sections().into_iter().flat_map(|section| section.settings);
        for setting in every.filter(|setting| !REPEATED.contains(&setting.section)) {
            let one_of_two = setting.key == "fetches_per_day";
            let is_shown = layer.get(setting.section, setting.key).is_some();
            assert!(is_shown || one_of_two, "{}", setting.path());
        }
    }

    #[test]
    fn every_key_is_explained() {
        let text = reference();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let is_key = pair[1].starts_with("# [") || pair[1].contains(" = ");
            assert!(!is_key || pair[0].starts_with("# "), "{pair:?}");
            let is_entry = pair[1].starts_with("# ") && pair[1].ends_with(" = ");
            assert!(!is_entry, "{pair:?} has no example");
        }
    }

    #[test]
    fn the_page_of_the_documentation_is_the_reference() {
        let page = include_str!("../../../../docs/reference/configuration.md");
        let written = page
            .split("```toml\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next());
        assert!(
            written == Some(reference().as_str()),
            "write what `avocet config reference` prints into docs/reference/configuration.md"
        );
    }
}
