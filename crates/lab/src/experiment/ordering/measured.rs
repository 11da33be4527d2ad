//! Measurement of one ordering on the web of one run.

use std::iter::once;

use policy::catalog::{Catalog, Wishes};

use super::contestants::{IDEAL, RANDOM};
use super::ground::ReachableWeb;
use crate::LabError;
use crate::findings::{Measured, Params};
use crate::measure::{MetricCurve, Truth, efficiency, mass, p_bc, p_cs, p_st};
use crate::run::{CrawlableWorld, Trip, trip};

/// Least importance of a hot page: the paper's backlink counts, used for other metrics too.
pub(super) const TARGETS: [f64; 3] = [3.0, 10.0, 100.0];

/// Returns the shares of the crawl at which curves are sampled: 1 %, and multiples of 5 %.
pub(super) fn shares() -> impl Iterator<Item = f64> {
    once(0.01).chain((1..=20).map(|n| f64::from(n) / 20.0))
}

/// Crawls the web of a run with an ordering and measures the order of the visits.
pub(super) struct OrderingJudge<'a> {
    pub web: CrawlableWorld<'a>,
    pub ground: &'a ReachableWeb,
    pub truths: Vec<(&'static str, Truth)>,
    /// Size of the limited buffer, as a share of the web.
    pub buffer: f64,
    pub wishes: &'a Wishes,
}

impl OrderingJudge<'_> {
    pub fn judge(&self, name: &str) -> Result<Vec<Measured>, LabError> {
        let trip = match name {
            IDEAL | RANDOM => None,
            order => Some(self.crawl(order)?),
        };
        let mut measured = Vec::new();
        for (importance, truth) in &self.truths {
            let curves = match (name, &trip) {
                (IDEAL, _) => self.ideal(importance, truth),
                (_, None) => self.random(importance, truth),
                (_, Some(trip)) => self.curves(trip, importance, truth),
            };
            for curve in curves.iter().flatten() {
                measured.extend(self.points(name, importance, curve));
            }
        }
        Ok(measured)
    }

    /// Returns the size of the buffer in pages, at least 1.
    pub fn room(&self) -> usize {
        let size = (self.buffer * self.ground.pages.len() as f64).round() as usize;
        size.max(1)
    }

    /// Returns curves of all measures; `None` where a measure is undefined.
    pub fn curves(&self, trip: &Trip, importance: &str, truth: &Truth) -> Vec<Option<MetricCurve>> {
        let visits = &trip.visits;
        let p_cs = p_cs::curve(visits, truth);
        let mut curves = vec![Some(p_cs.clone())];
        curves.extend(TARGETS.map(|target| p_st::curve(visits, truth, target)));
        curves.push(p_bc::of_drops(visits, &trip.drops, truth, self.room()));
        curves.push(Some(efficiency::named(p_cs)));
        curves.push(mass_of(importance).and_then(|metric| mass::curve(metric, visits, truth)));
        curves.extend(targeted(truth, |target| p_st::curve(visits, truth, target)));
        curves
    }

    pub fn ideal(&self, importance: &str, truth: &Truth) -> Vec<Option<MetricCurve>> {
        let mut curves = vec![Some(p_cs::ideal(truth))];
        curves.extend(TARGETS.map(|target| p_st::ideal(truth, target)));
        curves.push(p_bc::ideal(truth, self.room()));
        curves.push(Some(efficiency::ideal(truth)));
        curves.push(mass_of(importance).and_then(|metric| mass::ideal(metric, truth)));
        curves.extend(targeted(truth, |target| p_st::ideal(truth, target)));
        curves
    }

    pub fn random(&self, importance: &str, truth: &Truth) -> Vec<Option<MetricCurve>> {
        let mut curves = vec![Some(p_cs::random(truth))];
        curves.extend(TARGETS.map(|target| p_st::random(truth, target)));
        curves.push(p_bc::random(truth, self.room()));
        curves.push(Some(efficiency::random(truth)));
        curves.push(mass_of(importance).and_then(|metric| mass::random(metric, truth)));
        curves.extend(targeted(truth, |target| p_st::random(truth, target)));
        curves
    }

    fn crawl(&self, order: &str) -> Result<Trip, LabError> {
        let order = Catalog::standard().order(order, self.wishes);
        let order = order.map_err(|error| LabError::Wish(error.to_string()))?;
        let trip = trip(self.web, order, &[self.ground.start], self.room());
        Ok(Trip {
            visits: self.ground.places(&trip.visits),
            drops: self.ground.places(&trip.drops),
        })
    }

    fn points(&self, policy: &str, importance: &str, curve: &MetricCurve) -> Vec<Measured> {
        let pages = self.ground.pages.len();
        let point = |x: f64| {
            Some(Measured {
                policy: policy.to_owned(),
                params: Params::from([("importance".to_owned(), importance.into())]),
                metric: curve.metric.clone(),
                x,
                value: curve.at(x, pages)?,
            })
        };
        shares().filter_map(point).collect()
    }
}

/// Returns the efficiency q_t(G)/t for each target G, from the P_ST curves.
fn targeted(
    truth: &Truth,
    p_st: impl Fn(f64) -> Option<MetricCurve>,
) -> [Option<MetricCurve>; TARGETS.len()] {
    TARGETS.map(|target| {
        let curve = p_st(target)?;
        Some(efficiency::with_target(curve, truth, target))
    })
}

/// Returns the metric name of this importance's mass, if it is measured.
fn mass_of(importance: &str) -> Option<&'static str> {
    (importance == "pagerank").then_some("pagerank_mass")
}
