//! Values as people write them: a time (`10m`), a rate of fetches (`90/min`), a share (`95%`), a
//! size (`50GB`), an address to listen at (`:8321`).

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

/// A number of bytes, written like `500MB`, `50GB` or `2TiB`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct ByteSize(#[schemars(with = "String")] pub u64);

/// Units of [`ByteSize`], largest first within each system.
const BYTE_UNITS: [(&str, u64); 9] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

impl FromStr for ByteSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no size: write 500MB, 50GB or 2TiB");
        let digits = text
            .trim()
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, unit) = text.trim().split_at(digits.ok_or_else(wrong)?);
        let named = |(name, _): &&(&str, u64)| name.eq_ignore_ascii_case(unit.trim());
        let (_, factor) = BYTE_UNITS.iter().find(named).ok_or_else(wrong)?;
        let bytes = number.parse::<f64>().map_err(|_| wrong())? * *factor as f64;
        let good = bytes.is_finite() && bytes < 1e18;
        good.then_some(Self(bytes as u64)).ok_or_else(wrong)
    }
}

impl TryFrom<String> for ByteSize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole =
            |(_, factor): &&(&str, u64)| self.0 >= *factor && self.0.is_multiple_of(*factor);
        let (unit, factor) = BYTE_UNITS.iter().find(whole).unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl From<ByteSize> for String {
    fn from(size: ByteSize) -> Self {
        size.to_string()
    }
}

/// What the archive keeps besides the newest copy of each page: `3 versions`, `90d` or `50GB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Retention {
    /// This number of versions of each page.
    Versions(u32),
    /// What was fetched within this time.
    Age(Time),
    /// The newest records, in this many bytes.
    Size(ByteSize),
}

impl FromStr for Retention {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no retention: write \"3 versions\", \"90d\" or \"50GB\"");
        if let Some(number) = text
            .trim()
            .strip_suffix("versions")
            .or(text.trim().strip_suffix("version"))
        {
            let number = number.trim().parse().map_err(|_| wrong())?;
            return (number > 0)
                .then_some(Self::Versions(number))
                .ok_or_else(wrong);
        }
        if let Ok(size) = text.parse() {
            return Ok(Self::Size(size));
        }
        text.parse().map(Self::Age).map_err(|_| wrong())
    }
}

impl TryFrom<String> for Retention {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Versions(1) => write!(f, "1 version"),
            Self::Versions(number) => write!(f, "{number} versions"),
            Self::Age(age) => age.fmt(f),
            Self::Size(size) => size.fmt(f),
        }
    }
}

impl From<Retention> for String {
    fn from(retention: Retention) -> Self {
        retention.to_string()
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
    fn sizes_and_retentions_are_written_as_people_write_them() {
        for (text, bytes, written) in [
            ("50GB", 50_000_000_000, "50GB"),
            ("1.5 gb", 1_500_000_000, "1500MB"),
            ("2GiB", 2 << 30, "2GiB"),
            ("7b", 7, "7B"),
        ] {
            let size: ByteSize = text.parse().unwrap();
            assert_eq!(
                (size.0, size.to_string().as_str()),
                (bytes, written),
                "{text}"
            );
        }
        for wrong in ["", "50", "GB", "5 parsecs", "-1GB", "1e3GB"] {
            assert!(wrong.parse::<ByteSize>().is_err(), "{wrong}");
        }
        for (text, retention) in [
            ("3 versions", Retention::Versions(3)),
            ("1 version", Retention::Versions(1)),
            ("90d", Retention::Age(Time::seconds(90 * 86_400))),
            ("50GB", Retention::Size(ByteSize(50_000_000_000))),
        ] {
            assert_eq!(text.parse(), Ok(retention), "{text}");
            assert_eq!(retention.to_string().parse(), Ok(retention), "{text}");
        }
        for wrong in ["0 versions", "many versions", "50", ""] {
            assert!(wrong.parse::<Retention>().is_err(), "{wrong}");
        }
    }

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
