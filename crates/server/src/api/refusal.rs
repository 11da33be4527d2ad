//! Error answers of the API: a status, a stable code for programs, and a message for people.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::Busy;
use node::topics::NoSuchTopic;

/// An error answer.
#[derive(Debug)]
pub struct ApiRefusal {
    status: StatusCode,
    body: RefusalBody,
}

/// The body of an error answer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Refused)]
pub struct RefusalBody {
    error: Reason,
}

/// Why the request was refused.
#[derive(Debug, Serialize, ToSchema)]
struct Reason {
    /// A stable code: `parameter`, `not_found`, `rate`, `busy`, …
    reason: &'static str,
    /// What is wrong, and what to do about it, for people.
    message: String,
}

impl ApiRefusal {
    /// Creates an error answer.
    pub fn new(status: StatusCode, reason: &'static str, message: &str) -> Self {
        let message = message.to_owned();
        Self {
            status,
            body: RefusalBody {
                error: Reason { reason, message },
            },
        }
    }

    /// Creates the answer 400 for a parameter that is missing or wrong.
    pub fn parameter(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "parameter", message)
    }

    /// Creates the answer 404 for an object that does not exist.
    pub fn not_found(message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// Turns 400 into 404, for requests whose parameter names the object.
    pub fn or_missing(mut self) -> Self {
        if self.status == StatusCode::BAD_REQUEST {
            (self.status, self.body.error.reason) = (StatusCode::NOT_FOUND, "not_found");
        }
        self
    }
}

impl From<anyhow::Error> for ApiRefusal {
    fn from(error: anyhow::Error) -> Self {
        if let Some(busy) = error.downcast_ref::<Busy>() {
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", &busy.to_string());
        }
        if let Some(missing) = error.downcast_ref::<NoSuchTopic>() {
            return Self::not_found(&missing.to_string());
        }
        // The details are for the operator, so they go to the log only.
        tracing::error!("a request failed: {error:#}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            "the server could not do this; its log has the reason",
        )
    }
}

impl IntoResponse for ApiRefusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = axum::http::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        response
    }
}
