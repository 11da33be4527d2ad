//! Progress of a crawl on standard error: a line that is redrawn on a terminal, or a new line every
//! five seconds elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use node::live::progress::{Figures, Progress};

use crate::logs::{is_json, say};
use node::number::{amount, counted};

/// Time between two lines where standard error is not a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// Time between two redraws of the line on a terminal.
const REDRAW_EVERY: Duration = Duration::from_millis(400);

/// Shows the progress of a crawl on standard error.
pub struct StatusLine {
    /// `None` if standard error is not a terminal, or is JSON Lines.
    bar: Option<ProgressBar>,
    quiet: bool,
    last: Instant,
    /// Numbers of pages and bytes that the last line counted.
    before: (u64, u64),
}

impl StatusLine {
    /// Creates a line that shows figures and messages.
    pub fn start() -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_json()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self {
            bar,
            quiet: false,
            ..Self::quiet()
        }
    }

    /// Creates a line that shows messages only, for a caller that shows the figures itself.
    pub fn quiet() -> Self {
        Self {
            bar: None,
            quiet: true,
            last: Instant::now(),
            before: (0, 0),
        }
    }

    fn line(&mut self, figures: &Figures, since: Duration) -> String {
        let rate = |now: u64, before: u64| (now - before) as f64 / since.as_secs_f64();
        let pages_per_second = rate(figures.pages, self.before.0);
        let megabytes = rate(figures.bytes, self.before.1) / 1e6;
        self.before = (figures.pages, figures.bytes);
        let mut line = format!(
            "{}, {pages_per_second:.0}/s, {megabytes:.1} MB/s, {}, {}, {} due",
            counted(figures.pages, "page"),
            counted(figures.visits, "visit"),
            counted(figures.idle_connections, "idle connection"),
            figures.due,
        );
        if let Some(price) = figures.price {
            line += &format!(", price {}", amount(price));
        }
        if let Some(left) = figures.pages_left {
            line += &format!(", {} left", counted(left, "page"));
        }
        if let Some(left) = figures.time_left {
            line += &format!(", {:.0} s left", left.as_secs_f64());
        }
        if !figures.errors.is_empty() {
            let errors = figures.errors.iter();
            let errors: Vec<String> = errors
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect();
            line += &format!(" | {}", errors.join(", "));
        }
        line
    }
}

impl Progress for StatusLine {
    fn show(&mut self, figures: &Figures) {
        let since = self.last.elapsed();
        let pause = if self.bar.is_some() {
            REDRAW_EVERY
        } else {
            PLAIN_EVERY
        };
        if self.quiet || since < pause {
            return;
        }
        let line = self.line(figures, since);
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => say(&line),
        }
        self.last = Instant::now();
    }

    fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_line_shows_every_figure() {
        let figures = Figures {
            pages: 1,
            bytes: 4_000_000,
            visits: 1,
            idle_connections: 1,
            due: 18,
            price: Some(4e-5),
            pages_left: Some(1),
            time_left: Some(Duration::from_secs(9)),
            errors: BTreeMap::from([("robots".to_owned(), 2)]),
        };
        let line = StatusLine::quiet().line(&figures, Duration::from_secs(2));
        let expected = "1 page, 0/s, 2.0 MB/s, 1 visit, 1 idle connection, 18 due, \
                        price 40 millionths, 1 page left, 9 s left | robots 2";
        assert_eq!(line, expected);
    }
}
