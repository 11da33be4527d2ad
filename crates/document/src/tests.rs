//! Documents that are made here, whole and damaged.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// Returns a ZIP archive of these files.
fn package(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns a PDF with one page that has these drawing instructions in Helvetica (`/F1`).
fn pdf(content: &str, more: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> /Annots [<< /Subtype /Link \
         /Rect [90 690 300 715] /A << /S /URI /URI (https://a.example/) >> >>] >>"
            .to_owned(),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
        "<< /First 7 0 R /Last 7 0 R /Count 1 >>".to_owned(),
        "<< /Title (Results) /Parent 6 0 R /Dest [3 0 R /Fit] >>".to_owned(),
        "<< /Title (About birds) /Author (Ada L.) /CreationDate (D:20200131120000Z) >>".to_owned(),
    ];
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", number + 1).unwrap();
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for offset in offsets {
        writeln!(file, "{offset:010} 00000 n ").unwrap();
    }
    write!(
        file,
        "trailer\n<< /Size {} /Root 1 0 R /Info 8 0 R {more} >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    )
    .unwrap();
    file
}

const TEXT: &str = "BT /F1 12 Tf 100 700 Td (See the link) Tj \
    0 -40 Td (3.1 Results) Tj \
    0 -30 Td (Avocets sweep their bills from side to) Tj \
    0 -14 Td [(side. They eat crus) -10 (ta-)] TJ \
    0 -14 Td (ceans.) Tj ET";

fn html(bytes: &[u8]) -> String {
    read(bytes, ReadingLimits::default()).unwrap().html
}

/// Returns the part of an HTML page between its body tags.
fn body(bytes: &[u8]) -> String {
    let html = html(bytes);
    let start = html.find("<body>\n").unwrap() + "<body>\n".len();
    html[start..html.find("</body>").unwrap()].to_owned()
}

#[test]
fn a_pdf_becomes_paragraphs_headings_and_links() {
    let file = pdf(TEXT, "");
    assert_eq!(
        body(&file),
        "<p><a href=\"https://a.example/\">See the link</a></p>\n\
         <h1 id=\"page=1\">3.1 Results</h1>\n\
         <p>Avocets sweep their bills from side to side. They eat crustaceans.</p>\n"
    );
    let html = html(&file);
    assert!(html.contains("<title>About birds</title>"), "{html}");
    assert!(
        html.contains("name=\"author\" content=\"Ada L.\""),
        "{html}"
    );
    assert!(
        html.contains("\"dcterms.created\" content=\"2020-01-31T12:00:00+00:00\""),
        "{html}"
    );
}

#[test]
fn spaces_are_gaps_between_glyphs() {
    let content = "BT /F1 10 Tf 50 500 Td [(no) -500 (space) -40 (s)] TJ ET";
    assert_eq!(body(&pdf(content, "")), "<p>no spaces</p>\n");
}

#[test]
fn text_that_is_drawn_twice_is_read_once() {
    let content = "BT /F1 10 Tf 50 500 Td (bold) Tj ET BT /F1 10 Tf 50.3 500 Td (bold) Tj ET";
    assert_eq!(body(&pdf(content, "")), "<p>bold</p>\n");
}

#[test]
fn rotated_text_is_read_along_its_line() {
    let content = "BT /F1 10 Tf 0 1 -1 0 300 100 Tm (up the page) Tj 0 -12 Td (and on) Tj ET";
    assert_eq!(body(&pdf(content, "")), "<p>up the page and on</p>\n");
}

#[test]
fn a_pdf_without_text_says_so() {
    let scan = pdf("0 0 100 100 re f", "");
    assert_eq!(
        read(&scan, ReadingLimits::default()),
        Err(Unreadable::NoText)
    );
}

#[test]
fn an_encrypted_pdf_says_so() {
    let key = "0".repeat(64);
    let more = format!(
        "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>"
    );
    let found = read(&pdf(TEXT, &more), ReadingLimits::default());
    assert_eq!(found, Err(Unreadable::Encrypted));
}

const DOCX: &str = "<w:document xmlns:w=\"w\" xmlns:r=\"r\"><w:body>\
    <w:p><w:pPr><w:pStyle w:val=\"berschrift1\"/></w:pPr><w:r><w:t>Birds</w:t></w:r></w:p>\
    <w:p><w:r><w:t>One </w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>\
    <w:hyperlink r:id=\"rId1\"><w:r><w:t>link</w:t></w:r></w:hyperlink><w:tab/>\
    <w:r><w:t>&amp; more</w:t></w:r></w:p></w:body></w:document>";

#[test]
fn a_docx_has_headings_links_and_metadata() {
    let file = package(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "docProps/core.xml",
            "<cp:coreProperties><dc:title>On birds</dc:title><dc:creator>Ada</dc:creator>\
             <dcterms:created>2021-02-03T04:05:06Z</dcterms:created></cp:coreProperties>",
        ),
        (
            "word/styles.xml",
            "<w:styles><w:style w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
             </w:styles>",
        ),
        ("word/document.xml", DOCX),
        (
            "word/_rels/document.xml.rels",
            "<Relationships><Relationship Id=\"rId1\" TargetMode=\"External\" \
             Target=\"https://a.example/x\"/></Relationships>",
        ),
        (
            "word/footnotes.xml",
            "<w:footnotes><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnotes>",
        ),
    ]);
    assert_eq!(
        body(&file),
        "<h1>Birds</h1>\n<p>One <a href=\"https://a.example/x\">link</a> &amp; more</p>\n\
         <p>A note.</p>\n"
    );
    let page = html(&file);
    assert!(page.contains("<title>On birds</title>"), "{page}");
    assert!(page.contains("name=\"author\" content=\"Ada\""), "{page}");
    assert!(
        page.contains("name=\"dcterms.created\" content=\"2021-02-03T04:05:06Z\""),
        "{page}"
    );
}

#[test]
fn slides_are_read_in_their_order() {
    let slide = |title: &str, text: &str| {
        format!(
            "<p:sld><p:sp><p:ph type=\"title\"/><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>\
             <p:sp><a:p><a:r><a:rPr><a:hlinkClick r:id=\"rId9\"/></a:rPr><a:t>{text}</a:t></a:r>\
             </a:p></p:sp></p:sld>"
        )
    };
    let file = package(&[
        (
            "ppt/presentation.xml",
            "<p:presentation><p:sldId id=\"256\" r:id=\"b\"/><p:sldId id=\"257\" r:id=\"a\"/>\
             </p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<R><Relationship Id=\"a\" Target=\"slides/slide1.xml\"/>\
             <Relationship Id=\"b\" Target=\"/ppt/slides/slide2.xml\"/></R>",
        ),
        ("ppt/slides/slide1.xml", &slide("Second", "two")),
        ("ppt/slides/slide2.xml", &slide("First", "one")),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            "<R><Relationship Id=\"rId9\" TargetMode=\"External\" Target=\"https://b.example/\"/></R>",
        ),
    ]);
    assert_eq!(
        body(&file),
        "<h2 id=\"slide=1\">First</h2>\n<p><a href=\"https://b.example/\">one</a></p>\n\
         <h2 id=\"slide=2\">Second</h2>\n<p>two</p>\n"
    );
}

