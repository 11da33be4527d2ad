//! Progress of long work on standard error: a bar on a terminal, or at most one line every five
//! seconds elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use lab::workers::ExperimentProgress;

use crate::logs::{is_json, say};
use node::panics::POISONED;

/// Time between two lines where standard error is not a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Shows the progress of an experiment or an export.
pub struct Bar {
    bar: Option<ProgressBar>,
    plain: Mutex<PlainProgress>,
}

struct PlainProgress {
    what: String,
    done: usize,
    steps: usize,
    last: Instant,
}

impl Bar {
    /// Creates a display that is empty until an experiment begins.
    pub fn new() -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_json()).then(|| {
            let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len}, {eta} left");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(0).with_style(style)
        });
        Self {
            bar,
            plain: Mutex::new(PlainProgress {
                what: String::new(),
                done: 0,
                steps: 0,
                last: Instant::now(),
            }),
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

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl ExperimentProgress for Bar {
    fn begin(&self, what: &str, steps: usize) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_length(steps as u64);
            bar.set_message(what.to_owned());
            return;
        }
        let mut plain = self.plain.lock().expect(POISONED);
        *plain = PlainProgress {
            what: what.to_owned(),
            done: 0,
            steps,
            last: Instant::now(),
        };
    }

    fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
            return;
        }
        let mut plain = self.plain.lock().expect(POISONED);
        plain.done += 1;
        if plain.last.elapsed() >= PLAIN_EVERY {
            plain.last = Instant::now();
            say(&format!(
                "{}: {} of {}",
                plain.what, plain.done, plain.steps
            ));
        }
    }
}
