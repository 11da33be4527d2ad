//! Lines of CSV (RFC 4180) from the JSON objects of an export.

use std::io::Write;

use anyhow::Result;
use serde_json::Value;

use crate::cli::ExportKind;

/// Returns the columns of an export; none if it has no CSV.
pub(super) fn columns(what: ExportKind) -> &'static [&'static str] {
    match what {
        ExportKind::Urls => &[
            "url",
            "status",
            "fetched_at",
            "depth",
            "bytes",
            "fingerprint",
            "error",
        ],
        ExportKind::Links => &[
            "from", "to", "anchor", "context", "path", "kind", "nofollow",
        ],
        ExportKind::Pages => &[
            "url",
            "title",
            "language",
            "fetched_at",
            "extraction",
            "text",
            "markdown",
            "fields",
        ],
        ExportKind::Warc | ExportKind::World => &[],
    }
}

/// Writes the names of the columns.
pub(super) fn head(columns: &[&str], out: &mut impl Write) -> Result<()> {
    Ok(writeln!(out, "{}", columns.join(","))?)
}

/// Writes the values of an object in the order of the columns. `null` and a missing value are empty
/// cells, lists and objects are JSON.
pub(super) fn line(columns: &[&str], object: &Value, out: &mut impl Write) -> Result<()> {
    let cell = |column: &&str| match &object[*column] {
        Value::Null => String::new(),
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    };
    let cells: Vec<String> = columns.iter().map(cell).collect();
    Ok(writeln!(out, "{}", cells.join(","))?)
}

fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_quoted_if_needed_and_missing_values_are_empty() {
        let object =
            json!({ "a": "x,y", "b": null, "c": 3, "d": { "e": "f" }, "g": "say \"x\"\nz" });
        let mut out = Vec::new();
        let columns = ["a", "b", "c", "d", "g", "h"];
        head(&columns, &mut out).unwrap();
        line(&columns, &object, &mut out).unwrap();
        let expected = "a,b,c,d,g,h\n\"x,y\",,3,\"{\"\"e\"\":\"\"f\"\"}\",\"say \"\"x\"\"\nz\",\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
