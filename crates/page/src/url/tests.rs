//! Tests that normalization agrees with the standards and keeps different resources distinct.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::conformance;

fn objects(cases: Value) -> Vec<Value> {
    cases
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case.is_object())
        .cloned()
        .collect()
}

/// Adapts a test of the standard: http(s) only, no user info, no fragment, normalized escapes.
fn wanted(case: &Value) -> Option<String> {
    if case.get("failure").is_some() || !matches!(case["protocol"].as_str()?, "http:" | "https:") {
        return None;
    }
    let text = |key: &str| case[key].as_str().unwrap_or_default();
    let href = text("href");
    // `search` does not distinguish an empty query from none; `href` does.
    let without_fragment = href.split('#').next().unwrap_or_default();
    let query = without_fragment
        .split_once('?')
        .map(|(_, query)| format!("?{query}"))
        .unwrap_or_default();
    Some(format!(
        "{}//{}{}{query}",
        text("protocol"),
        text("host"),
        text("pathname")
    ))
}

#[test]
fn agrees_with_the_url_standard() {
    let Some(cases) = conformance::json("urltestdata.json") else {
        return;
    };
    let (mut accepted, mut refused, mut failed) = (0, 0, Vec::new());
    for case in objects(cases) {
        let Some(input) = case["input"].as_str() else {
            continue;
        };
        let ours = match case["base"].as_str() {
            None => PageUrl::parse(input),
            Some(base) => match PageUrl::parse(base) {
                Ok(base) => base.join(input),
                // Pages have http bases; other bases do not matter here.
                Err(_) => continue,
            },
        };
        let wanted = wanted(&case).map(|text| normal_by_hand(&text));
        match wanted {
            Some(_) => accepted += 1,
            None => refused += 1,
        }
        let ours_text = ours.as_ref().ok().map(|url| url.as_str().to_owned());
        if ours_text != wanted && !is_strange_name(input, ours_text.as_deref(), wanted.as_deref()) {
            failed.push(format!(
                "{input:?} on {}: {ours:?}, not {wanted:?}",
                case["base"]
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(
        accepted > 200 && refused > 200,
        "{accepted} accepted, {refused} refused"
    );
}

/// Recognizes the exceptions: names that the standard accepts and that cannot be registered.
///
/// The `idna` crate refuses a label that starts with `xn--` and is not valid Punycode; the tests
/// accept it. We also refuse a host that is only a dot. `xn--t92s` is the single label whose code
/// point is in the tables of the crate but not in those of the tests.
fn is_strange_name(input: &str, ours: Option<&str>, wanted: Option<&str>) -> bool {
    match (ours, wanted) {
        (None, Some(wanted)) => {
            input.is_ascii() && wanted.contains("xn--") || matches!(wanted, "" | "http:///")
        }
        (Some(ours), None) => ours.starts_with("xn--t92s."),
        _ => false,
    }
}

/// Normalizes a WHATWG URL independently of our code, following RFC 3986, 6.2.2.
fn normal_by_hand(href: &str) -> String {
    let mut normal = String::new();
    let mut rest = href.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '%' {
            let ahead: String = rest.clone().take(2).collect();
            if ahead.len() == 2 && ahead.chars().all(|c| c.is_ascii_hexdigit()) {
                let byte = u8::from_str_radix(&ahead, 16).unwrap();
                rest.nth(1);
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                        normal.push(char::from(byte))
                    }
                    _ => normal.push_str(&format!("%{byte:02X}")),
                }
                continue;
            }
        }
        normal.push(c);
    }
    let (scheme, rest) = normal.split_once("//").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap());
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, format!(":{port}")),
        _ => (authority, String::new()),
    };
    format!("{scheme}//{}{port}{path}", without_root_dot(host))
}

fn without_root_dot(host: &str) -> &str {
    match host.strip_suffix('.') {
        Some(short) if !short.ends_with('.') => short,
        _ => host,
    }
}

