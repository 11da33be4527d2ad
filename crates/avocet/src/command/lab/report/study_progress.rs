//! Progress of a report: the current study, the number of studies, and the time left.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lab::workers::ExperimentProgress;
use node::panics::POISONED;

use crate::progress_bar::Bar;

/// Shows the progress of a report. Estimates the time left from the expected times of the studies
/// and the time that the studies so far took.
pub(super) struct StudyProgress<'a> {
    bar: &'a Bar,
    /// Expected seconds of each study.
    expected: Vec<f64>,
    start: Instant,
    state: Mutex<ReportState>,
}

#[derive(Default)]
struct ReportState {
    /// Number of studies that have ended.
    ended: usize,
    /// The current study.
    name: String,
    steps: usize,
    done: usize,
}

impl<'a> StudyProgress<'a> {
    pub fn new(bar: &'a Bar, expected: Vec<f64>) -> Self {
        Self {
            bar,
            expected,
            start: Instant::now(),
            state: Mutex::default(),
        }
    }

    /// Announces the start of a study.
    pub fn begin_study(&self, name: &str) {
        let mut state = self.state.lock().expect(POISONED);
        *state = ReportState {
            ended: state.ended,
            name: name.to_owned(),
            ..ReportState::default()
        };
        self.bar.begin(&self.label(&state), 0);
        self.bar.show();
    }

    /// Announces the end of the current study.
    pub fn end_study(&self) {
        self.state.lock().expect(POISONED).ended += 1;
    }

    fn label(&self, state: &ReportState) -> String {
        let left = time_left(&self.expected, state, self.start.elapsed());
        format!(
            "study {} of {}: {}; {left}",
            state.ended + 1,
            self.expected.len(),
            state.name
        )
    }
}

impl ExperimentProgress for StudyProgress<'_> {
    fn begin(&self, _what: &str, steps: usize) {
        let mut state = self.state.lock().expect(POISONED);
        (state.steps, state.done) = (steps, 0);
        self.bar.begin(&self.label(&state), steps);
    }

    fn step(&self) {
        let mut state = self.state.lock().expect(POISONED);
        state.done += 1;
        self.bar.rename(&self.label(&state));
        self.bar.step();
    }
}

/// Returns the time left in words. The expected seconds are scaled by how long the work so far
/// took.
fn time_left(expected: &[f64], state: &ReportState, elapsed: Duration) -> String {
    let ended: f64 = expected[..state.ended].iter().sum();
    let current = expected.get(state.ended).copied().unwrap_or(0.0);
    let share = state.done as f64 / state.steps.max(1) as f64;
    let done = ended + current * share.min(1.0);
    let all: f64 = expected.iter().sum();
    let pace = if done > 0.0 {
        elapsed.as_secs_f64() / done
    } else {
        1.0
    };
    match (pace * (all - done)) as u64 {
        0..60 => "less than a minute left".to_owned(),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_scaled_by_the_time_so_far() {
        let expected = [100.0, 300.0, 200.0];
        let state = |ended, done| ReportState {
            ended,
            steps: 10,
            done,
            ..ReportState::default()
        };
        let left = |ended, done, seconds| {
            time_left(&expected, &state(ended, done), Duration::from_secs(seconds))
        };
        assert_eq!(left(0, 0, 0), "about 10 min left");
        assert_eq!(left(1, 0, 100), "about 9 min left");
        assert_eq!(
            left(1, 0, 200),
            "about 17 min left",
            "half as fast as expected"
        );
        assert_eq!(left(2, 9, 580), "less than a minute left");
    }
}
