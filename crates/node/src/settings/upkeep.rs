//! How is a store kept fresh, as the user wrote it?

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use policy::Refresh;
use policy::catalog::{Catalog, Upkeep};
use serde::{Deserialize, Serialize};

use crate::settings::polling::Polling;
use crate::settings::ranking::read_scores;

/// The refresh policy that is used where the user names none.
pub const POLICY: &str = "holistic";

/// A refresh policy and what it may spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refreshing {
    /// The policy, an expression of the catalog.
    pub policy: String,
    /// How change rates are estimated, a name of the catalog.
    pub rate: Option<String>,
    /// Where the change rates for `given` are.
    pub rates: Option<PathBuf>,
    /// Fetches a second.
    pub budget: f64,
    /// The steps that `sbr` and `ebr` plan in.
    pub step: Option<Duration>,
    /// How many steps they plan ahead.
    pub slots: Option<u32>,
    /// How often sitemaps and feeds are polled at least.
    pub listings: Option<Duration>,
    /// How pages are polled that name new ones.
    pub sources: Polling,
}

/// How often sitemaps and feeds are polled where the user does not say. Ours: most are made once a day.
const LISTINGS: Duration = Duration::from_secs(86_400);

impl Refreshing {
    /// How often sitemaps and feeds are polled.
    pub fn listings(&self) -> Duration {
        self.listings.unwrap_or(LISTINGS)
    }

    /// Whether these differ from others by the budget alone, and nothing was planned ahead for it.
    pub fn differs_by_budget(&self, other: &Self) -> bool {
        let budget = other.budget;
        let alike = Self {
            budget,
            ..self.clone()
        };
        let planned = Catalog::standard().plans_ahead(&self.policy, &self.sources.policy);
        self.budget != budget && alike == *other && !planned
    }

    /// Makes the policy, or says what is wrong with the wishes.
    pub fn choose(&self) -> Result<Box<dyn Refresh>> {
        let usual = Upkeep::default();
        let rates = self.rates.as_deref().map(read_scores).transpose()?;
        let upkeep = Upkeep {
            rate: self.rate.clone(),
            rates: rates.map(Arc::new),
            budget: Some(self.budget),
            step: self.step.unwrap_or(usual.step),
            slots: self.slots.unwrap_or(usual.slots),
            since: None,
        };
        let catalog = Catalog::standard();
        catalog.refresh(&self.policy, &upkeep).context("--refresh")
    }
}

/// Fetches over time, as people write it: `2/s`, `90/min`, `500/h`, `50000/day`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Rate {
    /// Fetches a second.
    pub per_second: f64,
}

impl Rate {
    /// Where the user says nothing: what a small site can bear.
    pub const USUAL: Self = Self { per_second: 1.0 };

    /// So many a second; `None` if that is no positive finite number.
    pub fn per_second(fetches: f64) -> Option<Self> {
        let good = fetches > 0.0 && fetches.is_finite();
        good.then_some(Self {
            per_second: fetches,
        })
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no budget: write 2/s, 90/min, 500/h or 50000/day");
        let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "s" | "second" => 1.0,
            "m" | "min" | "minute" => 60.0,
            "h" | "hour" => 3600.0,
            "d" | "day" => 86_400.0,
            _ => return Err(wrong()),
        };
        Self::per_second(number / seconds).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A share as people write it: `95%` or `0.95`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(pub f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no share: write 95% or 0.95");
        let (number, whole) = match text.strip_suffix('%') {
            Some(number) => (number, 100.0),
            None => (text, 1.0),
        };
        let share = number.trim().parse::<f64>().map_err(|_| wrong())? / whole;
        let good = share > 0.0 && share < 1.0;
        good.then_some(Self(share)).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::polling;

    #[test]
    fn budgets_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Rate>().map(|rate| rate.per_second);
        assert_eq!(read("2/s"), Ok(2.0));
        assert_eq!(read("90/min"), Ok(1.5));
        assert_eq!(read("1800 / h"), Ok(0.5));
        assert_eq!(read("43200/day"), Ok(0.5));
        for wrong in ["2", "0/s", "-1/s", "x/s", "2/week", "inf/s", "/s"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Share>().map(|share| share.0);
        assert_eq!(read("95%"), Ok(0.95));
        assert_eq!(read("0.5"), Ok(0.5));
        for wrong in ["", "100%", "0", "95", "-1%", "x%"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    fn refreshing(policy: &str, rate: Option<&str>) -> Refreshing {
        Refreshing {
            policy: policy.into(),
            rate: rate.map(str::to_owned),
            rates: None,
            budget: 1.0,
            step: None,
            slots: None,
            listings: None,
            sources: Polling::by(polling::SCHEDULER),
        }
    }

    #[test]
    fn what_was_planned_for_a_budget_does_not_hold_for_another() {
        let other = |before: &Refreshing| Refreshing {
            budget: 2.0,
            ..before.clone()
        };
        let usual = refreshing(POLICY, None);
        assert!(usual.differs_by_budget(&other(&usual)));
        assert!(!usual.differs_by_budget(&usual));
        assert!(!usual.differs_by_budget(&other(&refreshing("uniform", None))));
        assert!(!usual.differs_by_budget(&other(&refreshing(POLICY, Some("mle")))));
        let slotted = refreshing("sbr(0.3)", None);
        assert!(!slotted.differs_by_budget(&other(&slotted)));
        let polled = Refreshing {
            sources: Polling::by("echo-schedule"),
            ..usual
        };
        assert!(!polled.differs_by_budget(&other(&polled)));
    }

    #[test]
    fn wrong_wishes_say_what_to_write() {
        let error = |policy, rate| match refreshing(policy, rate).choose() {
            Ok(_) => panic!("{policy} {rate:?} should be refused"),
            Err(error) => format!("{error:#}"),
        };
        assert!(refreshing(POLICY, None).choose().is_ok());
        assert!(error("freshnes", None).contains("freshness"));
        assert!(error("freshness", Some("gama")).contains("gamma"));
        assert!(error("freshness", Some("given")).contains("--rates"));
    }
}
