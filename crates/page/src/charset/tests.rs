//! Tests that bytes are decoded as browsers decode them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::conformance;

#[test]
fn mark_header_page_and_guess_count_in_this_order() {
    // `charset` is that of the `Content-Type` header; empty if there is no such header.
    let check = |body: &[u8], charset: &str, text: &str, name: &str| {
        let content_type = format!("text/html; {charset}");
        let (decoded, encoding) =
            decode(body, (!charset.is_empty()).then_some(content_type.as_str()));
        let found = (&*decoded, encoding.name());
        assert_eq!(found, (text, name), "{body:?} {charset:?}");
    };
    // The byte order mark wins over the header, and is not part of the text.
    check(b"\xef\xbb\xbfa", "charset=windows-1251", "a", "UTF-8");
    check(b"\xff\xfea\0", "charset=utf-8", "a", "UTF-16LE");
    check(b"\xfe\xff\0a", "", "a", "UTF-16BE");
    // The header wins over the page.
    let (western, russian) = ("<meta charset=koi8-r>é", "<meta charset=koi8-r>а");
    let page = |last: u8| [&b"<meta charset=koi8-r>"[..], &[last]].concat();
    check(
        &page(0xe9),
        "Charset=\"ISO-8859-1\"",
        western,
        "windows-1252",
    );
    check(&page(0xc1), "level=1", russian, "KOI8-R");
    let declaration = "<?xml version='1.0' encoding='koi8-r'?>";
    let body = [declaration.as_bytes(), b"\xc1"].concat();
    check(&body, "", &format!("{declaration}а"), "KOI8-R");
    // An unknown label is ignored; UTF-7 counts as unknown.
    check("é".as_bytes(), "charset=bogus", "é", "UTF-8");
    let utf7 = "+ADw-script+AD4-";
    check(utf7.as_bytes(), "charset=utf-7", utf7, "UTF-8");
    let utf7 = "<meta charset=utf-7>+ADw-";
    check(utf7.as_bytes(), "", utf7, "UTF-8");
    check(b"a", "charset=hz-gb-2312", "a", "UTF-8");
    // A declaration of UTF-16 that is readable as ASCII is wrong.
    let utf16 = "<meta charset=utf-16>é";
    check(utf16.as_bytes(), "", utf16, "UTF-8");
    // Invalid bytes become U+FFFD: overlong forms, surrogates, a truncated sequence.
    let overlong = "a\u{fffd}\u{fffd}b";
    check(b"a\xc0\x80b", "charset=utf-8", overlong, "UTF-8");
    let surrogate = "\u{fffd}\u{fffd}\u{fffd}";
    check(b"\xed\xa0\x80", "charset=utf-8", surrogate, "UTF-8");
    check(b"\xe2\x82", "charset=utf-8", "\u{fffd}", "UTF-8");
    check(b"", "", "", "UTF-8");
}

#[test]
fn valid_utf_8_is_borrowed() {
    for body in ["plain", "<p>é</p>", "\u{feff}é"] {
        assert!(
            matches!(
                decode(body.as_bytes(), Some("text/html; charset=utf-8")).0,
                Cow::Borrowed(_)
            ),
            "{body:?}"
        );
    }
}

#[test]
fn only_the_first_kilobyte_declares() {
    let late = format!("{}<meta charset=koi8-r>", " ".repeat(1_020));
    assert_eq!(prescan::declared(late.as_bytes()), None);
    let early = format!("{}<meta charset=koi8-r>", " ".repeat(900));
    assert_eq!(
        prescan::declared(early.as_bytes()).map(Encoding::name),
        Some("KOI8-R")
    );
}

