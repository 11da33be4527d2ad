//! Estimates what searchers lose while the copy of a page is outdated.
//!
//! Pandey & Olston (2005) measure the quality gain ΔQ_A of every refresh. Measured gains are
//! rare and heavy-tailed: on recorded histories 1 % of the changes held 35 to 65 % of all gain,
//! and the gains of a page in one half of its history hardly predicted those in the other. The
//! demand for a page and the share of its text that a change replaces predict better. So the gain
//! of a change is predicted as `κ·v·d`, and the measured gains of the page correct the prediction:
//!
//! `√A = (Σ√ΔQ/μ + s·√(κ·v·d)) / (K + s)`
//!
//! where v is the demand for the page, d the share that a change replaces, K the number of its
//! measured changes, and s the pseudo-count of the prediction. All pages share κ, μ and s
//! ([`GainModel`]). With a half-life, Σ√ΔQ and K are [weighted by age](AgedGains).
//!
//! Square roots keep one large gain from deciding alone. In one recorded history a site added a
//! word to a thousand pages at once. The pages that happened to be refreshed first went to the
//! top of the results for that word, and gained more by this change than by all their others.
//!
//! **Invariant:** a larger measured gain never lowers A, nor does a larger demand.

mod model;

use super::{Demand, PageSample};
use crate::history::AgedGains;
use crate::{History, VisitFact};
pub use model::GainModel;
use model::{Prior, SampledCopy, SampledGains};

/// The share of new evidence after which the parameters are estimated again.
const REFIT: f64 = 0.05;
/// The least number of measured changes and first copies before the first estimate, and between
/// two.
const ENOUGH: f64 = 20.0;

/// Estimates the gains of all pages.
#[derive(Debug, Clone)]
pub struct Gains {
    /// Half-life of the measured gains of a page, in seconds. Infinite if all count alike.
    half_life: f64,
    model: GainModel,
    prior: Prior,
    /// Pages with a measured change.
    changed: PageSample<SampledGains>,
    /// Pages with a copy.
    copies: PageSample<SampledCopy>,
    /// Number of measured changes and first copies on all pages: now, and at the last estimate.
    evidence: (f64, f64),
}

impl Gains {
    /// Creates estimates with this half-life of measured gains, in seconds. It may be infinite.
    pub fn new(half_life: f64) -> Self {
        Self {
            half_life,
            model: GainModel::default(),
            prior: Prior::default(),
            changed: PageSample::default(),
            copies: PageSample::default(),
            evidence: (0.0, 0.0),
        }
    }

    /// Adds a visit to a page of this importance, whose changes replace this share of its text.
    pub fn visited(
        &mut self,
        visited: &VisitFact<'_>,
        importance: f64,
        share: f64,
        demand: &Demand,
    ) {
        let history = visited.after;
        if history.fresh.is_none() {
            return;
        }
        let copy = SampledCopy {
            importance,
            first_gain: history.first_gain.map(f64::from),
        };
        self.copies.offer(visited.page, copy);
        let gains = SampledGains {
            measured: history.measured,
            importance,
            share,
        };
        if gains.measured.changes > 0 {
            self.changed.offer(visited.page, gains);
        }
        let count = |history: &History| {
            f64::from(history.measured.changes) + f64::from(u8::from(history.fresh.is_some()))
        };
        self.evidence.0 += count(visited.after) - count(visited.before);
        let (now, then) = self.evidence;
        if now - then >= ENOUGH.max(REFIT * then) {
            self.evidence.1 = now;
            self.prior = Prior::fit(&self.copies, demand);
            self.model = GainModel::fit(&self.changed, &self.copies, &self.prior, demand);
        }
    }

    /// Returns the demand that the importance of a page predicts; that for the mean page is 1.
    pub fn predicted_demand(&self, importance: f64) -> f64 {
        self.prior.demand(importance)
    }

    /// Returns the parameters that all pages share.
    pub fn model(&self) -> &GainModel {
        &self.model
    }

    /// Returns A: what searchers lose per second after one missed change, for a page with this
    /// demand and changed share.
    pub fn amplitude(&self, history: &History, demand: f64, share: f64) -> f64 {
        let model = &self.model;
        let predicted = model.complete(demand) * share;
        if model.strength.is_infinite() || history.measured.changes == 0 {
            return predicted;
        }
        let AgedGains { changes, roots } = AgedGains::of(history, self.half_life);
        let roots = roots / model.mean_root;
        let root = (roots + model.strength * predicted.sqrt()) / (changes + model.strength);
        root * root
    }

    /// Returns what searchers lose per second while a page of this importance has no copy.
    pub fn missing(&self, importance: f64) -> f64 {
        self.model.missing(self.predicted_demand(importance))
    }
}

#[cfg(test)]
mod tests;
