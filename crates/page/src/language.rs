//! Detects the language of a text.
//!
//! **Invariant:** the result is a lower-case primary language subtag (`en`, `zh`, `ast`), and at
//! most [`SAMPLE`] bytes of text are examined.
//!
//! The page's own claim counts first, because menus and code mislead a detector. The claim is
//! accepted if the text has some of the most frequent words of that language, which is cheap to
//! check, or if the detector does not know the language. A text without a claim is accepted for a
//! language if many of its words are frequent words of that language and of no other. Only
//! otherwise is the detector run, and it overrules a claim only if its result is reliable.

use whatlang::Lang;

use crate::scan::char_floor;

/// Bytes of text examined. With 2,048 bytes the detector took 0.1 to 0.2 ms per page, as long as
/// parsing the page.
const SAMPLE: usize = 512;

/// One word in 20 of the sample must be a frequent word of the claimed language. In English
/// prose it is one in four; in lists and code far fewer.
const FREQUENT: usize = 20;

/// Without a claim, one word in 8 must be a frequent word of the language, at least this many
/// words in all, and no other language may have more than a third as many.
const EVIDENT: usize = 8;
const EVIDENT_WORDS: usize = 6;
const EVIDENT_LEAD: usize = 3;

/// Confidence, from 0 to 1, that the detector needs to name a language if the page claims none.
const SURE: f64 = 0.5;

/// Returns the language of a text whose page or headers claim `claim` (`en-GB`); `None` if
/// unknown.
pub fn detect(text: &str, claim: Option<&str>) -> Option<String> {
    let claimed = claim.and_then(primary);
    let sample = sample(text);
    match &claimed {
        Some(claimed) if is_plausible(sample, claimed) => return Some(claimed.clone()),
        Some(_) => {}
        None => {
            if let Some(evident) = WordCount::of(sample).evident() {
                return Some(evident.to_owned());
            }
        }
    }
    match whatlang::detect(sample) {
        Some(found) if found.is_reliable() => Some(code(found.lang()).to_owned()),
        Some(found) if claimed.is_none() && found.confidence() >= SURE => {
            Some(code(found.lang()).to_owned())
        }
        _ => claimed,
    }
}

/// Returns a sample from the middle of a text, because a page begins with its menu.
fn sample(text: &str) -> &str {
    let start = char_floor(text, text.len().saturating_sub(SAMPLE) / 2);
    let end = char_floor(text, text.len().min(start + SAMPLE));
    &text[start..end]
}

/// Returns whether a claim needs no detector: the detector does not know that language, or the
/// text has enough frequent words of it.
fn is_plausible(sample: &str, code: &str) -> bool {
    if !CODES.iter().any(|known| &known[4..] == code) {
        return true;
    }
    let language = FREQUENT_WORDS.iter().position(|words| words[0] == code);
    language.is_some_and(|language| {
        let count = WordCount::of(sample);
        let found = count.found[language];
        found * FREQUENT >= count.all && found > 0
    })
}

/// How many words a text has, and how many of them are frequent words of each language.
struct WordCount {
    all: usize,
    found: [usize; FREQUENT_WORDS.len()],
}

impl WordCount {
    fn of(text: &str) -> Self {
        let mut count = Self {
            all: 0,
            found: [0; FREQUENT_WORDS.len()],
        };
        for word in text.split(|c: char| !c.is_alphabetic()) {
            if word.is_empty() {
                continue;
            }
            count.all += 1;
            let Some(key) = word_key(word.as_bytes()) else {
                continue;
            };
            let Ok(place) = WORD_LANGUAGES.binary_search_by_key(&key, |(key, _)| *key) else {
                continue;
            };
            let mut languages = WORD_LANGUAGES[place].1;
            while languages != 0 {
                count.found[languages.trailing_zeros() as usize] += 1;
                languages &= languages - 1;
            }
        }
        count
    }

