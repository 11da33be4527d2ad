//! Quality of a repository for its searchers: usefulness and embarrassment.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), equation 5: searchers see answers
//! ranked by the repository's copies, and benefit from what the live pages are worth.
//! `Q = Σ_q f_q Σ_p I(rank of p by copies)·S(live p, q)`, divided by the same sum with ranks by
//! live pages. `f_q` is the share of searches for q, S the score, and `I(r) = r^(-3/2)`. The
//! answers to a query are all pages whose copy has all its words, best score first and ties by page
//! number. The live score is 0 if the page is gone or has lost a word.
//!
//! *Embarrassment* (Wolf et al., "Optimal crawling strategies for web search engines", WWW 2002)
//! is the probability that a click finds a page that is gone or no longer answers the query. A
//! click falls on rank r with probability proportional to `I(r)`.
//!
//! **Invariant:** results are exact: when an entry of a list changes, the whole list is summed
//! again in its order.

use policy::quality::Attention;

use crate::text::Scored;

/// The answer lists of a repository, with the current scores of the live pages.
#[derive(Debug, Clone)]
pub struct Answers<'s> {
    scored: &'s Scored,
    lists: Vec<Vec<ListedAnswer>>,
    sums: Vec<ListSums>,
    /// Lists that changed since they were last summed.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    copies: Vec<Option<u32>>,
    live: Vec<Option<u32>>,
    /// I(r) of rank 1, 2, …
    attention: Vec<f64>,
}

/// A page in an answer list.
#[derive(Debug, Clone, Copy)]
struct ListedAnswer {
    page: u32,
    score: f32,
    live: f32,
}

/// Sums over an answer list.
#[derive(Debug, Clone, Copy, Default)]
struct ListSums {
    useful: f64,
    seen: f64,
    embarrassing: f64,
}

/// Quality for searchers, over all queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearcherQuality {
    /// Numerator of Q; for a synchronised repository it equals the denominator.
    pub usefulness: f64,
    /// Probability that a click is an embarrassment; 0 if there are no answers.
    pub embarrassment: f64,
}

impl<'s> Answers<'s> {
    /// Creates an empty repository for `pages` pages, none of which exists yet.
    pub fn new(scored: &'s Scored, pages: usize) -> Self {
        let lists = scored.shares().len();
        Self {
            scored,
            lists: vec![Vec::new(); lists],
            sums: vec![ListSums::default(); lists],
            changed: Vec::new(),
            is_changed: vec![false; lists],
            copies: vec![None; pages],
            live: vec![None; pages],
            attention: (1..=pages)
                .map(|rank| Attention::PUBLISHED.at(rank as f64))
                .collect(),
        }
    }

    /// Sets the text that the live page shows; `None` if it is gone.
    pub fn set_live(&mut self, page: u32, text: Option<u32>) {
        let before = std::mem::replace(&mut self.live[page as usize], text);
        if before == text {
            return;
        }
        let copy = self.copies[page as usize];
        let scored = self.scored;
        for (list, old, new) in both(scored.of(page, before), scored.of(page, text)) {
            let score = scored.in_list(page, copy, list);
            if score > 0.0 && old != new {
                let answers = &mut self.lists[list as usize];
                if let Ok(place) = answers.binary_search_by(|other| order(other, score, page)) {
                    answers[place].live = new;
                    self.touch(list);
                }
            }
        }
    }

    /// Sets the repository's copy of a page; `None` if there is none.
    pub fn set_copy(&mut self, page: u32, text: Option<u32>) {
        let before = std::mem::replace(&mut self.copies[page as usize], text);
        if before == text {
            return;
        }
        let live = self.live[page as usize];
        let scored = self.scored;
        for (list, old, new) in both(scored.of(page, before), scored.of(page, text)) {
            if old == new {
                continue;
            }
            let answers = &mut self.lists[list as usize];
            if let Ok(place) = answers.binary_search_by(|other| order(other, old, page)) {
                answers.remove(place);
            }
            if new > 0.0
                && let Err(place) = answers.binary_search_by(|other| order(other, new, page))
            {
                let live = scored.in_list(page, live, list);
                let answer = ListedAnswer {
                    page,
                    score: new,
                    live,
                };
                answers.insert(place, answer);
            }
            self.touch(list);
        }
    }

