//! Hostile redirects (rows 20 to 24).
//!
//! **Invariant:** no target is on this server, except those of the redirect to itself, of the loop
//! and of the chains. One chain ends at an honest page.

use super::script::{Script, ScriptRequest};

/// Number of the last URL of the chain. The chain has 16 redirects, more than the ten that a client
/// may follow.
const CHAIN: u32 = 15;

fn redirect(to: &str) -> Script {
    Script::framed(&format!("302 Found\r\nLocation: {to}"), "elsewhere\n")
}

pub(super) fn to_itself(request: &ScriptRequest<'_>) -> Script {
    redirect(request.path)
}

pub(super) fn in_a_loop(request: &ScriptRequest<'_>) -> Script {
    match request.after("/redirect-loop/") {
        "a" => redirect("/redirect-loop/b"),
        "b" => redirect("/redirect-loop/c"),
        _ => redirect("/redirect-loop/a"),
    }
}

pub(super) fn in_a_chain(request: &ScriptRequest<'_>) -> Script {
    let hop: u32 = request.after("/redirect-chain/").parse().unwrap_or(0);
    match hop < CHAIN {
        true => redirect(&format!("/redirect-chain/{}", hop + 1)),
        false => redirect("/honest/1"),
    }
}

/// Every hop has a new URL.
pub(super) fn for_ever(request: &ScriptRequest<'_>) -> Script {
    let hop: u64 = request.after("/redirect-forever/").parse().unwrap_or(0);
    redirect(&format!("/redirect-forever/{}", hop.wrapping_add(1)))
}

pub(super) fn nowhere(_: &ScriptRequest<'_>) -> Script {
    Script::framed("302 Found", "elsewhere, but not said where\n")
}

/// Defines redirects to fixed targets.
macro_rules! fixed {
    ($($name:ident $target:literal),* $(,)?) => {
        $(pub(super) fn $name(_: &ScriptRequest<'_>) -> Script {
            redirect($target)
        })*
    };
}

fixed! {
    to_file "file:///etc/passwd",
    to_data "data:text/html,<title>smuggled</title>",
    to_ftp "ftp://127.0.0.1/",
    to_s3 "s3://bucket/key",
    to_private "http://10.0.0.1/",
    to_metadata "http://169.254.169.254/latest/meta-data/",
    to_unique_local "http://[fd00::1]/",
    to_mapped "http://[::ffff:10.0.0.1]/",
    to_nat64 "http://[64:ff9b::a00:1]/",
    to_zero "http://0.0.0.0/",
    to_decimal "http://167772161/",
    to_octal "http://012.0.0.1/",
    to_hex "http://0x0a000001/",
    to_trailing_dot "http://10.0.0.1./",
}