    /// Returns the language whose frequent words the text has, if it is evident.
    fn evident(&self) -> Option<&'static str> {
        let (place, &found) = (self.found.iter().enumerate()).max_by_key(|(_, found)| **found)?;
        let others = (self.found.iter().enumerate()).filter(|(other, _)| *other != place);
        let lead = others.map(|(_, other)| *other).max()? * EVIDENT_LEAD <= found;
        let enough = found >= EVIDENT_WORDS && found * EVIDENT >= self.all;
        (lead && enough).then(|| FREQUENT_WORDS[place][0])
    }
}

/// Returns the bytes of a word with its ASCII letters in lower case; `None` if it has more than
/// eight.
const fn word_key(word: &[u8]) -> Option<u64> {
    if word.len() > 8 {
        return None;
    }
    let (mut key, mut at) = (0, 0);
    while at < word.len() {
        key |= (word[at].to_ascii_lowercase() as u64) << (8 * at);
        at += 1;
    }
    Some(key)
}

/// Number of words in [`FREQUENT_WORDS`], a word of two languages counted twice.
const WORDS: usize = FREQUENT_WORDS.len() * (FREQUENT_WORDS[0].len() - 1);

/// The key of each frequent word, with one bit per language that has the word, sorted. A word of
/// two languages has all bits in each of its entries.
static WORD_LANGUAGES: [(u64, u8); WORDS] = {
    let mut table = [(0, 0); WORDS];
    let mut length = 0;
    let mut language = 0;
    while language < FREQUENT_WORDS.len() {
        let mut word = 1;
        while word < FREQUENT_WORDS[0].len() {
            let Some(key) = word_key(FREQUENT_WORDS[language][word].as_bytes()) else {
                panic!("a frequent word has at most eight bytes");
            };
            let mut bits = 1 << language;
            // Insertion sort. An equal word of another language shares its bits.
            let mut at = length;
            while at > 0 && table[at - 1].0 > key {
                table[at] = table[at - 1];
                at -= 1;
            }
            let mut same = at;
            while same > 0 && table[same - 1].0 == key {
                bits |= table[same - 1].1;
                same -= 1;
            }
            let end = at;
            while same < end {
                table[same].1 = bits;
                same += 1;
            }
            table[at] = (key, bits);
            length += 1;
            word += 1;
        }
        language += 1;
    }
    table
};

/// The code of a language, and words that are frequent in it. Related languages share a few.
const FREQUENT_WORDS: [[&str; 13]; 8] = [
    [
        "en", "the", "and", "of", "to", "is", "with", "for", "that", "this", "be", "are", "or",
    ],
    [
        "de", "der", "die", "und", "das", "den", "ist", "mit", "nicht", "ein", "eine", "von",
        "wird",
    ],
    [
        "fr", "le", "la", "les", "des", "et", "est", "une", "pour", "dans", "que", "sur", "pas",
    ],
    [
        "es", "el", "los", "las", "del", "y", "una", "para", "con", "por", "como", "es", "se",
    ],
    [
        "it", "il", "di", "che", "della", "per", "con", "sono", "una", "nel", "gli", "alla", "non",
    ],
    [
        "pt", "os", "uma", "para", "com", "do", "da", "não", "em", "que", "ou", "mais", "são",
    ],
    [
        "nl", "het", "een", "van", "en", "niet", "voor", "zijn", "met", "wordt", "dat", "deze",
        "op",
    ],
    [
        "ru", "и", "в", "не", "на", "что", "для", "это", "как", "с", "по", "или", "из",
    ],
];

/// Returns the first subtag of a language tag, if it can be a language code.
fn primary(tag: &str) -> Option<String> {
    let subtag = tag.split(['-', '_']).next().unwrap_or_default().trim();
    let is_code =
        (2..=3).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| match subtag.to_ascii_lowercase().as_str() {
        "no" | "nn" => "nb".to_owned(), // Of Norwegian, the detector knows only Bokmål.
        code => code.to_owned(),
    })
}

fn code(lang: Lang) -> &'static str {
    let known = CODES
        .iter()
        .find_map(|codes| codes.strip_prefix(lang.code()));
    known.map_or_else(|| lang.code(), str::trim_start)
}

