//! The meaning of the section `[[site]]`.

use std::time::Duration;

use crawl::scope::SiteScope;
use crawl::{Blocked, OpenHours, SiteRules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Rate, SiteSettings};

/// A rate as text, such as `500/day`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct RateText(String);

impl TryFrom<String> for RateText {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse::<Rate>().map(|_| Self(text))
    }
}

/// Hours of the day in UTC, such as `22:00-06:00`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct SiteHours(String);

impl TryFrom<String> for SiteHours {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        OpenHours::parse(&text).map(|_| Self(text))
    }
}

impl SiteSettings {
    /// Returns the rules for the core. Fails if a host is invalid.
    pub fn rules(&self) -> Result<SiteRules, String> {
        if self.hosts.is_empty() {
            return Err("a section [[site]] has no hosts: write hosts = [\"example.org\"]".into());
        }
        let hosts = self.hosts.iter().map(|host| Blocked::parse(host));
        let rate = self
            .budget
            .as_ref()
            .map(|RateText(text)| text.parse::<Rate>());
        let rate = rate.transpose()?.map(|rate| rate.per_second.recip());
        let spread = rate.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let hours = self
            .hours
            .as_ref()
            .map(|SiteHours(text)| OpenHours::parse(text));
        Ok(SiteRules {
            hosts: hosts.collect::<Result<_, _>>()?,
            // The longer one: `None` is less than any time.
            delay: self.delay.map(|delay| delay.0).max(spread),
            hours: hours.transpose()?,
        })
    }

    /// Returns the scope of these sites.
    pub fn scope(&self) -> SiteScope {
        SiteScope {
            hosts: self.hosts.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            depth: self.depth,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layer;
    use super::*;

    fn rules(toml: &str) -> Result<SiteRules, String> {
        let layer = Layer::parse(toml).map_err(|error| error.to_string())?;
        let settings = layer.settings().map_err(|error| format!("{error:#}"))?;
        settings.site[0].rules()
    }

    #[test]
    fn a_budget_is_a_delay_and_the_longer_one_holds() {
        let delay = |more: &str| {
            let toml = format!("[[site]]\nhosts = [\"a.example\"]\n{more}");
            rules(&toml).map(|rules| rules.delay.map(|delay| delay.as_secs()))
        };
        assert_eq!(delay(""), Ok(None));
        assert_eq!(delay("delay = \"5s\""), Ok(Some(5)));
        assert_eq!(delay("budget = \"90/h\""), Ok(Some(40)));
        assert_eq!(delay("budget = \"90/h\"\ndelay = \"1m\""), Ok(Some(60)));
        for wrong in ["budget = \"many\"", "hours = \"nights\"", "hosts = []"] {
            let toml = format!("[[site]]\n{wrong}");
            assert!(rules(&toml).is_err(), "{wrong}");
        }
    }
}