/// html5lib's tests of the prescan.
///
/// They expect a declaration anywhere in the page to be found, by restarting the parser. We have
/// the whole body and decide once, by the first kilobyte.
#[test]
fn agrees_with_html5lib() {
    let Some(files) = conformance::directory("encoding") else {
        return;
    };
    let (mut run, mut failed) = (0, Vec::new());
    for (file, bytes) in &files {
        let mut rest = &bytes[..];
        while let Some(start) = memchr::memmem::find(rest, b"#data\n") {
            rest = &rest[start + 6..];
            let end = memchr::memmem::find(rest, b"\n#encoding\n").unwrap();
            let (data, after) = (&rest[..end], &rest[end + 11..]);
            let wanted = after.split(|&byte| byte == b'\n').next().unwrap();
            let wanted = Encoding::for_label(wanted).unwrap();
            rest = after;
            run += 1;
            // Where nothing is declared, the tests expect the Western default, but we guess.
            let ours = Encoding::for_bom(data)
                .map(|(encoding, _)| encoding)
                .or_else(|| prescan::declared(data));
            let ours = ours.unwrap_or(encoding_rs::WINDOWS_1252);
            let declared_late = data.len() > 1_024;
            if ours != wanted && !declared_late {
                failed.push(format!(
                    "{file}: {:?}: {}, not {}",
                    String::from_utf8_lossy(data),
                    ours.name(),
                    wanted.name()
                ));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {run}:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(run >= 80, "only {run} tests");
}

/// Encodings that are not in the Encoding standard, so that no browser decodes them.
const NOT_ON_THE_WEB: [&str; 7] = [
    "EUC-TW",
    "IBM855",
    "Johab",
    "UTF-32",
    "UTF-32BE",
    "UTF-32LE",
    "iso-2022-kr",
];

/// Encodings of the standard that neither browsers nor we guess. Their text is decoded correctly
/// only if the header, a mark or the page names them.
const NEVER_GUESSED: [(&str, &str); 4] = [
    ("MacCyrillic", "x-mac-cyrillic"),
    ("MacRoman", "macintosh"),
    ("UTF-16BE", "utf-16be"),
    ("UTF-16LE", "utf-16le"),
];

/// Counts the samples of each encoding that are decoded correctly without a declaration in the
/// header.
#[test]
fn at_least_99_percent_of_the_samples_are_guessed() {
    let Some(files) = conformance::directory("charset-samples") else {
        return;
    };
    let mut families: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (file, body) in &files {
        let family = file.split('/').next().unwrap();
        if NOT_ON_THE_WEB.contains(&family) {
            continue;
        }
        if let Some((_, label)) = NEVER_GUESSED.iter().find(|(name, _)| *name == family) {
            let truth = known(label).unwrap();
            let header = format!("text/html; charset={label}");
            assert_eq!(
                decode(body, Some(&header)).0,
                truth.decode(body).0,
                "{file}"
            );
            continue;
        }
        let truth = truth(family).unwrap_or_else(|| panic!("no encoding for {family}"));
        let (right, all) = families.entry(family).or_default();
        *all += 1;
        *right += usize::from(decode(body, None).0 == truth.decode(body).0);
    }
    let (right, all) = families
        .values()
        .fold((0, 0), |sum, family| (sum.0 + family.0, sum.1 + family.1));
    let report: String = families
        .iter()
        .map(|(family, (right, all))| format!("\n{family}: {right} of {all}"))
        .collect();
    eprintln!("{right} of {all}{report}");
    for (family, (right, all)) in &families {
        // A share is only meaningful for at least five samples.
        assert!(
            *all < 5 || *right * 100 >= *all * 95,
            "{family}: {right} of {all}{report}"
        );
    }
    assert!(right * 100 >= all * 99, "{right} of {all}{report}");
}

/// Returns the true encoding of a family of samples.
fn truth(family: &str) -> Option<&'static Encoding> {
    let label = match family {
        "CP932" => "shift_jis",
        "CP949" => "euc-kr",
        "utf-8-sig" => "utf-8",
        "UTF-16" => "utf-16",
        // `iso-8859-2-czech` is Czech in ISO 8859-2.
        name if name.starts_with("iso-8859-") || name.starts_with("windows-125") => {
            let cut = name
                .match_indices('-')
                .map(|(at, _)| at)
                .nth(if name.starts_with("iso") { 2 } else { 1 });
            &name[..cut.unwrap_or(name.len())]
        }
        name => name,
    };
    Encoding::for_label(label.as_bytes())
}

proptest! {
    #[test]
    fn any_bytes_decode(body in prop::collection::vec(any::<u8>(), 0..300), content_type in prop::option::of(".{0,40}")) {
        decode(&body, content_type.as_deref());
        decode(&body, Some("text/html; charset=utf-16le"));
    }

    #[test]
    fn a_prescan_ends(body in "(<(meta|!--|[a-z]{1,3}|/|\\?)[ =a-z\"'/>\\-]{0,12}){0,30}") {
        prescan::declared(body.as_bytes());
    }
}
