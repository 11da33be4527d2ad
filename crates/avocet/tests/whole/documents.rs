//! Tests of documents: a crawl reads them, follows their links, and outlives the hostile ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Cursor, Write};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::files::Files;
use crate::program::{TestProgram, has, holds};
use crate::server::AvocetServer;

const PDF: &str = "application/pdf";
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/// Limits under which a loop and a bomb end soon.
const LIMITS: &str = "[documents]\nseconds = 2\nmemory = 128\n";

/// Returns a PDF of these objects, the first of which is the catalog, with more in its trailer.
fn pdf(objects: &[String], more: &str) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", number + 1).unwrap();
    }
    let start = file.len();
    let size = objects.len() + 1;
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n").unwrap();
    for offset in offsets {
        writeln!(file, "{offset:010} 00000 n ").unwrap();
    }
    let trailer = format!("<< /Size {size} /Root 1 0 R {more} >>");
    write!(file, "trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n").unwrap();
    file
}

fn stream(head: &str, content: &str) -> String {
    let length = content.len();
    format!("<< {head} /Length {length} >>\nstream\n{content}\nendstream")
}

/// Returns a PDF with one page: drawing instructions, and a link to a URL.
fn page(content: &str, link: &str, more: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
             /Resources << /Font << /F1 5 0 R >> >> /Annots [<< /Subtype /Link \
             /Rect [90 690 300 715] /A << /S /URI /URI ({link}) >> >>] >>"
        ),
        stream("", content),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /Title (On waders) /Author (Ada L.) >>".to_owned(),
    ];
    pdf(&objects, &format!("/Info 6 0 R {more}"))
}

fn text(words: &str) -> String {
    format!("BT /F1 12 Tf 100 700 Td ({words}) Tj ET")
}

/// Returns a PDF whose forms draw each other: 20 levels of 20 forms each.
fn endless() -> Vec<u8> {
    const LEVELS: usize = 20;
    let form = |level: usize| {
        let next = 5 + level;
        let resources = format!("/Resources << /XObject << /X {next} 0 R >> >>");
        let head = format!("/Type /XObject /Subtype /Form /BBox [0 0 600 800] {resources}");
        stream(&head, &"/X Do ".repeat(20))
    };
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
         /Resources << /XObject << /X 5 0 R >> >> >>"
            .to_owned(),
        stream("", "/X Do"),
    ];
    objects.extend((1..LEVELS).map(form));
    objects.push(stream(
        "/Type /XObject /Subtype /Form /BBox [0 0 600 800]",
        "0 0 1 1 re f",
    ));
    pdf(&objects, "")
}

/// Returns a PDF whose page has 400 MiB of spaces for drawing instructions.
fn inflated() -> Vec<u8> {
    let spaces = [b' '; 1 << 20];
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..400 {
        zlib.write_all(&spaces).unwrap();
    }
    let mut hex = String::new();
    for byte in zlib.finish().unwrap() {
        write!(hex, "{byte:02x}").unwrap();
    }
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>".to_owned(),
        stream("/Filter [/ASCIIHexDecode /FlateDecode]", &(hex + ">")),
    ];
    pdf(&objects, "")
}

