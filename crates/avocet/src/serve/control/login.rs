//! The page that asks for the token, and the cookie that says that it was given.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::access::{COOKIE, Guest, Operator};
use super::token;
use crate::serve::{App, assets, pages};

/// How long a browser keeps the cookie: a working day.
const SECONDS: u32 = 12 * 3600;

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
    let cookie = format!(
        "{COOKIE}={}; Path=/; Max-Age={SECONDS}; HttpOnly; SameSite=Strict",
        app.token.session()
    );
    ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
}

pub async fn leave(_: Operator) -> Response {
    let cookie = format!("{COOKIE}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/dashboard")).into_response()
}

fn ask(app: &App, wrong: bool) -> Response {
    pages::show(&Login {
        path: token::path(&app.root).display().to_string(),
        wrong,
    })
}
