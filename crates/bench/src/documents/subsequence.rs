//! The length of the longest common subsequence of two texts.

/// Most edits that are tried: beyond them the texts are too different to compare.
const EDITS: usize = 60_000;

/// Returns the length of the longest common subsequence; 0 beyond [`EDITS`] insertions and
/// deletions.
///
/// The greedy algorithm of Myers, "An O(ND) difference algorithm and its variations" (Algorithmica
/// 1986): `D` edits lead from one text to the other, and `(n + m - D) / 2` words are common. It is
/// exact, and fast for texts that are nearly equal.
pub fn common_length(one: &[u32], other: &[u32]) -> usize {
    let most = (one.len() + other.len()).min(EDITS);
    // The furthest place in `one` on each diagonal, which is that place minus the place in `other`.
    let mut furthest = vec![0_usize; 2 * most + 3];
    let middle = most + 1;
    for edits in 0..=most {
        for step in 0..=edits {
            // The diagonal is 2 * step - edits.
            let diagonal = middle + 2 * step - edits;
            let (below, above) = (furthest[diagonal - 1], furthest[diagonal + 1]);
            let down = step == 0 || step != edits && below < above;
            let mut place = if down { above } else { below + 1 };
            let mut opposite = place + middle - diagonal;
            while one
                .get(place)
                .is_some_and(|word| other.get(opposite) == Some(word))
            {
                place += 1;
                opposite += 1;
            }
            furthest[diagonal] = place;
            if place >= one.len() && opposite >= other.len() {
                return (one.len() + other.len() - edits) / 2;
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The textbook algorithm, with a table.
    fn by_table(one: &[u32], other: &[u32]) -> usize {
        let mut row = vec![0; other.len() + 1];
        for word in one {
            let mut diagonal = 0;
            for (place, opposite) in other.iter().enumerate() {
                let above = row[place + 1];
                row[place + 1] = match word == opposite {
                    true => diagonal + 1,
                    false => above.max(row[place]),
                };
                diagonal = above;
            }
        }
        row[other.len()]
    }

    #[test]
    fn it_agrees_with_the_table() {
        let mut state = 1_u64;
        let mut next = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..500 {
            let texts: [Vec<u32>; 2] = [(); 2].map(|()| {
                let length = next(12);
                (0..length).map(|_| next(4) as u32).collect()
            });
            let [one, other] = &texts;
            assert_eq!(common_length(one, other), by_table(one, other), "{texts:?}");
        }
    }
}
