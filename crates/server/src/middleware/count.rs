//! Counts answers by route and status, for monitoring.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::App;

/// The label of requests for paths that no route has.
const OTHER: &str = "other";

/// Passes a request on and counts its answer.
pub async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = matched.as_ref().map_or(OTHER, MatchedPath::as_str);
    app.metrics.answered(route, response.status().as_u16());
    response
}
