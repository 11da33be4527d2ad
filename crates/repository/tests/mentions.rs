//! Tests of word counts: the counts from the posting lists equal those of the texts.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use page::{PageId, PageUrl};
use proptest::prelude::*;
use repository::index::{Document, Index, Mentions, PageIndexWriter};

/// The smallest heap that tantivy accepts, in bytes.
const HEAP: usize = 15_000_000;

fn put(writer: &mut PageIndexWriter, name: &str, title: &str, text: &str) -> PageId {
    let page = PageUrl::parse(&format!("http://a.example/{name}")).unwrap();
    writer
        .put(&Document {
            title,
            text,
            fetched_at: 7,
            ..Document::new(page.id(), page.as_str(), page.host_name())
        })
        .unwrap();
    page.id()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[test]
fn words_are_counted_as_pages_are_split() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    assert!(index.mentions(&words(&["rust"])).unwrap().is_empty());
    let mut writer = index.writer(HEAP).unwrap();
    put(
        &mut writer,
        "1",
        "Rust, the RUST book",
        "rust rusty Rust-lang; state of the art",
    );
    put(
        &mut writer,
        "2",
        "Café",
        "cafe\u{301} CAFE kaffee. State-of-the-art, art of the state",
    );
    put(
        &mut writer,
        "3",
        "東京",
        "東京都は日本の首都です。東京都、東京",
    );
    put(
        &mut writer,
        "4",
        "",
        "computer/computers (computer) no-rust",
    );
    writer.commit(1).unwrap();
    let check = |asked: &[&str], expected: &[(u32, u32)]| {
        let found = index.mentions(&words(asked)).unwrap();
        let mut found: Vec<(u32, u32)> = found
            .iter()
            .map(|(_, mentions)| (mentions.in_title, mentions.in_body))
            .collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(found, expected, "{asked:?}");
    };
    check(&["rust"], &[(2, 2), (0, 1)]);
    check(&["computer"], &[(0, 3)]);
    // Counts are summed over the words; a word that is given twice counts once.
    check(&["rust", "computer"], &[(2, 2), (0, 4)]);
    check(&["rust", "rust"], &[(2, 2), (0, 1)]);
    check(&["café"], &[(1, 2)]);
    check(&["café", "cafe"], &[(1, 2)]);
    check(&["state-of-the-art"], &[(0, 1), (0, 1)]);
    check(&["東京"], &[(1, 3)]);
    check(&["東京都"], &[(0, 2)]);
    check(&["首都東京"], &[]);
    check(&["unheard"], &[]);
    check(&["rust-unheard"], &[]);
    check(&["", "!", "--"], &[]);
    check(&[], &[]);
    // The host and the path of a URL do not count as mentions.
    check(&["example"], &[]);
}

#[test]
fn mentions_give_the_length_of_the_text() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    for length in [1, 7, 40, 100, 1_000, 30_000] {
        let text = format!("needle {}", "hay ".repeat(length - 1));
        put(&mut writer, &length.to_string(), "", &text);
    }
    writer.commit(1).unwrap();
    let found = index.mentions(&words(&["needle"])).unwrap();
    let mut lengths: Vec<u32> = found.iter().map(|(_, mentions)| mentions.words).collect();
    lengths.sort_unstable();
    assert_eq!(lengths[..3], [1, 7, 40]);
    for (found, exact) in lengths[3..].iter().zip([100, 1_000, 30_000]) {
        assert!(
            *found <= exact && *found >= exact - exact / 8,
            "{found} of {exact}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Compares with texts that are split at spaces, over several segments and with pages
    /// replaced and removed.
    #[test]
    fn counts_are_those_of_the_texts(
        commits in prop::collection::vec(
            prop::collection::vec(
                (0..12_u32, prop::option::of(("( ?[abc]){0,6}", "( ?[abcd]){0,40}"))),
                1..8,
            ),
            1..4,
        ),
        asked in prop::collection::btree_set("[a-e]|a-b|b-c-a", 0..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path()).unwrap();
        let mut writer = index.writer(HEAP).unwrap();
        let mut pages: BTreeMap<PageId, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for (sequence, changes) in commits.iter().enumerate() {
            for (page, change) in changes {
                let (title, text) = change.clone().unwrap_or_default();
                // Letters without spaces between them would be one word.
                let spaced = |text: &str| {
                    let letters: Vec<String> =
                        text.chars().filter(|c| *c != ' ').map(String::from).collect();
                    (letters.join(" "), letters)
                };
                let ((title, title_words), (text, text_words)) = (spaced(&title), spaced(&text));
                let id = put(&mut writer, &page.to_string(), &title, &text);
                pages.insert(id, (title_words, text_words));
                if change.is_none() {
                    writer.remove(id).unwrap();
                    pages.remove(&id);
                }
            }
            writer.commit(sequence as u64).unwrap();
        }
        let count = |text: &[String]| -> u32 {
            let times = asked.iter().map(|word| {
                let parts: Vec<&str> = word.split('-').collect();
                text.windows(parts.len()).filter(|window| *window == parts).count() as u32
            });
            times.sum()
        };
        let expected: Vec<(PageId, Mentions)> = pages
            .iter()
            .map(|(&id, (title, text))| {
                let words = text.len() as u32;
                (id, Mentions { in_title: count(title), in_body: count(text), words })
            })
            .filter(|(_, mentions)| mentions.in_title + mentions.in_body > 0)
            .collect();
        let asked: Vec<String> = asked.iter().cloned().collect();
        prop_assert_eq!(index.mentions(&asked).unwrap(), expected);
    }
}
