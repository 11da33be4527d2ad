//! Tests that a control changes its own settings in the configuration and nothing else.

use std::path::PathBuf;

use super::*;
use crate::settings::policies::PolicySettings;

/// A store whose last crawl had the seed `http://e.org/` and the scope `any`.
fn store(config: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let last = LastCrawl {
        policies: PolicySettings::default(),
        scope: ScopeRules {
            seeds: vec!["http://e.org/".into()],
            reach: Reach::Any,
            depth: Some(7),
            ..ScopeRules::default()
        },
        allow_private: false,
        domains: None,
        contact: None,
    };
    last.write(directory.path()).unwrap();
    let path = Settings::path(directory.path());
    if !config.is_empty() {
        fs::write(&path, config).unwrap();
    }
    (directory, path)
}

fn applied(config: &str, control: Control) -> String {
    let (directory, path) = store(config);
    let applied = control.write(&path, directory.path()).unwrap();
    assert!(
        applied.changed && !applied.message.is_empty(),
        "{applied:?}"
    );
    let now = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(now, config, "the configuration is not written");
    let effective = Settings::file(None, directory.path()).unwrap();
    effective.text()
}

fn refused(config: &str, control: Control) -> String {
    let (directory, path) = store(config);
    let error = control.write(&path, directory.path()).unwrap_err();
    assert!(error.is::<Usage>(), "{error:#}");
    let text = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, config, "nothing was written");
    assert!(!ControlsFile::path(directory.path()).exists());
    error.to_string()
}

#[test]
fn a_budget_takes_the_place_of_another_and_other_settings_stay() {
    let config = "# ours\n[budget]\nfetches_per_second = 2.0 # for a small site\n\n[crawl]\ndelay = \"2s\" # they asked\n";
    let text = applied(config, Control::Budget("90/min".into()));
    assert!(
        text.contains("fetches_per_second = 1.5") && text.contains("delay = \"2s\""),
        "{text}"
    );
    let text = applied(config, Control::Budget("5000/day".into()));
    assert!(text.contains("fetches_per_day = 5000.0"), "{text}");
    assert!(!text.contains("fetches_per_second"), "{text}");
    assert!(refused(config, Control::Budget("many".into())).contains("2/s"));
}

#[test]
fn a_policy_that_does_not_exist_is_refused() {
    let refresh = |name: &str| {
        Control::Policy(NewPolicies {
            refresh: Some(name.into()),
            ..NewPolicies::default()
        })
    };
    assert_eq!(
        applied("", refresh("uniform")),
        "[refresh]\npolicy = \"uniform\"\n"
    );
    assert!(refused("", refresh("unifrom")).contains("`uniform`"));
    let all = NewPolicies {
        order: Some("breadth-first".into()),
        refresh: Some("freshness".into()),
        sources: Some("none".into()),
    };
    let text = applied("", Control::Policy(all.clone()));
    let config: Settings = toml::from_str(&text).unwrap();
    assert_eq!(
        (config.crawl.order, config.source.policy),
        (all.order, all.sources.unwrap())
    );
    assert!(refused("", Control::Policy(NewPolicies::default())).contains("at least one"));
}

#[test]
fn hosts_are_blocked_once_and_unblocked() {
    let text = applied("", Control::Block("Evil.Example".into()));
    assert_eq!(text, "[crawl]\nblock = [\"evil.example\"]\n");
    let (directory, path) = store(&text);
    let again = Control::Block("evil.example".into()).write(&path, directory.path());
    assert!(!again.unwrap().changed);
    assert_eq!(
        applied(&text, Control::Unblock("evil.example".into())),
        "[crawl]\nblock = []\n"
    );
    assert!(refused(&text, Control::Unblock("other.example".into())).contains("not blocked"));
    for wrong in ["", "http://e.org/", "a b", "e.org/x", "*"] {
        refused("", Control::Block(wrong.into()));
    }
}

#[test]
fn seeds_of_the_command_line_are_written_with_their_scope() {
    let text = applied("", Control::AddSeed("http://new.example".into()));
    let config: Settings = toml::from_str(&text).unwrap();
    assert_eq!(config.crawl.seeds, ["http://e.org/"]);
    assert_eq!(config.crawl.added_seeds, ["http://new.example/"]);
    assert_eq!(config.crawl.scope, Some(Reach::Any));
    assert_eq!(config.crawl.depth, Some(7));
    let less = applied(&text, Control::RemoveSeed("http://e.org/".into()));
    let config: Settings = toml::from_str(&less).unwrap();
    assert_eq!(config.crawl.all_seeds(), ["http://new.example/"]);
    let last = Control::RemoveSeed("http://new.example/".into());
    assert!(refused(&less, last).contains("only seed"));
    assert!(refused("", Control::AddSeed("mailto:x".into())).contains("https://example.org/"));
}

#[test]
fn an_added_seed_passes_the_gate_that_links_pass() {
    let add = |url: &str| Control::AddSeed(url.into());
    let inside = [
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
    ];
    for url in inside {
        let why = refused("", add(url));
        assert!(why.contains("not public"), "{why}");
    }
    assert!(refused("", add("http://e.org:6379/")).contains("port 6379"));
    // An added seed does not allow an unusual port for the next one either.
    let text = applied("", add("http://f.org/"));
    refused(&text, add("http://f.org:8080/"));
    // A seed in the file allows its own address and port; `allow_private` allows all.
    let own = "[crawl]\nseeds = [\"http://127.0.0.1:8080/\"]\n";
    applied(own, add("http://127.0.0.1:8080/b"));
    refused(own, add("http://127.0.0.1:8081/"));
    refused(own, add("http://127.0.0.1/"));
    applied(
        "[fetch]\nallow_private = true\n",
        add("http://10.1.2.3:99/"),
    );
    let added = "[crawl]\nseeds = []\nadded_seeds = [\"http://127.0.0.1/\"]\n";
    refused(added, add("http://127.0.0.1/b"));
}

#[test]
fn a_read_only_configuration_is_enough_and_an_invalid_one_is_an_error() {
    let (directory, path) = store("[crawl]\n");
    let mut mode = fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).unwrap();
    let budget = |rate: &str| Control::Budget(rate.into()).write(&path, directory.path());
    budget("1/s").unwrap();
    assert!(budget("2/s").unwrap().changed);
    let text = fs::read_to_string(ControlsFile::path(directory.path())).unwrap();
    assert!(
        text.contains("[budget]\nfetches_per_second = 2.0\n"),
        "{text}"
    );
    let (directory, path) = store("[crawl\n");
    let error = Control::Budget("1/s".into()).write(&path, directory.path());
    assert!(error.unwrap_err().to_string().contains("correct it first"));
    assert!(!ControlsFile::path(directory.path()).exists());
}
