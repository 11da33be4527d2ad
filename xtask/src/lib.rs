//! What does the workspace do for itself?
//!
//! [`ci`] runs every check, [`tidy`] knows the rules that no compiler knows, [`torture`] runs the
//! torture tests for as long as wanted, [`cli`] is the command line. **Invariant:** nothing here depends on the crates it judges, so it builds in seconds and
//! works when they do not. What drives them is in `examples/bench`.

pub mod ci;
pub mod cli;
pub mod tidy;
pub mod torture;

use std::env;
use std::path::PathBuf;

/// The cargo that runs this program, or the one on the path.
pub fn cargo() -> PathBuf {
    env::var_os("CARGO")
        .unwrap_or_else(|| "cargo".into())
        .into()
}

/// The directory of the workspace that this program was built from.
pub fn workspace() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}
