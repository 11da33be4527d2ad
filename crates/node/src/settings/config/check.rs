//! What is wrong with a configuration, and in which line?
//!
//! **Invariant:** what passes here starts a crawl: the same functions judge both. Everything wrong is said at once, each with its key and line.

use std::fmt;

use page::PageUrl;
use regex::Regex;

use super::{Config, FetchConfig, Logo};
use crate::settings::polling::{self, Polling};
use crate::settings::ranking::Ranking;
use crate::settings::upkeep::{POLICY, Rate, Refreshing};

/// Something that is not right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from one; `None`: nothing there says it.
    pub line: Option<usize>,
    /// The key, with its section.
    pub key: String,
    /// What is wrong and what to write.
    pub why: String,
}

/// What is wrong with a text that is to be an `avocet.toml`.
pub fn check(text: &str) -> Vec<Finding> {
    let config = match toml::from_str::<Config>(text) {
        Ok(config) => config,
        Err(error) => return vec![unreadable(text, &error)],
    };
    let mut wrong = Vec::new();
    let mut note = |key: &str, why: Option<String>| {
        if let Some(why) = why {
            let (line, key) = (line_of(text, key), key.to_owned());
            wrong.push(Finding { line, key, why });
        }
    };
    let crawl = &config.crawl;
    for (key, seeds) in [
        ("crawl.seeds", &crawl.seeds),
        ("crawl.added_seeds", &crawl.added_seeds),
    ] {
        for seed in seeds {
            let url = PageUrl::parse(seed);
            note(
                key,
                url.err()
                    .map(|why| format!("{seed:?}: {why}; write it like https://example.org/")),
            );
        }
    }
    for (key, expressions) in [
        ("crawl.include", &crawl.include),
        ("crawl.exclude", &crawl.exclude),
    ] {
        for expression in expressions {
            note(key, Regex::new(expression).err().map(|why| why.to_string()));
        }
    }
    let zero = "must be at least 1";
    for (key, is_zero) in [
        ("crawl.connections", crawl.connections == Some(0)),
        ("crawl.per_server", crawl.per_server == Some(0)),
        ("crawl.pages_per_host", crawl.pages_per_host == Some(0)),
        ("crawl.buffer", crawl.buffer == Some(0)),
    ] {
        note(key, is_zero.then(|| zero.to_owned()));
    }
    let level = crawl
        .compression
        .filter(|level| repository::archive::Level::new(*level).is_none());
    note(
        "crawl.compression",
        level.map(|level| format!("{level} is no level: write 1 to 9")),
    );
    let depth = config
        .fetch
        .pipeline_depth
        .filter(|depth| fetch::Depth::new(*depth).is_none());
    note(
        "fetch.pipeline_depth",
        depth.map(|depth| format!("{depth} is no depth: write 2 to 32")),
    );
    let logo = config.serve.logo.as_deref().map(Logo::read);
    note("serve.logo", logo.and_then(Result::err));
    for (key, ranking) in rankings(&config) {
        note(
            key,
            ranking.choose().err().map(|error| format!("{error:#}")),
        );
    }
    for (key, part) in requests(&config) {
        note(
            key,
            part.fetch_settings()
                .err()
                .map(|error| format!("{error:#}")),
        );
    }
    wrong
}

/// What each key of a policy makes of a crawl that is else as usual.
fn rankings(config: &Config) -> Vec<(&'static str, Ranking)> {
    let (crawl, usual) = (&config.crawl, Ranking::default);
    let set = &config.refresh;
    let refresh = Refreshing {
        policy: set.policy.clone().unwrap_or_else(|| POLICY.into()),
        rate: set.rate.clone(),
        rates: set.rates.clone(),
        step: set.step.map(|time| time.0),
        slots: set.slots,
        ..by_sources(Polling::by(polling::SCHEDULER))
    };
    let kept = |refresh| Ranking {
        refresh: Some(refresh),
        ..usual()
    };
    let order = Ranking {
        order: crawl.order.clone().unwrap_or(usual().order),
        query: crawl.query.clone(),
        location: crawl.location.clone(),
        scores: crawl.scores.clone(),
        ..usual()
    };
    let servers = Ranking {
        servers: crawl.servers.clone().unwrap_or(usual().servers),
        ..usual()
    };
    let threshold = Ranking {
        threshold: crawl.threshold,
        ..usual()
    };
    let scheduler = config.source.policy.as_deref();
    let source = Polling {
        share: config.source.share,
        polls: config.source.polls,
        profit: config.source.profit,
        ..Polling::by(scheduler.unwrap_or(polling::SCHEDULER))
    };
    vec![
        ("crawl.order", order),
        ("crawl.servers", servers),
        ("crawl.threshold", threshold),
        ("refresh.policy", kept(refresh)),
        ("source.policy", kept(by_sources(source))),
    ]
}

/// The usual refresh, with these sources.
fn by_sources(sources: Polling) -> Refreshing {
    Refreshing {
        policy: POLICY.into(),
        rate: None,
        rates: None,
        budget: Rate::USUAL.per_second,
        step: None,
        slots: None,
        listings: None,
        sources,
    }
}

/// What each key says about requests, alone.
fn requests(config: &Config) -> Vec<(&'static str, Config)> {
    let fetch = |fetch| Config {
        fetch,
        ..Config::default()
    };
    let proxy = FetchConfig {
        proxy: config.fetch.proxy.clone(),
        ..FetchConfig::default()
    };
    let roots = FetchConfig {
        roots: config.fetch.roots.clone(),
        ..FetchConfig::default()
    };
    let hosts = Config {
        host: config.host.clone(),
        ..Config::default()
    };
    vec![
        ("fetch.proxy", fetch(proxy)),
        ("fetch.roots", fetch(roots)),
        ("host", hosts),
    ]
}

/// What cannot be read as TOML, or has a key or a value that there is not.
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

/// The line of a key with its section, from one.
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
    fn what_is_wrong_is_named_with_its_line() {
        let text = "[crawl]\nseeds = [\"https://e.org/\", \"ftp://e.org/\"]\nconnections = 0\ninclude = [\"(\"]\n\n\
                    [refresh]\npolicy = \"freshnes\"\n\n[source]\npolicy = \"never\"\n\n[fetch]\nproxy = \"nowhere\"\n\n[serve]\nlogo = \"/proc/nowhere.svg\"\n";
        let found = check(text);
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
    }

    #[test]
    fn what_cannot_be_read_has_a_line_and_a_key_too() {
        for (text, line, key) in [
            ("[crawl]\nconections = 3\n", 2, "crawl.conections"),
            ("[crawl]\n\ndelay = \"5 parsecs\"\n", 3, "crawl.delay"),
            ("[serve]\ncolour = \"teal\"\n", 2, "serve.colour"),
            ("[serve]\ntitle = \"\"\n", 2, "serve.title"),
            (
                "[budget]\nfetches_per_day = \n",
                2,
                "budget.fetches_per_day",
            ),
        ] {
            let found = check(text);
            assert_eq!(
                (found.len(), found[0].line, found[0].key.as_str()),
                (1, Some(line), key),
                "{}",
                found[0]
            );
        }
        assert_eq!(check("[crawl]\nseeds = [\"https://e.org/\"]\n"), []);
    }
}
