//! What can be written into `avocet.toml`?
//!
//! **Invariant:** made from the types that the file is read into, their comments and examples; so a key that is not here cannot be
//! set, and a key that is here can. What is shown is the default where there is one, and else an example.

use policy::catalog::{Catalog, PUBLISHED_HEADING, Wish};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::Config;

const HEAD: &str = "\
# avocet.toml: what is set once for a store. It lies in the store's directory, or is named with --config; flags win over it.
# Every key may be left out. Where there is a default it is shown; else the value is an example.
";

/// The whole file, with everything in it commented out.
pub fn reference() -> String {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Config>();
    let mut text = String::from(HEAD);
    for (name, section) in properties(schema.as_value()) {
        text.push('\n');
        text += &comment(&section);
        let (open, close, fields) = match section.get("items") {
            Some(each) => ("[[", "]]", each),
            None => ("[", "]", &section),
        };
        text += &format!("# {open}{name}{close}\n");
        for (key, field) in properties(fields) {
            text.push('\n');
            text += &comment(&field);
            text += &policies(&name, &key);
            text += &format!("# {key} = {}\n", example(&field));
        }
    }
    text
}

fn properties(schema: &Value) -> Map<String, Value> {
    let known = schema.get("properties").and_then(Value::as_object);
    known.cloned().unwrap_or_default()
}

/// What the field's comment says, and which words it may be.
fn comment(schema: &Value) -> String {
    let said = schema.get("description").and_then(Value::as_str);
    let mut lines: Vec<String> = (said.unwrap_or_default().lines())
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    for choice in choices(schema) {
        let word = choice
            .get("const")
            .map(Value::to_string)
            .unwrap_or_default();
        let meaning = choice.get("description").and_then(Value::as_str);
        lines.push(format!("  {word}: {}", meaning.unwrap_or_default()));
    }
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

/// The policies that a key may name: those to pick, then the published baselines.
fn policies(section: &str, key: &str) -> String {
    let catalog = Catalog::standard();
    let names: Vec<(bool, &str)> = match (section, key) {
        ("crawl", "order") => {
            let orders = catalog.orders().iter();
            let orders = orders.filter(|one| one.wish != Some(Wish::Topic));
            orders.map(|one| (one.published, one.name)).collect()
        }
        ("crawl", "focus") => {
            let methods = catalog.focuses();
            methods.map(|one| (one.published, one.name)).collect()
        }
        ("crawl", "servers") => {
            let strategies = catalog.strategies().iter();
            strategies.map(|one| (one.published, one.name)).collect()
        }
        ("refresh", "policy") => {
            let refreshes = catalog.refreshes().iter();
            refreshes.map(|one| (one.published, one.name)).collect()
        }
        ("refresh", "rate") => {
            let estimators = catalog.estimators().iter();
            estimators.map(|one| (one.published, one.name)).collect()
        }
        ("source", "policy") => {
            let schedulers = catalog.schedulers().iter();
            schedulers.map(|one| (one.published, one.name)).collect()
        }
        _ => return String::new(),
    };
    let list = |published: bool| {
        let names = names.iter().filter(|(is, _)| *is == published);
        names.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
    };
    let (pick, published) = (list(false), list(true));
    format!("#   {pick}\n#   {PUBLISHED_HEADING}: {published}\n")
}

/// The words that a field may be, each with its comment. A field that may be left out has them one level down.
fn choices(schema: &Value) -> Vec<Value> {
    let one_of = |schema: &Value| schema.get("oneOf").and_then(Value::as_array).cloned();
    let inner = schema.get("anyOf").and_then(Value::as_array);
    let inner = inner.into_iter().flatten().find_map(one_of);
    one_of(schema).or(inner).unwrap_or_default()
}

/// The example as TOML writes it.
fn example(schema: &Value) -> String {
    let examples = schema.get("examples").and_then(Value::as_array);
    let first = examples.and_then(|examples| examples.first());
    let value = first.and_then(|value| toml::Value::try_from(value).ok());
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use fetch::Limits;

    use super::*;

    /// The reference with nothing commented out but what is prose, and one budget of two.
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
    fn everything_in_it_can_be_written() {
        let text = in_force();
        let config: Config =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(config.crawl.connections, Some(64));
        assert_eq!(config.host.len(), 1);
        let usual = frontier::DomainLimits::default();
        assert_eq!(config.crawl.domain_pages, Some(usual.pages));
        assert_eq!(config.crawl.domain_spare, Some(usual.spare));
        let usual = Limits::default();
        let shown = config.limits.apply(Limits::default());
        assert_eq!(
            format!("{shown:?}"),
            format!("{usual:?}"),
            "defaults are shown as they are"
        );
    }

    #[test]
    fn every_key_is_explained() {
        let text = reference();
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2) {
            let is_key = pair[1].starts_with("# [") || pair[1].contains(" = ");
            assert!(!is_key || pair[0].starts_with("# "), "{pair:?}");
            assert!(!pair[1].ends_with(" = "), "{pair:?} has no example");
        }
    }

    #[test]
    fn the_page_of_the_documentation_is_the_reference() {
        let page = include_str!("../../../../../docs/config.md");
        let written = page
            .split("```toml\n")
            .nth(1)
            .and_then(|rest| rest.split("```").next());
        assert_eq!(
            written,
            Some(reference().as_str()),
            "write what `avocet config reference` prints into docs/config.md"
        );
    }
}
