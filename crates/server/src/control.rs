//! Who may change a crawl, and how do they say what they want?
//!
//! **Invariant:** nothing is changed without the token of the store, and nothing at the wish of a page of another site: a
//! browser is asked for its cookie (which it sends for our own pages only), for a word that only our own form has, and for
//! where the request comes from.

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

/// Forms and the login.
pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/dashboard/login", get(login::page).post(login::enter))
        .route("/dashboard/logout", post(login::leave))
        .route("/dashboard/control", post(forms::control))
}
