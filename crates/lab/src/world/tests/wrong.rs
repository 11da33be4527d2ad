//! Tests that errors in tables name the file and the line.

use super::*;

const NODES: (&str, &str) = (
    "nodes.tsv",
    "id\turl\n7\thttp://e.org/7\n9\thttp://e.org/9\n",
);
const EDGES: (&str, &str) = ("edges.tsv", "from\tto\n7\t9\n");
const PAGES: (&str, &str) = ("pages.tsv", "page\turl\n1\thttp://e.org/\n");
const VERSIONS: (&str, &str) = ("versions.tsv", "page\tt\tbody\n1\t5\tb\n");
const SOURCES: (&str, &str) = ("sources.tsv", "source\turl\ns\thttp://e.org/s\n");
const ARTICLES: (&str, &str) = ("articles.tsv", "article\turl\na\thttp://e.org/a\n");
const LINKS: (&str, &str) = ("links.tsv", "source\tarticle\tt_in\tt_out\ns\ta\t1\t2\n");
const CLICKS: (&str, &str) = ("clicks.tsv", "article\tt\tclicks\na\t1\t2\n");

/// Reads a world of these files and expects an error that names the first file, the line and a
/// word.
#[track_caller]
fn refused(files: &[(&str, &str)], line: u64, word: &str) {
    let directory = directory(files);
    let error = whole_error(directory.path());
    let place = format!("{}, line {line}: ", files[0].0);
    assert!(error.contains(&place), "{error}\nis not about {place}");
    assert!(error.contains(word), "{error}\ndoes not say {word}");
}

/// Reads a world and all its bodies, and returns the error with its causes.
fn whole_error(directory: &Path) -> String {
    let world = World::read(directory);
    let error = match world {
        Ok(World::Histories(histories)) => histories.texts().map(drop).unwrap_err(),
        other => other.unwrap_err(),
    };
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}

#[test]
fn errors_in_rows_name_the_file_and_the_line() {
    let edges = |rows| ("edges.tsv.gz", rows);
    refused(
        &[edges("from\tto\n7\t9\n7\t8\n"), NODES],
        3,
        "\"8\" names no page",
    );
    refused(&[edges("from\tto\n7\n"), NODES], 2, "too few columns");
    refused(
        &[edges("from\tto\n7\t9\t9\n"), NODES],
        2,
        "too many columns",
    );
    refused(&[edges("from\tto\n\n7\t9\n"), NODES], 2, "empty line");
    refused(&[edges("from\tto\n7\t9\n\n\n"), NODES], 3, "empty line");
    refused(
        &[edges("from\tuntil\n7\t9\n"), NODES],
        1,
        "no column \"to\"",
    );
    refused(&[edges("to\tfrom\tto\n"), NODES], 1, "\"to\" occurs twice");
    refused(&[edges(""), NODES], 1, "no header");
    refused(
        &[("nodes.tsv.zst", "id\turl\n7\ta\n7\tb\n"), EDGES],
        3,
        "used twice",
    );
}

#[test]
fn invalid_numbers_name_the_file_and_the_line() {
    let views = |rows| ("views.tsv", rows);
    refused(
        &[views("page\tviews\n7\t1\n9\tmany\n"), EDGES],
        3,
        "invalid views: \"many\"",
    );
    refused(&[views("page\tviews\n7\t1\n9\t-1\n"), EDGES], 3, "-1");
    refused(&[views("page\tviews\n7\t1\n9\tNaN\n"), EDGES], 3, "NaN");
    refused(
        &[views("page\tviews\n7\t1\n"), NODES, EDGES],
        2,
        "\"9\" is missing",
    );
    refused(
        &[views("page\tviews\n7\t1\n7\t1\n"), NODES, EDGES],
        3,
        "twice",
    );
    refused(
        &[("queries.tsv", "query\tcount\na\t4294967296\n")],
        2,
        "invalid count",
    );
}

#[test]
fn invalid_times_and_references_name_the_file_and_the_line() {
    let versions = |rows| ("versions.tsv.gz", rows);
    refused(
        &[versions("page\tt\tbody\n1\t5\tb\n1\t4\tc\n"), PAGES],
        3,
        "backwards to 4",
    );
    refused(
        &[versions("page\tt\tbody\n1\tnow\tb\n"), PAGES],
        2,
        "invalid t: \"now\"",
    );
    refused(
        &[versions("page\tt\tbody\n1\t-5\tb\n"), PAGES],
        2,
        "since 1970",
    );
    refused(
        &[versions("page\tt\tbody\n2\t5\tb\n"), PAGES],
        2,
        "names no page",
    );
    let head = "source\tarticle\tt_in\tt_out\n";
    let news = |rows: &str, line, word| {
        let rows = format!("{head}{rows}");
        refused(
            &[("links.tsv", rows.as_str()), SOURCES, ARTICLES, CLICKS],
            line,
            word,
        );
    };
    news("s\ta\t2\t1\n", 2, "t_out is before t_in");
    news("s\ta\t2\t3\ns\ta\t1\t3\n", 3, "t_in goes backwards");
    news("a\ta\t2\t3\n", 2, "\"a\" names no source");
    news("s\ts\t2\t3\n", 2, "\"s\" names no article");
    let clicks = ("clicks.tsv", "article\tt\tclicks\na\t5\t1\na\t4\t1\n");
    refused(&[clicks, SOURCES, ARTICLES, LINKS], 3, "t goes backwards");
}

