//! Control of a crawl by operators: login, forms of the dashboard, and the control API.
//!
//! **Invariant:** no crawl is changed without the token of the store, and no page of another site
//! can cause a change (CSRF). A browser must send the session cookie (`SameSite=Strict`), the
//! CSRF token of our own form, and headers that do not name another origin. The login and the
//! logout need no CSRF token, because they change no crawl. The login needs no cookie either.

pub mod access;
mod api;
mod controls;
mod forms;
mod login;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::App;

pub use api::routes as api_routes;
pub use controls::scope;

/// Returns the routes of the login and of the forms.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/dashboard/login", get(login::page).post(login::enter))
        .route("/dashboard/logout", post(login::leave))
        .route("/dashboard/control", post(forms::control))
}
