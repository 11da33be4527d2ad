//! A server of a web graph on loopback.
//!
//! It is an HTTP proxy (RFC 9112, section 3.2.2) that answers for every host of the world. A
//! crawler that uses it fetches `http://cs.stanford.edu/` from here.
//!
//! **Invariant:** all responses come from the world, and the proxy opens no connections.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use figure::escaped;
use hyper::{Response, StatusCode, Uri};
use page::{PageId, PageUrl};
use testweb::TestwebError;
use testweb::proxy::{self, Listening};
use testweb::reply::{plain, typed};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::world::Linked;

/// Answers requests with the pages of a world.
#[derive(Debug)]
pub struct WorldProxy {
    world: Linked,
    pages: HashMap<PageId, usize>,
    fetched: Mutex<Vec<usize>>,
}

impl WorldProxy {
    /// Creates a proxy for this world.
    pub fn new(world: Linked) -> Self {
        let graph = world.graph();
        let pages = (0..graph.pages()).map(|page| (graph.url(page).id(), page));
        Self {
            pages: pages.collect(),
            fetched: Mutex::default(),
            world,
        }
    }

    /// Returns the pages in the order of the requests.
    pub fn fetched(&self) -> Vec<usize> {
        self.log().clone()
    }

    /// Listens on 127.0.0.1, on the given port or any free one, on the current tokio runtime.
    pub async fn listen(self: &Arc<Self>, port: Option<u16>) -> Result<Listening, TestwebError> {
        let world = Arc::clone(self);
        proxy::listen(port, move |stream| Arc::clone(&world).attend(stream)).await
    }

    /// Serves one connection to its end, over any transport.
    pub async fn attend(self: Arc<Self>, stream: impl AsyncRead + AsyncWrite + Unpin) {
        proxy::serve_connection(stream, |uri| self.answer(uri)).await;
    }

    fn answer(&self, uri: &Uri) -> Response<Bytes> {
        let url = PageUrl::parse(&uri.to_string()).ok();
        match url.and_then(|url| self.pages.get(&url.id())) {
            Some(&page) => {
                self.log().push(page);
                typed(StatusCode::OK, "text/html; charset=utf-8", self.html(page))
            }
            None => plain(StatusCode::NOT_FOUND, "not in this world\n"),
        }
    }

    /// Renders a page as HTML: its text, then its links in the order of the graph.
    ///
    /// A page without a known text gets a unique sentence. Otherwise a crawler would treat all
    /// pages as duplicates.
    fn html(&self, page: usize) -> Bytes {
        let graph = self.world.graph();
        let own = format!("Page {} of this world.", graph.id(page));
        let (title, text) = self.world.text(page).unwrap_or(("", &own));
        let (title, text) = (escaped(title), escaped(text));
        let mut html = format!("<!DOCTYPE html>\n<title>{title}</title>\n<p>{text}</p>\n");
        for (nth, &to) in graph.links(page).iter().enumerate() {
            let url = escaped(graph.url(to as usize).as_str());
            let words = escaped(self.world.anchor(page, nth));
            // Writing to a string cannot fail.
            let _ = writeln!(html, "<p><a href=\"{url}\">{words}</a></p>");
        }
        html.into()
    }

    fn log(&self) -> MutexGuard<'_, Vec<usize>> {
        self.fetched
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Graph;

    #[test]
    fn every_url_of_the_world_is_answered_and_nothing_else() {
        let urls = ["http://a.org/x?y=\"1\"&z", "https://b.org/"];
        let graph = Graph::new(urls.into_iter(), [(0, 1), (1, 0)].into_iter());
        let proxy = WorldProxy::new(graph.into());
        let ask = |url: &str| proxy.answer(&url.parse().unwrap());
        let answer = ask("http://a.org/x?y=%221%22&z");
        assert_eq!(answer.status(), StatusCode::OK);
        let html = String::from_utf8(answer.into_body().to_vec()).unwrap();
        assert!(html.contains("<a href=\"https://b.org/\">"), "{html}");
        let back = ask("https://b.org/").into_body();
        let back = String::from_utf8(back.to_vec()).unwrap();
        assert!(
            back.contains("href=\"http://a.org/x?y=%221%22&amp;z\""),
            "{back}"
        );
        for other in [
            "http://a.org/",
            "http://a.org/robots.txt",
            "/x",
            "http://c.org/",
        ] {
            assert_eq!(ask(other).status(), StatusCode::NOT_FOUND, "{other}");
        }
        assert_eq!(proxy.fetched(), [0, 1]);
    }
}
