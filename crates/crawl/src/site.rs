//! Rules of the operator for single sites: delays, and the hours in which a site may be asked.

use std::fmt;
use std::time::Duration;

use page::PageUrl;
use policy::Moment;

use crate::blocked::Blocked;

const DAY: u64 = 86_400;

/// Rules for the pages of some hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SiteRules {
    /// The hosts.
    pub hosts: Vec<Blocked>,
    /// Minimum time from a request to the next one; `None`: that of the crawl.
    pub delay: Option<Duration>,
    /// When the hosts may be asked; `None`: always.
    pub hours: Option<OpenHours>,
}

impl SiteRules {
    /// Returns the first rules that name the host of a URL.
    pub fn of<'a>(all: &'a [Self], url: &PageUrl) -> Option<&'a Self> {
        all.iter()
            .find(|site| site.hosts.iter().any(|host| host.holds(url)))
    }
}

/// A part of the day in UTC, such as `22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenHours {
    /// The beginning, in seconds of the day.
    from: u64,
    /// The end, in seconds of the day.
    until: u64,
}

impl OpenHours {
    /// Parses a part of the day.
    pub fn parse(text: &str) -> Result<Self, String> {
        let time = |text: &str| -> Option<u64> {
            let (hour, minute) = text.trim().split_once(':')?;
            let (hour, minute): (u64, u64) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour <= 24 && minute < 60 && hour * 60 + minute <= 24 * 60)
                .then_some((hour * 60 + minute) * 60)
        };
        let read = || {
            let (from, until) = text.split_once('-')?;
            let (from, until) = (time(from)?, time(until)?);
            (from % DAY != until % DAY).then_some(Self { from, until })
        };
        read().ok_or_else(|| format!("{text:?} are no hours: write 22:00-06:00, in UTC"))
    }

    /// Returns the time until the next beginning; zero within the hours.
    pub fn wait(self, now: Moment) -> Duration {
        let second = (now.micros() / 1_000_000) % DAY;
        let is_open = match self.from < self.until {
            true => (self.from..self.until).contains(&second),
            false => second >= self.from || second < self.until,
        };
        match is_open {
            true => Duration::ZERO,
            false => Duration::from_secs((self.from + DAY - second) % DAY),
        }
    }
}

impl fmt::Display for OpenHours {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |seconds: u64| format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
        write!(out, "{}-{}", clock(self.from), clock(self.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_parsed_and_say_how_long_to_wait() {
        let at = |hour: u64, minute: u64| {
            Moment::from_micros((20_000 * DAY + hour * 3600 + minute * 60) * 1_000_000)
        };
        let minutes = |hours: &str, now| OpenHours::parse(hours).unwrap().wait(now).as_secs() / 60;
        for (hours, now, wait) in [
            ("22:00-06:00", at(23, 0), 0),
            ("22:00-06:00", at(5, 59), 0),
            ("22:00-06:00", at(6, 0), 16 * 60),
            ("22:00-06:00", at(21, 59), 1),
            ("08:30-17:00", at(8, 29), 1),
            ("08:30-17:00", at(12, 0), 0),
            ("08:30-17:00", at(17, 0), 15 * 60 + 30),
            ("00:00-12:00", at(23, 0), 60),
            ("12:00-24:00", at(23, 59), 0),
        ] {
            assert_eq!(minutes(hours, now), wait, "{hours}");
            assert_eq!(OpenHours::parse(hours).unwrap().to_string(), hours);
        }
        for wrong in [
            "",
            "22-6",
            "25:00-06:00",
            "22:60-06:00",
            "06:00-06:00",
            "00:00-24:00",
        ] {
            assert!(OpenHours::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_rules_that_name_a_host_hold() {
        let rules = |host: &str, seconds| SiteRules {
            hosts: vec![Blocked::parse(host).unwrap()],
            delay: Some(Duration::from_secs(seconds)),
            hours: None,
        };
        let all = [rules("a.example.org", 1), rules("*.example.org", 2)];
        let delay = |url: &str| {
            let url = PageUrl::parse(url).unwrap();
            SiteRules::of(&all, &url)
                .and_then(|site| site.delay)
                .map(|delay| delay.as_secs())
        };
        assert_eq!(delay("http://a.example.org/x"), Some(1));
        assert_eq!(delay("http://b.example.org/"), Some(2));
        assert_eq!(delay("http://example.org/"), None);
    }
}
