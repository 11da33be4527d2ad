//! What has changed on the dashboard, told as it happens: server-sent events.
//!
//! **Invariant:** only so many listen at once, and all stop listening when the server ends: nobody who watches keeps it from
//! ending.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::view::View;
use crate::control::access::Visitor;
use crate::{App, pages};

/// How often a crawl of another process is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Nobody is told more often than this.
const PAUSE: Duration = Duration::from_millis(900);

#[derive(Template)]
#[template(path = "dashboard_live.html")]
struct Parts {
    view: View,
}

pub async fn events(State(app): State<Arc<App>>, _: Visitor) -> Response {
    let Ok(place) = app.listeners.clone().try_acquire_owned() else {
        return pages::message(
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many watch",
            "Too many dashboards are open: close some, or reload this one now and then.",
        );
    };
    let watched = app.node.watch();
    let told = stream::unfold(
        (app, watched, place),
        |(app, mut watched, place)| async move {
            let mut closing = app.closing.subscribe();
            let news = async {
                tokio::time::sleep(PAUSE).await;
                match &mut watched {
                    // The crawl has ended, and the program with it.
                    Some(watched) => watched.changed().await.is_ok(),
                    None => {
                        tokio::time::sleep(LOOK_EVERY - PAUSE).await;
                        true
                    }
                }
            };
            tokio::select! {
                going_on = news => if !going_on { return None },
                _ = closing.wait_for(|closing| *closing) => return None,
            }
            let snapshot = super::snapshot(&app).await;
            let view = View::of(&snapshot, app.node.is_crawling(&snapshot));
            let event = match (Parts { view }).render() {
                // An event cannot hold a carriage return.
                Ok(html) => Event::default().event("live").data(html.replace('\r', " ")),
                Err(_) => Event::default().comment("nothing"),
            };
            Some((Ok::<_, Infallible>(event), (app, watched, place)))
        },
    );
    Sse::new(told)
        .keep_alive(KeepAlive::default())
        .into_response()
}
