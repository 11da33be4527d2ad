//! Tests of the metadata of pages, valid and invalid.

use proptest::prelude::*;

use super::*;
use crate::html::{ReadLimits, read};
use crate::url::PageUrl;

fn fields(html: &str) -> Fields {
    let url = PageUrl::parse("http://e.org/").unwrap();
    read(html, &url, &ReadLimits::default()).fields
}

/// 1 May 2024 in Unix seconds.
const MAY: i64 = 1_714_521_600;
const DAY: i64 = 86_400;

#[test]
fn metas_of_dublin_core_opengraph_and_publishers_are_read() {
    let found = fields(
        "<meta name='DC.creator' content='Ada Lovelace'><meta name=author content=' Charles\n Babbage '>
         <meta name=citation_authors content='Menabrea, L.; Plana, G.'><meta property='article:author' content='https://e.org/ada'>
         <meta name=citation_publication_date content='2024/05/01'><meta property='article:modified_time' content='2024-05-02T00:00:00Z'>
         <meta property=og:type content=article><meta property=og:site_name content='Notes &amp; Sketches'>
         <meta name=keywords content='engines, notes,,engines'><meta name=citation_doi content='10.1/2'><meta name=description content='On the engine.'>",
    );
    let expected = Fields {
        kind: Some("article".into()),
        authors: [
            "Ada Lovelace",
            "Charles Babbage",
            "Menabrea, L.",
            "Plana, G.",
        ]
        .map(str::to_owned)
        .into(),
        published: Some(MAY),
        modified: Some(MAY + DAY),
        publisher: Some("Notes & Sketches".into()),
        description: Some("On the engine.".into()),
        keywords: ["engines", "notes"].map(str::to_owned).into(),
        identifier: Some("10.1/2".into()),
    };
    assert_eq!(found, expected);
}

#[test]
fn json_ld_content_comes_before_its_frame() {
    let found = fields(
        r#"<script type="application/ld+json">{"@context":"https://schema.org","@graph":[
            {"@type":"WebSite","publisher":{"@type":"Organization","name":"Frame"}},
            {"@type":["Course","Thing"],"author":[{"@type":"Person","name":"A"},"B"],"startDate":"2024-05-01","keywords":["x","y"]}
        ]}</script><script>{"author":"script"}</script>"#,
    );
    assert_eq!(found.kind.as_deref(), Some("Course"));
    assert_eq!(found.authors, ["A", "B"]);
    assert_eq!(found.published, Some(MAY));
    assert_eq!(found.publisher.as_deref(), Some("Frame"));
    assert_eq!(found.keywords, ["x", "y"]);
}

#[test]
fn microdata_is_read_from_attributes_text_and_names() {
    let found = fields(
        "<div itemscope itemtype='https://schema.org/Event'><p itemprop=description>Talk <b>on</b> engines</p>
         <div itemprop=author itemscope itemtype=Person><div><a itemprop=url href=/x>x</a></div><span itemprop=name>Ada</span></div>
         <meta itemprop=keywords content='a,b'><time itemprop=startDate datetime=2024-05-01>today</time>
         <div itemprop=creator itemscope><b itemprop=name>Bab</b></div></div>",
    );
    assert_eq!(found.kind.as_deref(), Some("Event"));
    assert_eq!(found.description.as_deref(), Some("Talk on engines"));
    assert_eq!(found.authors, ["Ada", "Bab"]);
    assert_eq!(found.published, Some(MAY));
    assert_eq!(found.keywords, ["a", "b"]);
}

#[test]
fn long_values_are_cut_and_invalid_ones_ignored() {
    let many: String = (0..100)
        .map(|n| format!("<meta name=author content='author {n}'>"))
        .collect();
    assert_eq!(fields(&many).authors.len(), MOST);
    let long = format!("<meta name=description content='{}'>", "é".repeat(9_000));
    assert!(fields(&long).description.unwrap().len() <= DESCRIPTION_LIMIT);
    let nested = format!(
        "<script type=application/ld+json>{}</script>",
        "[".repeat(100_000)
    );
    assert!(fields(&nested).is_empty());
    for nothing in [
        "<meta name=date content=yesterday>",
        "<meta name=author content='  '>",
        "<meta name=author>",
        "<script type=application/ld+json>{\"author\": 7, \"keywords\": {\"a\": 1}}</script>",
        "<p itemprop=author>",
    ] {
        assert!(fields(nothing).is_empty(), "{nothing}");
    }
}

#[test]
fn the_day_of_publication_comes_before_that_of_a_change() {
    let both = "<meta name=date content=2024-05-01><meta name=last-modified content=2024-05-02>";
    assert_eq!(fields(both).date(), Some(MAY));
    let changed = "<meta name=last-modified content=2024-05-02>";
    assert_eq!(fields(changed).date(), Some(MAY + DAY));
}

#[test]
fn properties_of_nested_objects_do_not_describe_the_page() {
    let found = fields(
        "<div itemscope><span itemprop=author itemscope><b itemprop=name>Ada</b><i itemprop=description>a countess</i></span></div>",
    );
    assert_eq!(found.authors, ["Ada"]);
    assert_eq!(found.description, None);
}

#[test]
fn number_and_size_of_json_ld_scripts_are_limited() {
    let script = |said: &str| format!("<script type=application/ld+json>{said}</script>");
    let idle = script("{}").repeat(linked::SCRIPTS - 1);
    let author = script("{\"author\": \"Ada\"}");
    assert_eq!(fields(&format!("{idle}{author}")).authors, ["Ada"]);
    assert!(fields(&format!("{idle}{}{author}", script("{}"))).is_empty());
    let long = format!(
        "{{\"author\": \"Ada\", \"x\": \"{}\"}}",
        "x".repeat(300 << 10)
    );
    assert!(fields(&script(&long)).is_empty());
}

proptest! {
    #[test]
    fn any_markup_is_read(
        parts in prop::collection::vec(prop::sample::select(vec![
            "<meta name=author content=", "'é & x'", ">", "<script type=application/ld+json>", "{\"author\":", "[\"a\"]", "}", "</script>",
            "<p itemprop=author>", "<div itemprop=author itemscope>", "</div>", "</p>", "words ", "<br itemprop=name>", "<b itemprop=name>", "</b>",
        ]), 0..30)
    ) {
        let found = fields(&parts.concat());
        prop_assert!(found.authors.len() <= MOST);
        prop_assert!(found.authors.iter().all(|author| !author.is_empty() && author.len() <= NAME_LIMIT));
    }
}
