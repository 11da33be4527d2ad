//! Estimates of unknown properties of pages, kept up to date as facts arrive. Each file holds
//! one estimator, or one table that estimators use.

mod arrivals;
mod column;
mod credibility;
mod demand;
mod flow;
mod gains;
mod host_gains;
mod hosts;
mod inherited;
mod links;
mod profit;
mod rate;
mod read_parts;
mod rhythm;
mod sample;
mod signals;
mod turnover;

pub use arrivals::{Arrivals, Polled};
pub use column::Column;
pub use credibility::{Credibility, PageSums};
pub use demand::Demand;
pub use flow::RankFlow;
pub use gains::Gains;
pub use host_gains::HostGains;
pub use hosts::PageHosts;
pub use inherited::Inherited;
pub use links::Links;
pub use profit::{Ages, BINS, Histogram, Prior, ProfitCurve};
pub use rate::{Estimator, Rates, Threshold, change_rate};
pub use read_parts::ReadParts;
pub use rhythm::{ObservedTime, Rhythm};
pub use sample::PageSample;
pub use signals::{Trust, pending_hints};
pub use turnover::Turnover;
