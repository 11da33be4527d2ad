//! Writes simple HTML from the parts of a document.
//!
//! **Invariant:** all text and all attributes are escaped, so the content of a document never
//! becomes markup.

/// Longest title, author or other metadata, in bytes.
const META_LIMIT: usize = 1_000;

/// An HTML page that grows part by part.
#[derive(Debug)]
pub(crate) struct HtmlWriter {
    head: String,
    body: String,
    /// Bytes of text that still fit.
    room: usize,
    has_title: bool,
    has_text: bool,
    cut: bool,
    /// The end tag of the block that is open.
    open: Option<&'static str>,
    /// The start tag of the open block, until its first text: a block without text is dropped.
    start: String,
    /// Whether a link is open.
    in_link: bool,
    /// Whether the last character of the open block is a space, or there is none.
    spaced: bool,
}

impl HtmlWriter {
    /// Creates a page without content, with room for `room` bytes of text.
    pub fn new(room: usize) -> Self {
        Self {
            head: String::new(),
            body: String::new(),
            room,
            has_title: false,
            has_text: false,
            cut: false,
            open: None,
            start: String::new(),
            in_link: false,
            spaced: true,
        }
    }

    /// Sets the title. The first one that is not empty counts.
    pub fn title(&mut self, title: &str) {
        let title = single_line(title);
        if self.has_title || title.is_empty() {
            return;
        }
        self.has_title = true;
        self.head.push_str("<title>");
        escape(&title, &mut self.head);
        self.head.push_str("</title>\n");
    }

    /// Returns whether the title is set.
    pub fn has_title(&self) -> bool {
        self.has_title
    }

    /// Adds metadata by the name that HTML pages use for it, such as `author`.
    pub fn meta(&mut self, name: &str, content: &str) {
        let content = single_line(content);
        if content.is_empty() {
            return;
        }
        self.head.push_str("<meta name=\"");
        escape(name, &mut self.head);
        self.head.push_str("\" content=\"");
        escape(&content, &mut self.head);
        self.head.push_str("\">\n");
    }

    /// Begins a paragraph.
    pub fn paragraph(&mut self) {
        self.begin("</p>\n");
        self.start.push_str("<p>");
    }

    /// Begins a heading of a level from 1 to 6, with an id that a URL's fragment can name.
    pub fn heading(&mut self, level: u8, id: Option<&str>) {
        let (name, end) = match level {
            0 | 1 => ("h1", "</h1>\n"),
            2 => ("h2", "</h2>\n"),
            3 => ("h3", "</h3>\n"),
            4 => ("h4", "</h4>\n"),
            5 => ("h5", "</h5>\n"),
            _ => ("h6", "</h6>\n"),
        };
        self.begin(end);
        self.start.push('<');
        self.start.push_str(name);
        if let Some(id) = id {
            self.start.push_str(" id=\"");
            escape(id, &mut self.start);
            self.start.push('"');
        }
        self.start.push('>');
    }

    /// Adds text to the open block; begins a paragraph if none is open. White space becomes single
    /// spaces.
    pub fn text(&mut self, text: &str) {
        for character in text.chars() {
            let is_space = character.is_whitespace() || character.is_control();
            if is_space && self.spaced {
                continue;
            }
            if self.room < character.len_utf8() {
                self.cut = true;
                return;
            }
            if self.open.is_none() {
                if is_space {
                    continue;
                }
                self.paragraph();
            }
            self.write_start();
            self.room -= character.len_utf8();
            self.spaced = is_space;
            self.has_text |= !is_space;
            match is_space {
                true => self.body.push(' '),
                false => escape_character(character, &mut self.body),
            }
        }
    }

    /// Begins a link. A URL that is not absolute begins none, because it would be resolved
    /// against the address of the document instead of a place inside it.
    pub fn link(&mut self, url: &str) {
        self.end_link();
        let url = url.trim();
        let is_web = ["http://", "https://"].iter().any(|scheme| {
            url.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        });
        if !is_web || url.len() > 2_048 || self.room == 0 {
            return;
        }
        if self.open.is_none() {
            self.paragraph();
        }
        self.write_start();
        self.body.push_str("<a href=\"");
        escape(url, &mut self.body);
        self.body.push_str("\">");
        self.in_link = true;
    }

