//! The check of an `avocet.toml`: every error at once, each with its key and line.
//!
//! **Invariant:** a crawl accepts the settings of a file that passes, because the same functions
//! judge them.

use std::fmt;
use std::path::Path;

use regex::Regex;

use super::policies::PolicySettings;
use super::{FetchSettings, Layer, Logo, Settings, SourceSettings, seed_url};
use crawl::scope::Blocked;

/// An error in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line of the key, or of its section if the file does not have the key, from 1; `None` if
    /// the file has neither.
    pub line: Option<usize>,
    /// The key, with its section.
    pub key: String,
    /// What is wrong and what to write.
    pub why: String,
}

/// Returns what is wrong with the text of an `avocet.toml` of the store at `root`.
pub fn check(text: &str, root: &Path) -> Vec<Finding> {
    let (layer, invalid) = match Layer::parse_valid(text) {
        Ok(parsed) => parsed,
        Err(error) => return vec![unreadable(text, &error)],
    };
    let settings = layer.deserialized().unwrap_or_default();
    let mut wrong = Vec::new();
    let mut note = |key: &str, why: String| {
        let (line, key) = (line_of(text, key), key.to_owned());
        wrong.push(Finding { line, key, why });
    };
    for (key, why) in invalid {
        note(&key, why);
    }
    let crawl = &settings.crawl;
    for (key, seeds) in [
        ("crawl.seeds", &crawl.seeds),
        ("crawl.added_seeds", &crawl.added_seeds),
    ] {
        for seed in seeds {
            if let Err(why) = seed_url(seed) {
                note(
                    key,
                    format!("{seed:?}: {why}; write it like https://example.org/"),
                );
            }
        }
    }
    for (key, expressions) in [
        ("crawl.include", &crawl.include),
        ("crawl.exclude", &crawl.exclude),
    ] {
        for why in expressions.iter().filter_map(|one| Regex::new(one).err()) {
            note(key, why.to_string());
        }
    }
    for why in crawl
        .block
        .iter()
        .filter_map(|host| Blocked::parse(host).err())
    {
        note("crawl.block", why);
    }
    for (key, why) in layer.wrong_values() {
        note(&key, why);
    }
    for why in settings
        .webhook
        .iter()
        .filter_map(|hook| hook.receiver().err())
    {
        note("webhook", why);
    }
    for site in &settings.site {
        if let Err(why) = site.rules() {
            note("site", why);
        }
        for why in [&site.include, &site.exclude]
            .into_iter()
            .flatten()
            .filter_map(|one| Regex::new(one).err())
        {
            note("site", why.to_string());
        }
    }
    if let Some(Err(why)) = settings.serve.logo.as_deref().map(Logo::read) {
        note("serve.logo", why);
    }
    for (key, part) in policy_parts(&settings) {
        if let Err(error) = PolicySettings::new(&part, root, true).choose() {
            note(key, format!("{error:#}"));
        }
    }
    for (key, part) in request_parts(&settings) {
        if let Err(error) = part.requests() {
            note(key, format!("{error:#}"));
        }
    }
    wrong
}

/// Returns, for each kind of policy, the default settings with only that policy and its parameters
/// taken from the file. An error in them is reported under the key.
fn policy_parts(settings: &Settings) -> Vec<(&'static str, Settings)> {
    let crawl = &settings.crawl;
    let mut order = Settings::default();
    order.crawl.order.clone_from(&crawl.order);
    order.crawl.focus.clone_from(&crawl.focus);
    order.crawl.topic.clone_from(&crawl.topic);
    order.crawl.predicate.clone_from(&crawl.predicate);
    order.crawl.query.clone_from(&crawl.query);
    order.crawl.location.clone_from(&crawl.location);
    order.crawl.scores.clone_from(&crawl.scores);
    let mut servers = Settings::default();
    servers.crawl.servers.clone_from(&crawl.servers);
    let refresh = Settings {
        refresh: settings.refresh.clone(),
        ..Settings::default()
    };
    let source = Settings {
        source: SourceSettings {
            policy: settings.source.policy.clone(),
            ..SourceSettings::default()
        },
        ..Settings::default()
    };
    let named_by = match crawl.focus {
        Some(_) => "crawl.focus",
        None => "crawl.order",
    };
    vec![
        (named_by, order),
        ("crawl.servers", servers),
        ("refresh.policy", refresh),
        ("source.policy", source),
    ]
}

