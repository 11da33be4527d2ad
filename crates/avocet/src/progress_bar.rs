//! Progress of long work on standard error: a bar on a terminal, or at most one line every five
//! seconds elsewhere. Both say how long the rest will take, and fit the terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab::workers::ExperimentProgress;

use crate::logs::{is_json, say};
use node::number::{bytes, duration};
use node::panics::POISONED;
use node::work_progress::{WorkProgress, WorkUnit};

/// Time between two lines where standard error is not a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// Work that is younger than this says nothing about the time that is left.
const TOO_YOUNG: Duration = Duration::from_secs(1);

/// Shows the progress of an experiment or a command.
pub struct Bar {
    bar: Option<ProgressBar>,
    plain: Mutex<PlainProgress>,
}

struct PlainProgress {
    what: String,
    done: u64,
    size: u64,
    unit: WorkUnit,
    begun: Instant,
    last: Instant,
}

impl Bar {
    /// Creates a display that is empty until some work begins.
    pub fn new() -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_json()).then(ProgressBar::hidden);
        Self {
            bar: bar.inspect(|bar| {
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            }),
            plain: Mutex::new(PlainProgress::new("", 0, WorkUnit::Steps)),
        }
    }

    /// Changes the text before the counts.
    pub fn rename(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(what.to_owned()),
            None => what.clone_into(&mut self.plain.lock().expect(POISONED).what),
        }
    }

    /// Prints the text now, where standard error is not a terminal.
    pub fn show(&self) {
        if self.bar.is_none() {
            say(&self.plain.lock().expect(POISONED).what);
        }
    }

    /// Writes a message for people above the bar.
    pub fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn reach_plain(&self, done: impl FnOnce(u64) -> u64) {
        let mut plain = self.plain.lock().expect(POISONED);
        plain.done = done(plain.done);
        if plain.last.elapsed() >= PLAIN_EVERY {
            plain.last = Instant::now();
            say(&plain.line(plain.begun.elapsed()));
        }
    }
}

/// An error leaves no bar behind.
impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Returns the line on a terminal. The text is cut at the width of the terminal.
fn template(unit: WorkUnit, size: u64) -> &'static str {
    match (unit, size) {
        (_, 0) => "{spinner} {wide_msg} {pos}",
        (WorkUnit::Steps, _) => "{wide_msg} [{bar:20}] {pos}/{len}, {eta} left",
        (WorkUnit::Bytes, _) => "{wide_msg} [{bar:20}] {percent} %, {eta} left",
    }
}

impl WorkProgress for Bar {
    fn begin(&self, what: &str, size: u64, unit: WorkUnit) {
        if let Some(bar) = &self.bar {
            let style = ProgressStyle::with_template(template(unit, size));
            bar.reset();
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_length(size);
            bar.set_message(what.to_owned());
            return;
        }
        *self.plain.lock().expect(POISONED) = PlainProgress::new(what, size, unit);
    }

    fn reach(&self, done: u64) {
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None => self.reach_plain(|_| done),
        }
    }
}

impl ExperimentProgress for Bar {
    fn begin(&self, what: &str, steps: usize) {
        WorkProgress::begin(self, what, steps as u64, WorkUnit::Steps);
    }

    fn step(&self) {
        match &self.bar {
            Some(bar) => bar.inc(1),
            None => self.reach_plain(|done| done + 1),
        }
    }
}

impl PlainProgress {
    fn new(what: &str, size: u64, unit: WorkUnit) -> Self {
        Self {
            what: what.to_owned(),
            done: 0,
            size,
            unit,
            begun: Instant::now(),
            last: Instant::now(),
        }
    }

    /// Returns the line after this time of work.
    fn line(&self, took: Duration) -> String {
        let amount = |amount: u64| match self.unit {
            WorkUnit::Steps => amount.to_string(),
            WorkUnit::Bytes => bytes(amount as f64),
        };
        let (what, done) = (&self.what, amount(self.done));
        if self.size == 0 {
            return format!("{what}: {done}");
        }
        let mut line = format!("{what}: {done} of {}", amount(self.size));
        let left = self.size.saturating_sub(self.done);
        if took >= TOO_YOUNG && self.done > 0 && left > 0 {
            let seconds = took.as_secs_f64() * left as f64 / self.done as f64;
            line += &format!(", about {} left", duration(seconds));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use indicatif::TermLike;

    use super::*;

    #[test]
    fn a_line_has_the_amount_and_the_time_that_is_left() {
        for (unit, done, size, seconds, line) in [
            (
                WorkUnit::Steps,
                3,
                12,
                60,
                "work: 3 of 12, about 3 min left",
            ),
            (
                WorkUnit::Bytes,
                1_000_000,
                4_000_000,
                10,
                "work: 1 MB of 4 MB, about 30 s left",
            ),
            (WorkUnit::Steps, 3, 12, 0, "work: 3 of 12"),
            (WorkUnit::Steps, 0, 12, 60, "work: 0 of 12"),
            (WorkUnit::Steps, 12, 12, 60, "work: 12 of 12"),
            (WorkUnit::Steps, 7, 0, 60, "work: 7"),
        ] {
            let progress = PlainProgress {
                done,
                ..PlainProgress::new("work", size, unit)
            };
            assert_eq!(progress.line(Duration::from_secs(seconds)), line);
        }
    }

    /// A terminal of 60 columns that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct NarrowTerminal(Arc<Mutex<Vec<String>>>);

    impl TermLike for NarrowTerminal {
        fn width(&self) -> u16 {
            60
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push(text.to_owned());
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_line_of_a_terminal_fits_its_width() {
        for (unit, size) in [
            (WorkUnit::Steps, 1_000),
            (WorkUnit::Bytes, 9 << 40),
            (WorkUnit::Steps, 0),
        ] {
            let terminal = NarrowTerminal::default();
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let bar = ProgressBar::with_draw_target(Some(size), target);
            bar.set_style(ProgressStyle::with_template(template(unit, size)).unwrap());
            bar.set_message("reading ".repeat(30));
            bar.inc(1);
            bar.tick();
            let written = terminal.0.lock().unwrap().clone();
            let longest = written.iter().map(|text| text.trim_end().chars().count());
            let longest = longest.max().unwrap();
            assert!((20..=60).contains(&longest), "{written:?}");
        }
    }
}
