//! Log events and messages on standard error, as text or as JSON Lines.
//!
//! Messages for people ([`say`]) are plain lines in the text format and events in the JSON format.
//!
//! **Invariant:** with `--log-format json`, standard error is JSON Lines only, except for the error
//! that ends the program.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// Log filter if neither `--log-level` nor `AVOCET_LOG` gives one.
const DEFAULT_FILTER: &str = "warn,avocet=info,cluster=info,node=info,server=info";

static JSON: AtomicBool = AtomicBool::new(false);

/// Starts the log, with the filter of `--log-level`, or else of the variable `AVOCET_LOG`, or else
/// the default. An invalid `AVOCET_LOG` counts as absent.
pub fn start(format: LogFormat, level: Option<&str>) -> Result<(), String> {
    let filter = match level {
        Some(level) => {
            let wrong = |_| {
                format!(
                    "--log-level {level:?} is not valid: write error, warn, info, debug or trace, or levels per crate such as node=debug,fetch=warn"
                )
            };
            EnvFilter::builder().parse(level).map_err(wrong)?
        }
        None => EnvFilter::try_from_env("AVOCET_LOG").unwrap_or_else(|_| DEFAULT_FILTER.into()),
    };
    let logs = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(is_coloured())
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

/// Returns whether log events are coloured: on a terminal, unless `NO_COLOR` is set.
fn is_coloured() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !refused
}

/// Returns whether standard error is JSON Lines.
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Writes a message for people to standard error.
pub fn say(text: &str) {
    if is_json() {
        tracing::info!("{text}");
    } else {
        eprintln!("{text}");
    }
}
