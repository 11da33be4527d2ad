//! Estimates of unknown properties of pages, kept up to date as facts arrive. Each file holds
//! one estimator.

mod arrivals;
mod column;
mod flow;
mod gains;
mod hosts;
mod inherited;
mod links;
mod profit;
mod rate;
mod rhythm;
mod signals;

pub use arrivals::{Arrivals, Polled};
pub use column::Column;
pub use flow::RankFlow;
pub use gains::{Gains, Window};
pub use hosts::PageHosts;
pub use inherited::Inherited;
pub use links::Links;
pub use profit::{Ages, Histogram, Prior, ProfitCurve};
pub use rate::{Estimator, Rates, Threshold, change_rate};
pub use rhythm::{ObservedTime, Rhythm};
pub use signals::{Trust, unheeded};
