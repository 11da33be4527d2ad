//! Tests of the index through its public interface: pages are found, any text is a valid query,
//! and damage is detected.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use page::{PageId, PageUrl};
use proptest::prelude::*;
use repository::index::{
    Document, Hits, Index, IndexError, PageIndexWriter, SearchQuery, committed,
};

/// The smallest heap that tantivy accepts, in bytes.
const HEAP: usize = 15_000_000;

fn put(
    writer: &mut PageIndexWriter,
    url: &str,
    title: &str,
    text: &str,
    language: Option<&str>,
) -> PageId {
    let page = PageUrl::parse(url).unwrap();
    let (id, host) = (page.id(), page.host_name());
    let url = page.as_str();
    writer
        .put(&Document {
            title,
            text,
            language,
            fetched_at: 7,
            ..Document::new(id, url, host)
        })
        .unwrap();
    id
}

fn search(index: &Index, text: &str) -> Hits {
    index
        .search(&SearchQuery {
            text,
            limit: 10,
            ..SearchQuery::default()
        })
        .unwrap()
}

fn urls(hits: &Hits) -> Vec<&str> {
    hits.hits.iter().map(|hit| hit.url.as_str()).collect()
}

/// Creates an index of a few pages about birds.
fn birds(dir: &Path) -> Index {
    let index = Index::open(dir).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    let pages = [
        (
            "http://birds.example/avocet",
            "The avocet",
            "A wader with a bill that curves upwards.",
            "en",
        ),
        (
            "http://birds.example/waders",
            "Waders",
            "Sandpipers, plovers and the pied avocet are waders.",
            "en",
        ),
        (
            "http://de.birds.example/s",
            "Säbelschnäbler",
            "Der Säbelschnäbler ist ein Vogel. Bill of fare.",
            "de",
        ),
        (
            "http://other.example/tokyo",
            "東京",
            "東京都は日本の首都です。",
            "ja",
        ),
        (
            "http://127.0.0.1:8080/x",
            "",
            "Nothing about the curves of roads.",
            "en",
        ),
    ];
    for (url, title, text, language) in pages {
        put(&mut writer, url, title, text, Some(language));
    }
    writer.commit(42).unwrap();
    index
}

#[test]
fn pages_are_replaced_removed_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    assert_eq!(index.sequence().unwrap(), None);
    assert_eq!(committed(dir.path()), None);
    let mut writer = index.writer(HEAP).unwrap();
    let a = put(&mut writer, "http://a.example/", "first", "one", None);
    let b = put(&mut writer, "http://b.example/", "second", "two", None);
    assert_eq!(index.count(), 0, "nothing shows before a commit");
    writer.commit(1).unwrap();
    assert_eq!((index.count(), index.sequence().unwrap()), (2, Some(1)));
    assert_eq!(committed(dir.path()), Some(1));
    // Pages are replaced twice within one commit, or removed and put again. Each is there once
    // in the end.
    put(&mut writer, "http://a.example/", "third", "three", None);
    put(&mut writer, "http://a.example/", "fourth", "four", None);
    writer.remove(b).unwrap();
    put(&mut writer, "http://b.example/", "fifth", "five", None);
    writer.commit(u64::MAX).unwrap();
    for (gone, here) in [("one", "four"), ("two", "five"), ("three", "five")] {
        assert_eq!(search(&index, gone).total, 0, "{gone}");
        assert_eq!(search(&index, here).total, 1, "{here}");
    }
    writer.remove(b).unwrap();
    writer.commit(3).unwrap();
    // After a restart, committed pages are there and uncommitted ones are not.
    put(&mut writer, "http://c.example/", "lost", "lost", None);
    drop(writer);
    drop(index);
    let index = Index::open(dir.path()).unwrap();
    assert_eq!((index.count(), index.sequence().unwrap()), (1, Some(3)));
    let mut ids = Vec::new();
    index.ids(|id| ids.push(id)).unwrap();
    assert_eq!(ids, [a]);
    let hit = &search(&index, "fourth").hits[0];
    assert_eq!(
        (hit.id, hit.fetched_at, hit.language.as_deref()),
        (a, 7, None)
    );
    assert_eq!(
        (hit.host.as_str(), hit.title.as_str()),
        ("a.example", "fourth")
    );
}

