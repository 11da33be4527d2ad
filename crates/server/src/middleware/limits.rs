//! Turns away requests of a client that asks too often.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::Refusal;
use crate::request::client::Client;
use crate::{App, pages};

/// Passes a request on if its client may ask.
pub async fn limit(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    match app.limits.take(client.address, Instant::now()) {
        Ok(_under_way) => next.run(request).await,
        Err(seconds) => {
            app.metrics.limited();
            let wait = (header::RETRY_AFTER, seconds.to_string());
            let (status, why) = (
                StatusCode::TOO_MANY_REQUESTS,
                "There were too many requests from this address. Try again in a moment.",
            );
            let path = request.uri().path();
            if path.starts_with("/api/") || path == "/mcp" {
                return ([wait], Refusal::new(status, "rate", why)).into_response();
            }
            ([wait], pages::message_of(&app, status, "One moment", why)).into_response()
        }
    }
}
