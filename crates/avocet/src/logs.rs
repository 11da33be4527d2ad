//! How does the program say what it does?
//!
//! Events go to standard error, as text for people or as JSON for machines. What is said to whoever watches a run is a plain line in
//! the first and an event in the second. **Invariant:** with `--log-format json` standard error is JSON Lines and nothing else, until an error ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// What is said where the user does not say how much.
const USUAL: &str = "warn,avocet=info,node=info,server=info";

static JSON: AtomicBool = AtomicBool::new(false);

/// Begins to log: by the flag, else by the variable `AVOCET_LOG`.
pub fn start(format: LogFormat, level: Option<&str>) -> Result<(), String> {
    let filter = match level {
        Some(level) => {
            let wrong = |_| {
                format!(
                    "--log-level {level:?} is none: write error, warn, info, debug, trace, or parts like node=debug,fetch=warn"
                )
            };
            EnvFilter::builder().parse(level).map_err(wrong)?
        }
        None => EnvFilter::try_from_env("AVOCET_LOG").unwrap_or_else(|_| USUAL.into()),
    };
    let logs = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(filter)
        .with_target(false);
    match format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => {
            JSON.store(true, Ordering::Relaxed);
            logs.json().flatten_event(true).init();
        }
    }
    Ok(())
}

/// Whether machines read what is said.
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Says something to whoever watches.
pub fn say(text: &str) {
    if is_json() {
        tracing::info!("{text}");
    } else {
        eprintln!("{text}");
    }
}
