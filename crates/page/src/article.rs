//! What is the main text of a page, and how does it read as Markdown?
//!
//! For export only: it builds a tree, which issue 2 measured at 2.6 ms a page.
//!
//! **Invariant:** a tree is built only of markup that was first seen to be tame: small, shallow and
//! without the tags that take a tree builder minutes (hostile list, rows 31 to 33). Anything else is
//! given as the plain text of the streaming reader.

use dom_smoothie::{Config, Readability, TextMode};
use serde::Serialize;

use crate::html::open::Open;
use crate::html::tag::{self, Flow, is_formatting};
use crate::html::tokenizer::{Model, Token, Tokenizer};
use crate::html::{Limits, read};
use crate::url::PageUrl;

/// What a page is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Article {
    /// Its title, without the name of the site where that could be told.
    pub title: String,
    /// Its main text, a line a block.
    pub text: String,
    /// Its main text as Markdown.
    pub markdown: String,
    /// Who wrote it, if it says so.
    pub byline: Option<String>,
    /// When it was published, in the page's own words.
    pub published: Option<String>,
    /// Whether the main text was told from the rest; if not, text and Markdown are all of the page's.
    pub extracted: bool,
}

/// Bytes of markup a tree is built of: a choice, well above the 27 KB of the pages of issue 2.
const MAX_BYTES: usize = 2 << 20;

/// Nesting a tree is built of: half of what browsers keep. A test takes trees of this depth through
/// both libraries on the 2 MB stack of a thread, unoptimised.
const MAX_DEPTH: usize = 256;

/// The main text of a page found at `url`.
pub fn article(html: &str, url: &PageUrl) -> Article {
    if is_tame(html)
        && let Some(article) = extract(html, url)
    {
        return article;
    }
    let reading = read(html, url, &Limits::default());
    Article {
        title: reading.title,
        markdown: reading.text.clone(),
        text: reading.text,
        byline: None,
        published: None,
        extracted: false,
    }
}

fn extract(html: &str, url: &PageUrl) -> Option<Article> {
    let config = Config {
        text_mode: TextMode::Formatted,
        ..Config::default()
    };
    let found = Readability::new(html, Some(url.as_str()), Some(config))
        .ok()?
        .parse()
        .ok()?;
    let text = found.text_content.trim().to_owned();
    if text.is_empty() {
        return None;
    }
    let markdown = htmd::convert(&found.content).ok()?;
    Some(Article {
        title: found.title,
        text,
        markdown,
        byline: found.byline,
        published: found.published_time,
        extracted: true,
    })
}

/// Whether a tree of this markup is small and shallow.
///
/// The depth of a tree is bounded by the open elements and the formatting elements never closed: the
/// builder opens the latter again in every later block.
fn is_tame(html: &str) -> bool {
    if html.len() > MAX_BYTES {
        return false;
    }
    let limits = Limits::default();
    let mut tokens = Tokenizer::new(html, limits.attributes, limits.value);
    let mut open = Open::new();
    let mut formatting = 0usize;
    while let Some(token) = tokens.next() {
        match token {
            Token::Start { tag, name, .. } => {
                let element = tag::element(tag);
                if matches!(element.flow, Flow::Void | Flow::Break) {
                    continue;
                }
                open.start(tag, name, element.flow);
                formatting += usize::from(is_formatting(tag));
                let model = tag::model(tag, element.role);
                if model != Model::Data {
                    tokens.expect(model, tag);
                }
            }
            Token::End { tag } => {
                open.end(tag);
                formatting = formatting.saturating_sub(usize::from(is_formatting(tag)));
            }
            Token::Text { .. } | Token::Comment(_) | Token::Doctype => {}
        }
        if open.depth() + formatting > MAX_DEPTH || tokens.attributes_cut > 0 {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url() -> PageUrl {
        PageUrl::parse("http://a.example/").unwrap()
    }

    fn story() -> String {
        let paragraph = "<p>The avocet is a wader that sweeps its bill through the water, only where there is food, \
                         and it does so for hours, with great patience, in <em>every</em> weather, as observers say.</p>";
        format!(
            "<html><head><title>The avocet - Birds</title></head><body><nav><a href=/>Home</a> <a href=/b>Birds</a></nav>\
             <article><h1>The avocet</h1>{}<ul><li>black</li><li>white</li></ul></article><footer>Imprint</footer></body></html>",
            paragraph.repeat(6)
        )
    }

    #[test]
    fn the_main_text_is_told_from_the_rest() {
        let article = article(&story(), &url());
        assert!(article.extracted);
        assert!(article.title.contains("The avocet"));
        assert!(article.text.contains("sweeps its bill") && !article.text.contains("Imprint"));
        assert!(article.markdown.contains("*every*"), "{}", article.markdown);
    }

    #[test]
    fn a_page_without_an_article_gives_its_text() {
        let article = article("<title>t</title><p>short", &url());
        assert_eq!(
            (article.title.as_str(), article.text.as_str()),
            ("t", "short")
        );
    }

    #[test]
    fn hostile_markup_never_gets_a_tree() {
        let deep = |open: &str| format!("{}{}", open.repeat(64_000), story());
        let pages = [
            deep("<div>"),
            deep("<ul><li>"),
            deep("<b>"),
            (0..64_000)
                .map(|i| format!("<b id={i}><p>"))
                .collect::<String>()
                + &story(),
            format!(
                "<p {}>{}",
                (0..64_000).map(|i| format!("a{i}=1 ")).collect::<String>(),
                story()
            ),
            format!("{}{}", story(), " ".repeat(MAX_BYTES)),
        ];
        for page in pages {
            assert!(!is_tame(&page), "{:.40}", page);
            let article = article(&page, &url());
            assert!(
                !article.extracted && article.text.contains("sweeps its bill"),
                "{:.40}",
                page
            );
        }
    }

    #[test]
    fn the_deepest_tame_page_fits_the_stack() {
        // Room for the elements of the story itself.
        for open in [
            "<div>",
            "<ul><li>",
            "<blockquote>",
            "<b>",
            "<font>",
            "<table><tr><td>",
        ] {
            let levels = (MAX_DEPTH - 20)
                / open.matches('<').count()
                / if open == "<b>" || open == "<font>" {
                    2
                } else {
                    1
                };
            let page = format!("{}{}", open.repeat(levels), story());
            assert!(is_tame(&page), "{open}");
            article(&page, &url());
        }
    }

    #[test]
    fn careless_markup_is_tame() {
        let lists = format!(
            "{}<p>a<p>b{}",
            "<ul>".to_owned() + &"<li>x".repeat(5_000) + "</ul>",
            "<tr><td>y".repeat(5_000)
        );
        assert!(is_tame(&lists));
        let picture = format!("<img src='data:{}'>", "x".repeat(100_000));
        assert!(is_tame(&picture));
    }
}