#[test]
fn a_sheet_has_its_strings_and_numbers() {
    let file = package(&[
        (
            "xl/workbook.xml",
            "<workbook><sheet name=\"Prices\" r:id=\"a\"/></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<R><Relationship Id=\"a\" Target=\"worksheets/sheet1.xml\"/></R>",
        ),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>Bird</t></si><si><r><t>Egg</t></r><r><t>s</t></r><rPh><t>x</t></rPh></si></sst>",
        ),
        (
            "xl/worksheets/sheet1.xml",
            "<worksheet><row><c t=\"s\"><v>1</v></c><c><v>4.5</v></c></row>\
             <row><c t=\"inlineStr\"><is><t>own</t></is></c><c t=\"s\"><v>99</v></c></row></worksheet>",
        ),
    ]);
    assert_eq!(
        body(&file),
        "<h2>Prices</h2>\n<p>Eggs 4.5 </p>\n<p>own </p>\n"
    );
}

#[test]
fn an_open_document_text_has_no_deleted_text() {
    let file = package(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "meta.xml",
            "<m><dc:title>T</dc:title><dc:date>2022-01-01T00:00:00</dc:date></m>",
        ),
        (
            "content.xml",
            "<c><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
             <text:h text:outline-level=\"2\">Head</text:h><text:p>one<text:s text:c=\"3\"/>two\
             <office:annotation><text:p>comment</text:p></office:annotation>\
             <text:a xlink:href=\"https://c.example/\">three</text:a></text:p>\
             <table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
             <table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></c>",
        ),
    ]);
    assert_eq!(
        body(&file),
        "<h2>Head</h2>\n<p>one two<a href=\"https://c.example/\">three</a></p>\n<p>a b </p>\n"
    );
    assert!(html(&file).contains("name=\"dcterms.modified\" content=\"2022-01-01T00:00:00\""));
}