#[test]
fn agrees_with_the_standard_on_names() {
    for file in ["toascii.json", "IdnaTestV2.json"] {
        let Some(cases) = conformance::json(file) else {
            return;
        };
        let (mut run, mut strange, mut failed) = (0, 0, Vec::new());
        for case in objects(cases) {
            let input = case["input"].as_str().unwrap();
            // Characters that end a host in a URL cannot occur in a name.
            if input.contains(['/', '?', '#', '\\', ':', '@', '\t', '\n', '\r']) || input.is_empty()
            {
                continue;
            }
            run += 1;
            let ours = PageUrl::parse(&format!("https://{input}/x"))
                .ok()
                .map(|url| url.host_name().to_owned());
            let wanted = case["output"].as_str().map(without_root_dot);
            let is_strange = is_strange_name(input, ours.as_deref(), wanted);
            strange += usize::from(is_strange);
            if ours.as_deref() != wanted && !is_strange {
                failed.push(format!("{input:?}: {ours:?}, not {wanted:?}"));
            }
        }
        assert!(
            failed.is_empty(),
            "{file}, {} of {run}:\n{}",
            failed.len(),
            failed.join("\n")
        );
        assert!(
            run > 80 && strange * 3 < run,
            "{file}: {run} tests, {strange} strange names"
        );
    }
}

#[test]
fn agrees_with_the_standard_on_escapes() {
    let Some(cases) = conformance::json("percent-encoding.json") else {
        return;
    };
    for case in objects(cases) {
        let (input, wanted) = (
            case["input"].as_str().unwrap(),
            case["output"]["utf-8"].as_str().unwrap(),
        );
        // Browsers encode the query of a link in the encoding of its page. We resolve decoded
        // text, as UTF-8, so only the utf-8 column applies.
        let url = PageUrl::parse(&format!("http://a.example/?{input}")).unwrap();
        assert_eq!(url.query(), Some(wanted), "{input:?}");
    }
}

#[test]
fn agrees_with_the_public_suffix_list() {
    let Some(cases) = conformance::file("psl/tests.txt") else {
        return;
    };
    let cases = String::from_utf8(cases).unwrap();
    let mut run = 0;
    for line in cases
        .lines()
        .filter(|line| !line.starts_with("//") && !line.trim().is_empty())
    {
        let (input, wanted) = line.split_once(' ').unwrap();
        // `null` is not a host. A leading dot makes an empty label, which WHATWG accepts but no
        // registry has.
        if input == "null" || input.starts_with('.') {
            continue;
        }
        run += 1;
        let url = PageUrl::parse(&format!("http://{input}/")).unwrap();
        let wanted = match wanted {
            "null" => url.host_name().to_owned(), // A bare suffix is returned unchanged.
            // Names are compared in ASCII, as in the URL.
            name => PageUrl::parse(&format!("http://{name}/"))
                .unwrap()
                .host_name()
                .to_owned(),
        };
        assert_eq!(url.registrable_domain(), wanted, "{input}");
    }
    assert!(run > 70, "only {run} tests");
}

#[test]
fn equal_resources_have_one_form() {
    let check = |a: &str, b: &str| {
        assert_eq!(
            PageUrl::parse(a).unwrap(),
            PageUrl::parse(b).unwrap(),
            "{a} {b}"
        )
    };
    check("HTTP://A.Example:80/", "http://a.example");
    check("http://a.example/%7euser", "http://a.example/~user");
    check("http://a.example/%2f", "http://a.example/%2F");
    check("http://a.example/%41%2d%5f", "http://a.example/A-_");
    check("http://a.example/a/%2e%2e/b/./c", "http://a.example/b/c");
    check("http://a.example./x", "http://a.example/x");
    check("http://a.example/x#y", "http://a.example/x");
    check("http://u:p@a.example/", "http://a.example/");
    check("http://a.example\\x", "http://a.example/x");
    check("http://0x7f.1/", "http://127.0.0.1/");
    check("http://2130706433/", "http://127.0.0.1/");
    check("http://127.0.0.1./", "http://127.0.0.1/");
    check("http://[::FFFF:127.0.0.1]/", "http://[::ffff:7f00:1]/");
    check(
        "http://bücher.example/ü",
        "http://xn--bcher-kva.example/%C3%BC",
    );
    check("http://a.example/a\tb\n", "http://a.example/ab");
}

