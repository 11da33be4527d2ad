//! Generates HTML pages like those of documentation: navigation, sections, links, code and tables.
//!
//! **Invariant:** a page is a function of its number and uses integer arithmetic only, so it is the
//! same on every machine and does not depend on other crates.

use std::fmt::Write;

use anyhow::{Context, Result};
use page::PageUrl;

use crate::urls::{scramble, spell};

/// Binary logarithm of the size of the vocabulary.
const VOCABULARY: u64 = 15;
const PARAGRAPHS: u64 = 4;
const WORDS: u64 = 65;

/// Returns the URL of a page, on one of 100 hosts.
pub fn url(number: u64) -> Result<PageUrl> {
    let text = address(number);
    PageUrl::parse(&text).with_context(|| format!("the invented URL {text}"))
}

fn address(number: u64) -> String {
    let chance = scramble(number);
    let mut text = format!("https://www.site{}.example/", chance % 100);
    spell(1 + (chance >> 8 & 31), &mut text);
    text.push('/');
    spell(1 + (chance >> 16 & 1023), &mut text);
    let _ = write!(text, "-{number}.html");
    text
}

/// Returns a page with this number of sections. Eight sections give 26 kB and about 90 links.
pub fn html(number: u64, sections: u64) -> String {
    let mut words = DocumentWords(scramble(number));
    let mut html = String::with_capacity(24 << 10);
    let title = words.some(5);
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"description\" content=\"{}\">\n<meta property=\"og:title\" content=\"{title}\">\n\
         <link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"canonical\" href=\"{}\">\n\
         <script type=\"application/ld+json\">{{\"@type\":\"Article\",\"headline\":\"{title}\",\
         \"author\":{{\"@type\":\"Person\",\"name\":\"{}\"}},\"datePublished\":\"2024-05-{:02}\"}}</script>\n\
         <script>if (window.a < 1 && window.b > 2) {{ document.title += \"</p>\"; }}</script>\n</head>\n<body>\n",
        words.some(20),
        address(number),
        words.some(2),
        1 + number % 28,
    );
    words.navigation("nav", 24, &mut html);
    let _ = writeln!(html, "<main><h1>{title}</h1>");
    for section in 0..sections {
        words.section(section, &mut html);
    }
    html.push_str("</main>\n");
    words.navigation("footer", 14, &mut html);
    html.push_str("</body></html>\n");
    html
}

/// Returns a body of about 2 kB without markup.
pub fn small(number: u64) -> String {
    DocumentWords(scramble(number)).some(300)
}

/// Returns a query of one to three words.
pub fn query(number: u64) -> String {
    DocumentWords(scramble(!number)).some(1 + number % 3)
}

/// A pseudo-random stream of words by Zipf's law.
///
/// A rank between 1 and 2 is drawn as often as a rank between 1,000 and 2,000.
struct DocumentWords(u64);

impl DocumentWords {
    fn draw(&mut self) -> u64 {
        self.0 = scramble(self.0);
        self.0
    }

    fn word(&mut self, text: &mut String) {
        let chance = self.draw();
        let octave = chance % VOCABULARY;
        spell((1 << octave) + (chance >> 16) % (1 << octave), text);
    }

    fn some(&mut self, count: u64) -> String {
        let mut text = String::new();
        for place in 0..count {
            if place > 0 {
                text.push(' ');
            }
            self.word(&mut text);
        }
        text
    }

    fn navigation(&mut self, element: &str, links: u64, html: &mut String) {
        let _ = writeln!(html, "<{element} class=\"menu\"><ul>");
        for link in 0..links {
            let (path, anchor) = (self.some(1), self.some(2));
            let _ = writeln!(
                html,
                "<li class=\"item level-1\"><a href=\"../{path}/index.html?part={link}\">{anchor}</a></li>"
            );
        }
        let _ = writeln!(html, "</ul></{element}>");
    }

    fn section(&mut self, number: u64, html: &mut String) {
        let heading = self.some(3);
        let _ = writeln!(html, "<section><h2 id=\"s{number}\">{heading}</h2>");
        for _ in 0..PARAGRAPHS {
            html.push_str("<p class=\"text\">");
            for place in 0..WORDS {
                let (before, after) = match place % 32 {
                    12 => ("<a href=\"", "</a>, "),
                    20 => ("<code>", "()</code> &mdash; "),
                    28 => ("<em>", "</em> &amp; "),
                    16 | 31 => ("", ". "),
                    _ => ("", " "),
                };
                html.push_str(before);
                if place % 32 == 12 {
                    html.push_str(&address(self.draw() % 100_000));
                    html.push_str("\">");
                }
                self.word(html);
                html.push_str(after);
            }
            html.push_str("</p>\n");
        }
        if number % 4 == 1 {
            let _ = write!(
                html,
                "<pre><code class=\"language-c\">int {}(int n) {{\n    return n &lt; 2 ? 1 : {}(n - 1);\n}}</code></pre>\n",
                self.some(1),
                self.some(1)
            );
        }
        if number % 4 == 3 {
            html.push_str("<table><tr><th>name</th><th>value</th></tr>\n");
            for _ in 0..6 {
                let (name, value) = (self.some(1), self.draw() % 1000);
                let _ = writeln!(html, "<tr><td>{name}</td><td>{value}</td></tr>");
            }
            html.push_str("</table>\n");
        }
        html.push_str("</section>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_depends_on_its_number_only_and_resembles_documentation() {
        let (mut bytes, mut links) = (0, 0);
        for number in 0..50 {
            let html = html(number, 8);
            assert_eq!(html, super::html(number, 8));
            assert_ne!(html, super::html(number + 1, 8));
            let reading = page::read(&html, &url(number).unwrap(), &page::ReadLimits::default());
            assert!(reading.sections.len() >= 8, "{html}");
            assert!(!reading.title.is_empty() && reading.canonical.is_some());
            assert_eq!(reading.malformed, 0, "{html}");
            (bytes, links) = (bytes + html.len(), links + reading.links.len());
        }
        assert!((24_000..28_000).contains(&(bytes / 50)), "{}", bytes / 50);
        assert!((60..=110).contains(&(links / 50)), "{}", links / 50);
    }
}