#[test]
fn invalid_bodies_name_the_file_and_the_line() {
    let history = |bodies: &str, line, word| {
        refused(&[("bodies.ndjson", bodies), PAGES, VERSIONS], line, word);
    };
    history("{\"body\": \"b\", \"html\": \"x\"\n", 1, "EOF");
    history("{\"body\": 3, \"html\": \"x\"}\n", 1, "string");
    history("{\"body\": \"b\"}\n", 1, "either");
    history(
        "{\"body\": \"b\", \"html\": \"x\", \"text\": \"x\"}\n",
        1,
        "either",
    );
    history(
        "{\"body\": \"c\", \"text\": \"x\"}\n",
        1,
        "\"b\" is missing",
    );
    history("", 1, "\"b\" is missing");
    let twice = "{\"body\": \"b\", \"text\": \"x\"}\n".repeat(2);
    history(&twice, 2, "twice");
    let bodies = ("bodies.ndjson", "{\"body\": \"8\", \"text\": \"x\"}\n");
    refused(&[bodies, NODES, EDGES], 1, "names no page");
    let labels = ("labels.tsv", "page\tlabel\n8\tx\n");
    let bodies = ("bodies.ndjson", "");
    refused(&[labels, NODES, EDGES, bodies], 2, "names no page");
}

#[test]
fn line_ends_and_byte_order_marks_of_every_kind_are_read() {
    for rows in [
        "from\tto\r\n7\t9\r\n",
        "from\tto\n7\t9",
        "from\tto\r\n7\t9\r\n\r\n",
        "from\tto\n7\t9\n\n",
        "\u{feff}from\tto\n7\t9\n",
    ] {
        let directory = directory(&[("edges.tsv", rows), NODES]);
        let graph = Graph::read(directory.path()).unwrap();
        assert!(graph.edges().eq([(0, 1)]), "{rows:?}");
    }
}

#[test]
fn truncated_and_wrongly_compressed_files_are_named() {
    let rows: String = (0..20_000)
        .map(|n| format!("{n}\t{}\n", n * 7919 % 20_011))
        .collect();
    let table = format!("from\tto\n{rows}");
    for name in ["edges.tsv.gz", "edges.tsv.zst"] {
        let directory = directory(&[(name, &table)]);
        let path = directory.path().join(name);
        let whole = fs::read(&path).unwrap();
        for length in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            let error = whole_error(directory.path());
            assert!(
                error.contains(name) && error.contains("line"),
                "{length}: {error}"
            );
        }
        fs::write(&path, &table).unwrap();
        let error = whole_error(directory.path());
        assert!(
            error.contains(name),
            "a plain file with the name of a compressed one: {error}"
        );
    }
}

#[test]
fn bytes_that_are_not_utf8_name_the_file_and_the_line() {
    let directory = directory(&[NODES]);
    put(
        directory.path(),
        "edges.tsv.gz",
        b"from\tto\n7\t9\n7\t\xff\n",
    );
    let error = whole_error(directory.path());
    assert!(error.contains("edges.tsv.gz, line 3: not UTF-8"), "{error}");
}

#[test]
fn a_line_longer_than_the_limit_is_an_error() {
    let directory = directory(&[NODES]);
    let mut endless = b"from\tto\n7\t9\n".to_vec();
    endless.resize(100 << 20, b'7');
    put(directory.path(), "edges.tsv.zst", &endless);
    let error = whole_error(directory.path());
    assert!(
        error.contains("edges.tsv.zst, line 3: longer than 16 MiB"),
        "{error}"
    );
}

#[test]
fn a_zstd_window_above_128_mib_is_refused() {
    use std::io::Write;
    let directory = directory(&[NODES]);
    let windowed = |log: u32| {
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        zstd.window_log(log).unwrap();
        zstd.write_all(b"from\tto\n7\t9\n").unwrap();
        zstd.flush().unwrap();
        fs::write(
            directory.path().join("edges.tsv.zst"),
            zstd.finish().unwrap(),
        )
        .unwrap();
        World::read(directory.path())
    };
    assert!(windowed(27).is_ok());
    let error = windowed(28).unwrap_err().to_string();
    assert!(error.contains("edges.tsv.zst"), "{error}");
}

#[test]
fn two_files_for_one_table_are_refused() {
    let directory = directory(&[NODES, EDGES, ("edges.tsv.gz", EDGES.1)]);
    let error = whole_error(directory.path());
    assert!(
        error.contains("both") && error.contains("edges.tsv.gz"),
        "{error}"
    );
}

#[test]
fn a_table_that_is_missing_is_named() {
    for (files, missing) in [
        (&[PAGES, SOURCES][..], "articles.tsv"),
        (&[VERSIONS], "pages.tsv"),
        (
            &[NODES, EDGES, ("labels.tsv", "page\tlabel\n")],
            "bodies.ndjson",
        ),
        (&[SOURCES, ARTICLES, LINKS], "clicks.tsv"),
    ] {
        let directory = directory(files);
        let error = whole_error(directory.path());
        assert!(error.contains(missing), "{error}");
    }
}
