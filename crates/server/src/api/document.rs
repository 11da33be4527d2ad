//! The general part of the OpenAPI document: title, description, licence and security scheme.

use utoipa::openapi::OpenApi as Text;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// The document, to which each route adds its description.
#[derive(OpenApi)]
#[openapi(info(
    title = "Avocet",
    description = "Search a store and observe its crawl. Texts of results come from crawled pages as they are: escape them wherever they are shown.",
    license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
), modifiers(&TokenScheme))]
pub struct ApiDocument;

/// Adds the security scheme of the controls: the operator token as a bearer token.
struct TokenScheme;

impl Modify for TokenScheme {
    fn modify(&self, text: &mut Text) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let scheme = scheme.description(Some("The token in the file TOKEN of the store"));
        let parts = text.components.get_or_insert_default();
        parts.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}