#[test]
fn another_index_of_the_directory_sees_commits_after_a_refresh() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    let other = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    assert!(matches!(other.writer(HEAP), Err(IndexError::Busy { .. })));
    put(&mut writer, "http://a.example/", "x", "x", None);
    writer.commit(1).unwrap();
    assert_eq!(other.count(), 0);
    other.refresh().unwrap();
    assert_eq!(other.count(), 1);
}

#[test]
fn queries_find_the_expected_pages_best_first() {
    let dir = tempfile::tempdir().unwrap();
    let index = birds(dir.path());
    let check = |text: &str, relaxed: bool, expected: &[&str]| {
        let hits = search(&index, text);
        let complete = |hits: &Hits| {
            hits.hits
                .iter()
                .filter(|hit| relaxed || hit.missing.is_empty())
                .count()
        };
        assert_eq!(urls(&hits)[..complete(&hits)], *expected, "{text}");
        assert_eq!(
            (hits.relaxed, hits.total),
            (relaxed, expected.len()),
            "{text}"
        );
    };
    let (avocet, waders) = ("http://birds.example/avocet", "http://birds.example/waders");
    let (german, tokyo) = ("http://de.birds.example/s", "http://other.example/tokyo");
    let address = "http://127.0.0.1:8080/x";
    check("avocet", false, &[avocet, waders]);
    check("pied avocet", false, &[waders]);
    check("\"avocet pied\"", false, &[]);
    check("avocet -\"pied avocet\"", false, &[avocet]);
    check("avocet -\"avocet pied\"", false, &[avocet, waders]);
    check("bill -bill-that", false, &[german]);
    check("\"pied avocet\"", false, &[waders]);
    check("avocet -pied", false, &[avocet]);
    check("bill curves", false, &[avocet]);
    check("SABELSCHNABLER", false, &[german]);
    check("plovers roads", true, &[address, waders]);
    check("東京", false, &[tokyo]);
    check("京都は", false, &[tokyo]);
    check("大阪", false, &[]);
    check("bill site:birds.example", false, &[avocet, german]);
    check("bill site:de.birds.example", false, &[german]);
    check("site:127.0.0.1", false, &[address]);
    check("site:0.1", false, &[]);
    check("site:rds.example bill", false, &[]);
    check("-avocet", false, &[]);
    check("site:birds.example -avocet", false, &[german]);
    check("", false, &[]);
}

#[test]
fn filters_and_paging_limit_the_results() {
    let dir = tempfile::tempdir().unwrap();
    let index = birds(dir.path());
    let bill = |change: fn(&mut SearchQuery<'_>)| {
        let mut query = SearchQuery {
            text: "bill",
            limit: 10,
            ..SearchQuery::default()
        };
        change(&mut query);
        index.search(&query).unwrap()
    };
    assert_eq!(bill(|_| ()).total, 2);
    let german = bill(|query| query.language = Some("de"));
    assert_eq!(urls(&german), ["http://de.birds.example/s"]);
    assert_eq!(bill(|query| query.language = Some("xx")).total, 0);
    let site = bill(|query| query.site = Some("https://DE.birds.example/"));
    assert_eq!(site.total, 1);
    assert_eq!(bill(|query| query.site = Some("no site")).total, 0);
    let first = bill(|query| query.limit = 1);
    let second = bill(|query| (query.limit, query.offset) = (1, 1));
    assert_eq!(
        (first.total, first.hits.len(), second.hits.len()),
        (2, 1, 1)
    );
    assert_ne!(first.hits[0].id, second.hits[0].id);
    assert_eq!(bill(|query| query.limit = 0).hits.len(), 0);
    let deep = bill(|query| (query.limit, query.offset) = (usize::MAX, usize::MAX));
    assert_eq!((deep.total, deep.hits.len()), (2, 0));
}

