//! The forms of the dashboard.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::Operator;
use crate::live::wish::{NewPolicies, Wish};
use crate::serve::{App, pages};
use crate::usage::Usage;

/// What a form says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Filled {
    /// The CSRF token.
    form: String,
    /// What is wanted.
    action: String,
    /// A budget, a host, a URL.
    value: String,
    order: String,
    refresh: String,
    sources: String,
}

pub async fn control(
    State(app): State<Arc<App>>,
    operator: Operator,
    Form(filled): Form<Filled>,
) -> Response {
    let refuse = |status, text: &str| pages::message(status, "Not done", text);
    let session = operator.session.as_deref();
    if !app.token.is_form(&filled.form, session) {
        return refuse(
            StatusCode::FORBIDDEN,
            "This form is not of this server: open the dashboard again.",
        );
    }
    let done = app.grant(&filled).await;
    match done {
        Ok(message) => {
            app.notice(message);
            Redirect::to("/dashboard").into_response()
        }
        Err(error) if error.is::<Usage>() => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error) => {
            tracing::error!("a wish could not be granted: {error:#}");
            let text = "The server could not do this; its log says why.";
            refuse(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

impl App {
    async fn grant(self: &Arc<Self>, filled: &Filled) -> anyhow::Result<String> {
        let value = filled.value.trim().to_owned();
        let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let wish = match filled.action.as_str() {
            "pause" => return self.pause().await,
            "resume" => return self.resume().await,
            "budget" => Wish::Budget(value),
            "policy" => Wish::Policy(NewPolicies {
                order: named(&filled.order),
                refresh: named(&filled.refresh),
                sources: named(&filled.sources),
            }),
            "block" => Wish::Block(value),
            "unblock" => Wish::Unblock(value),
            "add-seed" => Wish::AddSeed(value),
            "remove-seed" => Wish::RemoveSeed(value),
            _ => return Err(Usage("there is no such control".into()).into()),
        };
        let granted = self.wish(wish).await?;
        Ok(granted.message)
    }
}
