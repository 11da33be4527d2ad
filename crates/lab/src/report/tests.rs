//! Tests of the HTML report: completeness, escaping, links and size.

use figure::{Figure, Series};
use proptest::prelude::*;

use super::*;
use crate::experiment::PublishedClaim;
use crate::findings::{Findings, Params, Row};

/// Number of texts in a report.
const TEXTS: usize = 26;

/// Returns a report of one study, with each of these texts in its own place.
fn report(texts: &[String]) -> (Vec<Chapter>, ReportInfo) {
    let text = |at: usize| texts[at].clone();
    let row = |policy: usize, metric: usize, x: f64, half: Option<f64>| Row {
        policy: text(policy),
        params: Params::from([("g".into(), text(2).as_str().into())]),
        metric: text(metric),
        x,
        value: 0.5,
        low: half.map(|half| 0.5 - half),
        high: half.map(|half| 0.5 + half),
    };
    let claim = |id: &'static str, says: usize, holds: bool| PublishedClaim {
        id,
        says: text(says),
        published: text(says + 1),
        found: text(says + 2),
        holds,
    };
    let study = Study {
        findings: Findings {
            experiment: text(5),
            world: text(6),
            seed: 11,
            runs: 2,
            command: text(7),
            rows: vec![
                row(0, 3, 0.0, Some(0.1)),
                row(0, 3, 1.0, None),
                row(1, 3, 1.0, None),
                row(1, 4, 0.0, None),
            ],
        },
        claims: vec![claim("UO1", 8, true), claim("<i>", 23, false)],
        figures: vec![(
            text(11),
            Figure {
                title: text(12),
                x_label: text(13),
                y_label: text(14),
                series: vec![
                    Series::line(text(0), vec![(0.0, 0.5), (1.0, 0.5)]),
                    Series::line(text(1), vec![(1.0, 0.5)]),
                ],
                ..Figure::default()
            },
        )],
        notes: vec![text(15)],
    };
    let chapter = Chapter {
        title: text(16),
        source: text(17),
        introduction: text(18),
        studies: vec![study],
    };
    let about = ReportInfo {
        version: text(19),
        text: text(21),
        seed: 12,
        command: text(20),
        left_out: vec![text(22)],
    };
    (vec![chapter], about)
}

fn plain() -> Vec<String> {
    (0..TEXTS).map(|at| format!("text {at:02}")).collect()
}

fn page_of(texts: &[String]) -> String {
    let (chapters, about) = report(texts);
    page(&chapters, &about)
}

/// Returns the tags of a page with their attribute names; panics if they are not balanced.
fn skeleton(page: &str) -> Vec<String> {
    let (head, body) = page.split_once("</style>").unwrap();
    assert_eq!(head.matches("<style>").count(), 1);
    let mut open: Vec<&str> = vec!["html", "head"];
    let mut tags = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap();
        assert!(!text.contains(['>', '"', '\'']), "{text}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        // Every second piece is the value of an attribute.
        let names: String = tag.split('"').step_by(2).collect();
        let name = tag.split([' ', '/']).next().unwrap();
        if !tag.ends_with('/') {
            open.push(name);
        }
        tags.push(names);
    }
    assert_eq!(open, [] as [&str; 0]);
    tags
}

#[test]
fn a_small_report_renders_as_tiny_html() {
    let page = page_of(&plain());
    let (_, body) = page.split_once("</style>\n").unwrap();
    let expected = include_str!("tiny.html");
    assert!(body == expected, "should be report/tiny.html:\n{body}");
}

#[test]
fn every_given_text_is_on_the_page_except_figure_file_names() {
    let texts = plain();
    let page = page_of(&texts);
    for (at, text) in texts.iter().enumerate() {
        // The file name of a figure is not shown.
        assert_eq!(page.contains(text.as_str()), at != 11, "{text}");
    }
    for text in ["Seed 11, 2 runs", "seed 12", "✓ held", "✗ did not hold"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("1 of 2 claims held, 1 did not"));
}

#[test]
fn the_page_of_claims_has_every_claim_and_says_which_could_not_fail() {
    let mut texts = plain();
    texts[8] = "a|b".to_owned();
    let (chapters, about) = report(&texts);
    let page = claims_page(&chapters, &about);
    for text in [
        &about.command,
        &about.left_out[0],
        &texts[7],
        &texts[16],
        &texts[17],
    ] {
        assert!(page.contains(text.as_str()), "{text}");
    }
    assert!(
        page.contains("1 of 2 claims held. 1 of these hold by construction"),
        "{page}"
    );
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 3, "{page}");
    assert!(
        rows[1].starts_with("| UO1 a\\|b | text 06 | text 09 | text 10 | held by construction: ")
    );
    assert!(rows[2].ends_with("| **did not hold** |"), "{}", rows[2]);
}