#[test]
fn different_resources_stay_apart() {
    let check = |a: &str, b: &str| {
        let (a, b) = (PageUrl::parse(a).unwrap(), PageUrl::parse(b).unwrap());
        assert_ne!(a, b);
        assert_ne!(a.id(), b.id());
    };
    check("http://a.example/x", "https://a.example/x");
    check("http://a.example/x", "http://www.a.example/x");
    check("http://a.example/x", "http://a.example/x/");
    check("http://a.example/x", "http://a.example/x?");
    check("http://a.example/x", "http://a.example/X");
    check("http://a.example/a%2Fb", "http://a.example/a/b");
    check("http://a.example/a%3Fb", "http://a.example/a?b");
    check("http://a.example/?a=1&b=2", "http://a.example/?b=2&a=1");
    check("http://a.example/?a+b", "http://a.example/?a%20b");
    check("http://a.example/%257E", "http://a.example/~");
    check("http://a.example//x", "http://a.example/x");
    check("http://a.example/", "http://a.example:8080/");
    check("http://a.example/%00", "http://a.example/");
    check("http://a.example/index.html", "http://a.example/");
    // An incomplete escape is not completed by decoding what follows it.
    check("http://a.example/%%34%31", "http://a.example/A");
    check("http://a.example/%4%31", "http://a.example/%41");
    check("http://a.example/%%341?%%341", "http://a.example/A?A");
}

#[test]
fn a_bare_percent_sign_stays_bare() {
    let check = |path: &str, wanted: &str| {
        let url = PageUrl::parse(&format!("http://a.example{path}")).unwrap();
        assert_eq!(url.path_and_query(), wanted);
        assert_eq!(PageUrl::parse(url.as_str()).as_ref(), Ok(&url));
    };
    check("/%%34%31", "/%%341");
    check("/%4%31", "/%4%31");
    check("/%z%31%7e", "/%z1~");
    check("/%%7e%34", "/%~4");
    check("/%%34x?%%34%31", "/%%34x?%%341");
    check("/%", "/%");
}

#[test]
fn what_is_not_a_page_is_refused() {
    let check = |text: &str, refusal: Refusal| {
        assert_eq!(PageUrl::parse(text).unwrap_err(), refusal, "{text}")
    };
    check("mailto:a@b", Refusal::Scheme);
    check("javascript:alert(1)", Refusal::Scheme);
    check("data:text/html,x", Refusal::Scheme);
    check("file:///etc/passwd", Refusal::Scheme);
    check("ftp://a.example/", Refusal::Scheme);
    check("http://", Refusal::Malformed);
    check("http://./", Refusal::Malformed);
    check("/relative", Refusal::Malformed);
    check("http://a b/", Refusal::Malformed);
    check("http://a.example:99999/", Refusal::Malformed);
}

#[test]
fn no_byte_of_a_url_can_break_a_header_or_a_line() {
    for byte in 0u8..=255 {
        let Ok(url) = PageUrl::parse(&format!("http://a.example/{c}x?{c}y", c = char::from(byte)))
        else {
            continue;
        };
        assert!(
            url.as_str().bytes().all(|byte| byte.is_ascii_graphic()),
            "{url}"
        );
    }
}

proptest! {
    #[test]
    fn the_normal_form_is_stable(text in "(https?://)?[a-z.]{1,8}(:80)?/[%234eE7f~a/.;?&=#\\\\ é]{0,30}") {
        if let Ok(url) = PageUrl::parse(&text) {
            let again = PageUrl::parse(url.as_str()).unwrap();
            prop_assert_eq!(again.as_str(), url.as_str());
            prop_assert_eq!(again.id(), url.id());
            prop_assert_eq!(url.id().host(), url.host());
            prop_assert!(url.as_str().starts_with(url.origin()));
            prop_assert_eq!(format!("{}{}", url.origin(), url.path_and_query()), url.as_str());
        }
    }

    #[test]
    fn parsing_never_panics(text in ".{0,60}", base in "http://[a-z]{1,3}/.{0,10}") {
        let _ = PageUrl::parse(&text);
        if let Ok(base) = PageUrl::parse(&base) {
            let _ = base.join(&text);
        }
    }
}
