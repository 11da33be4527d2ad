//! Formulas for how often to visit pages, and what the visits achieve. Each file holds one model
//! of the literature.
//!
//! Web dynamics are modelled as in chapter 6.4 of Baldi, Frasconi & Smyth ("Modeling the
//! Internet and the Web", 2003), after Brewington & Cybenko (2000) and Cho & Garcia-Molina
//! (2000), with the misprints corrected. Numbers of equations such as (6.20) are those of that
//! book.
//!
//! **Invariant:** all are pure functions. Where no unit is named, any unit of time works if all
//! arguments of a call use it: days and changes per day, or seconds and changes per second. A
//! rate of 0 means a page that never changes.

pub mod age;
pub mod aliasing;
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