#[test]
fn an_encrypted_open_document_says_so() {
    let file = package(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            "<m><manifest:encryption-data/></m>",
        ),
        ("content.xml", "random"),
    ]);
    assert_eq!(
        read(&file, ReadingLimits::default()),
        Err(Unreadable::Encrypted)
    );
}

#[test]
fn a_book_is_read_along_its_spine() {
    let file = package(&[
        ("mimetype", "application/epub+zip"),
        (
            "META-INF/container.xml",
            "<c><rootfile full-path=\"OPS/book.opf\"/></c>",
        ),
        (
            "OPS/book.opf",
            "<p><dc:title>Book</dc:title><dc:date>1999</dc:date><item id=\"a\" href=\"one.xhtml\"/>\
             <item id=\"b\" href=\"two.xhtml\"/><itemref idref=\"b\"/><itemref idref=\"a\"/></p>",
        ),
        (
            "OPS/one.xhtml",
            "<html><head><title>x</title></head><body><p>last</p></body></html>",
        ),
        (
            "OPS/two.xhtml",
            "<html><body><h2>First</h2><script>no()</script><p>a&nbsp;<a href=\"one.xhtml\">b</a></p>\
             </body></html>",
        ),
    ]);
    assert_eq!(body(&file), "<h2>First</h2>\n<p>a b</p>\n<p>last</p>\n");
}

#[test]
fn a_bomb_is_refused() {
    let zeros = " ".repeat(3 << 20);
    let file = package(&[("word/document.xml", &zeros)]);
    assert!(file.len() < 100_000);
    let limits = ReadingLimits {
        inflated: 1 << 20,
        ..ReadingLimits::default()
    };
    assert_eq!(read(&file, limits), Err(Unreadable::TooLarge));
}

#[test]
fn other_files_are_unsupported() {
    let zip = package(&[("a.txt", "text")]);
    for bytes in [&zip[..], b"", b"plain text", b"PK"] {
        let found = read(bytes, ReadingLimits::default());
        assert!(
            matches!(found, Err(Unreadable::Unsupported | Unreadable::Damaged)),
            "{found:?}"
        );
    }
}

#[test]
fn names_of_formats_are_read_back() {
    for format in DocumentFormat::ALL {
        assert_eq!(DocumentFormat::named(format.name()), Some(format));
    }
    assert_eq!(DocumentFormat::named("html"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Damage at any place yields a document or a reason, never a panic.
    #[test]
    fn damaged_documents_are_values(
        which in 0..3_usize,
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut file = match which {
            0 => pdf(TEXT, ""),
            1 => package(&[("word/document.xml", DOCX)]),
            _ => package(&[
                ("mimetype", "application/vnd.oasis.opendocument.text"),
                ("content.xml", "<c><text:p>one</text:p></c>"),
            ]),
        };
        for (place, byte) in places {
            let place = place.index(file.len());
            file[place] = byte;
        }
        if cut {
            file.truncate(end.index(file.len()));
        }
        if let Ok(document) = read(&file, ReadingLimits::default()) {
            prop_assert!(document.html.contains("<body>"));
        }
    }
}
