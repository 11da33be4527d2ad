//! Live updates of the dashboard, as server-sent events.
//!
//! **Invariant:** the number of open streams is bounded. All streams end when the server shuts
//! down, so an open dashboard does not delay the shutdown.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::view::DashboardView;
use crate::control::access::ViewAccess;
use crate::{App, pages};

/// The time between two updates, if the crawl runs in another process.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The minimum time between two updates.
const PAUSE: Duration = Duration::from_millis(900);

#[derive(Template)]
#[template(path = "dashboard_live.html")]
struct Parts {
    view: DashboardView,
}

pub async fn events(State(app): State<Arc<App>>, _: ViewAccess) -> Response {
    follow(app, |app| {
        let snapshot = app.node.snapshot();
        let view = DashboardView::of(&snapshot, app.node.is_crawling(&snapshot));
        Parts { view }.render().ok()
    })
}

/// Sends the parts of a page whenever the crawl has news. `render` returns their HTML, on a thread
/// for blocking work.
pub fn follow(app: Arc<App>, render: fn(&App) -> Option<String>) -> Response {
    let Ok(place) = app.listeners.clone().try_acquire_owned() else {
        return pages::message(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many dashboards",
            "Too many dashboards are open: close some, or reload this page to update it.",
        );
    };
    let watched = app.node.watch();
    let updates = stream::unfold(
        (app, watched, place),
        move |(app, mut watched, place)| async move {
            let mut closing = app.closing.subscribe();
            let news = async {
                tokio::time::sleep(PAUSE).await;
                match &mut watched {
                    // An error means that the crawl has ended, and the program ends with it.
                    Some(watched) => watched.changed().await.is_ok(),
                    None => {
                        tokio::time::sleep(LOOK_EVERY - PAUSE).await;
                        true
                    }
                }
            };
            tokio::select! {
                continues = news => if !continues { return None },
                _ = closing.wait_for(|closing| *closing) => return None,
            }
            let reader = app.clone();
            let html = tokio::task::spawn_blocking(move || render(&reader)).await;
            let event = match html {
                // An event cannot hold a carriage return.
                Ok(Some(html)) => Event::default().event("live").data(html.replace('\r', " ")),
                Ok(None) | Err(_) => Event::default().comment("nothing"),
            };
            Some((Ok::<_, Infallible>(event), (app, watched, place)))
        },
    );
    Sse::new(updates)
        .keep_alive(KeepAlive::default())
        .into_response()
}
