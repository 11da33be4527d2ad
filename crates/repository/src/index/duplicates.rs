//! Groups results that have nearly the same text, so that one of them is shown.
//!
//! Charikar's similarity hash (STOC 2002), with the bound of 3 of 64 bits of Manku, Jain & Das Sarma, "Detecting
//! near-duplicates for web crawling" (WWW 2007).

/// Bits in which the hashes of near-duplicates may differ.
const DISTANCE: u32 = 3;

/// Bytes of a body that has a hash: shorter ones are alike by chance.
pub(super) const SHORTEST: usize = 400;

/// Groups results by their hashes, which are in the order of their ranks. 0 resembles nothing. Returns for each
/// group the places of its members, the best first; groups are in the order of their best.
pub(super) fn group(hashes: &[u64]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, &hash) in hashes.iter().enumerate() {
        let alike = |group: &&mut Vec<usize>| {
            let first = hashes[group[0]];
            first != 0 && (first ^ hash).count_ones() <= DISTANCE
        };
        match groups.iter_mut().find(alike).filter(|_| hash != 0) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_are_alike_stand_together() {
        let groups = group(&[0, 0, 0x700, u64::MAX, 0, 0xf00]);
        assert_eq!(groups, [vec![0], vec![1], vec![2, 5], vec![3], vec![4]]);
        assert!(group(&[]).is_empty());
    }
}