#[test]
fn snippets_contain_the_words_of_the_query() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    let text = format!(
        "{} The p\u{202e}ied ÁVOCET, <b>again</b> {}",
        "start ".repeat(200),
        "end ".repeat(200)
    );
    put(
        &mut writer,
        "http://a.example/",
        "A <script> title\u{202e}",
        &text,
        None,
    );
    put(
        &mut writer,
        "http://late.example/",
        "late",
        &format!("{} needle", "hay ".repeat(60_000)),
        None,
    );
    put(
        &mut writer,
        "http://long.example/",
        &"t".repeat(5000),
        &"x".repeat(300),
        None,
    );
    writer.commit(1).unwrap();
    let hit = &search(&index, "\"pied avocet\"").hits[0];
    let marked: Vec<&str> = hit
        .snippet
        .highlights
        .iter()
        .map(|range| &hit.snippet.text[range.clone()])
        .collect();
    assert_eq!(marked, ["pied", "ÁVOCET"]);
    assert!(
        hit.snippet.text.contains("<b>again"),
        "text, not markup: {}",
        hit.snippet.text
    );
    assert!(hit.snippet.text.len() <= 250);
    assert_eq!(hit.title, "A <script> title");
    // The word is far from the start, or only in the title.
    let hit = &search(&index, "needle").hits[0];
    assert!(hit.snippet.text.ends_with("needle") && hit.snippet.highlights.len() == 1);
    let hit = &search(&index, "late").hits[0];
    assert!(hit.snippet.text.starts_with("hay hay") && hit.snippet.highlights.is_empty());
    assert!(hit.snippet.text.len() <= 250);
    let long = &search(&index, "site:long.example").hits[0];
    assert_eq!((long.title.len(), long.snippet.text.len()), (1024, 220));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_text_is_a_valid_query(text in "(\\PC|avocet|pied|curves|bill|of|example|site:|-|\"|\\s){0,40}") {
        thread_local! {
            static INDEX: (tempfile::TempDir, Index) = {
                let dir = tempfile::tempdir().unwrap();
                let index = birds(dir.path());
                (dir, index)
            };
        }
        let hits = INDEX.with(|(_, index)| search(index, &text));
        for hit in hits.hits {
            for range in hit.snippet.highlights {
                prop_assert!(hit.snippet.text.get(range).is_some());
            }
        }
    }
}

