//! Tests of the distributions of the corpus generator.

use std::collections::HashMap;

use super::*;

fn small() -> CorpusPlan {
    CorpusPlan {
        pages: 200,
        weeks: 20.0,
        ..CorpusPlan::default()
    }
}

/// Returns the texts of each page, by time.
fn texts(corpus: &Corpus) -> Vec<Vec<String>> {
    let mut bodies = HashMap::new();
    let known = corpus.histories.bodies();
    known
        .each(|number, body| drop(bodies.insert(number, body.text)))
        .unwrap();
    let mut texts = vec![Vec::new(); corpus.histories.urls().len()];
    for version in corpus.histories.versions() {
        texts[version.page as usize].push(bodies[&version.body.unwrap()].clone());
    }
    texts
}

/// Returns whether each change of a page was one of content; advertisements are the last line.
fn kinds(texts: &[String]) -> Vec<bool> {
    let content = |text: &String| {
        text.rsplit_once('\n')
            .map(|(content, _)| content.to_owned())
    };
    let changed = texts
        .windows(2)
        .map(|pair| content(&pair[0]) != content(&pair[1]));
    changed.collect()
}

#[test]
fn the_share_and_the_concentration_of_content_changes_are_as_set() {
    let share = |plan: &CorpusPlan| {
        let of_pages: Vec<Vec<bool>> = texts(&plan.invent(1))
            .iter()
            .map(|texts| kinds(texts))
            .collect();
        let all: Vec<bool> = of_pages.iter().flatten().copied().collect();
        let share = all.iter().filter(|&&kind| kind).count() as f64 / all.len() as f64;
        // Share of consecutive changes that are of the same kind.
        let pairs: Vec<bool> = of_pages
            .iter()
            .flat_map(|page| page.windows(2).map(|two| two[0] == two[1]))
            .collect();
        let same = pairs.iter().filter(|&&same| same).count() as f64 / pairs.len() as f64;
        (share, same)
    };
    // A steep shape, so that no page has most of the changes.
    let plan = CorpusPlan {
        pages: 400,
        matter: 0.4,
        shape: 50.0,
        scale: 10.0,
        mixed: 0.1,
        ..small()
    };
    let (mean, same) = share(&plan);
    assert!((mean - 0.4).abs() < 0.08 && same > 0.9, "{mean}, {same}");
    // If the kind is drawn independently for each change, .4² + .6² = .52 of the pairs are
    // equal.
    let (mean, same) = share(&CorpusPlan {
        mixed: 1_000.0,
        ..plan.clone()
    });
    assert!(
        (mean - 0.4).abs() < 0.04 && (same - 0.52).abs() < 0.05,
        "{mean}, {same}"
    );
    for (matter, expected) in [(0.0, 0.0), (1.0, 1.0)] {
        assert_eq!(
            share(&CorpusPlan {
                matter,
                pages: 30,
                ..plan.clone()
            })
            .0,
            expected
        );
    }
}

#[test]
fn a_change_replaces_the_ads_or_the_set_share_of_paragraphs_only() {
    let plan = CorpusPlan {
        edit: 0.25,
        size: 800.0,
        size_sigma: 0.0,
        pages: 60,
        matter: 0.5,
        ..small()
    };
    for texts in texts(&plan.invent(2)) {
        for (pair, content) in texts.windows(2).zip(kinds(&texts)) {
            let (old, new): (Vec<&str>, Vec<&str>) =
                (pair[0].lines().collect(), pair[1].lines().collect());
            assert_eq!((old.len(), new.len()), (21, 21));
            let changed: Vec<usize> = (0..21).filter(|&n| old[n] != new[n]).collect();
            match content {
                true => assert!(changed.len() == 5 && !changed.contains(&20), "{changed:?}"),
                false => assert_eq!(changed, [20]),
            }
        }
    }
}

#[test]
fn queries_never_match_ads_and_favour_the_first_topic() {
    let plan = small();
    let corpus = plan.invent(3);
    let queries = &corpus.queries.queries;
    assert_eq!(queries.len(), 1_000);
    let counts: Vec<u32> = queries.iter().map(|(_, count)| *count).collect();
    assert!(counts.is_sorted_by(|a, b| a >= b));
    // Zipf: the first is 10^.8 = 6.3 times as frequent as the tenth.
    assert!((f64::from(counts[0]) / f64::from(counts[9]) - 6.31).abs() < 0.05);
    let total = corpus.queries.total() as f64;
    assert!((total / 100_000.0 - 1.0).abs() < 0.01, "{total}");
    let terms: usize = queries
        .iter()
        .map(|(query, _)| query.split(' ').count())
        .sum();
    assert!((terms as f64 / 1_000.0 - 2.0).abs() < 0.12, "{terms}");

    // The query frequencies of the words of each page.
    let mut asked: HashMap<&str, f64> = HashMap::new();
    for (query, count) in queries {
        query
            .split(' ')
            .for_each(|term| *asked.entry(term).or_default() += f64::from(*count));
    }
    let (mut of_site, mut of_ads) = (vec![0.0; 15], 0.0);
    for (page, texts) in texts(&corpus).iter().enumerate() {
        let (content, ads) = texts[0].rsplit_once('\n').unwrap();
        of_ads += ads
            .split(' ')
            .filter_map(|word| asked.get(word))
            .sum::<f64>();
        let words = content.split_whitespace();
        let count = words.clone().count() as f64;
        of_site[page % 15] += words.filter_map(|word| asked.get(word)).sum::<f64>() / count;
    }
    assert_eq!(of_ads, 0.0);
    assert!(of_site[0] > 3.0 * of_site[12], "{of_site:?}");
}

#[test]
fn other_numbers_of_pages_and_queries_leave_the_texts_of_pages_unchanged() {
    let few = texts(&small().invent(4));
    let many = CorpusPlan {
        pages: 230,
        queries: 50,
        ..small()
    }
    .invent(4);
    assert_eq!(few[..], texts(&many)[..200]);
    assert_eq!(many.queries.queries[..10].len(), 10);
    let mean = few
        .iter()
        .map(|texts| texts.len() as f64 - 1.0)
        .sum::<f64>()
        / 200.0;
    // A page is expected to change Γ(1 − 1/1.4)·140/60 = 7.3 times in 140 days, and less often
    // because of `shortest`. The mean over 200 pages has a standard deviation of about one.
    assert!((4.5..10.0).contains(&mean), "{mean}");
}
