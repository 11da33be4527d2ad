//! Handles the control forms of the dashboard.

use std::sync::Arc;

use axum::Form;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::OperatorAccess;
use super::controls;
use crate::{App, pages};
use node::live::controls::{Control, NewPolicies};
use node::live::orders::CrawlOrder;
use node::settings::Usage;
use node::whole_crawl::NoSuchNode;

/// The fields of a control form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ControlForm {
    /// The CSRF token.
    form: String,
    /// The name of the control.
    action: String,
    /// A budget, a host or a URL.
    value: String,
    order: String,
    refresh: String,
    sources: String,
    /// In a cluster: the node that the control is for; empty: all nodes.
    node: String,
    /// `cluster` or `sites`: the page of the form, if it is not the dashboard.
    page: String,
}

pub async fn control(
    State(app): State<Arc<App>>,
    operator: OperatorAccess,
    Form(fields): Form<ControlForm>,
) -> Response {
    let refuse = |status, text: &str| pages::message(status, "Not done", text);
    let session = operator.session.as_deref();
    if !app.token.is_form(&fields.form, session) {
        return refuse(
            StatusCode::FORBIDDEN,
            "This form is out of date or not from this server: open the dashboard again.",
        );
    }
    let done = apply(&app, &fields).await;
    match done {
        Ok(message) => {
            app.notice(message);
            // A form returns to its page.
            let page = match fields.page.as_str() {
                "cluster" => "/dashboard/cluster",
                "sites" => "/dashboard/sites",
                _ => "/dashboard",
            };
            Redirect::to(page).into_response()
        }
        Err(error) if error.is::<Usage>() || error.is::<NoSuchNode>() => {
            refuse(StatusCode::BAD_REQUEST, &error.to_string())
        }
        Err(error) => {
            tracing::error!("a control could not be applied: {error:#}");
            let text = "The server could not do this; its log has the reason.";
            refuse(StatusCode::INTERNAL_SERVER_ERROR, text)
        }
    }
}

async fn apply(app: &Arc<App>, fields: &ControlForm) -> anyhow::Result<String> {
    let value = fields.value.trim().to_owned();
    let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let control = match fields.action.as_str() {
        "pause" => return pass(app, CrawlOrder::Pause, fields).await,
        "resume" => return pass(app, CrawlOrder::Resume, fields).await,
        "budget" => Control::Budget(value),
        "policy" => Control::Policy(NewPolicies {
            order: named(&fields.order),
            refresh: named(&fields.refresh),
            sources: named(&fields.sources),
        }),
        "block" => Control::Block(value),
        "unblock" => Control::Unblock(value),
        "add-seed" => Control::AddSeed(value),
        "remove-seed" => Control::RemoveSeed(value),
        _ => return Err(Usage("there is no such control".into()).into()),
    };
    pass(app, CrawlOrder::Change(control), fields).await
}

async fn pass(app: &Arc<App>, order: CrawlOrder, fields: &ControlForm) -> anyhow::Result<String> {
    let node = Some(fields.node.clone()).filter(|node| !node.is_empty());
    Ok(controls::order(app, order, node).await?.message)
}
