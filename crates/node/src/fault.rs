//! Faults on purpose, for tests: an abort or a panic at a named point.
//!
//! A debug build looks at two environment variables, `AVOCET_CRASH_AT` and `AVOCET_PANIC_AT`. Each
//! names a point, and may say at which passage of it: `committed:3`. A release build has no points.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A point that was named, and which passage of it counts.
struct Named {
    point: String,
    passage: u32,
    passed: AtomicU32,
}

impl Named {
    fn read(variable: &str) -> Option<Self> {
        let value = std::env::var(variable).ok()?;
        let (point, passage) = value.split_once(':').unwrap_or((&value, "1"));
        Some(Self {
            point: point.to_owned(),
            passage: passage.parse().ok()?,
            passed: AtomicU32::new(0),
        })
    }

    fn is_reached(&self, point: &str) -> bool {
        self.point == point && self.passed.fetch_add(1, Ordering::Relaxed) + 1 >= self.passage
    }
}

/// Ends the process as a kill would, or panics, if a variable names this point.
pub fn point(name: &str) {
    static ABORT: OnceLock<Option<Named>> = OnceLock::new();
    static PANIC: OnceLock<Option<Named>> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return;
    }
    let reached = |named: &Option<Named>| named.as_ref().is_some_and(|at| at.is_reached(name));
    if reached(ABORT.get_or_init(|| Named::read("AVOCET_CRASH_AT"))) {
        std::process::abort();
    }
    assert!(
        !reached(PANIC.get_or_init(|| Named::read("AVOCET_PANIC_AT"))),
        "AVOCET_PANIC_AT names {name}"
    );
}
