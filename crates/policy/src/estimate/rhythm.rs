//! The weekly rhythm of new pages: an operational clock on which arrivals have a constant rate.
//!
//! `λ(t) = λ·r(hour of the week)`, with one r for all sources, because one source names too few
//! pages for 168 hours (Lefortier et al. 2013, §6, suggest this). The operational clock runs r
//! times as fast as real time, so on it arrivals are as frequent at night as at noon. A rate is
//! then pages per operational second, and the wait of a source is the operational time since
//! its last poll. No other code needs to know about hours.
//!
//! **Invariant:** the operational clock never stands still, and a week has as many operational
//! seconds as real ones.

use crate::Moment;

/// Hours of a week.
const HOURS: usize = 168;
const HOUR: f64 = 3_600.0;
const WEEK: f64 = HOUR * HOURS as f64;

/// Weight of the expected arrivals of an hour, as a pseudo-count of pages, so that a few pages
/// make no rhythm.
const PRIOR: f64 = 10.0;
/// Maximum ratio of an hour's arrivals to the expected ones. The minimum is its inverse.
const MOST: f64 = 10.0;

/// The observed time of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ObservedTime {
    /// When the source was last polled.
    pub until: Moment,
    /// Observed seconds before `until`.
    pub seconds: f64,
    /// New pages that were found in this time.
    pub new: f64,
}

/// The operational clock.
#[derive(Debug, Clone)]
pub struct Rhythm {
    /// New pages by hour. A page that appeared between two polls is spread over the time
    /// between them.
    new: [f64; HOURS],
    /// Operational seconds from the start of the week to the start of each hour, and to the end
    /// of the week.
    begins: [f64; HOURS + 1],
}

impl Default for Rhythm {
    /// All hours are equal.
    fn default() -> Self {
        let mut begins = [0.0; HOURS + 1];
        (0..).zip(&mut begins).for_each(|(hour, begin)| {
            *begin = f64::from(hour) * HOUR;
        });
        Self {
            new: [0.0; HOURS],
            begins,
        }
    }
}

impl Rhythm {
    /// Records a page that appeared between two moments.
    pub fn arrive(&mut self, after: Moment, at: Moment) {
        let gap = at.since(after).as_secs_f64();
        if gap <= 0.0 {
            self.new[hour_of(place(at))] += 1.0;
            return;
        }
        spread(place(after), gap, |hour, seconds| {
            self.new[hour] += seconds / gap;
        });
    }

    /// Sets the clock from the observed sources. An hour with more pages than the rates of the
    /// sources predict runs faster. Without recorded pages or without observed finds, the clock
    /// stays as it is.
    pub fn learn(&mut self, sources: impl Iterator<Item = ObservedTime>) {
        let mut expected = [0.0; HOURS];
        for source in sources.filter(|source| source.new > 0.0 && source.seconds > 0.0) {
            let rate = source.new / source.seconds;
            // The span is placed by its end, because the time of the last poll is exact.
            let begin = (place(source.until) - source.seconds).rem_euclid(WEEK);
            spread(begin, source.seconds, |hour, seconds| {
                expected[hour] += rate * seconds;
            });
        }
        let (new, expected) = (smooth(&self.new), smooth(&expected));
        let scale = new.iter().sum::<f64>() / expected.iter().sum::<f64>();
        if !(scale > 0.0 && scale.is_finite()) {
            return;
        }
        let mut busy = [0.0; HOURS];
        for (busy, (new, expected)) in busy.iter_mut().zip(new.iter().zip(expected)) {
            let ratio = (new + PRIOR) / (expected * scale + PRIOR);
            *busy = ratio.clamp(1.0 / MOST, MOST);
        }
        let mean = busy.iter().sum::<f64>() / HOURS as f64;
        let mut until = 0.0;
        for (begin, busy) in self.begins[1..].iter_mut().zip(busy) {
            until += HOUR * busy / mean;
            *begin = until;
        }
        self.begins[HOURS] = WEEK;
    }

    /// Returns the operational seconds that pass in `seconds` from a moment on. It never
    /// decreases as `seconds` grows.
    pub fn passed(&self, from: Moment, seconds: f64) -> f64 {
        let begin = place(from);
        self.operational(begin + seconds) - self.operational(begin)
    }

    /// Returns the real seconds from a moment on until this many operational seconds have passed.
    pub fn wait(&self, from: Moment, operational: f64) -> f64 {
        let begin = place(from);
        let end = self.operational(begin) + operational;
        let weeks = (end / WEEK).floor();
        let rest = end - weeks * WEEK;
        let later = self.begins[1..HOURS].partition_point(|&begins| begins <= rest);
        let share = (rest - self.begins[later]) / (self.begins[later + 1] - self.begins[later]);
        (weeks * WEEK + (later as f64 + share) * HOUR - begin).max(0.0)
    }

    /// Returns the operational seconds since the start of a week, given the real ones.
    fn operational(&self, seconds: f64) -> f64 {
        let weeks = (seconds / WEEK).floor();
        let rest = seconds - weeks * WEEK;
        let hour = hour_of(rest);
        let [begin, end] = [self.begins[hour], self.begins[hour + 1]];
        let within = begin + (rest - hour as f64 * HOUR) / HOUR * (end - begin);
        weeks * WEEK + within.clamp(begin, end)
    }
}

