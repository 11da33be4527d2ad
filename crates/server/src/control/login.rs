//! The page that asks for the token, and the cookie that says that it was given.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::{COOKIE, Guest, Operator};
use crate::app::SESSION_LASTS;
use crate::{App, assets, pages};

#[derive(Template)]
#[template(path = "login.html")]
struct Login {
    path: String,
    wrong: bool,
}

/// What was given.
#[derive(Deserialize)]
pub struct Given {
    token: String,
}

pub async fn page(State(app): State<Arc<App>>, _: Guest) -> Response {
    ask(&app, false)
}

pub async fn enter(State(app): State<Arc<App>>, _: Guest, Form(given): Form<Given>) -> Response {
    if !app.token.is(&given.token) {
        return (StatusCode::FORBIDDEN, ask(&app, true)).into_response();
    }
    match app.token.sessions.begin(Instant::now()) {
        Ok(session) => {
            let seconds = SESSION_LASTS.as_secs();
            let cookie =
                format!("{COOKIE}={session}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict");
            ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
        }
        Err(error) => {
            tracing::error!("no session could begin: {error:#}");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Ends the session that asks, and no other.
pub async fn leave(State(app): State<Arc<App>>, operator: Operator) -> Response {
    if let Some(session) = &operator.session {
        app.token.sessions.end(session);
    }
    let cookie = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
}

fn ask(app: &App, wrong: bool) -> Response {
    pages::show(&Login {
        path: app.node.token_path().display().to_string(),
        wrong,
    })
}
