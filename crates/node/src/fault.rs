//! Fault injection for tests: an abort or a panic at a named point of the code.
//!
//! A debug build reads two environment variables, `AVOCET_CRASH_AT` and `AVOCET_PANIC_AT`. Each
//! names a point, and optionally the passage of the point at which the fault happens:
//! `committed:3`. A release build injects no faults.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A fault point that an environment variable names.
struct FaultPoint {
    point: String,
    /// The passage at which the fault happens, counted from 1. A panic also happens at every
    /// later passage.
    passage: u32,
    passed: AtomicU32,
}

impl FaultPoint {
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

/// Aborts the process or panics, if an environment variable names this point.
pub fn point(name: &str) {
    static ABORT: OnceLock<Option<FaultPoint>> = OnceLock::new();
    static PANIC: OnceLock<Option<FaultPoint>> = OnceLock::new();
    if !cfg!(debug_assertions) {
        return;
    }
    let reached = |named: &Option<FaultPoint>| named.as_ref().is_some_and(|at| at.is_reached(name));
    if reached(ABORT.get_or_init(|| FaultPoint::read("AVOCET_CRASH_AT"))) {
        std::process::abort();
    }
    assert!(
        !reached(PANIC.get_or_init(|| FaultPoint::read("AVOCET_PANIC_AT"))),
        "AVOCET_PANIC_AT names {name}"
    );
}
