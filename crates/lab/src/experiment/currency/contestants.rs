//! Whose numbers does the user want?

use crate::LabError;
use crate::experiment::Setting;

/// All names that there are.
const NAMES: [&str; 6] = [
    "closed-form",
    "monte-carlo",
    "uniform",
    "model",
    "optimal",
    "proportional",
];

/// The names that are wanted; none: all.
pub(super) struct Contestants(Vec<String>);

impl Contestants {
    pub fn of(setting: &Setting) -> Result<Self, LabError> {
        let asked = setting.policies.iter().chain(&setting.against);
        for name in asked {
            if !NAMES.contains(&name.as_str()) {
                return Err(LabError::Wish(format!(
                    "{name:?} is no policy of this experiment; there are {}",
                    NAMES.join(", ")
                )));
            }
        }
        let mut wanted = setting.policies.clone();
        if !wanted.is_empty() {
            // Gains need both.
            wanted.extend(setting.against.clone());
        }
        Ok(Self(wanted))
    }

    pub fn wants(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|wanted| wanted == name)
    }

    /// Whether pages are to be drawn.
    pub fn draw(&self) -> bool {
        self.wants("monte-carlo")
    }

    /// Whether the crawler is to be run.
    pub fn crawl(&self) -> bool {
        self.wants("uniform") || self.wants("model")
    }
}
