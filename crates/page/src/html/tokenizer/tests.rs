//! Compares the tokenizer with html5lib's tests of the standard, and checks that it always ends.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::conformance;

/// A token in the form of the tests.
///
/// Names are compared as keys. NUL and CR LF, which the standard rewrites and we leave to the
/// caller, are rewritten beforehand.
#[derive(PartialEq, Debug)]
enum PlainToken {
    Text(String),
    Start(NameKey, Vec<(NameKey, String)>, bool),
    End(NameKey),
    Comment(String),
    Doctype,
}

fn tokens(html: &str, model: ContentModel, last: &str) -> Vec<PlainToken> {
    let mut tokenizer = Tokenizer::new(html, 256, 64 << 10);
    tokenizer.expect(model, NameKey::of(last.as_bytes()));
    let mut all = Vec::new();
    while let Some(token) = tokenizer.next() {
        let plain = match token {
            HtmlToken::Text { raw, references } => {
                let text = if references {
                    htmlize::unescape(raw).into_owned()
                } else {
                    raw.to_owned()
                };
                if let Some(PlainToken::Text(before)) = all.last_mut() {
                    before.push_str(&text);
                    continue;
                }
                PlainToken::Text(text)
            }
            HtmlToken::Start {
                tag,
                self_closing,
                name,
            } => {
                assert_eq!(NameKey::of(name.as_bytes()), tag);
                let mut attributes: Vec<(NameKey, String)> = Vec::new();
                for attribute in tokenizer.attributes() {
                    if attributes.iter().all(|(name, _)| *name != attribute.name) {
                        attributes.push((attribute.name, attribute.value().into_owned()));
                    }
                }
                PlainToken::Start(tag, attributes, self_closing)
            }
            HtmlToken::End { tag } => PlainToken::End(tag),
            HtmlToken::Comment(text) => PlainToken::Comment(text.to_owned()),
            HtmlToken::Doctype => PlainToken::Doctype,
        };
        all.push(plain);
    }
    all
}

/// Returns the expected tokens of a test. For a doctype only its presence counts, because a
/// crawler has no quirks mode.
fn expected(output: &Value, rewrite: impl Fn(&str) -> String) -> Vec<PlainToken> {
    let text = |value: &Value| rewrite(value.as_str().unwrap());
    let name = |value: &Value| NameKey::of(text(value).as_bytes());
    let plain = |token: &Value| match token[0].as_str().unwrap() {
        "Character" => PlainToken::Text(text(&token[1])),
        "StartTag" => {
            let attributes = token[2].as_object().unwrap();
            let attributes = attributes
                .iter()
                .map(|(key, value)| (NameKey::of(rewrite(key).as_bytes()), text(value)));
            PlainToken::Start(
                name(&token[1]),
                attributes.collect(),
                token.get(3).is_some(),
            )
        }
        "EndTag" => PlainToken::End(name(&token[1])),
        "Comment" => PlainToken::Comment(text(&token[1])),
        "DOCTYPE" => PlainToken::Doctype,
        other => panic!("unknown token {other}"),
    };
    output.as_array().unwrap().iter().map(plain).collect()
}

/// Sorts attributes, because their order does not count.
fn sorted(mut tokens: Vec<PlainToken>) -> Vec<PlainToken> {
    for token in &mut tokens {
        if let PlainToken::Start(_, attributes, _) = token {
            attributes.sort_by_key(|(name, _)| name.0);
        }
    }
    tokens
}

