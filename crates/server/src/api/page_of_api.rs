//! `GET /api`: the OpenAPI document as a page for people, with an example of each request.
//!
//! The page is made from the document that programs get, and needs no script.

use askama::Template;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value};

use crate::{assets, pages};

#[derive(Template)]
#[template(path = "api.html")]
struct ApiPage {
    operations: Vec<Operation>,
    types: Vec<ApiType>,
}

/// A request that the API answers.
struct Operation {
    /// The fragment that leads to it.
    id: String,
    method: String,
    path: String,
    needs_token: bool,
    summary: String,
    paragraphs: Vec<String>,
    parameters: Vec<Field>,
    body: Option<String>,
    answers: Vec<ApiAnswer>,
    /// A command line that makes the request.
    curl: String,
}

/// A parameter of a request, or a field of a type.
struct Field {
    name: String,
    required: bool,
    kind: String,
    /// The name of its type, if that is described on the page.
    link: Option<String>,
    meaning: String,
}

/// An answer to a request.
struct ApiAnswer {
    status: String,
    meaning: String,
    body: Option<String>,
}

/// A type of bodies.
struct ApiType {
    name: String,
    meaning: String,
    fields: Vec<Field>,
}

/// Returns the page of a document.
pub fn show(document: &Value, prefix: &str, headers: &HeaderMap) -> Response {
    let server = pages::base_url(headers).unwrap_or_else(|| "http://127.0.0.1:8321".into());
    let base = server + prefix;
    pages::show(&ApiPage {
        operations: operations(document, &base),
        types: types(document),
    })
}

fn operations(document: &Value, base: &str) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, methods) in entries(&document["paths"]) {
        for (method, operation) in entries(methods) {
            let method = method.to_uppercase();
            let security = operation["security"].as_array();
            let needs_token = security.is_some_and(|schemes| !schemes.is_empty());
            let parameters = operation["parameters"].as_array();
            let parameters = parameters.map_or(&[][..], Vec::as_slice);
            let body =
                reference(&operation["requestBody"]["content"]["application/json"]["schema"]);
            let answers = entries(&operation["responses"]).map(|(status, answer)| ApiAnswer {
                status: status.clone(),
                meaning: text(&answer["description"]),
                body: entries(&answer["content"]).find_map(|(_, body)| reference(&body["schema"])),
            });
            let paragraphs = text(&operation["description"]);
            let paragraphs = paragraphs.split("\n\n").filter(|text| !text.is_empty());
            operations.push(Operation {
                id: format!(
                    "{}{}",
                    method.to_lowercase(),
                    path.replace(['/', '{', '}'], "-")
                ),
                path: path.clone(),
                needs_token,
                summary: text(&operation["summary"]),
                paragraphs: paragraphs.map(str::to_owned).collect(),
                parameters: parameters.iter().map(parameter).collect(),
                answers: answers.collect(),
                curl: curl(document, base, (&method, path), operation, needs_token),
                body,
                method,
            });
        }
    }
    operations
}

fn parameter(parameter: &Value) -> Field {
    Field {
        name: text(&parameter["name"]),
        required: parameter["required"] == true,
        kind: kind(&parameter["schema"]),
        link: reference(&parameter["schema"]),
        meaning: text(&parameter["description"]),
    }
}

fn types(document: &Value) -> Vec<ApiType> {
    let types = entries(&document["components"]["schemas"]);
    let types = types.map(|(name, schema)| {
        let required = schema["required"].as_array();
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let fields = entries(&schema["properties"]).map(|(name, field)| Field {
            required: is_required(name),
            name: name.clone(),
            kind: kind(field),
            link: reference(field).or_else(|| reference(&field["items"])),
            meaning: text(&field["description"]),
        });
        ApiType {
            name: name.clone(),
            meaning: text(&schema["description"]),
            fields: fields.collect(),
        }
    });
    types.collect()
}

