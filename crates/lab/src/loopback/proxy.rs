//! A world with links, served for real.
//!
//! It is an HTTP proxy on loopback (RFC 9112, 3.2.2) that answers for every host of the world, so that a crawler
//! which is told of it fetches `http://cs.stanford.edu/` from here. **Invariant:** what is answered is the
//! world's and nothing else; no connection is made to anywhere.

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
pub struct Proxy {
    world: Linked,
    pages: HashMap<PageId, usize>,
    fetched: Mutex<Vec<usize>>,
}

impl Proxy {
    /// A proxy for this world.
    pub fn new(world: Linked) -> Self {
        let graph = world.graph();
        let pages = (0..graph.pages()).map(|page| (graph.url(page).id(), page));
        Self {
            pages: pages.collect(),
            fetched: Mutex::default(),
            world,
        }
    }

    /// The pages in the order in which they were asked for.
    pub fn fetched(&self) -> Vec<usize> {
        self.log().clone()
    }

    /// Listens at 127.0.0.1, at the given port or any that is free, on the current tokio runtime.
    pub async fn listen(self: &Arc<Self>, port: Option<u16>) -> Result<Listening, TestwebError> {
        let world = Arc::clone(self);
        proxy::listen(port, move |stream| Arc::clone(&world).attend(stream)).await
    }

    /// Serves one connection to its end, whatever it is made of.
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

    /// The page as HTML: what it says, then its links in the world's order. A page of which no text is known
    /// says something that no other does, or a crawler would take all for copies of one.
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
        let proxy = Proxy::new(graph.into());
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
