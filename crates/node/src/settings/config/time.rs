//! How do people write a time?

use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use schemars::JsonSchema;
use serde::Deserialize;

/// A time as people write it: `500ms`, `10m`, `2h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Time(#[schemars(with = "String")] pub Duration);

impl std::str::FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("{text:?} is not a time: write 500ms, 30s, 10m, 2h or 7d");
        let span: Span = text.parse().map_err(wrong)?;
        let exact = span
            .to_duration(SpanRelativeTo::days_are_24_hours())
            .map_err(wrong)?;
        Duration::try_from(exact)
            .map(Self)
            .map_err(|_| format!("{text:?} is a time before now"))
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
