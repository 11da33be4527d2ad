//! Knee of a falling distribution.
//!
//! Pandey & Olston (2005), §6, drop queries below "a knee in the distribution" of relevance, which
//! they found by eye. Here it is computed from the logarithms of the values, by rank. The knee is
//! the value farthest above the straight line from the first to the last (Satopää et al., "Finding
//! a kneedle in a haystack", 2011, without smoothing). Values fall steeply after it.

/// Returns how many values are at or above the knee. Values must be positive, largest first.
///
/// Returns the number of all values if there are fewer than three, or if there is no knee.
pub(super) fn knee(falling: &[f64]) -> usize {
    let (Some(first), Some(last)) = (falling.first(), falling.last()) else {
        return 0;
    };
    let (first, last) = (first.ln(), last.ln());
    let steps = (falling.len() - 1) as f64;
    let above = |(rank, value): (usize, &f64)| {
        let line = first + (last - first) * rank as f64 / steps;
        (value.ln() - line, rank)
    };
    let heights = falling.iter().enumerate().map(above);
    let highest = heights.reduce(|best, next| if next.0 > best.0 { next } else { best });
    match highest {
        // No knee: the curve is straight or lies below its chord.
        Some((height, rank)) if height > 1e-9 => rank + 1,
        _ => falling.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_the_value_farthest_above_the_chord() {
        let check = |falling: &[f64], expected| assert_eq!(knee(falling), expected, "{falling:?}");
        check(&[], 0);
        check(&[3.0], 1);
        check(&[8.0, 4.0, 2.0, 1.0], 4);
        check(&[10.0, 9.0, 8.0, 7.0, 0.1, 0.01], 4);
        check(&[1e6, 1.0, 0.5, 0.3], 4);
    }
}