/// Returns the seconds since the week began. Weeks begin on Thursdays at 00:00 UTC, as 1970
/// did.
fn place(moment: Moment) -> f64 {
    (moment.micros() % (WEEK as u64 * 1_000_000)) as f64 / 1e6
}

fn hour_of(place: f64) -> usize {
    ((place / HOUR) as usize).min(HOURS - 1)
}

/// Calls `add` with each hour of the week that a span touches, and the seconds of the span in that
/// hour. The span begins at a given second of the week.
fn spread(begin: f64, seconds: f64, mut add: impl FnMut(usize, f64)) {
    let weeks = (seconds / WEEK).floor();
    if weeks > 0.0 {
        (0..HOURS).for_each(|hour| add(hour, weeks * HOUR));
    }
    let mut left = seconds - weeks * WEEK;
    let mut hour = hour_of(begin);
    let mut room = (hour + 1) as f64 * HOUR - begin;
    while left > 0.0 {
        add(hour, left.min(room));
        left -= room;
        (hour, room) = ((hour + 1) % HOURS, HOUR);
    }
}

/// Smooths each hour with its neighbours (weights ¼, ½, ¼), because neighbouring hours are
/// similar.
fn smooth(hours: &[f64; HOURS]) -> [f64; HOURS] {
    std::array::from_fn(|hour| {
        let [before, after] = [(hour + HOURS - 1) % HOURS, (hour + 1) % HOURS];
        0.5 * hours[hour] + 0.25 * (hours[before] + hours[after])
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::START + Duration::from_secs_f64(seconds)
    }

    /// Rounding may yield the very end of the week, which belongs to the last hour.
    #[test]
    fn the_end_of_the_week_is_in_its_last_hour() {
        assert_eq!([0.0, HOUR, WEEK - 1.0, WEEK].map(hour_of), [0, 1, 167, 167]);
    }

    /// Four weeks of half-hourly polls: a page every ten minutes from 6 to 18 h, and one per
    /// hour at night.
    fn days_and_nights() -> Rhythm {
        let mut rhythm = Rhythm::default();
        let mut new = 0.0;
        for half in 0..4 * HOURS * 2 {
            let by_day = (12..36).contains(&(half % 48));
            let pages = match by_day {
                true => 3,
                false => (half + 1) % 2,
            };
            let begin = half as f64 * HOUR / 2.0;
            (0..pages).for_each(|_| rhythm.arrive(at(begin), at(begin + HOUR / 2.0)));
            new += pages as f64;
        }
        let seconds = 4.0 * WEEK;
        rhythm.learn(
            [ObservedTime {
                until: at(seconds),
                seconds,
                new,
            }]
            .into_iter(),
        );
        rhythm
    }

    #[test]
    fn the_clock_runs_faster_by_day_than_at_night() {
        let rhythm = days_and_nights();
        let hour = |hour: f64| rhythm.passed(at(WEEK + hour * HOUR), HOUR) / HOUR;
        // 24 pages in each hour of the day and 4 at night; 14 are expected, and the prior adds
        // ten.
        assert!((hour(12.0) - 34.0 / 24.0).abs() < 1e-6, "{}", hour(12.0));
        assert!((hour(1.0) - 14.0 / 24.0).abs() < 1e-6, "{}", hour(1.0));
        assert!((hour(12.0) - hour(36.0)).abs() < 1e-6, "all days alike");
        let week = rhythm.passed(at(1234.5), WEEK);
        assert!((week - WEEK).abs() < 1e-3, "{week}");
    }

    #[test]
    fn without_pages_all_hours_are_equal_and_one_page_adds_less_than_a_tenth() {
        let mut rhythm = Rhythm::default();
        rhythm.learn(std::iter::empty());
        assert!((rhythm.passed(at(7.0), 5_000.0) - 5_000.0).abs() < 1e-6);
        rhythm.arrive(at(60.0), at(120.0));
        rhythm.learn(
            [ObservedTime {
                until: at(WEEK),
                seconds: WEEK,
                new: 1.0,
            }]
            .into_iter(),
        );
        let busy = rhythm.passed(at(0.0), HOUR) / HOUR;
        assert!((1.0..1.1).contains(&busy), "{busy}");
    }

    proptest! {
        #[test]
        fn the_clock_never_goes_back_and_wait_inverts_passed(
            pages in prop::collection::vec((0.0..3e6_f64, 0.0..4e5_f64), 0..60),
            watched in prop::collection::vec((0.0..3e6_f64, 0.0..5e6_f64, 0.0..500.0_f64), 0..5),
            from in 0.0..3e6_f64,
            seconds in 0.0..3e6_f64,
            more in 0.0..1e5_f64,
        ) {
            let mut rhythm = Rhythm::default();
            pages.iter().for_each(|&(begin, gap)| rhythm.arrive(at(begin), at(begin + gap)));
            rhythm.learn(watched.iter().map(|&(until, seconds, new)| ObservedTime { until: at(until), seconds, new }));
            let from = at(from);
            let passed = rhythm.passed(from, seconds);
            prop_assert!(passed >= 0.0 && rhythm.passed(from, seconds + more) >= passed);
            let again = rhythm.wait(from, passed);
            prop_assert!((again - seconds).abs() < 1e-3, "{} was {}", again, seconds);
            prop_assert!((rhythm.passed(from, WEEK) - WEEK).abs() < 1e-3);
        }
    }
}
