//! Groups search results with nearly the same text, so that only one of them is shown.
//!
//! Charikar's similarity hash (STOC 2002) selects candidate pairs, with the bound of 3 of 64
//! bits of Manku, Jain & Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007).
//! Pages of one template that repeat the same phrases also have similar hashes. So the
//! resemblance of the shingles (Broder 1997) decides.

use page::{Shingles, Simhash, TextDigest};

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

/// Groups near-duplicate results. `hashes` has the hash of each result, in the order of rank.
///
/// A result joins the first group whose best member it resembles. `body` reads the body of a
/// result; it is called only for results with similar hashes.
/// Returns the indexes of each group's members, best first; groups are in the order of their
/// best member.
pub(super) fn group<E>(
    hashes: &[u64],
    mut body: impl FnMut(usize) -> Result<String, E>,
) -> Result<Vec<Vec<usize>>, E> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut shingles: Vec<Option<Shingles>> = vec![None; hashes.len()];
    'results: for (place, &hash) in hashes.iter().enumerate() {
        for group in &mut groups {
            let first = group[0];
            if !is_near(hashes[first], hash) {
                continue;
            }
            for place in [first, place] {
                if shingles[place].is_none() {
                    let body = body(place)?;
                    shingles[place] = Some(TextDigest::of(prefix(&body, COMPARED)).shingles);
                }
            }
            if let (Some(one), Some(other)) = (&shingles[first], &shingles[place])
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
            Ok(bodies[place].to_owned())
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