    /// Returns the text of a page's copy; `None` if there is no copy.
    pub fn copy(&self, page: u32) -> Option<u32> {
        self.copies[page as usize]
    }

    /// Returns the current quality for searchers. Sums only the lists that changed since the last
    /// call.
    pub fn standing(&mut self) -> SearcherQuality {
        for list in std::mem::take(&mut self.changed) {
            let list = list as usize;
            self.is_changed[list] = false;
            // Words that are not queries by themselves have a share of 0 and need no sum.
            if self.scored.shares()[list] > 0.0 {
                self.sums[list] = sums(&self.lists[list], &self.attention);
            }
        }
        let (mut useful, mut seen, mut embarrassing) = (0.0, 0.0, 0.0);
        for (share, sums) in self.scored.shares().iter().zip(&self.sums) {
            useful += share * sums.useful;
            seen += share * sums.seen;
            embarrassing += share * sums.embarrassing;
        }
        SearcherQuality {
            usefulness: useful,
            embarrassment: if seen > 0.0 { embarrassing / seen } else { 0.0 },
        }
    }

    /// Returns the views of each page per search: the sum over the queries of `f_q·I(r)`, where r
    /// is the page's rank in the repository's own answers.
    pub fn views(&self) -> Vec<f64> {
        let mut views = vec![0.0; self.copies.len()];
        for (share, list) in self.scored.shares().iter().zip(&self.lists) {
            if *share > 0.0 {
                for (answer, attention) in list.iter().zip(&self.attention) {
                    views[answer.page as usize] += share * attention;
                }
            }
        }
        views
    }

    /// Returns the scores of the answers to a single word, best first.
    pub fn scores(&self, word: u32) -> impl ExactSizeIterator<Item = f32> {
        self.lists[word as usize].iter().map(|answer| answer.score)
    }

    fn touch(&mut self, list: u32) {
        if !std::mem::replace(&mut self.is_changed[list as usize], true) {
            self.changed.push(list);
        }
    }
}

/// Compares an answer with one of this score and page: best score first, then by page.
fn order(answer: &ListedAnswer, score: f32, page: u32) -> std::cmp::Ordering {
    score.total_cmp(&answer.score).then(answer.page.cmp(&page))
}

fn sums(list: &[ListedAnswer], attention: &[f64]) -> ListSums {
    let mut sums = ListSums::default();
    for (answer, attention) in list.iter().zip(attention) {
        sums.useful += attention * f64::from(answer.live);
        sums.seen += attention;
        if answer.live == 0.0 {
            sums.embarrassing += attention;
        }
    }
    sums
}

/// Merges two sequences of lists and scores, sorted by list: every list that is in one of them,
/// with both scores; a missing score is 0.
pub(crate) fn both(
    one: impl Iterator<Item = (u32, f32)>,
    other: impl Iterator<Item = (u32, f32)>,
) -> impl Iterator<Item = (u32, f32, f32)> {
    let (mut one, mut other) = (one.peekable(), other.peekable());
    std::iter::from_fn(move || {
        let list = match (one.peek(), other.peek()) {
            (None, None) => return None,
            (Some((a, _)), None) => *a,
            (None, Some((b, _))) => *b,
            (Some((a, _)), Some((b, _))) => *a.min(b),
        };
        let first = one.next_if(|at| at.0 == list).map_or(0.0, |at| at.1);
        let second = other.next_if(|at| at.0 == list).map_or(0.0, |at| at.1);
        Some((list, first, second))
    })
}

#[cfg(test)]
mod tests {
    use policy::quality::{ScoredQuery, quality};
    use proptest::prelude::*;

    use super::*;
    use crate::text::{CountedTexts, QueryWorkload, Scorer, WorkloadQuery};

    const PAGES: usize = 6;
    const TEXTS: u32 = 8;

