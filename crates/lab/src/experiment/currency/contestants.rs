//! Selection of the policies whose numbers are reported.

use crate::LabError;
use crate::experiment::ExperimentSetup;

/// Names that the user may choose from.
const NAMES: [&str; 6] = [
    "closed-form",
    "monte-carlo",
    "uniform",
    "model",
    "optimal",
    "proportional",
];

/// The chosen names; empty means all.
pub(super) struct CurrencyContestants(Vec<String>);

impl CurrencyContestants {
    pub fn of(setting: &ExperimentSetup) -> Result<Self, LabError> {
        let asked = setting.policies.iter().chain(&setting.against);
        for name in asked {
            if !NAMES.contains(&name.as_str()) {
                return Err(LabError::Wish(format!(
                    "{name:?} is not a policy of this experiment; there are {}",
                    NAMES.join(", ")
                )));
            }
        }
        let mut wanted = setting.policies.clone();
        if !wanted.is_empty() {
            // A gain needs the numbers of both policies.
            wanted.extend(setting.against.clone());
        }
        Ok(Self(wanted))
    }

    pub fn wants(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|wanted| wanted == name)
    }

    pub fn draw(&self) -> bool {
        self.wants("monte-carlo")
    }

    pub fn crawl(&self) -> bool {
        self.wants("uniform") || self.wants("model")
    }
}
