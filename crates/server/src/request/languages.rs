//! Parses the languages that a reader prefers from `Accept-Language` (RFC 9110, section 12.5.4).
//!
//! **Invariant:** entries that cannot be parsed are ignored. The list has at most [`MOST`] entries,
//! however long a hostile header is.

use axum::http::{HeaderMap, header};

/// The maximum number of languages that are kept.
const MOST: usize = 16;

/// Returns the language codes without region and script, the most preferred first.
///
/// Languages of equal weight keep their order. Entries of weight 0 ("not acceptable") and `*` are
/// left out.
pub fn preferred(headers: &HeaderMap) -> Vec<String> {
    let fields = headers.get_all(header::ACCEPT_LANGUAGE).iter();
    let fields: Vec<&str> = fields.filter_map(|field| field.to_str().ok()).collect();
    ranked(&fields.join(","))
}

fn ranked(text: &str) -> Vec<String> {
    let mut found: Vec<(u16, String)> = text.split(',').filter_map(one).collect();
    found.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    let mut codes: Vec<String> = Vec::new();
    for (_, code) in found {
        if codes.len() < MOST && !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// Parses one entry into its weight, in thousandths, and its language code.
fn one(text: &str) -> Option<(u16, String)> {
    let mut parts = text.split(';').map(str::trim);
    let code = parts.next()?.split('-').next()?.to_ascii_lowercase();
    let is_code =
        (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut weight = 1000;
    for part in parts {
        let (name, value) = part.split_once('=')?;
        if name.trim().eq_ignore_ascii_case("q") {
            weight = thousandths(value.trim())?;
        }
    }
    // The index stores the language of Norwegian pages as `nb` (Bokmål).
    let code = if code == "no" { "nb".into() } else { code };
    (is_code && weight > 0).then_some((weight, code))
}

/// Parses a weight from 0 to 1 with at most three decimals (RFC 9110, section 12.4.2).
fn thousandths(text: &str) -> Option<u16> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let digits = rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    let rest: u16 = format!("{rest:0<3}").parse().ok().filter(|_| digits)?;
    match whole {
        "0" => Some(rest),
        "1" if rest == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_sorted_by_weight() {
        for (text, expected) in [
            ("", &[][..]),
            ("de", &["de"]),
            ("de-AT, de;q=0.9, en;q=0.8", &["de", "en"]),
            ("en;q=0.2,fr;q=0.9,de;q=0.55", &["fr", "de", "en"]),
            ("EN-us , Pt-BR;Q=0.5", &["en", "pt"]),
            ("da, *;q=0.5", &["da"]),
            ("en, de;q=0", &["en"]),
            ("en;q=0.000,de;q=1.000", &["de"]),
            ("zh-Hant-TW;q=0.3, ja;q=0.3", &["zh", "ja"]),
            ("no", &["nb"]),
            ("en;q=2, de;q=0.5", &["de"]),
            ("en;q=, de;q=x, fr;q=-1, it;q=0.1234, es;q", &[]),
            ("<script>, ../.., \"x\", i-klingon, english", &[]),
            (",,;;q=1,  ,en", &["en"]),
            ("en;level=1;q=0.4,de", &["de", "en"]),
        ] {
            assert_eq!(ranked(text), expected, "{text}");
        }
    }

    #[test]
    fn at_most_16_languages_are_kept() {
        let letters = || (b'a'..=b'z').map(char::from);
        let all: Vec<String> = letters()
            .flat_map(|one| letters().map(move |other| format!("{one}{other}")))
            .collect();
        assert_eq!(ranked(&all.join(",")).len(), MOST);
    }

    #[test]
    fn all_accept_language_fields_count() {
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT_LANGUAGE, "en;q=0.5".parse().unwrap());
        headers.append(header::ACCEPT_LANGUAGE, "fr".parse().unwrap());
        assert_eq!(preferred(&headers), ["fr", "en"]);
        assert!(preferred(&HeaderMap::new()).is_empty());
    }
}
