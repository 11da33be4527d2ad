//! Makes every panic visible, in any thread or task.
//!
//! A panic is a bug in Avocet. If the handle of a task is not awaited, its panic would be lost, and
//! the crawl would continue without that task. So a panic hook records the first panic with its
//! source location and wakes the tasks that wait for [`alarm`]. A crawl and a server then stop, and
//! `main` exits with code 1.
//!
//! The store needs no repair: its state is the same as after a kill, where only uncommitted work is
//! lost.

use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::OnceLock;

use anyhow::{Result, anyhow};
use tokio::sync::Notify;

/// The `expect` message for a poisoned lock. The task that panicked has already raised the alarm.
pub const POISONED: &str = "another task panicked while it held this lock";

static FIRST: OnceLock<String> = OnceLock::new();
static ALARM: Notify = Notify::const_new();

/// Installs the panic hook.
///
/// The hook also prints each panic as usual, or logs it if `json` says that standard error is JSON
/// Lines.
pub fn install(json: bool) {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = describe(panic);
        if json {
            tracing::error!("{message}");
        } else {
            usual(panic);
        }
        FIRST.get_or_init(|| message);
        ALARM.notify_waiters();
    }));
}

/// Waits until something has panicked.
pub async fn alarm() {
    loop {
        // Created before the check, so that an alarm between the two is not lost.
        let raised = ALARM.notified();
        if FIRST.get().is_some() {
            return;
        }
        raised.await;
    }
}

/// Returns the first panic as an error, if there was one.
pub fn first() -> Option<anyhow::Error> {
    FIRST.get().map(|message| {
        anyhow!(
            "{message}. This is a bug in avocet: please report it. Committed pages are safe; run the same command again to continue"
        )
    })
}

/// Runs `work`. Returns an error if anything in this process has panicked before `work` ended.
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
