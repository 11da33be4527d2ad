//! How much may `run` spend?
//!
//! **Invariant:** a budget is given once, and is above zero.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::upkeep::Rate;

/// `[budget]`: one of the two.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields, try_from = "BudgetFields")]
pub struct BudgetConfig(Option<Rate>);

#[derive(Deserialize, Default, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct BudgetFields {
    /// Fetches a second, at most.
    #[schemars(example = 1.0)]
    fetches_per_second: Option<f64>,
    /// Fetches a day; instead of the other, at most.
    #[schemars(example = 86400.0)]
    fetches_per_day: Option<f64>,
}

impl TryFrom<BudgetFields> for BudgetConfig {
    type Error = String;

    fn try_from(fields: BudgetFields) -> Result<Self, String> {
        let fetches = match (fields.fetches_per_second, fields.fetches_per_day) {
            (Some(_), Some(_)) => {
                return Err("write fetches_per_second or fetches_per_day, not both".into());
            }
            (Some(second), None) => second,
            (None, Some(day)) => day / 86_400.0,
            (None, None) => return Ok(Self(None)),
        };
        let rate = Rate::per_second(fetches).ok_or("a budget must be a number above zero")?;
        Ok(Self(Some(rate)))
    }
}

impl BudgetConfig {
    /// Fetches over time, if the user says how many.
    pub fn rate(&self) -> Option<Rate> {
        self.0
    }
}