#[test]
fn links_lead_to_ids_of_the_same_page() {
    let (mut chapters, about) = report(&plain());
    let study = chapters[0].studies[0].clone();
    chapters[0].studies.push(study);
    chapters.push(chapters[0].clone());
    let page = page(&chapters, &about);
    let links: Vec<&str> = page.split(" href=\"").skip(1).collect();
    // Two chapters, four studies, and the four of eight claims that did not hold.
    assert_eq!(links.len(), 10);
    for link in links {
        let place = link.split('"').next().unwrap();
        let place = place.strip_prefix('#').unwrap();
        assert_eq!(page.matches(&format!(" id=\"{place}\"")).count(), 1);
    }
}

#[test]
fn the_page_loads_no_resource_and_runs_no_script() {
    let page = page_of(&plain());
    for sign in [
        "http:",
        "https:",
        "//",
        "src=",
        "url(",
        "@import",
        "<script",
        "<link",
        "javascript:",
    ] {
        assert!(!page.contains(sign), "{sign}");
    }
}

#[test]
fn empty_parts_have_no_heading() {
    let none = page(&[], &ReportInfo::default());
    assert!(none.contains("No claim was judged"));
    let (mut chapters, about) = report(&plain());
    let study = &mut chapters[0].studies[0];
    study.claims.clear();
    study.figures.clear();
    study.notes.clear();
    study.findings.rows.clear();
    let bare = page(&chapters, &about);
    for page in [none, bare] {
        skeleton(&page);
        for sign in [
            "Notes",
            "<details",
            "class=\"claims\"",
            "did not hold",
            "<figure",
        ] {
            assert!(!page.contains(sign), "{sign}");
        }
    }
}

#[test]
fn a_long_curve_says_how_much_of_it_is_shown() {
    let (mut chapters, about) = report(&plain());
    let rows = &mut chapters[0].studies[0].findings.rows;
    let row = rows[0].clone();
    let at = |n: u32| Row {
        x: f64::from(n),
        ..row.clone()
    };
    *rows = (0..=1_000).map(at).collect();
    let page = page(&chapters, &about);
    assert!(page.contains("at 21 of 1001 x"));
    assert!(page.contains(">1000</th>"));
    assert_eq!(
        page.matches("<td>0.500 <small>±0.100</small></td>").count(),
        21
    );
}

#[test]
fn thirty_full_figures_fit_in_two_megabytes() {
    let (mut chapters, about) = report(&plain());
    let line = |number: u32| {
        let points = (0..1_000).map(|n| {
            let x = f64::from(n) / 1_000.0;
            (x, x.powf(f64::from(number + 1) / 7.0))
        });
        let mut line = Series::line(format!("policy {number}"), points.collect());
        line.intervals = line
            .points
            .iter()
            .map(|(_, y)| (y - 0.1, y + 0.1))
            .collect();
        line
    };
    let full = Figure {
        series: (0..14).map(line).collect(),
        ..Figure::default()
    };
    chapters[0].studies[0].figures = vec![("full".into(), full); 30];
    let size = page(&chapters, &about).len();
    assert!(size < 2_000_000, "{size}");
}

const HOSTILE: [&str; 10] = [
    "<script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "' onclick='x",
    "--></svg></style></title><b>",
    "</code></td></table>",
    "&lt;&amp;&#60;",
    "]]><![CDATA[",
    "a\0b\u{1b}[31m\u{202e}",
    "<a href=\"https://example.com\">",
    "爬虫 🦀 e\u{301}",
];

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(HOSTILE.to_vec()).prop_map(str::to_owned),
        "[<>&\"'/=a ]{0,12}",
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_becomes_markup(given in prop::collection::vec(hostile(), TEXTS)) {
        // Keeps names distinct, and the number of paragraphs the same.
        let texts: Vec<String> = given
            .iter()
            .enumerate()
            .map(|(at, text)| format!("{at:02}{}", text.replace('\n', " ")))
            .collect();
        let page = page_of(&texts);
        prop_assert_eq!(skeleton(&page), skeleton(&page_of(&plain())));
        for (at, text) in texts.iter().enumerate().filter(|(at, _)| *at != 11) {
            prop_assert!(page.contains(escaped(text).trim()), "{at}: {text}");
        }
        prop_assert_eq!(page_of(&texts), page);
    }
}

#[test]
fn hollow_markers_have_the_background_colour_of_the_page() {
    let page = include_str!("style.css");
    let figures = figure::page_style();
    let papers: Vec<&str> = figures
        .split(".paper{fill:")
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .collect();
    assert_eq!(papers.len(), 2, "light and dark");
    for paper in papers {
        assert!(page.contains(&format!("--paper:{paper};")), "{paper}");
    }
}
