//! Tests of a search over several indexes: its result does not depend on how the pages are divided.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use page::{Fields, PageId};
use proptest::prelude::*;
use repository::index::{
    Document, Hits, Index, OwnedQuery, QueryStatistics, SearchQuery, Sort, merge,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// The smallest heap that tantivy accepts, in bytes.
const HEAP: usize = 15_000_000;

/// A page to index.
#[derive(Debug, Clone, Default)]
struct TestPage {
    id: u128,
    host: &'static str,
    title: String,
    text: String,
    anchors: Vec<&'static str>,
    in_links: u32,
    language: Option<&'static str>,
    kind: &'static str,
    fetched_at: i64,
    published: Option<i64>,
    author: Option<&'static str>,
}

impl TestPage {
    fn new(id: u128, text: &str) -> Self {
        Self {
            id,
            host: "docs.example",
            text: text.into(),
            kind: "html",
            ..Self::default()
        }
    }
}

/// Indexes that are searched together.
struct Indexes {
    _dirs: Vec<TempDir>,
    indexes: Vec<Index>,
}

impl Indexes {
    /// Puts each page into the index whose number `place` returns. The pages of an index have the
    /// order of their ids.
    fn new(count: usize, pages: &[TestPage], place: impl Fn(&TestPage) -> usize) -> Self {
        let (mut dirs, mut indexes) = (Vec::new(), Vec::new());
        for number in 0..count {
            let dir = tempfile::tempdir().unwrap();
            let index = Index::open(dir.path()).unwrap();
            let mut writer = index.writer(HEAP).unwrap();
            for page in pages.iter().filter(|page| place(page) == number) {
                let url = format!("http://{}/{}", page.host, page.id);
                let stated = Fields {
                    authors: page.author.into_iter().map(str::to_owned).collect(),
                    published: page.published,
                    ..Fields::default()
                };
                let document = Document {
                    title: &page.title,
                    text: &page.text,
                    anchors: &page.anchors,
                    in_links: page.in_links,
                    language: page.language,
                    kind: page.kind,
                    fetched_at: page.fetched_at,
                    stated: Some(&stated),
                    ..Document::new(PageId(page.id), &url, page.host)
                };
                writer.put(&document).unwrap();
            }
            writer.commit(1).unwrap();
            drop(writer);
            dirs.push(dir);
            indexes.push(index);
        }
        Self {
            _dirs: dirs,
            indexes,
        }
    }

    /// Searches all indexes. Everything that a cluster sends is sent as bytes.
    fn search(&self, query: &SearchQuery<'_>) -> Hits {
        sent(&OwnedQuery::from(query)).with(|query| self.search_sent(query))
    }

    fn search_sent(&self, query: &SearchQuery<'_>) -> Hits {
        let mut statistics = self.sum(|index| index.statistics(query).unwrap());
        let words = statistics.missing_words(query);
        if !words.is_empty() {
            statistics.add(self.sum(|index| index.frequencies(&words).unwrap()));
        }
        assert!(statistics.missing_words(query).is_empty());
        let parts = self.indexes.iter();
        let parts = parts.map(|index| sent(&index.search_part(query, &statistics).unwrap()));
        merge(parts.collect(), query.limit, query.offset)
    }

    fn meant(&self, text: &str) -> Option<String> {
        self.sum(|index| index.spelling_statistics(text).unwrap())
            .meant(text)
    }

    fn sum(&self, statistics: impl Fn(&Index) -> QueryStatistics) -> QueryStatistics {
        let mut sum = QueryStatistics::default();
        for index in &self.indexes {
            sum.add(sent(&statistics(index)));
        }
        sum
    }
}

/// Encodes a value and decodes it.
fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
    postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap()
}

fn query(text: &str) -> SearchQuery<'_> {
    SearchQuery {
        text,
        limit: 10,
        facets: true,
        ..SearchQuery::default()
    }
}

fn ids(hits: &Hits) -> Vec<u128> {
    hits.hits.iter().map(|hit| hit.id.0).collect()
}

/// A text that is long enough to be a near-duplicate: 120 different words after the first ones.
fn long(first: &str, seed: usize) -> String {
    let words = (0..120).map(|number| format!(" filler{}", (number * 7 + seed * 1000)));
    first.to_owned() + &words.collect::<String>()
}