fn docx(body: &str, link: &str) -> Vec<u8> {
    let document =
        format!("<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body>{body}</w:body></w:document>");
    let relations = format!(
        "<Relationships><Relationship Id=\"rId1\" TargetMode=\"External\" Target=\"{link}\"/></Relationships>"
    );
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("[Content_Types].xml", "<Types/>"),
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", &relations),
    ] {
        archive
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns a site with documents of every kind, and its address.
async fn site(hostile: bool) -> (Files, String) {
    let files = Files::default();
    let site = format!("http://{}", files.serve().await);
    let link = |path: &str| format!("{site}{path}");
    let run = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let linked = "<w:p><w:hyperlink r:id=\"rId1\"><w:r><w:t>more</w:t></w:r></w:hyperlink></w:p>";
    let key = "0".repeat(64);
    let encryption = format!(
        "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>"
    );
    let words = text("Avocets sweep their bills through the shallow lagoon");
    let mut documents: Vec<(&str, &str, Vec<u8>)> = vec![
        ("/paper.pdf", PDF, page(&words, &link("/from-pdf"), "")),
        (
            "/report.docx",
            DOCX,
            docx(
                &(run("Stilts nest on mudflats") + linked),
                &link("/from-docx"),
            ),
        ),
        (
            "/secret.pdf",
            PDF,
            page(&words, &link("/never"), &encryption),
        ),
        (
            "/damaged.pdf",
            PDF,
            b"%PDF-1.7\nnothing of a document".to_vec(),
        ),
        (
            "/scan.pdf",
            PDF,
            page("0 0 100 100 re f", &link("/from-scan"), ""),
        ),
    ];
    if hostile {
        let bomb = docx(&run(&"bomb ".repeat(27 << 20)), &link("/never"));
        documents.push(("/bomb.docx", DOCX, bomb));
        documents.push(("/endless.pdf", PDF, endless()));
        documents.push(("/inflated.pdf", PDF, inflated()));
    }
    let mut home = "<title>home</title>".to_owned();
    for (path, media, content) in documents {
        home += &format!("<a href={path}>{path}</a> ");
        files.put(path, media, content);
    }
    files.put("/", "text/html", home);
    for path in ["/from-pdf", "/from-docx", "/never"] {
        files.put(path, "text/html", format!("<title>{path}</title>a page"));
    }
    (files, site)
}

/// Returns the error codes of all pages, by their path.
fn errors(program: &TestProgram, site: &str) -> BTreeMap<String, Option<String>> {
    let lines = program.lines(&["export", "urls"]).into_iter();
    let found = lines.map(|line| {
        let url = line["url"].as_str().unwrap();
        let path = url.strip_prefix(site).unwrap().to_owned();
        (path, line["error"].as_str().map(str::to_owned))
    });
    found.collect()
}

fn results(program: &TestProgram, query: &str) -> Vec<Value> {
    let answer = program.json(&["search", query]);
    answer["results"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_reads_documents_follows_their_links_and_outlives_the_hostile_ones() {
    let (_files, site) = site(true).await;
    let program = TestProgram::new();
    program.configure(LIMITS);
    program.run(&["crawl", &format!("{site}/")]);
    let expected = [
        ("/", None),
        ("/bomb.docx", Some("document:too-large")),
        ("/damaged.pdf", Some("document:damaged")),
        ("/endless.pdf", Some("document:time")),
        ("/from-docx", None),
        ("/from-pdf", None),
        ("/inflated.pdf", Some("document:memory")),
        ("/paper.pdf", None),
        ("/report.docx", None),
        ("/scan.pdf", Some("document:no-text")),
        ("/secret.pdf", Some("document:encrypted")),
    ];
    let expected = expected.map(|(path, error)| (path.to_owned(), error.map(str::to_owned)));
    let expected = BTreeMap::from(expected);
    assert_eq!(errors(&program, &site), expected);

    let found = |query: &str, path: &str, kind: &str| {
        let results = results(&program, query);
        assert_eq!(results.len(), 1, "{query}: {results:?}");
        let url = format!("{site}{path}");
        holds(&results[0], &json!({ "url": url, "kind": kind }));
    };
    let all_found = || {
        found("filetype:pdf lagoon", "/paper.pdf", "pdf");
        found("filetype:docx mudflats", "/report.docx", "docx");
        assert_eq!(results(&program, "filetype:pdf mudflats").len(), 0);
    };
    all_found();
    let secret = program.text(&["explain", &format!("{site}/secret.pdf")]);
    has(&secret, "its document is encrypted");
    let pages = program.lines(&["export", "pages"]);
    let paper = pages
        .iter()
        .find(|page| page["title"] == "On waders")
        .unwrap();
    has(&paper["text"].to_string(), "through the shallow lagoon");

    // The archive has the document itself. What was read from it can be made again.
    program.run(&["rebuild"]);
    assert_eq!(errors(&program, &site), expected);
    all_found();
    program.verified();

    let server = AvocetServer::start(&program, &[]);
    let shown = server.get("/?q=lagoon");
    has(&shown.body, "<span>PDF</span>");
    let frame = server.get(&format!("/cached?url={site}/paper.pdf"));
    has(&frame.body, "the text of a document (PDF)");
    let copy = server.get(&format!("/cached/copy?url={site}/paper.pdf"));
    has(&copy.body, "shallow lagoon");
    assert_eq!(copy.head["content-type"], "text/html; charset=utf-8");
    let none = server.get(&format!("/cached/copy?url={site}/secret.pdf"));
    assert_eq!(none.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_documents_their_answers_are_kept_and_not_read() {
    let (_files, site) = site(false).await;
    let program = TestProgram::new();
    program.run(&["crawl", &format!("{site}/"), "--no-documents"]);
    let found = errors(&program, &site);
    assert_eq!(found.get("/secret.pdf"), Some(&None), "{found:?}");
    assert!(!found.contains_key("/from-pdf"), "{found:?}");
    assert_eq!(results(&program, "lagoon").len(), 0);
    // A rebuild reads what the archive has.
    program.run(&["rebuild"]);
    assert_eq!(results(&program, "filetype:pdf lagoon").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_says_what_a_document_is_and_why_it_is_not_read() {
    let (_files, site) = site(false).await;
    let program = TestProgram::new();
    let paper = program.json(&["check", &format!("{site}/paper.pdf")]);
    holds(
        &paper,
        &json!({ "document": "pdf", "indexed": true, "error": null }),
    );
    holds(&paper["text"], &json!({ "title": "On waders" }));
    assert_eq!(paper["links"]["in_scope"], 1, "{paper}");
    let scan = program.json(&["check", &format!("{site}/scan.pdf")]);
    holds(
        &scan,
        &json!({ "document": null, "indexed": false, "error": "document:no-text" }),
    );
    has(&scan["why_not_indexed"].to_string(), "scanned pages");
}

/// The child answers on its standard output, whatever its arguments and its input are.
#[test]
fn the_child_reads_one_document_and_is_not_for_people() {
    let child = |arguments: &[&str], body: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .arg("read-document")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env_clear()
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(body).ok();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    };
    let (code, answer) = child(
        &["5", "256"],
        &page(&text("lagoon"), "http://a.example/", ""),
    );
    assert_eq!(code, Some(0));
    let (head, html) = answer.split_once('\n').unwrap();
    let head: Value = serde_json::from_str(head).unwrap();
    let read = json!({ "format": "pdf", "cut": false, "bytes": html.len() });
    assert_eq!(head, json!({ "read": read }));
    has(html, "lagoon");
    let refused = "{\"refused\":\"document:unsupported\"}\n".to_owned();
    assert_eq!(child(&["5", "256"], b"no document"), (Some(0), refused));
    for wrong in [
        &[][..],
        &["5"],
        &["5", "-1"],
        &["a", "b"],
        &["5", "256", "x"],
    ] {
        assert_eq!(child(wrong, b""), (Some(2), String::new()), "{wrong:?}");
    }
}