/// Damages every file of the index: one bit flipped, the second half zeroed or cut off, or
/// emptied. Then the index does not open, or `verify` reports the damage, except in tantivy's
/// list of managed files, where it does no harm. Lock files are skipped, because they are empty.
#[test]
fn damage_to_any_file_is_found() {
    let dir = tempfile::tempdir().unwrap();
    drop(birds(dir.path()));
    let mut files: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut tried = 0;
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let whole = fs::read(&path).unwrap();
        if name.ends_with(".lock") || whole.is_empty() {
            continue;
        }
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 0x10;
        let mut zeroed = whole.clone();
        zeroed[whole.len() / 2..].fill(0);
        for bytes in [&flipped[..], &zeroed, &whole[..whole.len() / 2], &[]] {
            fs::write(&path, bytes).unwrap();
            let found = match Index::open(dir.path()) {
                Err(IndexError::Damaged { .. }) => true,
                Err(other) => panic!("{name}: {other:?}"),
                // The list of files to delete later has no checksum. A wrong name in it does no
                // harm.
                Ok(index) if name == ".managed.json" => index.sequence().unwrap() == Some(42),
                Ok(index) => {
                    let checked = matches!(index.check(), Err(IndexError::Damaged { .. }));
                    assert!(checked || name == "meta.json", "{name} passes the check");
                    match index.verify() {
                        Ok(files) => !files.is_empty(),
                        Err(_) => true,
                    }
                }
            };
            assert!(
                found,
                "{name} with {} of {} bytes",
                bytes.len(),
                whole.len()
            );
            tried += 1;
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(tried > 20);
    let index = Index::open(dir.path()).unwrap();
    index.check().unwrap();
    assert!(index.verify().unwrap().is_empty());
    assert_eq!(index.sequence().unwrap(), Some(42));
}

/// Simulates a kill after tantivy wrote a segment's deletions and before the commit that names
/// them. The next writer repeats the operations, reaches the same opstamp and creates the same
/// file.
#[test]
fn orphans_of_a_killed_commit_do_not_block_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let replace = |index: &Index, text: &str| {
        let mut writer = index.writer(HEAP).unwrap();
        put(&mut writer, "http://a.example/", "title", text, None);
        writer.commit(2).map(drop)
    };
    let index = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    put(&mut writer, "http://a.example/", "title", "one", None);
    put(&mut writer, "http://b.example/", "title", "rest", None);
    writer.commit(1).unwrap();
    drop((writer, index));
    let committed = fs::read(dir.path().join("meta.json")).unwrap();
    let deletions = || {
        let names = fs::read_dir(dir.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".del")).count()
    };

    replace(&Index::open(dir.path()).unwrap(), "two").unwrap();
    assert_eq!(deletions(), 1);
    fs::write(dir.path().join("meta.json"), &committed).unwrap();
    fs::write(dir.path().join(".tmpKilled"), "unfinished").unwrap();

    let index = Index::open(dir.path()).unwrap();
    replace(&index, "two").unwrap();
    assert_eq!((index.count(), index.sequence().unwrap()), (2, Some(2)));
    assert_eq!(search(&index, "two").total, 1);
    assert_eq!(deletions(), 1);
    assert!(!dir.path().join(".tmpKilled").exists());
    assert!(index.verify().unwrap().is_empty());
}

#[test]
fn an_index_with_another_schema_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let mut schema = tantivy::schema::Schema::builder();
    schema.add_text_field("body", tantivy::schema::TEXT);
    tantivy::Index::create_in_dir(dir.path(), schema.build()).unwrap();
    assert!(matches!(
        Index::open(dir.path()),
        Err(IndexError::Damaged { .. })
    ));
}

/// The list of segments has no checksum. Whichever byte is changed, the index does not open, or
/// `verify` reports it, or the answers are unchanged.
#[test]
fn a_changed_byte_of_the_list_of_segments_is_found_or_changes_no_answer() {
    let dir = tempfile::tempdir().unwrap();
    drop(birds(dir.path()));
    let path = dir.path().join("meta.json");
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 7);
        fs::write(&path, &bytes).unwrap();
        let Ok(index) = Index::open(dir.path()) else {
            continue;
        };
        if !index.verify().is_ok_and(|damaged| damaged.is_empty()) {
            continue;
        }
        let place = String::from_utf8_lossy(&whole[at.saturating_sub(30)..=at]).into_owned();
        assert_eq!(index.sequence().unwrap(), Some(42), "after {place}");
        assert_eq!(index.count(), 5, "after {place}");
        assert_eq!(search(&index, "avocet").total, 2, "after {place}");
    }
}

#[test]
fn results_are_limited_by_time_of_fetch() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    for day in 0..5 {
        let url = format!("http://news.example/{day}");
        let page = PageUrl::parse(&url).unwrap();
        writer
            .put(&Document {
                title: "Flood",
                text: "The flood.",
                fetched_at: day * 86_400,
                ..Document::new(page.id(), &url, page.host_name())
            })
            .unwrap();
    }
    writer.commit(1).unwrap();
    let found = |since, until| {
        let query = SearchQuery {
            text: "flood",
            limit: 10,
            since,
            until,
            ..SearchQuery::default()
        };
        index.search(&query).unwrap().total
    };
    assert_eq!(found(None, None), 5);
    assert_eq!(found(Some(3 * 86_400), None), 2);
    assert_eq!(found(None, Some(3 * 86_400)), 3);
    assert_eq!(found(Some(86_400), Some(2 * 86_400)), 1);
    assert_eq!(found(Some(9 * 86_400), None), 0);
    assert_eq!(found(Some(i64::MIN), Some(i64::MAX)), 5);
}