    /// Ends the open link, if there is one.
    pub fn end_link(&mut self) {
        if std::mem::take(&mut self.in_link) {
            self.body.push_str("</a>");
        }
    }

    /// Ends the open block, if there is one.
    pub fn end_block(&mut self) {
        self.end_link();
        if let Some(end) = self.open.take()
            && self.start.is_empty()
        {
            self.body.push_str(end);
        }
        self.start.clear();
        self.spaced = true;
    }

    /// Returns whether the page has text.
    pub fn has_text(&self) -> bool {
        self.has_text
    }

    /// Returns whether no further text fits.
    pub fn is_full(&self) -> bool {
        self.cut
    }

    /// Notes that a part of the document was dropped.
    pub fn note_cut(&mut self) {
        self.cut = true;
    }

    /// Returns the page, and whether a limit cut its text.
    pub fn finish(mut self) -> (String, bool) {
        self.end_block();
        let page = format!(
            "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\n{}</head>\n<body>\n{}</body></html>\n",
            self.head, self.body
        );
        (page, self.cut)
    }

    fn begin(&mut self, end: &'static str) {
        self.end_block();
        self.open = Some(end);
    }

    /// Writes the start tag of the open block, if that is still to be done.
    fn write_start(&mut self) {
        self.body.push_str(&self.start);
        self.start.clear();
    }
}

/// Returns the text on one line, without repeated spaces and of bounded length.
fn single_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if line.len() + word.len() > META_LIMIT {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

fn escape(text: &str, page: &mut String) {
    for character in text.chars() {
        escape_character(character, page);
    }
}

fn escape_character(character: char, page: &mut String) {
    match character {
        '&' => page.push_str("&amp;"),
        '<' => page.push_str("&lt;"),
        '>' => page.push_str("&gt;"),
        '"' => page.push_str("&quot;"),
        other => page.push(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_never_becomes_markup() {
        let mut page = HtmlWriter::new(1_000);
        page.title("</title><script>");
        page.meta("author", "\"><script>");
        page.heading(2, Some("\"><b>"));
        page.text("<script>alert(1)</script> & more");
        page.link("https://a.example/?q=\"><i>");
        page.text("x");
        let (html, _) = page.finish();
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
        assert!(
            html.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"),
            "{html}"
        );
    }

    #[test]
    fn white_space_is_folded_and_blocks_are_closed() {
        let mut page = HtmlWriter::new(1_000);
        page.text("  one \n\n two\u{0}");
        page.paragraph();
        page.text(" three ");
        let (html, cut) = page.finish();
        assert!(html.contains("<p>one two </p>\n<p>three </p>\n"), "{html}");
        assert!(!cut);
    }

    #[test]
    fn only_absolute_links_of_the_web_are_kept() {
        let mut page = HtmlWriter::new(1_000);
        for url in [
            "chapter2.xhtml",
            "javascript:x()",
            "file:///etc/passwd",
            "#top",
        ] {
            page.link(url);
            page.text("no");
            page.end_link();
        }
        page.link(" HTTPS://a.example/ ");
        page.text("yes");
        let (html, _) = page.finish();
        assert_eq!(html.matches("<a ").count(), 1);
        assert!(
            html.contains("<a href=\"HTTPS://a.example/\">yes</a>"),
            "{html}"
        );
    }

    #[test]
    fn text_beyond_the_limit_is_dropped_and_reported() {
        let mut page = HtmlWriter::new(5);
        page.text("123456789");
        assert!(page.is_full());
        let (html, cut) = page.finish();
        assert!(html.contains("<p>12345</p>") && cut, "{html}");
    }

    #[test]
    fn the_first_title_counts() {
        let mut page = HtmlWriter::new(5);
        page.title("  ");
        page.title("One\ntwo");
        page.title("Three");
        let (html, _) = page.finish();
        assert!(html.contains("<title>One two</title>") && !html.contains("Three"));
    }
}