#[test]
fn agrees_with_html5lib() {
    let Some(files) = conformance::directory("tokenizer") else {
        return;
    };
    let (mut run, mut skipped, mut failed) = (0, 0, Vec::new());
    for (file, bytes) in &files {
        let tests: Value = serde_json::from_slice(bytes).unwrap();
        // The `xmlViolation` tests are for an option that turns HTML into XML, which we do not
        // have.
        let Some(tests) = tests.get("tests") else {
            continue;
        };
        for test in tests.as_array().unwrap() {
            let escaped = test.get("doubleEscaped").is_some();
            let unescape = |text: &str| {
                if escaped {
                    unescape_json(text)
                } else {
                    Some(text.to_owned())
                }
            };
            let Some(input) = unescape(test["input"].as_str().unwrap()) else {
                skipped += 1; // A lone surrogate, which no `str` holds.
                continue;
            };
            let rewrite = |text: &str| unescape(text).unwrap().replace('\0', "\u{fffd}");
            let input = input
                .replace("\r\n", "\n")
                .replace('\r', "\n")
                .replace('\0', "\u{fffd}");
            let states = test.get("initialStates").and_then(Value::as_array).cloned();
            for state in states.unwrap_or_else(|| vec!["Data state".into()]) {
                let model = match state.as_str().unwrap() {
                    "Data state" => ContentModel::Data,
                    "PLAINTEXT state" => ContentModel::PlainText,
                    "RCDATA state" => ContentModel::RcData,
                    "RAWTEXT state" => ContentModel::RawText,
                    "Script data state" => ContentModel::Script,
                    // CDATA exists in SVG and MathML only; it is read as a comment here.
                    "CDATA section state" => {
                        skipped += 1;
                        continue;
                    }
                    other => panic!("unknown state {other}"),
                };
                run += 1;
                let last = test
                    .get("lastStartTag")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let (ours, theirs) = (
                    sorted(tokens(&input, model, last)),
                    sorted(expected(&test["output"], rewrite)),
                );
                if ours != theirs {
                    failed.push(format!(
                        "{file}: {input:?} in {model:?}\n  {ours:?}\n  {theirs:?}"
                    ));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {run} failed:\n{}",
        failed.len(),
        failed[..failed.len().min(20)].join("\n")
    );
    assert!(run > 6_700, "only {run} tests were run");
    assert!(skipped <= 60, "{skipped} tests were skipped");
}

/// Decodes `\uXXXX`; `None` for an invalid character.
fn unescape_json(text: &str) -> Option<String> {
    serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).ok()
}

#[test]
fn a_nested_script_in_a_comment_does_not_end_the_script() {
    let check = |script: &str, content: &str| {
        let html = format!("{script}</script>after");
        let mut tokenizer = Tokenizer::new(&html, 256, 1_024);
        tokenizer.expect(ContentModel::Script, crate::html::tag::SCRIPT);
        assert_eq!(
            tokenizer.next(),
            Some(HtmlToken::Text {
                raw: content,
                references: false
            }),
            "{script}"
        );
    };
    check("a<b", "a<b");
    check("<!-- <script> </script> -->", "<!-- <script> </script> -->");
    check("<!-- </script>", "<!-- ");
    check("<!--><script>", "<!--><script>");
    check("'</scripts>'", "'</scripts>'");
}

#[test]
fn attributes_beyond_the_limits_are_dropped_and_counted() {
    let html = format!(
        "<p {}>",
        (0..64_000).map(|i| format!("a{i}=1 ")).collect::<String>()
    );
    let mut tokenizer = Tokenizer::new(&html, 256, 1_024);
    assert!(matches!(tokenizer.next(), Some(HtmlToken::Start { .. })));
    assert_eq!(
        (tokenizer.attributes().len(), tokenizer.attributes_cut),
        (256, 64_000 - 256)
    );
    let html = format!("<a href='data:{}' rel=x>", "x".repeat(50_000));
    let mut tokenizer = Tokenizer::new(&html, 256, 1_024);
    assert!(matches!(tokenizer.next(), Some(HtmlToken::Start { .. })));
    assert_eq!((tokenizer.attributes().len(), tokenizer.values_cut), (1, 1));
}

proptest! {
    /// For any input, tokens are in order and the tokenizer ends.
    #[test]
    fn every_input_ends(html in "[<>/!?a\\-= '\"&;\\x00é]{0,60}|(<(script|title|!--|/script|/)?[> ]?){0,20}", model in 0..5usize) {
        let model = [ContentModel::Data, ContentModel::RcData, ContentModel::RawText, ContentModel::Script, ContentModel::PlainText][model];
        let mut tokenizer = Tokenizer::new(&html, 4, 16);
        tokenizer.expect(model, NameKey::of(b"script"));
        let mut steps = 0;
        let mut before = 0;
        while tokenizer.next().is_some() {
            prop_assert!(tokenizer.at > before, "no token without a byte");
            before = tokenizer.at;
            steps += 1;
        }
        prop_assert!(steps <= html.len());
        prop_assert_eq!(tokenizer.at, html.len());
    }
}
