//! Sites without end, and URLs that should not be (rows 55 to 58, 60, 61).
//!
//! **Invariant:** every page of a trap follows from its path alone, so a trap is the same in every run.

use std::fmt::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::script::{Asked, Script, page};

/// Chance that follows from a path (FNV-1a over its bytes).
fn chance_of(path: &str) -> ChaCha8Rng {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ChaCha8Rng::seed_from_u64(hash)
}

/// Months before and after, for ever.
pub(super) fn calendar(asked: &Asked<'_>) -> Script {
    let parsed = asked.after("/calendar/").split_once('/');
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

/// Every link carries an id never seen before, in the path and in the query.
pub(super) fn session(asked: &Asked<'_>) -> Script {
    let mut rng = chance_of(asked.path);
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

/// A relative link that goes one deeper at each step.
pub(super) fn spiral(_: &Asked<'_>) -> Script {
    Script::html(page(
        "spiral",
        "<p>deeper</p><a href=\"a/\">a</a> <a href=\"b/a/\">b</a>",
    ))
}

/// New text and new links on every page, as tarpits for crawlers make them.
pub(super) fn endless_text(asked: &Asked<'_>) -> Script {
    Script::html(babble(asked.path, 10, |number| {
        format!("/endless-text/{number:016x}")
    }))
}

/// A page of random words and links to pages that no other page names.
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
pub(super) fn long_url(_: &Asked<'_>) -> Script {
    let links =
        [3_000, 1_000_000].map(|n| format!("<a href=\"/long/{}\">long</a>\n", "x".repeat(n)));
    Script::html(page("long URLs", &links.concat()))
}

/// Links with what must not reach a header or a file name.
pub(super) fn control_urls(_: &Asked<'_>) -> Script {
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