/// Returns a command line that makes a request with its required parameters.
fn curl(
    document: &Value,
    base: &str,
    (method, path): (&str, &str),
    operation: &Value,
    needs_token: bool,
) -> String {
    let parameters = operation["parameters"].as_array();
    let (mut path, mut query) = (path.to_owned(), Vec::new());
    for parameter in parameters.into_iter().flatten() {
        let name = text(&parameter["name"]);
        let value = plain(&example(document, &parameter["schema"], &name));
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), &value);
        } else if parameter["required"] == true {
            let value: String = value.replace(' ', "+").replace('&', "%26");
            query.push(format!("{name}={value}"));
        }
    }
    let query = match query.is_empty() {
        true => String::new(),
        false => format!("?{}", query.join("&")),
    };
    let mut command = String::from("curl -s");
    if method != "GET" {
        command += &format!(" -X {method}");
    }
    if needs_token {
        command += " -H \"Authorization: Bearer $TOKEN\"";
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    if body.is_object() {
        let body = example(document, body, "");
        command += &format!(" -H 'Content-Type: application/json' -d '{body}'");
    }
    format!("{command} '{base}{path}{query}'")
}

/// Returns a value that a schema allows: its example, its default, or one by its type.
fn example(document: &Value, schema: &Value, name: &str) -> Value {
    if let Some(referred) = reference(schema) {
        return example(
            document,
            &document["components"]["schemas"][&referred],
            name,
        );
    }
    for key in ["example", "default"] {
        if !schema[key].is_null() {
            return schema[key].clone();
        }
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    if let Some(fields) = schema["properties"].as_object() {
        let required = schema["required"].as_array();
        let wanted =
            |name: &str| required.is_none_or(|names| names.iter().any(|required| required == name));
        let fields = fields.iter().filter(|(name, _)| wanted(name));
        let fields = fields.map(|(name, field)| (name.clone(), example(document, field, name)));
        return Value::Object(fields.collect::<Map<String, Value>>());
    }
    match (schema["type"].as_str(), name) {
        (Some("integer" | "number"), _) => 1.into(),
        (Some("boolean"), _) => true.into(),
        (_, "url") => "https://example.org/".into(),
        (_, "report") => "broken-links".into(),
        _ => "words".into(),
    }
}

/// Returns the type of a schema in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return name;
    }
    let one = |kind: &Value| match (kind.as_str(), reference(&schema["items"])) {
        (Some("array"), Some(of)) => format!("list of {of}"),
        (Some("array"), None) => "list".to_owned(),
        (kind, _) => kind.unwrap_or_default().to_owned(),
    };
    let kinds: Vec<String> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(one).collect(),
        single => vec![one(single)],
    };
    kinds.join(" or ")
}

/// Returns the name of the type that a schema refers to, also if it may be `null`.
fn reference(schema: &Value) -> Option<String> {
    let named = |schema: &Value| {
        let path = schema["$ref"].as_str()?;
        path.rsplit('/').next().map(str::to_owned)
    };
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    named(schema).or_else(|| choices.into_iter().find_map(named))
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().trim().to_owned()
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_has_what_a_request_requires() {
        let document = json!({
            "paths": { "/api/v1/x/{id}": { "post": {
                "security": [{ "token": [] }],
                "parameters": [
                    { "name": "id", "in": "path", "schema": { "type": "integer" } },
                    { "name": "q", "in": "query", "required": true, "schema": { "type": "string" } },
                    { "name": "more", "in": "query", "schema": { "type": "string" } },
                ],
                "requestBody": { "content": { "application/json": {
                    "schema": { "$ref": "#/components/schemas/Rate" } } } },
            } } },
            "components": { "schemas": { "Rate": { "required": ["rate"], "properties": {
                "rate": { "type": "string", "example": "2/s" }, "other": { "type": "string" } } } } },
        });
        let operations = operations(&document, "http://e.org");
        assert_eq!(
            operations[0].curl,
            "curl -s -X POST -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' \
             -d '{\"rate\":\"2/s\"}' 'http://e.org/api/v1/x/1?q=words'"
        );
        assert_eq!(
            (operations[0].id.as_str(), operations[0].needs_token),
            ("post-api-v1-x--id-", true)
        );
        assert_eq!(types(&document)[0].fields.len(), 2);
    }
}
