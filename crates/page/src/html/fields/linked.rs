//! Reads JSON-LD: objects of schema.org, single, in a list or in a `@graph`.
//!
//! Contexts are not fetched and names are not resolved: a property called `author` is taken as
//! the author.
//!
//! **Invariant:** the number of bytes and objects is limited. Within one script, objects that
//! describe the content of the page (an article, an event, a course) count before those that
//! describe its frame ([`FRAMES`]) or have no type.

use serde_json::{Map, Value};

use super::{FieldKind, Fields, schema};

/// Maximum number of JSON-LD scripts of a page that are read.
pub(super) const SCRIPTS: usize = 16;
/// Maximum bytes of one script. A longer one is skipped.
const BYTES: usize = 256 << 10;
/// Maximum number of objects of one script, and of values of one property, that are read.
const OBJECTS: usize = 64;
/// Types that describe the frame of a page and not its content.
const FRAMES: [&str; 8] = [
    "WebSite",
    "WebPage",
    "Organization",
    "BreadcrumbList",
    "ImageObject",
    "Person",
    "SearchAction",
    "CollectionPage",
];

/// Reads the text of one script.
pub(super) fn read(text: &str, fields: &mut Fields) {
    if text.len() > BYTES {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(text.trim()) else {
        return;
    };
    let mut objects = Vec::new();
    gather(&value, &mut objects);
    // The first statement of a field counts, so the content comes before the frame. The sort is
    // stable.
    objects.sort_by_key(|object| is_frame(object));
    for object in objects {
        add_object(object, fields);
    }
}

fn gather<'v>(value: &'v Value, objects: &mut Vec<&'v Map<String, Value>>) {
    match value {
        Value::Array(list) => list
            .iter()
            .take(OBJECTS)
            .for_each(|value| gather(value, objects)),
        Value::Object(object) if objects.len() < OBJECTS => {
            match object.get("@graph") {
                Some(graph) => gather(graph, objects),
                None => objects.push(object),
            };
        }
        _ => {}
    }
}

fn is_frame(object: &Map<String, Value>) -> bool {
    kind(object).is_none_or(|kind| FRAMES.contains(&kind))
}

fn kind(object: &Map<String, Value>) -> Option<&str> {
    match object.get("@type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => kinds.first()?.as_str(),
        _ => None,
    }
}

fn add_object(object: &Map<String, Value>, fields: &mut Fields) {
    if let Some(kind) = kind(object) {
        fields.add(FieldKind::Kind, kind);
    }
    for (name, value) in object {
        if let Some(kind) = schema(name) {
            add_value(kind, value, fields);
        }
    }
}

/// Adds a text, the name of an object, or the texts and names in a list.
fn add_value(kind: FieldKind, value: &Value, fields: &mut Fields) {
    match value {
        Value::String(text) => fields.add(kind, text),
        Value::Object(object) => {
            let name = object.get("name").or_else(|| object.get("@value"));
            if let Some(Value::String(name)) = name {
                fields.add(kind, name);
            }
        }
        Value::Array(list) => list
            .iter()
            .take(OBJECTS)
            // Nested lists are not part of schema.org, and could be deep.
            .filter(|value| !value.is_array())
            .for_each(|value| add_value(kind, value, fields)),
        _ => {}
    }
}