    /// Returns scores of texts of four words with these counts, for queries of one to three of
    /// them.
    fn scored(counts: &[[u32; 4]], scorer: Scorer) -> Scored {
        let texts = CountedTexts::invented(counts, PAGES);
        let query = |words: &[u32], share| WorkloadQuery {
            words: words.to_vec(),
            share,
        };
        let workload = QueryWorkload {
            queries: vec![
                query(&[0], 0.4),
                query(&[0, 1], 0.3),
                query(&[1, 2, 3], 0.2),
                query(&[3], 0.1),
            ],
            note: String::new(),
        };
        Scored::new(scorer, &texts, &workload, &[0, 1, 2]).unwrap()
    }

    /// Returns the quality computed from complete lists.
    fn brute(scored: &Scored, live: &[Option<u32>], copies: &[Option<u32>]) -> Option<f64> {
        let lists = |shown: &[Option<u32>]| -> Vec<Vec<(u32, f64)>> {
            let list = |list: u32| {
                let each = (0..).zip(shown);
                each.map(|(page, text)| (page, f64::from(scored.in_list(page, *text, list))))
                    .collect()
            };
            (0..scored.shares().len() as u32).map(list).collect()
        };
        let (live, ours) = (lists(live), lists(copies));
        let asked: Vec<ScoredQuery<'_>> = scored
            .shares()
            .iter()
            .zip(live.iter().zip(&ours))
            .map(|(&frequency, (live, ours))| ScoredQuery {
                frequency,
                live,
                ours,
            })
            .collect();
        quality(&asked)
    }

    proptest! {
        #[test]
        fn incremental_quality_equals_that_of_complete_lists(
            counts in prop::collection::vec(prop::array::uniform4(0u32..3), TEXTS as usize),
            scorer in 0usize..3,
            moves in prop::collection::vec((any::<bool>(), 0..PAGES as u32, prop::option::of(0..TEXTS)), 1..60),
        ) {
            let scored = scored(&counts, Scorer::ALL[scorer]);
            let mut answers = Answers::new(&scored, PAGES);
            let mut ideal = Answers::new(&scored, PAGES);
            let (mut live, mut copies) = ([None; PAGES], [None; PAGES]);
            for (is_live, page, text) in moves {
                if is_live {
                    live[page as usize] = text;
                    answers.set_live(page, text);
                    ideal.set_live(page, text);
                    ideal.set_copy(page, text);
                } else {
                    copies[page as usize] = text;
                    answers.set_copy(page, text);
                }
                let (have, could) = (answers.standing().usefulness, ideal.standing().usefulness);
                prop_assert!(have <= could + 1e-12);
                match brute(&scored, &live, &copies) {
                    Some(expected) => prop_assert!((have / could - expected).abs() < 1e-9, "{} {}", have / could, expected),
                    None => prop_assert_eq!(could, 0.0),
                }
                prop_assert_eq!(ideal.standing().embarrassment, 0.0);
            }
        }
    }

    #[test]
    fn clicks_on_pages_that_no_longer_answer_are_embarrassing() {
        let scored = scored(&[[1, 0, 0, 0], [2, 0, 0, 0], [0, 0, 1, 0]], Scorer::TfIdf);
        let mut answers = Answers::new(&scored, PAGES);
        for (page, text) in [(0, 0), (1, 1)] {
            answers.set_live(page, Some(text));
            answers.set_copy(page, Some(text));
        }
        assert_eq!(answers.standing().embarrassment, 0.0);
        // The second answer loses its word.
        let second = Attention::PUBLISHED.at(2.0);
        answers.set_live(0, Some(2));
        let found = answers.standing().embarrassment;
        assert!((found - second / (1.0 + second)).abs() < 1e-12, "{found}");
        answers.set_live(1, None);
        assert_eq!(answers.standing().embarrassment, 1.0);
        let views = answers.views();
        assert!((views[1] - 0.4).abs() < 1e-12 && (views[0] - 0.4 * second).abs() < 1e-12);
        assert!(answers.scores(0).is_sorted_by(|one, next| one >= next));
    }
}
