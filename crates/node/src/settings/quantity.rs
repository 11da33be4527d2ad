//! Values as people write them: a time (`10m`), a rate of fetches (`90/min`), a share (`95%`), an
//! address to listen at (`:8321`).

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration, written like `500ms`, `10m`, `2h` or `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Time(#[schemars(with = "String")] pub Duration);

impl Time {
    /// Returns a duration of whole seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("{text:?} is not a time: write 500ms, 30s, 10m, 2h or 7d");
        let span: Span = text.parse().map_err(wrong)?;
        let exact = span
            .to_duration(SpanRelativeTo::days_are_24_hours())
            .map_err(wrong)?;
        Duration::try_from(exact)
            .map(Self)
            .map_err(|_| format!("{text:?} is negative: write 500ms, 30s, 10m, 2h or 7d"))
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        write!(f, "{exact:#}")
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

/// Fetches per second, written like `2/s`, `90/min`, `500/h` or `50000/day`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Fetches per second, above zero.
    pub per_second: f64,
}

impl Rate {
    /// The default budget, one fetch per second: a small site can bear it.
    pub const USUAL: Self = Self { per_second: 1.0 };
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
        let per_second = number / seconds;
        let good = per_second > 0.0 && per_second.is_finite();
        good.then_some(Self { per_second }).ok_or_else(wrong)
    }
}

/// A share above 0 and below 1, written like `95%` or `0.95`.
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

/// An address to listen at, written like `127.0.0.1:8321`, `localhost:8321`, `:8321` or `8321`. A
/// port alone means 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct ListenAddress(#[schemars(with = "String")] pub SocketAddr);

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.strip_prefix("localhost:");
        let port = port.or_else(|| text.strip_prefix(':')).unwrap_or(text);
        let loopback = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let address = port.parse().map(loopback).or_else(|_| text.parse());
        address.map(Self).map_err(|_| {
            format!("{text:?} is no address to listen at: write 127.0.0.1:8321, [::1]:8321 or 8321")
        })
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ListenAddress> for String {
    fn from(address: ListenAddress) -> Self {
        address.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_addresses_default_to_loopback_and_other_texts_are_refused() {
        let read = |text: &str| Some(String::from(text.parse::<ListenAddress>().ok()?));
        let loopback = Some("127.0.0.1:8321".to_owned());
        for text in ["8321", ":8321", "localhost:8321", "127.0.0.1:8321"] {
            assert_eq!(read(text), loopback, "{text}");
        }
        assert_eq!(read("[::1]:80").as_deref(), Some("[::1]:80"));
        assert_eq!(read("0.0.0.0:80").as_deref(), Some("0.0.0.0:80"));
        for text in ["", ":", "65536", "example.org:80", "8321x", "127.0.0.1"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn times_with_a_unit_are_parsed_and_other_texts_are_refused() {
        let read = |text: &str| text.parse::<Time>().map(|time| time.0.as_millis());
        assert_eq!(read("500ms"), Ok(500));
        assert_eq!(read("10m"), Ok(600_000));
        assert_eq!(read("7d"), Ok(604_800_000));
        assert_eq!(read("1h 30m"), Ok(5_400_000));
        for wrong in ["", "ten", "-5s", "5 parsecs"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_parsed() {
        for text in ["500ms", "10s", "2m", "1h 30m", "24h"] {
            assert_eq!(text.parse::<Time>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn budgets_with_a_unit_are_parsed_and_other_texts_are_refused() {
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
    fn shares_between_0_and_1_are_parsed_and_other_texts_are_refused() {
        let read = |text: &str| text.parse::<Share>().map(|share| share.0);
        assert_eq!(read("95%"), Ok(0.95));
        assert_eq!(read("0.5"), Ok(0.5));
        for wrong in ["", "100%", "0", "95", "-1%", "x%"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
