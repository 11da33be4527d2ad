//! Why was a request refused? For programs, and for people who read what programs get.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::Busy;
use node::topics::NoSuchTopic;

/// A refusal.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    body: Refused,
}

/// What is said of a request that is refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct Refused {
    error: Reason,
}

/// Why.
#[derive(Debug, Serialize, ToSchema)]
struct Reason {
    /// One word that stays the same: `parameter`, `not_found`, `rate`, `busy`, …
    reason: &'static str,
    /// What is wrong, and what to do about it.
    message: String,
}

impl Refusal {
    /// A refusal for a reason.
    pub fn new(status: StatusCode, reason: &'static str, message: &str) -> Self {
        let message = message.to_owned();
        Self {
            status,
            body: Refused {
                error: Reason { reason, message },
            },
        }
    }

    /// A parameter is missing or wrong.
    pub fn parameter(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "parameter", message)
    }

    /// The same where a wrong parameter names what is not there.
    pub fn or_missing(mut self) -> Self {
        if self.status == StatusCode::BAD_REQUEST {
            (self.status, self.body.error.reason) = (StatusCode::NOT_FOUND, "not_found");
        }
        self
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        if let Some(busy) = error.downcast_ref::<Busy>() {
            return Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", &busy.to_string());
        }
        if let Some(missing) = error.downcast_ref::<NoSuchTopic>() {
            return Self::new(StatusCode::NOT_FOUND, "not_found", &missing.to_string());
        }
        // What is wrong with the disk is for whoever runs the server.
        tracing::error!("a request failed: {error:#}");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "failed",
            "the server could not do this; its log says why",
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = axum::http::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        response
    }
}
