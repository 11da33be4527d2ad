//! Fuzz target for `avocet.toml`, as a user writes it and as the program edits it.

use std::path::Path;

use node::live::controls::Control;
use node::settings::check::check as check_config;
use toml_edit::DocumentMut;

/// Keys (section and name) whose value names a file that the check reads. Inputs with such a key
/// are skipped, so that the fuzzer opens no files.
const FILES: [(&str, &str); 3] = [
    ("fetch", "roots"),
    ("refresh", "rates"),
    ("crawl", "scores"),
];

/// Checks a configuration.
///
/// The line that a finding names is a line of the text, or the line after its end. An accepted
/// configuration is still accepted after every edit by the program, and making the same edit twice
/// changes nothing more.
pub fn config(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    if let Ok(table) = text.parse::<toml::Table>()
        && FILES
            .iter()
            .any(|(section, key)| table.get(*section).and_then(|it| it.get(key)).is_some())
    {
        return;
    }
    let findings = check_config(text, Path::new("nowhere"));
    let lines = text.lines().count().max(1) + 1;
    for finding in &findings {
        assert!(finding.line.is_none_or(|line| line >= 1 && line <= lines));
        assert!(!finding.to_string().is_empty());
    }
    if !findings.is_empty() {
        return;
    }
    for wish in [
        Control::Budget("5000/day".into()),
        Control::Budget("2/s".into()),
        Control::Block("*.ads.example.org".into()),
        Control::Unblock("ads.example.org".into()),
        Control::AddSeed("https://new.example.org/".into()),
        Control::RemoveSeed("https://docs.example.org/".into()),
    ] {
        let document = |text: &str| text.parse::<DocumentMut>().expect("it was read before");
        let Ok((edited, _)) = wish.edit(document(text), &Default::default()) else {
            continue;
        };
        assert_eq!(
            check_config(&edited, Path::new("nowhere")),
            [],
            "{wish:?} made of {text:?}: {edited:?}"
        );
        if let Ok((again, _)) = wish.edit(document(&edited), &Default::default()) {
            assert_eq!(again, edited, "{wish:?}");
        }
    }
}
