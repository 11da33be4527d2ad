//! What the OpenAPI document says of the API as a whole.

use utoipa::openapi::OpenApi as Text;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

/// The document, to which each part adds its own.
#[derive(OpenApi)]
#[openapi(info(
    title = "Avocet",
    description = "Search a store that is kept fresh, and see what its crawl does. Text of results is as the web gave it: escape it wherever it is shown.",
    license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
), modifiers(&Token))]
pub struct Document;

/// The token of the store, which controls need.
struct Token;

impl Modify for Token {
    fn modify(&self, text: &mut Text) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let scheme = scheme.description(Some("The token in the file TOKEN of the store"));
        let parts = text.components.get_or_insert_default();
        parts.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}