#[test]
fn a_word_weighs_as_in_all_indexes_together() {
    // By the first index alone, `common` would be rarer than `rare` and page 2 would be first.
    let mut pages = vec![
        TestPage::new(1, "rare first"),
        TestPage::new(2, "common first"),
        TestPage::new(3, "rare second"),
    ];
    pages.extend((10..20).map(|id| TestPage::new(id, "common other")));
    let parts = Indexes::new(2, &pages, |page| usize::from(page.id >= 10));
    let found = parts.search(&query("rare common"));
    assert_eq!(ids(&found)[..2], [1, 3]);
    assert_eq!((found.total, found.relaxed), (13, true));
    let one = Indexes::new(1, &pages, |_| 0);
    assert_eq!(found, one.indexes[0].search(&query("rare common")).unwrap());
}

#[test]
fn only_a_word_that_no_index_has_is_corrected() {
    let pages = [
        TestPage::new(1, "avocet"),
        TestPage::new(2, "avocat"),
        TestPage::new(3, "avocet"),
        TestPage::new(4, "avocat"),
        TestPage::new(5, "avocat"),
    ];
    // The first index has two pages with `avocet` and one with `avocat`.
    let parts = Indexes::new(2, &pages, |page| usize::from(page.id > 3));
    let found = parts.search(&query("avocxt"));
    assert_eq!(found.corrected.as_deref(), Some("avocat"));
    assert_eq!((ids(&found), found.relaxed), (vec![2, 4, 5], false));
    // The second index does not have `avocet`, and must not correct it.
    let found = parts.search(&query("avocet"));
    assert_eq!(
        (found.corrected.as_deref(), ids(&found)),
        (None, vec![1, 3])
    );
}

#[test]
fn a_search_is_relaxed_only_if_no_index_has_a_page_with_all_words() {
    let pages = [
        TestPage::new(1, "red"),
        TestPage::new(2, "blue"),
        TestPage::new(3, "red blue"),
    ];
    let parts = Indexes::new(3, &pages, |page| page.id as usize - 1);
    let found = parts.search(&query("red blue"));
    assert_eq!((found.total, found.relaxed), (1, false));
    assert_eq!(ids(&found)[0], 3);
    assert_eq!(found.facets.unwrap().sites, [("docs.example".into(), 1)]);
    let parts = Indexes::new(2, &pages[..2], |page| page.id as usize - 1);
    let found = parts.search(&query("red blue"));
    assert_eq!((found.total, found.relaxed), (2, true));
    let missing: Vec<&[String]> = found.hits.iter().map(|hit| &hit.missing[..]).collect();
    assert_eq!(missing, [["blue"], ["red"]]);
}

#[test]
fn near_duplicates_of_different_indexes_share_a_hit() {
    let page = |id, text: &str, in_links, language| TestPage {
        in_links,
        language: Some(language),
        ..TestPage::new(id, text)
    };
    let pages = [
        page(1, &long("stilt stilt", 1), 0, "en"),
        page(2, &long("stilt", 1), 3, "en"),
        page(3, &long("stilt", 1), 0, "de"),
        page(4, &long("stilt", 2), 0, "en"),
    ];
    let parts = Indexes::new(3, &pages, |page| page.id as usize % 3);
    let found = parts.search(&query("stilt"));
    assert_eq!((ids(&found), found.total), (vec![2, 4], 4));
    let url = |id| format!("http://docs.example/{id}");
    assert_eq!(found.hits[0].duplicates, [url(1), url(3)]);
    let german = SearchQuery {
        readers: &["de"],
        ..query("stilt")
    };
    assert_eq!(ids(&parts.search(&german)), [3, 4]);
}

#[test]
fn pages_that_only_repeat_the_same_words_do_not_share_a_hit() {
    // The hashes are near: the repeated words decide most bits. Most of the shingles differ.
    let text = |own: &str| "stilt mudflat water bird bill ".repeat(60) + own;
    let pages = [
        TestPage::new(1, &text("one two three four five six seven")),
        TestPage::new(2, &text("eight nine ten eleven twelve thirteen fourteen")),
    ];
    let parts = Indexes::new(2, &pages, |page| page.id as usize - 1);
    assert_eq!(ids(&parts.search(&query("stilt"))).len(), 2);
}

