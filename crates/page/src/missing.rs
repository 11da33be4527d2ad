//! Detects soft 404 pages: error pages that a server sends with status 200.
//!
//! Certain phrases reveal them, but pages about errors contain the same phrases. A phrase alone
//! is therefore only a suspicion ([`looks_missing`]). The proof is a comparison with what the
//! host answers to a URL that cannot exist ([`is_missing`]).
//!
//! **Invariant:** both tests use only the title and the visible text. In doubt they say no,
//! because a page that counts as missing leaves the index.

use crate::fingerprint::TextDigest;

/// Maximum number of words of an error page. A text with more words, or with more than 12 × 150
/// bytes, is an article.
const SHORT: usize = 150;
/// Words at the beginning of the text in which the phrase must occur, unless the title has it.
const FIRST: usize = 25;
/// Minimum share of common shingles at which two short texts count as the same. Many error pages
/// repeat the requested URL. In a text of twenty words, another URL replaces four of 17 shingles.
const ALIKE: f64 = 0.5;

/// Phrases which say that a page is missing, in lower case, by language. Each is a complete
/// statement: "not found" qualifies, "found" does not.
const PHRASES: [&str; 14] = [
    // English
    "page not found|404 not found|not found|page cannot be found|page can't be found|\
        page could not be found|page couldn't be found|page does not exist|page doesn't exist|\
        page no longer exists|error 404|404 error",
    // German
    "seite nicht gefunden|seite wurde nicht gefunden|seite konnte nicht gefunden werden|\
        seite existiert nicht|nicht gefunden",
    // French
    "page non trouvée|page introuvable|page n'existe pas|page n’existe pas|\
        page demandée est introuvable",
    // Spanish
    "página no encontrada|página no existe|no se encontró la página|\
        no se ha encontrado la página",
    // Portuguese
    "página não encontrada|página não existe|página não foi encontrada",
    // Italian
    "pagina non trovata|pagina non esiste",
    // Dutch
    "pagina niet gevonden|pagina bestaat niet",
    // Polish
    "nie znaleziono strony|strona nie istnieje|strona nie została znaleziona",
    // Swedish
    "sidan hittades inte|sidan kunde inte hittas",
    // Russian
    "страница не найдена|страница не существует",
    // Turkish
    "sayfa bulunamadı",
    // Japanese
    "ページが見つかりません|ページは見つかりませんでした",
    // Chinese
    "页面不存在|找不到页面|頁面不存在",
    // Korean
    "페이지를 찾을 수 없습니다",
];

/// Returns whether the title or the first words of a short text say that the page is missing.
/// This is a suspicion, not a proof.
pub fn looks_missing(title: &str, text: &str) -> bool {
    if text.len() > SHORT * 12 {
        return false;
    }
    let mut words = text.split_whitespace();
    let start: Vec<&str> = words.by_ref().take(FIRST).collect();
    if words.nth(SHORT - FIRST).is_some() {
        return false;
    }
    says_so(title) || says_so(&start.join(" "))
}

/// Returns whether a page is a soft 404. `missing` is what its host answers to a URL that cannot
/// exist.
///
/// A page is a soft 404 if it has the same words as that answer, or if it [`looks_missing`] and
/// resembles that answer. An empty text proves nothing.
///
/// Resemblance alone is no proof: two different pages, each with 40 words of its own under a common
/// menu of 300 words, have a resemblance of 0.8.
pub fn is_missing(text: &TextDigest, missing: &TextDigest, looks_missing: bool) -> bool {
    text.words > 0
        && (text.fingerprint == missing.fingerprint || looks_missing && resembles(text, missing))
}

/// Returns whether two short texts resemble each other.
///
/// Compares shingles, because simhashes are too coarse: one other word in a text of twenty flips
/// up to a dozen of their 64 bits.
pub fn resembles(a: &TextDigest, b: &TextDigest) -> bool {
    a.shingles.resemblance(&b.shingles) >= ALIKE
}

fn says_so(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    // A title or a text may be the bare number. Within a longer text, 404 may mean anything.
    let mut phrases = PHRASES.iter().flat_map(|language| language.split('|'));
    text == "404" || phrases.any(|phrase| has_phrase(&text, phrase))
}

