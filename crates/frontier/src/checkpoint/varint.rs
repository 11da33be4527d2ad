//! Numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number.
pub(super) fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns the number of bytes that [`put`] appends for a number.
pub(super) fn bytes_of(number: u64) -> usize {
    let bits = u64::BITS - number.leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

/// Removes a number from the front of `bytes`; `None`: there is none.
#[inline]
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut number = u64::from(first & 0x7f);
    for shift in (7..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Removes a number of four bytes at most.
#[inline]
pub(super) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(bytes)?).ok()
}

/// Maps a difference to a number that is small if the difference is small, whatever its sign.
pub(super) fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Removes `N` bytes from the front of `bytes`.
#[inline]
pub(super) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (array, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*array)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers in prop::collection::vec(any::<u64>(), 0..50), shift in 0u32..64) {
            let mut bytes = Vec::new();
            for number in &numbers {
                let before = bytes.len();
                put(number >> shift, &mut bytes);
                prop_assert_eq!(bytes.len() - before, bytes_of(number >> shift));
                put(zigzag(*number as i64), &mut bytes);
            }
            let mut rest = bytes.as_slice();
            for number in &numbers {
                prop_assert_eq!(take(&mut rest), Some(number >> shift));
                prop_assert_eq!(take(&mut rest).map(unzigzag), Some(*number as i64));
            }
            prop_assert_eq!(take(&mut rest), None);
        }
    }

    #[test]
    fn a_number_that_does_not_end_is_refused() {
        assert_eq!(take(&mut [0x80; 3].as_slice()), None);
        assert_eq!(take(&mut [0xff; 20].as_slice()), None);
    }
}
