//! What does JSON-LD say?
//!
//! Objects of schema.org, one by one or in a list or a `@graph`. Contexts are not fetched and names not resolved: what is
//! called `author` is one. **Invariant:** so many bytes and so many objects are looked at; the first object with a
//! type is the page, unless a later one is an article, an event or a course, which the page is then about.

use serde_json::{Map, Value};

use super::{Fields, What, schema};

/// Scripts that are read of a page.
pub(super) const SCRIPTS: usize = 16;
/// Bytes of one.
const BYTES: usize = 256 << 10;
/// Objects of one.
const OBJECTS: usize = 64;
/// Types that are the frame of a page and not what it is about.
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

/// Reads a script.
pub(super) fn read(text: &str, fields: &mut Fields) {
    if text.len() > BYTES {
        return;
    }
    let Ok(value) = serde_json::from_str::<Value>(text.trim()) else {
        return;
    };
    let mut objects = Vec::new();
    gather(&value, &mut objects);
    // What the page is about says more of it than its frame; the sort keeps their order.
    objects.sort_by_key(|object| is_frame(object));
    for object in objects {
        told(object, fields);
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

fn told(object: &Map<String, Value>, fields: &mut Fields) {
    if let Some(kind) = kind(object) {
        fields.say(What::Kind, kind);
    }
    for (name, value) in object {
        if let Some(what) = schema(name) {
            said(what, value, fields);
        }
    }
}

/// A text, the name of an object, or several of these.
fn said(what: What, value: &Value, fields: &mut Fields) {
    match value {
        Value::String(text) => fields.say(what, text),
        Value::Object(object) => {
            let name = object.get("name").or_else(|| object.get("@value"));
            if let Some(Value::String(name)) = name {
                fields.say(what, name);
            }
        }
        Value::Array(list) => list
            .iter()
            .take(OBJECTS)
            // A list in a list is not of schema.org, and could go deep.
            .filter(|value| !value.is_array())
            .for_each(|value| said(what, value, fields)),
        _ => {}
    }
}
