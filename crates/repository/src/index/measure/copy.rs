//! What did the last copy of a page have, in few bytes?
//!
//! **Invariant:** what is written is read back, in the same order. Three bytes a word for nearly all words.

use tantivy::fieldnorm::FieldNormReader;

/// Says that the whole tally follows.
const MORE: u8 = u8::MAX;

/// The words of a copy that people search for, and the lengths of its fields as the index keeps them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) lengths: Lengths,
    words: Box<[u8]>,
}

/// The lengths of title, text and URL, as tantivy rounds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths(pub(super) [u8; 3]);

impl Lengths {
    pub(super) fn of(words: [u32; 3]) -> Self {
        Self(words.map(FieldNormReader::fieldnorm_to_id))
    }
}

impl Copy {
    pub(super) fn new(lengths: Lengths, counts: impl Iterator<Item = (u16, u64)>) -> Self {
        let mut words = Vec::new();
        for (word, times) in counts {
            words.extend(word.to_le_bytes());
            match u8::try_from(times) {
                Ok(times) if times < MORE => words.push(times),
                _ => {
                    words.push(MORE);
                    words.extend(times.to_le_bytes());
                }
            }
        }
        Self {
            lengths,
            words: words.into(),
        }
    }

    /// The words and how often the copy had them.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u16, u64)> {
        let mut rest = &self.words[..];
        std::iter::from_fn(move || {
            let (word, after) = rest.split_first_chunk::<2>()?;
            let (&times, after) = after.split_first()?;
            let word = u16::from_le_bytes(*word);
            if times < MORE {
                rest = after;
                return Some((word, u64::from(times)));
            }
            let (times, after) = after.split_first_chunk::<8>()?;
            rest = after;
            Some((word, u64::from_le_bytes(*times)))
        })
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.words.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_back() {
        let counts = [
            (0, 1),
            (7, 254),
            (49_999, 255),
            (3, 1 << 48 | 5),
            (9, u64::MAX),
        ];
        let copy = Copy::new(Lengths::of([1, 2, 3]), counts.into_iter());
        assert_eq!(copy.counts().collect::<Vec<_>>(), counts);
        assert_eq!(copy.lengths, Lengths([1, 2, 3]));
        assert!(copy.size() > 5 * 3 + 3 * 8);
    }
}
