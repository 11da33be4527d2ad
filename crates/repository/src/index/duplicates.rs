//! Groups search results with nearly the same text, so that only one of them is shown.
//!
//! Charikar's similarity hash (STOC 2002) selects candidate pairs, with the bound of 3 of 64
//! bits of Manku, Jain & Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007).
//! Pages of one template that repeat the same phrases also have similar hashes. So the
//! resemblance of the shingles (Broder 1997) decides.

use page::{Shingles, Simhash, TextDigest};

use super::evaluate::Completeness;
use super::safe_text::prefix;

/// Minimum resemblance of near-duplicates: the share of their shingles that both have.
const RESEMBLANCE: f64 = 0.8;

/// Minimum bytes of a body with a similarity hash. Shorter bodies are similar by chance.
pub(super) const SHORTEST: usize = 400;

/// Bytes at the beginning of a body whose shingles are compared.
const COMPARED: usize = 64 * 1024;

/// Returns whether two hashes differ in at most 3 bits, so that their pages may be
/// near-duplicates. A value of 0 means that a page has no hash; it is near no other value.
pub(super) fn is_near(one: u64, other: u64) -> bool {
    one != 0 && other != 0 && Simhash(one).is_near(Simhash(other))
}

/// Returns the sketch of a body by which it is compared.
pub(super) fn sketch(body: &str) -> Shingles {
    TextDigest::of(prefix(body, COMPARED)).shingles
}

/// Groups near-duplicate results. `hashes` has the hash of each result, in the order of rank.
///
/// A result joins the first group whose best member it resembles. `shingles` returns the sketch of
/// a result ([`sketch`]); it is called only for results with similar hashes.
/// Returns the indexes of each group's members, best first; groups are in the order of their
/// best member.
pub(super) fn group<E>(
    hashes: &[u64],
    mut shingles: impl FnMut(usize) -> Result<Shingles, E>,
) -> Result<Vec<Vec<usize>>, E> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut sketches: Vec<Option<Shingles>> = vec![None; hashes.len()];
    'results: for (place, &hash) in hashes.iter().enumerate() {
        for group in &mut groups {
            let first = group[0];
            if !is_near(hashes[first], hash) {
                continue;
            }
            for place in [first, place] {
                if sketches[place].is_none() {
                    sketches[place] = Some(shingles(place)?);
                }
            }
            if let (Some(one), Some(other)) = (&sketches[first], &sketches[place])
                && one.resemblance(other) >= RESEMBLANCE
            {
                group.push(place);
                continue 'results;
            }
        }
        groups.push(vec![place]);
    }
    Ok(groups)
}

/// Returns the index of the result that represents a group: first by the user's languages, then by
/// the number of links to it, then by rank.
///
/// `complete` says how much of the query each result has, best first. Only results that have as
/// much as the best one are considered. `preference` returns the preference of a result by language
/// and its number of links.
pub(super) fn representative<E>(
    complete: &[Completeness],
    mut preference: impl FnMut(usize) -> Result<(usize, u32), E>,
) -> Result<usize, E> {
    let mut best = (0, None);
    let equal = complete.iter().take_while(|other| **other >= complete[0]);
    for (place, _) in equal.enumerate() {
        let this = preference(place)?;
        if best.1.is_none_or(|most| this > most) {
            best = (place, Some(this));
        }
    }
    Ok(best.0)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn results_with_similar_texts_are_grouped() {
        let bodies = [
            "a b c d e f g",
            "h",
            "i j k l m",
            "n",
            "o",
            "i j k l m",
            "p q r s t u v w",
        ];
        let hashes = [0, 0, 0x700, u64::MAX, 0, 0xf00, 0x701];
        let mut read = Vec::new();
        let groups = group::<Infallible>(&hashes, |place| {
            read.push(place);
            Ok(sketch(bodies[place]))
        });
        let expected = [vec![0], vec![1], vec![2, 5], vec![3], vec![4], vec![6]];
        assert_eq!(
            groups.unwrap(),
            expected,
            "result 6 has a similar hash but another text"
        );
        assert_eq!(read, [2, 5, 6], "only bodies with similar hashes are read");
    }
}
