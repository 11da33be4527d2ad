//! What do the facts so far say of a page that nobody has read, or not read since? One file, one way to keep
//! the answer up to date.

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
pub use flow::Flow;
pub use gains::{Gains, Window};
pub use hosts::Hosts;
pub use inherited::Inherited;
pub use links::Links;
pub use profit::{Ages, Curve, Histogram, Prior};
pub use rate::{Estimator, Rates, Threshold, change_rate};
pub use rhythm::{Rhythm, Watched};
pub use signals::{Trust, unheeded};