#[test]
fn a_suggestion_is_chosen_from_the_words_of_all_indexes() {
    let mut pages = vec![
        TestPage::new(1, "mudflatxy"),
        // At a distance of one, but on too few pages.
        TestPage::new(2, "mudflatx"),
    ];
    // At a distance of two, in title, anchor and body: 120 times as often.
    pages.extend((3..43).map(|id| TestPage {
        title: "mudflat".into(),
        anchors: vec!["mudflat"],
        ..TestPage::new(id, "mudflat")
    }));
    let parts = Indexes::new(2, &pages, |page| page.id as usize % 2);
    assert_eq!(parts.meant("mudflatxy").as_deref(), Some("mudflat"));
    // With 20 pages fewer, it is not frequent enough.
    let parts = Indexes::new(2, &pages[..22], |page| page.id as usize % 2);
    assert_eq!(parts.meant("mudflatxy"), None);
}

#[test]
fn a_page_that_two_indexes_have_is_shown_once() {
    let pages = [
        TestPage::new(1, &long("stilt", 1)),
        TestPage::new(2, "stilt"),
    ];
    let both = Indexes::new(1, &pages, |_| 0);
    let index = &both.indexes[0];
    let mut statistics = index.statistics(&query("stilt")).unwrap();
    statistics.add(statistics.clone());
    let part = index.search_part(&query("stilt"), &statistics).unwrap();
    let found = merge(vec![part.clone(), part], 10, 0);
    assert_eq!((ids(&found), found.total), (vec![2, 1], 4));
    assert!(found.hits[1].duplicates.is_empty());
}

#[test]
fn nothing_is_found_in_no_index_and_by_no_query() {
    assert_eq!(merge(Vec::new(), 10, 0), Hits::default());
    let parts = Indexes::new(2, &[TestPage::new(1, "red")], |_| 0);
    let found = parts.search(&query("-red inurl:"));
    assert_eq!((found.total, found.hits.len()), (0, 0));
}

/// More pages than an index keeps: each page of results is the same as of one index.
#[test]
fn results_can_be_paged_through() {
    let pages: Vec<TestPage> = (1..=400)
        .map(|id| TestPage {
            // Scores differ, because the number of links does.
            in_links: (id as u32 * 7919) % 1009,
            ..TestPage::new(id, &long("stilt", (id as usize * 31) % 90))
        })
        .collect();
    let one = Indexes::new(1, &pages, |_| 0);
    let parts = Indexes::new(3, &pages, |page| (page.id * page.id) as usize % 3);
    for (limit, offset) in [(10, 0), (10, 10), (25, 50), (3, 85), (10, 90), (200, 2000)] {
        let query = SearchQuery {
            limit,
            offset,
            ..query("stilt")
        };
        assert_eq!(
            parts.search(&query),
            one.indexes[0].search(&query).unwrap(),
            "{limit} {offset}"
        );
    }
}

const WORDS: [&str; 24] = [
    "avocet",
    "avocets",
    "avocado",
    "stilt",
    "stilts",
    "bill",
    "ball",
    "bell",
    "wader",
    "water",
    "waders",
    "estuary",
    "estuaries",
    "mudflat",
    "mudflats",
    "os.path",
    "--amend",
    "RewriteRule",
    "rewrite",
    "rule",
    "shorebird",
    "shorebirds",
    "bird",
    "birds",
];
const HOSTS: [&str; 4] = ["docs.example", "a.docs.example", "birds.example", "b.test"];
const DAY: i64 = 86_400;

fn words(most: usize) -> impl Strategy<Value = String> {
    // Low numbers are more frequent.
    let word = (0..WORDS.len(), 0..WORDS.len()).prop_map(|(one, other)| WORDS[one.min(other)]);
    prop::collection::vec(word, 0..most).prop_map(|words| words.join(" "))
}

fn any_page() -> impl Strategy<Value = TestPage> {
    let texts = (words(4), words(14), prop::option::weighted(0.3, 0..3usize));
    let facts = (
        prop::sample::select(&HOSTS[..]),
        0..200u32,
        prop::option::of(prop::sample::select(&["en", "de", "fr"][..])),
        prop::sample::select(&["html", "text"][..]),
        prop::option::of(0..20i64),
        0..20i64,
        prop::option::of(prop::sample::select(&["Ada Lovelace", "Ada Byron"][..])),
        prop::collection::vec(prop::sample::select(&WORDS[..]), 0..3),
    );
    (texts, facts).prop_map(|((title, words, copied), facts)| {
        let (host, in_links, language, kind, published, fetched, author, anchors) = facts;
        TestPage {
            id: 0,
            host,
            title,
            // Some pages are near-duplicates of others: a few words and the same long text.
            text: match copied {
                Some(seed) => long(&words, seed),
                None => words,
            },
            anchors,
            in_links,
            language,
            kind,
            fetched_at: fetched * DAY,
            published: published.map(|year| year * 365 * DAY),
            author,
        }
    })
}

