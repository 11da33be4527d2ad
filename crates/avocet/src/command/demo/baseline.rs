//! The baseline of the demo: another crawl, with another refresh policy and the same budget, of a
//! copy of the same town.
//!
//! Both towns have the same pages, which change at the same moments. The baseline is a process of
//! its own, so that it has no part in what the demo learns.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result};
use tempfile::TempDir;
use testweb::site::{Copies, ServedWeb};

use super::nodes::watchdog::Watchdog;
use super::{configure, temporary_store};
use crate::cli::DemoArguments;

/// The name that means no baseline.
pub const NONE: &str = "none";

/// The crawl that the demo is compared with. It ends with this value.
pub struct Baseline {
    policy: String,
    web: Arc<ServedWeb>,
    child: Child,
    _watchdog: Watchdog,
    _store: TempDir,
}

impl Baseline {
    /// Starts a crawl of a town that is served for it alone. Returns `None` if the user wants no
    /// baseline.
    pub fn start(arguments: &DemoArguments, web: Arc<ServedWeb>) -> Result<Self> {
        let store = temporary_store()?;
        let plan = DemoArguments {
            refresh: arguments.baseline.clone(),
            ..arguments.clone()
        };
        configure(store.path(), &plan, "")?;
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let child = Command::new(&program)
            .arg("run")
            .args(web.homes())
            .arg("--no-serve")
            .arg("--store")
            .arg(store.path())
            // The demo ends it, also after Ctrl-C in a terminal.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self {
            policy: arguments.baseline.clone(),
            web,
            _watchdog: Watchdog::over(&[child.id()])?,
            child,
            _store: store,
        })
    }

    /// Returns the name of its refresh policy.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Returns the copies that it has made.
    pub fn copies(&self) -> Copies {
        self.web.copies()
    }

    /// Returns the number of its requests.
    pub fn requests(&self) -> u64 {
        self.web.fetches().all()
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
