//! What does a policy achieve on one web?

use std::iter::once;

use policy::catalog::{Catalog, Wishes};

use super::contestants::{IDEAL, RANDOM};
use super::ground::Ground;
use crate::LabError;
use crate::findings::{Measured, Params};
use crate::measure::{Curve, Truth, efficiency, mass, p_bc, p_cs, p_st};
use crate::run::{Trip, Web, trip};

/// From how many backlinks, or how much of another importance, on a page is hot: those of the paper.
pub(super) const TARGETS: [f64; 3] = [3.0, 10.0, 100.0];

/// Where on the crawl it is measured: after one page in a hundred, and after every twentieth part.
pub(super) fn shares() -> impl Iterator<Item = f64> {
    once(0.01).chain((1..=20).map(|n| f64::from(n) / 20.0))
}

/// All that is needed to judge a policy on one web.
pub(super) struct Judge<'a> {
    pub web: Web<'a>,
    pub ground: &'a Ground,
    pub truths: Vec<(&'static str, Truth)>,
    /// The share of the web that the limited buffer holds.
    pub buffer: f64,
    pub wishes: &'a Wishes,
}

impl Judge<'_> {
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

    /// The pages that the buffer holds, one at least.
    pub fn room(&self) -> usize {
        let size = (self.buffer * self.ground.pages.len() as f64).round() as usize;
        size.max(1)
    }

    /// What is measured of a crawl; `None`: what cannot be.
    pub fn curves(&self, trip: &Trip, importance: &str, truth: &Truth) -> Vec<Option<Curve>> {
        let visits = &trip.visits;
        let p_cs = p_cs::curve(visits, truth);
        let mut curves = vec![Some(p_cs.clone())];
        curves.extend(TARGETS.map(|target| p_st::curve(visits, truth, target)));
        curves.push(p_bc::of_drops(visits, &trip.drops, truth, self.room()));
        curves.push(Some(efficiency::named(p_cs)));
        curves.push(mass_of(importance).and_then(|metric| mass::curve(metric, visits, truth)));
        curves
    }

    pub fn ideal(&self, importance: &str, truth: &Truth) -> Vec<Option<Curve>> {
        let mut curves = vec![Some(p_cs::ideal(truth))];
        curves.extend(TARGETS.map(|target| p_st::ideal(truth, target)));
        curves.push(p_bc::ideal(truth, self.room()));
        curves.push(Some(efficiency::ideal(truth)));
        curves.push(mass_of(importance).and_then(|metric| mass::ideal(metric, truth)));
        curves
    }

    pub fn random(&self, importance: &str, truth: &Truth) -> Vec<Option<Curve>> {
        let mut curves = vec![Some(p_cs::random(truth))];
        curves.extend(TARGETS.map(|target| p_st::random(truth, target)));
        curves.push(p_bc::random(truth, self.room()));
        curves.push(Some(efficiency::random(truth)));
        curves.push(mass_of(importance).and_then(|metric| mass::random(metric, truth)));
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

    fn points(&self, policy: &str, importance: &str, curve: &Curve) -> Vec<Measured> {
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

/// The name of the mass of this importance, if it is measured.
fn mass_of(importance: &str) -> Option<&'static str> {
    (importance == "pagerank").then_some("pagerank_mass")
}
