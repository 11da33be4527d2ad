//! The forms of the dashboard.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::Operator;
use super::controls;
use crate::{App, pages};
use node::live::controls::{Control, NewPolicies};
use node::settings::Usage;

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
    let done = apply(&app, &filled).await;
    match done {
        Ok(message) => {
            app.notice(message);
            Redirect::to("/dashboard").into_response()
        }
        Err(error) if error.is::<Usage>() => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(error) => {
            tracing::error!("a control could not be applied: {error:#}");
            let text = "The server could not do this; its log says why.";
            refuse(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

async fn apply(app: &Arc<App>, filled: &Filled) -> anyhow::Result<String> {
    let value = filled.value.trim().to_owned();
    let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let control = match filled.action.as_str() {
        "pause" => return controls::pause(app).await,
        "resume" => return controls::resume(app).await,
        "budget" => Control::Budget(value),
        "policy" => Control::Policy(NewPolicies {
            order: named(&filled.order),
            refresh: named(&filled.refresh),
            sources: named(&filled.sources),
        }),
        "block" => Control::Block(value),
        "unblock" => Control::Unblock(value),
        "add-seed" => Control::AddSeed(value),
        "remove-seed" => Control::RemoveSeed(value),
        _ => return Err(Usage("there is no such control".into()).into()),
    };
    let applied = controls::apply(app, control).await?;
    Ok(applied.message)
}
