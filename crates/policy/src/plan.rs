//! How often must pages be visited, and what does that give? One file, one formula of the literature.
//!
//! Web dynamics as in chapter 6.4 of Baldi, Frasconi & Smyth ("Modeling the Internet and the Web", 2003),
//! after Brewington & Cybenko (2000) and Cho & Garcia-Molina (2000), with the misprints corrected.
//! **Invariant:** pure functions of rates and intervals. Time has any unit, the same for all arguments of
//! a call: days and changes a day, or seconds and changes a second. A rate of 0 is a page that never
//! changes.

pub mod age;
pub mod allocation;
pub mod currency;
pub mod freshness;
pub mod gain;
pub mod growth;
pub mod lifetime;
pub mod polls;
pub mod signal;
pub mod slots;
pub mod weibull;

pub use weibull::Weibull;
