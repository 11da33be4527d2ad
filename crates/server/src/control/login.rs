//! Login and logout: exchanges the operator token for a session cookie.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::{COOKIE, LoginAccess, OperatorAccess};
use crate::app::SESSION_LASTS;
use crate::{App, assets, pages};
use node::store::keys;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    path: String,
    wrong: bool,
}

/// The fields of the login form.
#[derive(Deserialize)]
pub struct LoginForm {
    token: String,
}

pub async fn page(State(app): State<Arc<App>>, _: LoginAccess) -> Response {
    login_page(&app, false)
}

pub async fn enter(
    State(app): State<Arc<App>>,
    _: LoginAccess,
    Form(form): Form<LoginForm>,
) -> Response {
    if !app.token.is(&form.token) {
        return (StatusCode::FORBIDDEN, login_page(&app, true)).into_response();
    }
    match app.token.sessions.begin(Instant::now()) {
        Ok(session) => {
            let seconds = SESSION_LASTS.as_secs();
            let cookie =
                format!("{COOKIE}={session}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict");
            ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
        }
        Err(error) => {
            tracing::error!("cannot begin a session: {error:#}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Ends the session of the request, and no other.
pub async fn leave(State(app): State<Arc<App>>, operator: OperatorAccess) -> Response {
    if let Some(session) = &operator.session {
        app.token.sessions.end(session);
    }
    let cookie = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
}

fn login_page(app: &App, wrong: bool) -> Response {
    pages::show(&LoginPage {
        path: keys::token_path(app.node.root()).display().to_string(),
        wrong,
    })
}
