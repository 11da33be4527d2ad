//! Makes every panic visible, in whatever thread or task it happens.
//!
//! A panic is a bug of ours. A task whose handle is not awaited would lose it, and a crawl would go
//! on without a part of itself. So a hook records the first one, with its place, and wakes the tasks
//! that wait for [`alarm`]: a crawl and a server then stop. `main` ends with exit code 1 if there was one.
//!
//! The store needs no care then: it is as after a kill, which costs at most what was in flight.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::OnceLock;

use anyhow::{Result, anyhow};
use tokio::sync::Notify;

/// Why a lock cannot be taken. The task that panicked has raised the alarm.
pub const POISONED: &str = "another task panicked while it held this lock";

static FIRST: OnceLock<String> = OnceLock::new();
static ALARM: Notify = Notify::const_new();

/// Records panics from now on, beside printing them as usual, or logging them if standard error is JSON Lines.
pub fn install(json: bool) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let told = describe(panic);
        if json {
            tracing::error!("{told}");
        } else {
            usual(panic);
        }
        FIRST.get_or_init(|| told);
        ALARM.notify_waiters();
    }));
}

/// Ends when something has panicked.
pub async fn alarm() {
    loop {
        // Made before the look: an alarm between the two is not lost.
        let raised = ALARM.notified();
        if FIRST.get().is_some() {
            return;
        }
        raised.await;
    }
}

/// The first panic as an error, if there was one.
pub fn first() -> Option<anyhow::Error> {
    FIRST.get().map(|told| {
        anyhow!(
            "{told}. This is a bug in avocet: please report it. What was committed is safe, and the same command goes on from there"
        )
    })
}

/// Does work. Returns an error if it, or anything it started, panicked.
pub fn seen(work: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = catch_unwind(AssertUnwindSafe(work));
    match (first(), done) {
        (Some(panicked), _) => Err(panicked),
        (None, Ok(done)) => done,
        (None, Err(_)) => Err(anyhow!("a panic that the hook did not see")),
    }
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    match panic.location() {
        Some(place) => format!("a panic at {}:{}: {text}", place.file(), place.line()),
        None => format!("a panic: {text}"),
    }
}
