//! Formats times, change rates, languages and authors for the search pages.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use node::handle::ChangePace;

/// Units of time: the seconds below which the unit is used, its length in seconds, and its name.
const STEPS: [(u64, u64, &str); 6] = [
    (90 * 60, 60, "minute"),
    (36 * 3600, 3600, "hour"),
    (14 * 86_400, 86_400, "day"),
    (60 * 86_400, 7 * 86_400, "week"),
    (700 * 86_400, 30 * 86_400, "month"),
    (u64::MAX, 365 * 86_400, "year"),
];

/// The maximum number of authors that are named.
const AUTHORS: usize = 3;

/// Formats how long ago a time was, such as `2 hours ago`.
pub fn ago(then: Timestamp, now: Timestamp) -> String {
    let since = now.duration_since(then);
    if since < SignedDuration::from_secs(60) {
        return "just now".into();
    }
    format!("{} ago", span(since.unsigned_abs()))
}

/// Formats how often a page changes. Returns `None` if too little is known.
pub fn pace(pace: ChangePace) -> Option<String> {
    match pace {
        ChangePace::Unknown => None,
        ChangePace::Still(time) if time < Duration::from_secs(60) => None,
        ChangePace::Still(time) => Some(format!("no change seen in {}", span(time))),
        ChangePace::Every(time) if time < Duration::from_secs(60) => {
            Some("changes more than once a minute".into())
        }
        ChangePace::Every(time) => {
            let text = span(time);
            let text = text.strip_prefix("1 ").unwrap_or(&text);
            Some(format!("changes about every {text}"))
        }
    }
}

/// Formats a duration in the unit that [`STEPS`] chooses for it.
fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    let (_, unit, name) = STEPS
        .into_iter()
        .find(|(below, ..)| seconds < *below)
        .unwrap_or(STEPS[5]);
    let count = (seconds + unit / 2) / unit;
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {name}{many}")
}

/// Formats the authors of a page: the first [`AUTHORS`], and the number of the others.
pub fn authors(names: &[String]) -> Option<String> {
    let first = names.get(..names.len().min(AUTHORS))?.join(", ");
    match names.len() {
        0 => None,
        count if count > AUTHORS => Some(format!("{first} and {} more", count - AUTHORS)),
        _ => Some(first),
    }
}

/// Tells whether a heading repeats the title of its page, or the beginning of it.
///
/// Many pages begin with their title as a heading; the title itself adds the name of the site.
pub fn repeats(heading: &str, title: &str) -> bool {
    let [heading, title] = [heading.trim(), title.trim()].map(str::to_lowercase);
    title.starts_with(&heading)
}

/// Formats a Unix time as a date in UTC. Returns `None` if it is out of range.
pub fn day(seconds: i64) -> Option<String> {
    let at = Timestamp::from_second(seconds).ok()?;
    Some(at.strftime("%Y-%m-%d").to_string())
}

/// Returns the English name of a language, or its code if the name is not known.
pub fn language(code: &str) -> &str {
    LANGUAGES
        .iter()
        .find(|(known, _)| *known == code)
        .map_or(code, |(_, name)| name)
}

/// The names of the languages with the most pages on the web (W3Techs, 2025).
const LANGUAGES: [(&str, &str); 36] = [
    ("ar", "Arabic"),
    ("bg", "Bulgarian"),
    ("bn", "Bengali"),
    ("ca", "Catalan"),
    ("cs", "Czech"),
    ("da", "Danish"),
    ("de", "German"),
    ("el", "Greek"),
    ("en", "English"),
    ("es", "Spanish"),
    ("et", "Estonian"),
    ("fa", "Persian"),
    ("fi", "Finnish"),
    ("fr", "French"),
    ("he", "Hebrew"),
    ("hi", "Hindi"),
    ("hr", "Croatian"),
    ("hu", "Hungarian"),
    ("id", "Indonesian"),
    ("it", "Italian"),
    ("ja", "Japanese"),
    ("ko", "Korean"),
    ("lt", "Lithuanian"),
    ("nb", "Norwegian"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("pt", "Portuguese"),
    ("ro", "Romanian"),
    ("ru", "Russian"),
    ("sk", "Slovak"),
    ("sv", "Swedish"),
    ("th", "Thai"),
    ("tr", "Turkish"),
    ("uk", "Ukrainian"),
    ("vi", "Vietnamese"),
    ("zh", "Chinese"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_in_a_fitting_unit() {
        let check = |seconds, expected: &str| {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        };
        check(60, "1 minute");
        check(89 * 60, "89 minutes");
        check(90 * 60, "2 hours");
        check(86_400, "24 hours");
        check(3 * 86_400, "3 days");
        check(30 * 86_400, "4 weeks");
        check(100 * 86_400, "3 months");
        check(1000 * 86_400, "3 years");
    }

    #[test]
    fn headings_that_repeat_the_title_are_recognized() {
        assert!(repeats(" 13 Prompt Expansion", "13 prompt expansion (zsh)"));
        assert!(repeats("", "any"));
        assert!(!repeats("Expansion", "13 Prompt Expansion"));
        assert!(!repeats("13 Prompt Expansion", "13 Prompt"));
    }

    #[test]
    fn times_and_change_rates_are_written_in_words() {
        let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
        let before = |seconds| now - SignedDuration::from_secs(seconds);
        assert_eq!(ago(before(5), now), "just now");
        assert_eq!(ago(before(-50), now), "just now");
        assert_eq!(ago(before(7200), now), "2 hours ago");
        let every = |hours: u64| ChangePace::Every(Duration::from_secs(hours * 3600));
        assert_eq!(
            pace(every(1)),
            Some("changes about every 60 minutes".into())
        );
        assert_eq!(
            pace(every(24 * 7 * 3)),
            Some("changes about every 3 weeks".into())
        );
        assert_eq!(pace(ChangePace::Unknown), None);
        let still = ChangePace::Still(Duration::from_secs(5 * 86_400));
        assert_eq!(pace(still), Some("no change seen in 5 days".into()));
    }
}
