//! Refuses requests of a client that exceeds a limit.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::ApiRefusal;
use crate::request::client::RequestClient;
use crate::{App, pages};

/// Passes a request on, or answers 429 with `Retry-After` if its client exceeds a limit.
pub async fn limit(
    State(app): State<Arc<App>>,
    Extension(client): Extension<RequestClient>,
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
                return ([wait], ApiRefusal::new(status, "rate", why)).into_response();
            }
            ([wait], pages::message_of(&app, status, "One moment", why)).into_response()
        }
    }
}