/// A piece of a query: a word as pages have it or misspelt, a phrase, a filter.
fn piece() -> impl Strategy<Value = String> {
    let word = || prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    let misspelt = (word(), 1..9usize, "[a-z]?").prop_map(|(word, at, letter)| {
        let at = at.min(word.len() - 1);
        format!("{}{letter}{}", &word[..at], &word[at + 1..])
    });
    prop_oneof![
        6 => word(),
        4 => misspelt,
        2 => (word(), word()).prop_map(|(one, other)| format!("\"{one} {other}\"")),
        2 => (word(), word()).prop_map(|(one, other)| format!("{one} OR {other}")),
        1 => word().prop_map(|word| format!("-{word}")),
        1 => word().prop_map(|word| format!("title:{word}")),
        1 => word().prop_map(|word| format!("-title:{word}")),
        1 => prop::sample::select(&HOSTS[..]).prop_map(|host| format!("site:{host}")),
        1 => prop::sample::select(&HOSTS[..]).prop_map(|host| format!("-site:{host}")),
        1 => Just("url:docs".to_owned()),
        1 => prop::sample::select(&["author:lovelace", "author:\"ada byron\""][..])
            .prop_map(str::to_owned),
        1 => (1970..1990).prop_map(|year| format!("date:{year}..{}", year + 6)),
        1 => Just("filetype:html".to_owned()),
        1 => Just("inurl:bird zzzz".to_owned()),
    ]
}

#[derive(Debug, Clone)]
struct TestQuery {
    text: String,
    limit: usize,
    offset: usize,
    newest: bool,
    prefix: bool,
    german: bool,
    since: Option<i64>,
    chosen: Option<(u128, f32)>,
}

fn any_query() -> impl Strategy<Value = TestQuery> {
    let text = prop::collection::vec(piece(), 1..5).prop_map(|pieces| pieces.join(" "));
    let range = (
        prop_oneof![3 => Just(10usize), 1 => 1..4usize],
        prop_oneof![3 => Just(0), 1 => 0..6usize],
    );
    let rare = || prop::bool::weighted(0.2);
    let chosen = prop::option::weighted(0.2, (1..40u128, 1.0..1.5f32));
    let since = prop::option::weighted(0.1, 0..20 * DAY);
    // A query that ends within a word is one whose last word may be completed.
    let cut = (rare(), 1..5usize);
    (text, range, rare(), cut, rare(), since, chosen).prop_map(
        |(mut text, (limit, offset), newest, (prefix, cut), german, since, chosen)| {
            if prefix {
                text.truncate(text.len().saturating_sub(cut).max(1));
            }
            TestQuery {
                text,
                limit,
                offset,
                newest,
                prefix,
                german,
                since,
                chosen,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The pages of one index have the order of their ids, so that even ties are the same.
    #[test]
    fn the_result_does_not_depend_on_how_pages_are_divided(
        pages in prop::collection::vec((any_page(), 0..4usize), 1..40),
        count in 1..=4usize,
        queries in prop::collection::vec(any_query(), 16),
    ) {
        let (mut pages, places): (Vec<TestPage>, Vec<usize>) = pages.into_iter().unzip();
        for (page, id) in pages.iter_mut().zip(1..) {
            page.id = id;
        }
        let one = Indexes::new(1, &pages, |_| 0);
        let parts = Indexes::new(count, &pages, |page| places[page.id as usize - 1] % count);
        for test in queries {
            let chosen = test.chosen.map(|(id, factor)| (PageId(id), factor));
            let query = SearchQuery {
                text: &test.text,
                limit: test.limit,
                offset: test.offset,
                sort: if test.newest { Sort::Newest } else { Sort::Relevance },
                prefix: test.prefix,
                facets: true,
                since: test.since,
                readers: if test.german { &["de"] } else { &[] },
                chosen: chosen.as_slice(),
                ..SearchQuery::default()
            };
            let expected = one.indexes[0].search(&query).unwrap();
            prop_assert_eq!(parts.search(&query), expected, "{:?}", test);
            let meant = one.indexes[0].meant(&test.text).unwrap();
            prop_assert_eq!(parts.meant(&test.text), meant, "{:?}", test);
        }
    }
}