/// Returns, for each key about requests whose value can be wrong, the default settings with only
/// that key taken from the file. An error in them is reported under the key.
fn request_parts(settings: &Settings) -> Vec<(&'static str, Settings)> {
    let fetch = |fetch| Settings {
        fetch,
        ..Settings::default()
    };
    let (set, usual) = (&settings.fetch, FetchSettings::default);
    let proxy = fetch(FetchSettings {
        proxy: set.proxy.clone(),
        ..usual()
    });
    let roots = fetch(FetchSettings {
        roots: set.roots.clone(),
        ..usual()
    });
    let depth = fetch(FetchSettings {
        http: set.http,
        pipeline_depth: set.pipeline_depth.filter(|depth| (2..=32).contains(depth)),
        ..usual()
    });
    let hosts = Settings {
        host: settings.host.clone(),
        ..Settings::default()
    };
    vec![
        ("fetch.proxy", proxy),
        ("fetch.roots", roots),
        ("fetch.pipeline_depth", depth),
        ("host", hosts),
    ]
}

/// Returns the finding for a file that is not TOML.
fn unreadable(text: &str, error: &toml::de::Error) -> Finding {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or_default();
    let line = before.matches('\n').count();
    let key = text
        .lines()
        .nth(line)
        .and_then(|line| line.split('=').next());
    let sections = text.lines().take(line).filter(|line| line.starts_with('['));
    let section = sections
        .last()
        .map(|name| name.trim_matches(['[', ']', ' ']));
    let key = [section.unwrap_or_default(), key.unwrap_or_default().trim()];
    let key: Vec<&str> = key.into_iter().filter(|part| !part.is_empty()).collect();
    Finding {
        line: Some(line + 1),
        key: key.join("."),
        why: error.message().to_owned(),
    }
}

/// Returns the line of a key (`section.key`), from one.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let (section, name) = key.split_once('.').unwrap_or((key, ""));
    let file = toml::de::DeTable::parse(text).ok()?;
    let (place, inner) = file
        .get_ref()
        .iter()
        .find(|(known, _)| known.get_ref() == section)?;
    let named = inner
        .get_ref()
        .as_table()
        .and_then(|table| table.iter().find(|(known, _)| known.get_ref() == name));
    let start = named.map_or(place.span().start, |(known, _)| known.span().start);
    Some(text.get(..start)?.matches('\n').count() + 1)
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{line}: {}: {}", self.key, self.why),
            None => write!(f, "{}: {}", self.key, self.why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_named_with_its_key_and_line() {
        let text = "[crawl]\nseeds = [\"https://e.org/\", \"ftp://e.org/\"]\nconnections = 0\ninclude = [\"(\"]\n\n\
                    [refresh]\npolicy = \"freshnes\"\n\n[source]\npolicy = \"never\"\n\n[fetch]\nproxy = \"nowhere\"\n\n[serve]\nlogo = \"/proc/nowhere.svg\"\n";
        let found = check(text, Path::new("."));
        let places: Vec<(Option<usize>, &str)> = found
            .iter()
            .map(|one| (one.line, one.key.as_str()))
            .collect();
        let expected = [
            (Some(2), "crawl.seeds"),
            (Some(4), "crawl.include"),
            (Some(3), "crawl.connections"),
            (Some(16), "serve.logo"),
            (Some(7), "refresh.policy"),
            (Some(10), "source.policy"),
            (Some(13), "fetch.proxy"),
        ];
        assert_eq!(places, expected, "{found:?}");
        assert!(found[4].why.contains("freshness"), "{}", found[4]);
        let focus = check(
            "[crawl]\ntopic = \"birds\"\nfocus = \"lerned\"\n",
            Path::new("."),
        );
        let focus: Vec<_> = focus
            .iter()
            .map(|one| (one.line, one.key.as_str()))
            .collect();
        assert_eq!(focus, [(Some(3), "crawl.focus")]);
    }

    #[test]
    fn all_keys_that_cannot_be_read_are_named_at_once() {
        let text = "[crawl]\nconections = 3\ndelay = \"5 parsecs\"\nordr = 1\ninclude = [\"(\"]\n\
                    [serve]\ncolour = \"teal\"\ntitle = \"\"\n[crwl]\nordr = 1\n[[host]]\norign = \"x\"\n";
        let found = check(text, Path::new("."));
        let places = found
            .iter()
            .map(|one| (one.line.unwrap(), one.key.as_str()));
        let expected = [
            (2, "crawl.conections"),
            (3, "crawl.delay"),
            (4, "crawl.ordr"),
            (9, "crwl"),
            (11, "host"),
            (7, "serve.colour"),
            (8, "serve.title"),
            (5, "crawl.include"),
        ];
        assert_eq!(places.collect::<Vec<_>>(), expected, "{found:?}");
        assert!(found[0].why.contains("connections"), "{}", found[0]);
        let found = check("[budget]\nfetches_per_day = \n", Path::new("."));
        let [one] = &found[..] else {
            panic!("{found:?}");
        };
        let place = (one.line, one.key.as_str());
        assert_eq!(place, (Some(2), "budget.fetches_per_day"), "{one}");
        assert_eq!(
            check("[crawl]\nseeds = [\"https://e.org/\"]\n", Path::new(".")),
            []
        );
    }
}
