//! Runs rows of hostile-web.md: one lie of a server, and what must come of it.
//!
//! **Invariant:** after each lie the same server is asked for a proper page and gives it.

use crate::scripted::{Client, Server, Step, open_settings, summaries, summary};
use fetch::{Depth, Http, Limits};

/// One lie, and what must come of it.
pub struct Row {
    /// The row in hostile-web.md.
    number: u32,
    name: &'static str,
    steps: Vec<Step>,
    /// What [`summary`] says.
    wanted: &'static str,
    /// The content, where it matters.
    content: Option<&'static str>,
    /// Whether the connection may be used again.
    open: bool,
}

pub fn row(number: u32, name: &'static str, steps: Vec<Step>, wanted: &'static str) -> Row {
    Row {
        number,
        name,
        steps,
        wanted,
        content: None,
        open: false,
    }
}

impl Row {
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

pub fn limits() -> Limits {
    Limits {
        body: 256 * 1024,
        decoded: 256 * 1024,
        ratio_from: 64 * 1024,
        ..Limits::default()
    }
}

/// Every row in plain HTTP/1.1, and by the reader of pipelined answers.
pub async fn run(rows: Vec<Row>, limits: Limits) {
    for http in [Http::Auto, Http::Pipelined(Depth::default())] {
        run_over(http, &rows, &limits).await;
    }
    run_in_company(&rows, &limits).await;
}

async fn run_over(http: Http, rows: &[Row], limits: &Limits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = Server::start(move |_| steps.clone()).await;
        let mut client = Client::new(fetch::Settings {
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

/// The lie among pages that are pipelined with it: it is what it is alone or is to be asked for again,
/// and the others are themselves or are to be asked for again.
async fn run_in_company(rows: &[Row], limits: &Limits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = Server::start(move |_| steps.clone()).await;
        let mut client = Client::new(fetch::Settings {
            http: Http::Pipelined(Depth::default()),
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
            let told = summary(&answer);
            if place == 1 {
                assert!(
                    [row.wanted, "unanswered"].contains(&told.as_str()),
                    "{label}"
                );
            } else if told == "200" {
                assert_eq!(&answer.outcome.unwrap().content[..], b"next", "{label}");
            } else {
                assert!(place > 1 && !row.open && told == "unanswered", "{label}");
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

/// The head of an answer with these fields.
pub fn head(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
}