/// Returns whether a text contains the phrase as whole words. Phrases without spaces (Japanese,
/// Chinese) may occur anywhere.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let spaced = phrase.contains(' ');
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let ends = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
        !spaced || ends(before) && ends(after)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn error_pages_of_real_servers_look_missing() {
        for (title, text) in [
            (
                "404 Not Found",
                "Not Found The requested URL was not found on this server. Apache/2.4.57 (Debian) Server at example.org Port 80",
            ),
            ("404", ""),
            (
                "Page not found · GitHub Pages",
                "404 File not found The site configured at this address does not contain the requested file.",
            ),
            (
                "Page Not Found | Example",
                "Home About Contact Sorry, the page you are looking for could not be found.",
            ),
            (
                "Example",
                "Oops! That page can’t be found. Error 404 It looks like nothing was found at this location. Maybe try a search?",
            ),
            (
                "Seite nicht gefunden – Beispiel",
                "Die angeforderte Seite gibt es nicht.",
            ),
            ("Erreur", "Cette page n’existe pas ou plus."),
            ("Página no encontrada", "Lo sentimos."),
            ("Página não encontrada - Exemplo", ""),
            (
                "Pagina non trovata",
                "La pagina richiesta non è disponibile.",
            ),
            ("Pagina niet gevonden", ""),
            ("Błąd", "Nie znaleziono strony. Wróć na stronę główną."),
            ("Sidan hittades inte", ""),
            ("Страница не найдена", "Вернуться на главную"),
            ("Sayfa Bulunamadı", ""),
            (
                "エラー",
                "お探しのページが見つかりませんでした。ページが見つかりません",
            ),
            ("提示", "抱歉，您访问的页面不存在"),
            ("오류", "요청하신 페이지를 찾을 수 없습니다."),
        ] {
            assert!(looks_missing(title, text), "{title:?} {text:?}");
        }
    }

    #[test]
    fn pages_that_exist_do_not_look_missing() {
        let article = "HTTP 404 Not Found is a status code. ".repeat(40);
        for (title, text) in [
            ("HTTP 404 - Wikipedia", article.as_str()),
            (
                "Lost and found",
                "Things that were found in the hall this week.",
            ),
            ("Room 404", "Office hours in room 404 are on Monday."),
            (
                "Highway 404",
                "Ontario's Highway 404 runs north from Toronto.",
            ),
            ("Fresh fish, not foundry coal", "Opening hours"),
            ("About us", "Our shop was founded in 1904."),
            ("", ""),
            ("Search", "Results 1 to 10 of 404"),
            ("Seite 4", "Die Seite wurde zuletzt am 4. Mai geändert."),
            ("Contact", "Can't find what you look for? Write to us."),
        ] {
            assert!(!looks_missing(title, text), "{title:?} {text:?}");
        }
    }

    fn menu(words: usize) -> String {
        (0..words).map(|word| format!("menu{word} ")).collect()
    }

    #[test]
    fn only_a_page_like_the_probe_is_missing() {
        let digest = |text: &str| TextDigest::of(text);
        let note = |path: &str| {
            format!(
                "{}Sorry, we could not find {path} on this server. Error 404",
                menu(20)
            )
        };
        let probe = digest(&note("/avocet-7f3a"));
        // The same message with another URL: the texts resemble each other, and the phrase says
        // that the page is missing.
        let page = digest(&note("/old/story"));
        assert!(is_missing(&page, &probe, true));
        assert!(!is_missing(&page, &probe, false));
        // An identical note needs no known phrase.
        assert!(is_missing(&probe, &probe, false));
        // Under a long menu all pages resemble each other. They are different pages nevertheless,
        // because each has a few words of its own.
        let long = |rest: &str| digest(&format!("{}{rest}", menu(300)));
        let paragraph: String = (0..40).map(|word| format!("text{word} ")).collect();
        assert!(resembles(&long(&paragraph), &long("gone: /b")));
        assert!(!is_missing(&long(&paragraph), &long("gone: /b"), false));
        assert!(!is_missing(
            &digest("Not found: 404"),
            &long("gone: /b"),
            true
        ));
        assert!(!is_missing(&digest(""), &digest(""), true));
    }

    proptest! {
        #[test]
        fn any_text_is_judged(title in "\\PC{0,30}", text in "\\PC{0,200}") {
            looks_missing(&title, &text);
        }

        #[test]
        fn resemblance_is_mutual(a in prop::collection::vec("[a-c]{1,2}", 0..60), b in prop::collection::vec("[a-c]{1,2}", 0..60)) {
            let (a, b) = (TextDigest::of(&a.join(" ")), TextDigest::of(&b.join(" ")));
            prop_assert_eq!(resembles(&a, &b), resembles(&b, &a));
            prop_assert!(resembles(&a, &a));
        }
    }
}
