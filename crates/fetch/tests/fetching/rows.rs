//! Runs test cases of hostile-web.md: one misbehaviour of a server each, with the required
//! outcome.
//!
//! **Invariant:** after each case the same server is asked for a proper page and delivers it.

use crate::scripted::{
    ScriptedServer, ServerAction, TestClient, open_settings, summaries, summary,
};
use fetch::{FetchLimits, HttpMode, PipelineDepth};

/// One misbehaviour of a server and the required outcome.
pub struct HostileCase {
    /// The row in hostile-web.md; 0 for a correct answer.
    number: u32,
    name: &'static str,
    steps: Vec<ServerAction>,
    /// The required result of [`summary`].
    wanted: &'static str,
    /// The required content, where it matters.
    content: Option<&'static str>,
    /// Whether the connection may be used again.
    open: bool,
}

pub fn row(
    number: u32,
    name: &'static str,
    steps: Vec<ServerAction>,
    wanted: &'static str,
) -> HostileCase {
    HostileCase {
        number,
        name,
        steps,
        wanted,
        content: None,
        open: false,
    }
}

impl HostileCase {
    pub fn content(self, content: &'static str) -> Self {
        Self {
            content: Some(content),
            ..self
        }
    }

    pub fn open(self) -> Self {
        Self { open: true, ..self }
    }
}

pub fn limits() -> FetchLimits {
    FetchLimits {
        body: 256 * 1024,
        decoded: 256 * 1024,
        ratio_from: 64 * 1024,
        ..FetchLimits::default()
    }
}

/// Makes a list of cases: `row "name": [steps] => "outcome" "content" open;`. Content and `open`
/// are optional.
macro_rules! cases {
    ($($row:literal $name:literal: [$($step:expr),*]
        => $wanted:literal $($content:literal)? $($open:ident)?;)*) => {
        vec![$(row($row, $name, vec![$($step),*], $wanted)$(.content($content))?$(.$open())?),*]
    };
}
pub(crate) use cases;

/// Runs every case over HTTP/1.1 with hyper, and with the parser for pipelined answers.
pub async fn run(rows: Vec<HostileCase>, limits: FetchLimits) {
    for http in [
        HttpMode::Auto,
        HttpMode::Pipelined(PipelineDepth::default()),
    ] {
        run_over(http, &rows, &limits).await;
    }
    run_pipelined_with_others(&rows, &limits).await;
}

async fn run_over(http: HttpMode, rows: &[HostileCase], limits: &FetchLimits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = ScriptedServer::start(move |_| steps.clone()).await;
        let mut client = TestClient::new(fetch::FetchOptions {
            http,
            limits: limits.clone(),
            ..open_settings()
        });
        let label = format!("row {}, {}, {http:?}", row.number, row.name);
        let answer = client.get(&server.url("/lie")).await;
        assert_eq!(
            summary(&answer),
            row.wanted,
            "{label}: {:?}",
            answer.outcome.as_ref().err()
        );
        if let Some(content) = row.content {
            let response = answer.outcome.unwrap();
            assert_eq!(
                String::from_utf8_lossy(&response.content),
                content,
                "{label}"
            );
        }
        assert_eq!(
            client.is_open(),
            row.open,
            "{label}: whether the connection is kept"
        );
        let next = client.get(&server.url("/next")).await;
        assert_eq!(summary(&next), "200", "{label}: the next page");
        assert_eq!(
            &next.outcome.unwrap().content[..],
            b"next",
            "{label}: the next page"
        );
    }
}

/// Runs each case pipelined between proper pages.
///
/// The hostile page has the same outcome as alone, or is unanswered. The other pages are
/// correct, or are unanswered.
async fn run_pipelined_with_others(rows: &[HostileCase], limits: &FetchLimits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = ScriptedServer::start(move |_| steps.clone()).await;
        let mut client = TestClient::new(fetch::FetchOptions {
            http: HttpMode::Pipelined(PipelineDepth::default()),
            limits: limits.clone(),
            ..open_settings()
        });
        let urls = ["/next", "/lie", "/next", "/next"].map(|path| server.url(path));
        let answers = client.get_all(&urls).await;
        let label = format!(
            "row {}, {}: {:?}",
            row.number,
            row.name,
            summaries(&answers)
        );
        for (place, answer) in answers.into_iter().enumerate() {
            let outcome = summary(&answer);
            if place == 1 {
                assert!(
                    [row.wanted, "unanswered"].contains(&outcome.as_str()),
                    "{label}"
                );
            } else if outcome == "200" {
                assert_eq!(&answer.outcome.unwrap().content[..], b"next", "{label}");
            } else {
                assert!(place > 1 && !row.open && outcome == "unanswered", "{label}");
            }
        }
        assert_eq!(
            client.is_open(),
            row.open,
            "{label}: whether the connection is kept"
        );
        let again = client.get(&server.url("/lie")).await;
        assert_eq!(summary(&again), row.wanted, "{label}: alone");
    }
}

/// Returns a response head with these fields.
pub fn head(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
}
