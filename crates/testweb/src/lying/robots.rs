//! Hostile robots.txt files (rows 43 to 49), each on a server of its own.
//!
//! **Invariant:** [`HostileRobots::allows`] states what a crawler may fetch. It is written from the
//! specification, not derived from the file, so that any parser of the file can be checked
//! against it.

use super::script::{Script, ScriptRequest, page};

/// A server with a few honest pages and one of these files at `/robots.txt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostileRobots {
    /// Longer than the 500 KiB that count; the part after them forbids everything.
    Huge,
    /// A page of HTML.
    Html,
    /// A line of NUL bytes, then lines that end in CR alone.
    Nuls,
    /// Five redirects, then a file.
    Redirects,
    /// Redirects without end.
    RedirectLoop,
    /// 404 with a body that forbids everything.
    Missing,
    /// 500 with a body that allows everything.
    ServerError,
    /// No answer.
    Slow,
    /// A hundred thousand rules, of which the first applies.
    ManyRules,
    /// A pattern with a thousand wildcards, and a pattern of ten kilobytes.
    Wildcards,
    /// `Crawl-delay: 1e9`.
    DelayHuge,
    /// `Crawl-delay: -1`.
    DelayNegative,
    /// `Crawl-delay: NaN`.
    DelayNan,
}

const RULES: &str = "User-agent: *\nDisallow: /forbidden\n";

/// RFC 9309, section 2.3.1.2: a crawler should follow at least five redirects.
const HOPS: u32 = 5;

impl HostileRobots {
    /// All files.
    pub const ALL: [Self; 13] = [
        Self::Huge,
        Self::Html,
        Self::Nuls,
        Self::Redirects,
        Self::RedirectLoop,
        Self::Missing,
        Self::ServerError,
        Self::Slow,
        Self::ManyRules,
        Self::Wildcards,
        Self::DelayHuge,
        Self::DelayNegative,
        Self::DelayNan,
    ];

    /// Returns the row of hostile-web.md.
    pub fn row(self) -> u8 {
        match self {
            Self::Huge => 43,
            Self::Missing => 44,
            Self::ServerError | Self::Slow => 45,
            Self::Redirects | Self::RedirectLoop => 46,
            Self::ManyRules | Self::Wildcards => 47,
            Self::Html | Self::Nuls => 48,
            Self::DelayHuge | Self::DelayNegative | Self::DelayNan => 49,
        }
    }

    /// Returns the paths of all pages of such a server, which link to each other.
    pub fn pages() -> [String; 4] {
        // A pattern with many wildcards is slow on a path that almost matches.
        [
            "/".into(),
            "/page".into(),
            "/forbidden".into(),
            format!("/{}b", "a".repeat(200)),
        ]
    }

    /// Returns whether a crawler may fetch a page.
    pub fn allows(self, path: &str) -> bool {
        match self {
            Self::ServerError | Self::Slow => false,
            Self::Html | Self::Missing | Self::RedirectLoop => true,
            Self::Huge
            | Self::Nuls
            | Self::Redirects
            | Self::ManyRules
            | Self::Wildcards
            | Self::DelayHuge
            | Self::DelayNegative
            | Self::DelayNan => !path.starts_with("/forbidden"),
        }
    }

    pub(super) fn answer(self, request: &ScriptRequest<'_>) -> Script {
        if request.path == "/robots.txt" {
            return self.file();
        }
        if let Ok(hop) = request.after("/robots-hop-").parse::<u32>() {
            return match self == Self::RedirectLoop || hop < HOPS {
                true => to_hop(hop.wrapping_add(1)),
                false => text(RULES),
            };
        }
        if !Self::pages().iter().any(|known| known == request.path) {
            return Script::not_found();
        }
        let links = Self::pages().map(|path| format!("<a href=\"{path}\">page</a>\n"));
        Script::html(page("a page under robots.txt", &links.concat()))
    }

    fn file(self) -> Script {
        match self {
            Self::Huge => {
                let padding = "# nothing to see in this line\n".repeat(20_480);
                text(format!("{RULES}{padding}Disallow: /\n"))
            }
            Self::Html => Script::html(page("not found", "<p>User-agent: *<br>Disallow: /</p>")),
            Self::Nuls => text(format!(
                "{}\n{}",
                "\0".repeat(64),
                RULES.replace('\n', "\r")
            )),
            Self::Redirects | Self::RedirectLoop => to_hop(1),
            Self::Missing => {
                Script::framed("404 Not Found\r\nContent-Type: text/plain", FORBID_ALL)
            }
            Self::ServerError => Script::framed(
                "500 Internal Server Error\r\nContent-Type: text/plain",
                ALLOW_ALL,
            ),
            Self::Slow => Script::default().silence(),
            Self::ManyRules => {
                let rules: String = (0..100_000)
                    .map(|n| format!("Disallow: /x/{n}\n"))
                    .collect();
                text(format!("{RULES}{rules}"))
            }
            Self::Wildcards => {
                let (stars, long) = ("*a".repeat(1_000), "x".repeat(10_000));
                text(format!("{RULES}Disallow: /{stars}$\nDisallow: /{long}\n"))
            }
            Self::DelayHuge => delay("1e9"),
            Self::DelayNegative => delay("-1"),
            Self::DelayNan => delay("NaN"),
        }
    }
}

const FORBID_ALL: &str = "User-agent: *\nDisallow: /\n";
const ALLOW_ALL: &str = "User-agent: *\nAllow: /\n";

fn text(body: impl Into<bytes::Bytes>) -> Script {
    Script::framed("200 OK\r\nContent-Type: text/plain", body)
}

fn delay(value: &str) -> Script {
    text(format!("{RULES}Crawl-delay: {value}\n"))
}

fn to_hop(hop: u32) -> Script {
    Script::framed(
        &format!("301 Moved Permanently\r\nLocation: /robots-hop-{hop}"),
        "elsewhere\n",
    )
}
