//! Fuzz target for robots.txt files.

use std::time::Duration;

use page::Robots;

/// Parses a robots.txt.
///
/// Line endings, a byte order mark, a comment and the case of our product token change nothing.
/// Every URL gets a verdict, and the crawl delay is clamped.
pub fn robots(data: &[u8]) {
    let read = Robots::parse(data, "avocet");
    assert_eq!(read, Robots::parse(data, "AVOCET"));
    if !matches!(
        data,
        [0xef, 0xbb, 0xbf, ..] | [0xfe, 0xff, ..] | [0xff, 0xfe, ..]
    ) && data.len() < page::robots::ROBOTS_LIMIT / 2
    {
        let marked = [b"\xef\xbb\xbf# a comment\r\n", data].concat();
        assert_eq!(read, Robots::parse(&marked, "avocet"));
        let lines: Vec<&[u8]> = data.split(|&byte| byte == b'\n').collect();
        assert_eq!(read, Robots::parse(&lines.join(&b"\r\n"[..]), "avocet"));
    }

    let base = crate::found_at();
    let delay = read.crawl_delay().unwrap_or_default();
    assert!(delay <= Duration::from_secs(300));
    let sitemaps = read.sitemaps(&base);
    assert!(sitemaps.len() <= 1_000);
    let robots_txt = base.join("/robots.txt").expect("it is a URL");
    assert!(read.allows(&robots_txt));
    read.allows(&base);
    sitemaps.iter().for_each(|url| {
        read.allows(url);
    });
    // The path of a rule is likely to match a rule.
    for line in data.split(|&byte| byte == b'\n').take(100) {
        let value = line
            .splitn(2, |&byte| byte == b':')
            .last()
            .unwrap_or_default();
        if let Ok(url) = base.join(String::from_utf8_lossy(value).trim()) {
            read.allows(&url);
        }
    }
    assert!(!Robots::disallow_all().allows(&base));
}
