//! Orders: what an operator wants of a running crawl. In a cluster, an order goes to all nodes.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::Live;
use super::controls::{Applied, Control};
use super::pause;

/// An order of an operator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CrawlOrder {
    /// Begin no more fetches.
    Pause,
    /// End a pause.
    Resume,
    /// Change the configuration.
    Change(Control),
}

impl CrawlOrder {
    /// Carries the order out on the store at `root`. `live` is its crawl, if it runs in this
    /// process, and `config` the configuration file that the crawl watches.
    ///
    /// The returned message says what changed, and names the flags that apply again when the
    /// program is restarted.
    pub fn carry_out(&self, root: &Path, config: &Path, live: Option<&Live>) -> Result<Applied> {
        let said = |changed: bool, yes: &str, no: &str| Applied {
            changed,
            message: if changed { yes } else { no }.to_owned(),
        };
        let unwritable = "cannot write into the store";
        match self {
            Self::Pause => Ok(said(
                pause::pause(root).context(unwritable)?,
                "the crawl pauses: fetches under way end and are committed",
                "the crawl is paused already",
            )),
            Self::Resume => Ok(said(
                pause::resume(root).context(unwritable)?,
                "the crawl resumes",
                "the crawl was not paused",
            )),
            Self::Change(control) => change(control, root, config, live),
        }
    }
}

fn change(control: &Control, root: &Path, config: &Path, live: Option<&Live>) -> Result<Applied> {
    let settings = control.settings();
    if let Some(live) = live {
        live.overrule_flags(&settings);
    }
    let mut applied = control.write(config, root)?;
    let flags = live.map(|live| live.flags(&settings)).unwrap_or_default();
    if !flags.is_empty() {
        applied.message += &format!(
            " (the command line sets this too: {} applies again when the program is restarted)",
            flags.join(", ")
        );
    } else if !applied.changed && live.is_none() {
        applied.message += " (the configuration already had this value; flags of a crawl in another process take precedence)";
    }
    Ok(applied)
}
