//! Rounds rates to a few fixed values.
//!
//! Edwards, McCurley & Tomlin (WWW 2001) plan for groups of pages with similar rates, because a
//! plan for each page of the web would be too large.

/// The rate of the fastest bucket, in changes per second: one change per hour.
const FIRST: f64 = 1.0 / 3600.0;
/// The ratio of the rates of neighbouring buckets.
const STEP: f64 = 3.0;
/// Number of buckets. The slowest has one change in 20 years.
const BUCKETS: f64 = 12.0;

/// Returns the rate of the bucket that is nearest to `rate` on a logarithmic scale. Both are in
/// changes per second.
pub fn rounded(rate: f64) -> f64 {
    let bucket = (FIRST / rate).log(STEP).round();
    FIRST / STEP.powf(bucket.clamp(0.0, BUCKETS - 1.0))
}
