//! One of a few rates.
//!
//! Edwards, McCurley & Tomlin (WWW 2001) plan for groups of pages that change about as often, since a plan for
//! each page of the web would be too large.

/// The fastest bucket: a change in an hour.
const FIRST: f64 = 1.0 / 3600.0;
/// How much slower each next one is. Twelve of them reach to a change in 20 years.
const STEP: f64 = 3.0;
/// How many there are.
const BUCKETS: f64 = 12.0;

/// The rate of the bucket that is nearest on a logarithmic scale.
pub fn rounded(rate: f64) -> f64 {
    let bucket = (FIRST / rate).log(STEP).round();
    FIRST / STEP.powf(bucket.clamp(0.0, BUCKETS - 1.0))
}