/// The detector's languages: the ISO 639-3 code that it uses, and the ISO 639-1 code that pages
/// claim.
const CODES: [&str; 70] = [
    "epo eo", "eng en", "rus ru", "cmn zh", "spa es", "por pt", "ita it", "ben bn", "fra fr",
    "deu de", "ukr uk", "kat ka", "ara ar", "hin hi", "jpn ja", "heb he", "yid yi", "pol pl",
    "amh am", "jav jv", "kor ko", "nob nb", "dan da", "swe sv", "fin fi", "tur tr", "nld nl",
    "hun hu", "ces cs", "ell el", "bul bg", "bel be", "mar mr", "kan kn", "ron ro", "slv sl",
    "hrv hr", "srp sr", "mkd mk", "lit lt", "lav lv", "est et", "tam ta", "vie vi", "urd ur",
    "tha th", "guj gu", "uzb uz", "pan pa", "aze az", "ind id", "tel te", "pes fa", "mal ml",
    "ori or", "mya my", "nep ne", "sin si", "khm km", "tuk tk", "aka ak", "zul zu", "sna sn",
    "afr af", "lat la", "slk sk", "cat ca", "tgl tl", "hye hy", "cym cy",
];

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str =
        "The quick brown fox jumps over the lazy dog, and then it runs back to where it came from.";
    const GERMAN: &str = "Der schnelle braune Fuchs springt über den faulen Hund und läuft dann wieder dorthin zurück.";

    #[test]
    fn claims_count_unless_words_contradict() {
        let check = |text: &str, hint: Option<&str>, expected: Option<&str>| {
            assert_eq!(detect(text, hint).as_deref(), expected, "{text:?} {hint:?}");
        };
        check(ENGLISH, None, Some("en"));
        check(GERMAN, None, Some("de"));
        check(GERMAN, Some("en-US"), Some("de"));
        check(ENGLISH, Some("en"), Some("en"));
        // Code and names, where the detector's result is random.
        check(
            "vacuum analyze pg_stat_all_tables autovacuum_naptime",
            Some("en"),
            Some("en"),
        );
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
        check(ENGLISH, Some("is"), Some("is")); // The detector does not know Icelandic.
        check("", Some("no"), Some("nb"));
        check("", Some("<script>"), None);
        check("", Some("english"), None);
    }

    #[test]
    fn frequent_words_decide_without_a_claim() {
        let evident = |text: &str| WordCount::of(text).evident();
        let english = "The cat is on the mat, and this is for the dog that runs with the ball.";
        assert_eq!(evident(english), Some("en"));
        let german = "Das ist ein Satz, der nicht von den Katzen und der Maus handelt, mit Punkt.";
        assert_eq!(evident(german), Some("de"));
        let russian = "Это не то, что мы хотели, и как в прошлом году, для всех или из них.";
        assert_eq!(evident(russian), Some("ru"));
        // Italian and Spanish share words, so the detector decides.
        assert_eq!(evident("una con una con una con una con"), None);
        assert_eq!(
            evident("vacuum analyze pg_stat_all_tables autovacuum"),
            None
        );
        assert_eq!(evident(""), None);
        // The detector agrees.
        for (text, code) in [(english, "en"), (german, "de"), (russian, "ru")] {
            assert_eq!(
                whatlang::detect(text).map(|found| super::code(found.lang())),
                Some(code)
            );
        }
    }

    #[test]
    fn every_frequent_word_is_found_for_its_languages() {
        for (language, words) in FREQUENT_WORDS.iter().enumerate() {
            for word in &words[1..] {
                for text in [word.to_string(), word.to_ascii_uppercase()] {
                    assert_eq!(WordCount::of(&text).found[language], 1, "{text}");
                }
            }
        }
        let shared = WordCount::of("una").found;
        assert_eq!(shared.iter().sum::<usize>(), 2, "Spanish and Italian");
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
