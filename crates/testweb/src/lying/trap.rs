//! Spider traps, and malformed URLs (rows 55 to 58, 60, 61).
//!
//! **Invariant:** every page of a trap is determined by its path alone, so a trap is the same in
//! every run.

use std::fmt::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::script::{Script, ScriptRequest, page};

/// Returns a random number generator seeded by a path (FNV-1a hash of its bytes).
fn chance_of(path: &str) -> ChaCha8Rng {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ChaCha8Rng::seed_from_u64(hash)
}

/// Links to the month before and the month after, for ever.
pub(super) fn calendar(request: &ScriptRequest<'_>) -> Script {
    let parsed = request.after("/calendar/").split_once('/');
    let year = parsed
        .and_then(|(year, _)| year.parse::<i32>().ok())
        .unwrap_or(2026);
    let month = parsed
        .and_then(|(_, month)| month.parse::<i32>().ok())
        .unwrap_or(1);
    let link = |months: i32| {
        let n = year
            .wrapping_mul(12)
            .wrapping_add(month)
            .wrapping_add(months - 1);
        format!(
            "<a href=\"/calendar/{}/{}\">month</a>\n",
            n.div_euclid(12),
            n.rem_euclid(12) + 1
        )
    };
    let links = link(-1) + &link(1);
    Script::html(page(
        "calendar",
        &format!("<p>nothing is planned</p>{links}"),
    ))
}

/// Every link has a new session id, in the path and in the query.
pub(super) fn session(request: &ScriptRequest<'_>) -> Script {
    let mut rng = chance_of(request.path);
    let mut links = String::new();
    for target in ["one", "two", "three"] {
        let (path, query) = (rng.next_u64(), rng.next_u64());
        let _ = writeln!(
            links,
            "<a href=\"/session/{path:016x}/{target}?sid={query:016x}\">{target}</a>"
        );
    }
    Script::html(page(
        "session",
        &format!("<p>the same three pages</p>{links}"),
    ))
}

/// A relative link that goes one level deeper at each step.
pub(super) fn spiral(_: &ScriptRequest<'_>) -> Script {
    Script::html(page(
        "spiral",
        "<p>deeper</p><a href=\"a/\">a</a> <a href=\"b/a/\">b</a>",
    ))
}

/// New text and new links on every page, like tarpits against crawlers.
pub(super) fn endless_text(request: &ScriptRequest<'_>) -> Script {
    Script::html(babble(request.path, 10, |number| {
        format!("/endless-text/{number:016x}")
    }))
}

/// Returns a page of random words, with links to pages that no other page names.
pub(super) fn babble(path: &str, links: usize, link: impl Fn(u64) -> String) -> String {
    const WORDS: [&str; 12] = [
        "the", "wader", "sweeps", "its", "bill", "through", "shallow", "water", "only", "where",
        "food", "is",
    ];
    let mut rng = chance_of(path);
    let mut body = String::from("<p>");
    for _ in 0..300 {
        body.push_str(WORDS[rng.random_range(0..WORDS.len())]);
        body.push(' ');
    }
    for _ in 0..links {
        let _ = writeln!(body, "<a href=\"{}\">more</a>", link(rng.next_u64()));
    }
    page("endless text", &body)
}

/// Links of 3,000 bytes and of a megabyte.
pub(super) fn long_url(_: &ScriptRequest<'_>) -> Script {
    let links =
        [3_000, 1_000_000].map(|n| format!("<a href=\"/long/{}\">long</a>\n", "x".repeat(n)));
    Script::html(page("long URLs", &links.concat()))
}

/// Links with characters that must not reach a header or a file name.
pub(super) fn control_urls(_: &ScriptRequest<'_>) -> Script {
    let links = [
        "/nul/\0/x",
        "/nul/%00/x",
        "/line/\r\nX-Injected: 1\r\n/x",
        "/line/%0d%0aX-Injected:%201/x",
        "/tab/\t/x",
        "\\backslash\\x",
        "/up/%2f..%2f..%2fetc/passwd",
        "/up/../../../etc/passwd",
        "/up/%2e%2e/%2e%2e/x",
        "//",
        "http:///x",
        "http://[::1",
        "http://a b/",
    ];
    let links = links.map(|link| format!("<a href=\"{link}\">odd</a>\n"));
    Script::html(page("control URLs", &links.concat()))
}
