//! Splits a robots.txt into its records.
//!
//! **Invariant:** any bytes are accepted: UTF-8 with or without a byte order mark, UTF-16 with
//! one, any line ending, and the usual misspellings. Unknown lines are skipped.

use std::borrow::Cow;

use super::ROBOTS_LIMIT;

/// One record of a robots.txt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RobotsLine<'a> {
    Agent(&'a [u8]),
    Rule { allow: bool, path: &'a [u8] },
    Delay(&'a [u8]),
    Sitemap(&'a [u8]),
}

/// Calls `visit` for every known record.
pub(super) fn lines(text: &[u8], mut visit: impl FnMut(RobotsLine<'_>)) {
    let text = as_utf8(text);
    let within = whole_lines(&text);
    for line in within.split(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
        if let Some(line) = read(line) {
            visit(line);
        }
    }
}

/// Returns the complete lines within the limit. The line that crosses it is dropped, because
/// half a rule would be a different rule.
fn whole_lines(text: &[u8]) -> &[u8] {
    let Some(within) = text.get(..=ROBOTS_LIMIT) else {
        return text;
    };
    let end = within
        .iter()
        .rposition(|byte| matches!(byte, b'\n' | b'\r' | 0))
        .unwrap_or(0);
    &within[..end]
}

fn as_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    match text {
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_be_bytes)),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_le_bytes)),
        _ => Cow::Borrowed(text),
    }
}

fn from_utf16(text: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _) = text.as_chunks();
    let decoded = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    decoded
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect::<String>()
        .into_bytes()
}

fn read(line: &[u8]) -> Option<RobotsLine<'_>> {
    let line = line
        .split(|&byte| byte == b'#')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (
            line[..colon].trim_ascii_end(),
            line[colon + 1..].trim_ascii(),
        ),
        None => without_colon(line)?,
    };
    let rule = |allow| RobotsLine::Rule { allow, path: value };
    match key.to_ascii_lowercase().as_slice() {
        b"user-agent" | b"useragent" | b"user agent" => Some(RobotsLine::Agent(value)),
        b"allow" => Some(rule(true)),
        // With the misspellings that Google's parser accepts.
        b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw"
        | b"desallow" => Some(rule(false)),
        b"crawl-delay" | b"crawldelay" | b"crawl delay" => Some(RobotsLine::Delay(value)),
        b"sitemap" | b"site-map" if !value.is_empty() => Some(RobotsLine::Sitemap(value)),
        _ => None,
    }
}

/// Splits `disallow /`, where the colon is missing. There must be exactly two words, so that
/// prose is not mistaken for rules.
fn without_colon(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(u8::is_ascii_whitespace)?;
    let (key, value) = (&line[..space], line[space..].trim_ascii_start());
    (!value.iter().any(u8::is_ascii_whitespace)).then_some((key, value))
}
