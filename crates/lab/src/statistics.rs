//! Means with confidence intervals.
//!
//! The intervals use Student's t-distribution (1908), because runs are few and their variance is
//! estimated from them, too.

/// A mean over runs, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// The mean; NaN if there was no run.
    pub value: f64,
    /// The 95 % confidence interval; `None` for fewer than two runs.
    pub interval: Option<(f64, f64)>,
}

/// The .975 quantiles of Student's distribution with 1, 2, … 30 degrees of freedom.
const QUANTILES: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

impl Mean {
    /// Computes the mean of these values.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let value = values.iter().sum::<f64>() / count;
        let interval = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|one| (one - value).powi(2)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            let half = quantile(values.len() - 1) * error;
            (value - half, value + half)
        });
        Self { value, interval }
    }
}

/// Returns the .975 quantile of Student's distribution with this many degrees of freedom.
///
/// Beyond the table it uses the first term of the Cornish-Fisher expansion. The error is .003 at
/// 31 degrees and falls with their square.
fn quantile(freedom: usize) -> f64 {
    let normal = 1.959_964_f64;
    let beyond = normal + (normal.powi(3) + normal) / (4.0 * freedom as f64);
    QUANTILES.get(freedom - 1).copied().unwrap_or(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_and_quantiles_agree_with_published_tables() {
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(mean.value, 2.5);
        // s = 1.29099, error = .645497, t(3) = 3.182.
        let (low, high) = mean.interval.unwrap();
        assert!((low - 0.446_03).abs() < 1e-4 && (high - 4.553_97).abs() < 1e-4);
        assert_eq!(Mean::of(&[7.0]).interval, None);
        assert!(Mean::of(&[]).value.is_nan());
        for (freedom, expected) in [(1, 12.706), (30, 2.042), (40, 2.021), (120, 1.980)] {
            assert!((quantile(freedom) - expected).abs() < 2e-3, "{freedom}");
        }
    }
}