#[test]
fn pages_are_found_by_the_author_and_date_that_they_state() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path()).unwrap();
    let mut writer = index.writer(HEAP).unwrap();
    let stated = |author: &str, published| page::Fields {
        authors: vec![author.to_owned()],
        published,
        ..page::Fields::default()
    };
    // 1 May 2024, and a day in 2019.
    let pages = [
        stated("Ada Lovelace", Some(1_714_521_600)),
        stated("Ada Byron", Some(1_560_000_000)),
        page::Fields::default(),
    ];
    for (number, stated) in pages.iter().enumerate() {
        let url = format!("http://notes.example/{number}");
        let page = PageUrl::parse(&url).unwrap();
        writer
            .put(&Document {
                title: "Notes",
                text: "On the engine of Lovelace.",
                stated: Some(stated),
                ..Document::new(page.id(), &url, page.host_name())
            })
            .unwrap();
    }
    writer.commit(1).unwrap();
    let found = |text: &str| -> Vec<String> {
        let hits = search(&index, text).hits;
        let mut urls: Vec<String> = hits.into_iter().map(|hit| hit.url).collect();
        urls.sort();
        urls
    };
    let all = |numbers: &[u8]| -> Vec<String> {
        let urls = numbers.iter();
        urls.map(|number| format!("http://notes.example/{number}"))
            .collect()
    };
    for (text, numbers) in [
        ("engine", &[0, 1, 2][..]),
        ("engine author:lovelace", &[0]),
        ("author:ada", &[0, 1]),
        ("author:\"ada byron\" engine", &[1]),
        ("author:\"byron ada\"", &[]),
        ("engine date:2024-05", &[0]),
        ("date:..2020", &[1]),
        ("date:2018.. author:ada", &[0, 1]),
        ("date:2021", &[]),
    ] {
        assert_eq!(found(text), all(numbers), "{text}");
    }
    let hit = &search(&index, "author:lovelace").hits[0];
    assert_eq!(hit.stated, pages[0]);
}

#[test]
fn a_page_is_looked_up_and_languages_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let index = birds(dir.path());
    let id = PageUrl::parse("http://de.birds.example/s").unwrap().id();
    let kept = index.kept(id).unwrap().unwrap();
    assert_eq!(kept.title, "Säbelschnäbler");
    assert!(kept.text.starts_with("Der Säbelschnäbler"));
    assert_eq!((kept.language.as_deref(), kept.fetched_at), (Some("de"), 7));
    assert_eq!(index.kept(PageId(7)).unwrap(), None);
    let languages = index.languages().unwrap();
    assert_eq!(languages.get("de"), Some(&1));
    assert_eq!(languages.get("ja"), Some(&1));
}

#[test]
fn meant_corrects_words_that_no_page_has() {
    let dir = tempfile::tempdir().unwrap();
    let index = birds(dir.path());
    let meant = |text: &str| index.meant(text).unwrap();
    assert_eq!(meant("avocte"), Some("avocet".into()));
    assert_eq!(
        meant("\"Pied Avoect\" -wadr site:birds.exmple"),
        Some("\"Pied avocet\" -wadr site:birds.exmple".into())
    );
    assert_eq!(meant("sandpippers curvs"), Some("sandpiper curve".into()));
    assert_eq!(meant("avocet waders"), None);
    assert_eq!(meant("zzzzzz"), None);
    assert_eq!(meant(""), None);
    assert_eq!(meant("- \" site:"), None);
}
