//! Which language is this text in?
//!
//! **Invariant:** the answer is a lower-case primary language subtag (`en`, `zh`, `ast`), and at most
//! [`SAMPLE`] bytes of text are looked at.

use whatlang::Lang;

use crate::scan::char_floor;

/// A bound on the detector's work: with 2,048 bytes it took .1 to .2 ms a page, as long as reading the page.
const SAMPLE: usize = 512;

/// The language of a text, whose page claims it to be `hint` (`en-GB`). `None`: cannot be told.
///
/// Words are believed over claims, which templates often leave at `en`, but only if there are enough
/// of them; and never over a claim of a language that the detector does not know.
pub fn detect(text: &str, hint: Option<&str>) -> Option<String> {
    let claimed = hint.and_then(primary);
    if let Some(claimed) = &claimed
        && !CODES.iter().any(|(_, code)| code == claimed)
    {
        return Some(claimed.clone());
    }
    let sample = &text[..char_floor(text, SAMPLE)];
    match whatlang::detect(sample) {
        Some(found) if found.is_reliable() => Some(code(found.lang()).to_owned()),
        _ => claimed,
    }
}

/// The first subtag of a language tag, if it can be one.
fn primary(tag: &str) -> Option<String> {
    let subtag = tag.split(['-', '_']).next().unwrap_or_default().trim();
    let is_code =
        (2..=3).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| match subtag.to_ascii_lowercase().as_str() {
        "no" | "nn" => "nb".to_owned(), // One language to the detector.
        code => code.to_owned(),
    })
}

fn code(lang: Lang) -> &'static str {
    CODES
        .iter()
        .find(|(known, _)| *known == lang)
        .map_or_else(|| lang.code(), |(_, code)| code)
}

/// The ISO 639-1 codes of the languages that the detector knows; pages claim these and not ISO 639-3.
const CODES: [(Lang, &str); 70] = [
    (Lang::Epo, "eo"),
    (Lang::Eng, "en"),
    (Lang::Rus, "ru"),
    (Lang::Cmn, "zh"),
    (Lang::Spa, "es"),
    (Lang::Por, "pt"),
    (Lang::Ita, "it"),
    (Lang::Ben, "bn"),
    (Lang::Fra, "fr"),
    (Lang::Deu, "de"),
    (Lang::Ukr, "uk"),
    (Lang::Kat, "ka"),
    (Lang::Ara, "ar"),
    (Lang::Hin, "hi"),
    (Lang::Jpn, "ja"),
    (Lang::Heb, "he"),
    (Lang::Yid, "yi"),
    (Lang::Pol, "pl"),
    (Lang::Amh, "am"),
    (Lang::Jav, "jv"),
    (Lang::Kor, "ko"),
    (Lang::Nob, "nb"),
    (Lang::Dan, "da"),
    (Lang::Swe, "sv"),
    (Lang::Fin, "fi"),
    (Lang::Tur, "tr"),
    (Lang::Nld, "nl"),
    (Lang::Hun, "hu"),
    (Lang::Ces, "cs"),
    (Lang::Ell, "el"),
    (Lang::Bul, "bg"),
    (Lang::Bel, "be"),
    (Lang::Mar, "mr"),
    (Lang::Kan, "kn"),
    (Lang::Ron, "ro"),
    (Lang::Slv, "sl"),
    (Lang::Hrv, "hr"),
    (Lang::Srp, "sr"),
    (Lang::Mkd, "mk"),
    (Lang::Lit, "lt"),
    (Lang::Lav, "lv"),
    (Lang::Est, "et"),
    (Lang::Tam, "ta"),
    (Lang::Vie, "vi"),
    (Lang::Urd, "ur"),
    (Lang::Tha, "th"),
    (Lang::Guj, "gu"),
    (Lang::Uzb, "uz"),
    (Lang::Pan, "pa"),
    (Lang::Aze, "az"),
    (Lang::Ind, "id"),
    (Lang::Tel, "te"),
    (Lang::Pes, "fa"),
    (Lang::Mal, "ml"),
    (Lang::Ori, "or"),
    (Lang::Mya, "my"),
    (Lang::Nep, "ne"),
    (Lang::Sin, "si"),
    (Lang::Khm, "km"),
    (Lang::Tuk, "tk"),
    (Lang::Aka, "ak"),
    (Lang::Zul, "zu"),
    (Lang::Sna, "sn"),
    (Lang::Afr, "af"),
    (Lang::Lat, "la"),
    (Lang::Slk, "sk"),
    (Lang::Cat, "ca"),
    (Lang::Tgl, "tl"),
    (Lang::Hye, "hy"),
    (Lang::Cym, "cy"),
];

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str =
        "The quick brown fox jumps over the lazy dog, and then it runs back to where it came from.";
    const GERMAN: &str = "Der schnelle braune Fuchs springt über den faulen Hund und läuft dann wieder dorthin zurück.";

    #[test]
    fn words_win_over_claims_if_there_are_enough() {
        let check = |text: &str, hint: Option<&str>, expected: Option<&str>| {
            assert_eq!(detect(text, hint).as_deref(), expected, "{text:?} {hint:?}");
        };
        check(ENGLISH, None, Some("en"));
        check(GERMAN, None, Some("de"));
        check(GERMAN, Some("en-US"), Some("de"));
        check(GERMAN, Some("de_AT"), Some("de"));
        check(
            "東京は日本の首都であり、世界最大の都市の一つです。",
            None,
            Some("ja"),
        );
        check(
            "Быстрая коричневая лиса прыгает через ленивую собаку и бежит дальше.",
            Some("x"),
            Some("ru"),
        );
        check("", None, None);
        check("", Some("fr-CA"), Some("fr"));
        check("OK", Some("DE"), Some("de"));
        check(ENGLISH, Some("is"), Some("is")); // Unknown to the detector: the claim stands.
        check("", Some("no"), Some("nb"));
        check("", Some("<script>"), None);
        check("", Some("english"), None);
    }

    #[test]
    fn every_language_of_the_detector_has_a_code() {
        for lang in Lang::all() {
            assert_eq!(code(*lang).len(), 2, "{lang:?}");
        }
    }

    #[test]
    fn a_sample_ends_on_a_character() {
        assert_eq!(
            detect(&"я".repeat(3_000), None).is_some(),
            detect(&"я".repeat(1_024), None).is_some()
        );
        let shifted = format!("a{}", "я".repeat(3_000));
        detect(&shifted, None);
    }
}
