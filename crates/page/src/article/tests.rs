//! Tests of the extraction: markup and its Markdown, pages and their main parts, and properties
//! of any markup.

use proptest::prelude::*;

use super::chunks::chunks;
use super::tree_limits::{MAX_BYTES, MAX_DEPTH};
use super::*;

/// Makes a table: `html => expected;`.
macro_rules! pairs {
    ($($html:literal => $expected:literal;)*) => { [$(($html, $expected)),*] };
}

fn url() -> PageUrl {
    PageUrl::parse("http://a.example/dir/page.html").unwrap()
}

fn read_article(html: &str) -> Article {
    article(html, &url())
}

/// Returns the Markdown of a fragment that is the only text of a page.
fn markdown(html: &str) -> String {
    read_article(&format!("<body><main>{html}</main>")).markdown
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
fn markup_becomes_markdown() {
    let table = pairs! {
        // Headings and paragraphs.
        "<h1>A <em>b</em></h1><p>c<br>d" => "# A *b*\n\nc  \nd";
        "<h2>C# </h2>x" => "## C\\#\n\nx";
        "one<p>two</p>three" => "one\n\ntwo\n\nthree";
        "<div><div>a</div></div><span>b</span>" => "a\n\nb";
        "<h2><a href='#toc'>Back</a></h2><p>x" => "## Back\n\nx";
        // Emphasis marks touch their text, and are dropped where Markdown could not parse them.
        "a <b> b </b> c" => "a **b** c";
        "<b></b>a<i> </i>b" => "a b";
        "<b><b>a</b></b>" => "**a**";
        // Code spans.
        "<code>a</code>" => "`a`";
        "<code>a`b</code>" => "``a`b``";
        "<code>`</code>" => "`` ` ``";
        "<kbd>a  b</kbd>" => "`a b`";
        // Links.
        "<a href=x.html>x</a>" => "[x](http://a.example/dir/x.html)";
        "<a href='/a(b)'>x</a>" => "[x](http://a.example/a%28b%29)";
        "<a href=#s>x</a>" => "[x](http://a.example/dir/page.html#s)";
        "<a href=javascript:x()>x</a>" => "x";
        "<a href=/x> </a>y" => "y";
        "<a href=/x><code>f()</code></a>" => "[`f()`](http://a.example/x)";
        "<a href=/x>[1]</a>" => "[\\[1\\]](http://a.example/x)";
        "<img src=a.png alt='a b'>x" => "![a b](http://a.example/dir/a.png)x";
        "<img src=a.png>x" => "x";
        "<img src=data:x alt=y>x" => "yx";
        // Fenced code.
        "<pre>a\n  b</pre>" => "```\na\n  b\n```";
        "<pre><code class=language-rust>fn</code></pre>" => "```rust\nfn\n```";
        "<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>"
            => "```python\nx\n```";
        "<pre class='sourceCode cpp'>x</pre>" => "```cpp\nx\n```";
        "<pre class='brush: js'>x</pre>" => "```js\nx\n```";
        "<pre data-lang=Go>x</pre>" => "```go\nx\n```";
        "<div class=highlight-default><pre>x</pre></div>" => "```\nx\n```";
        "<pre class='programlisting'>x</pre>" => "```\nx\n```";
        "<pre>```\na\n```</pre>" => "````\n```\na\n```\n````";
        "<pre>a<br>b<div>c</div>d</pre>" => "```\na\nb\nc\nd\n```";
        "<pre> </pre>x" => "x";
        "<span><pre>a</pre></span>" => "```\na\n```";
        // Lists are tight.
        "<ul><li>a<li>b</ul>" => "- a\n- b";
        "<ul><li><p>a</p></li><li><p>b</p></li></ul>" => "- a\n- b";
        "<ol start=3><li>a<li>b</ol>" => "3. a\n4. b";
        "<ul><li>a<ul><li>b</ul></ul>" => "- a\n  - b";
        "<ol><li>a<ul><li>b</ul></ol>" => "1. a\n   - b";
        "<ul><li>a<pre>b\n\nc</pre>d</ul>" => "- a\n  ```\n  b\n\n  c\n  ```\n  d";
        "<ul><li><p>a<p>b</ul>" => "- a\n\n  b";
        "<ul><li></li><li>a</ul>" => "- a";
        "<dl><dt>a<dd>b<dt><code>c</code><dd>d</dl>" => "**a**\n\nb\n\n`c`\n\nd";
        "<blockquote><p>a<p>b</blockquote>" => "> a\n>\n> b";
        "<blockquote><pre>a</pre></blockquote>" => "```\na\n```";
        // Tables keep all cells.
        "<table><tr><th>a<th>b<tr><td>c<td>d</table>" => "| a | b |\n| --- | --- |\n| c | d |";
        "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
            => "|  |  |\n| --- | --- |\n| a | b |\n| c | d |";
        "<table><tr><th>a<th>b<tr><td colspan=2>c</table>" => "| a | b |\n| --- | --- |\n| c |  |";
        "<table><tr><td rowspan=2>a<td>b<tr><td>c</table>"
            => "|  |  |\n| --- | --- |\n| a | b |\n|  | c |";
        "<table><tr><th>a|b<th>c<tr><td><p>d<p>e<td>f</table>"
            => "| a\\|b | c |\n| --- | --- |\n| d<br>e | f |";
        "<table><tr><th>a<th>b<tr><td>c</table>" => "| a | b |\n| --- | --- |\n| c |";
        "<table><caption>k</caption><tr><th>a<th>b<tr><td>c<td>d</table>"
            => "k\n\n| a | b |\n| --- | --- |\n| c | d |";
        // A layout table.
        "<table><tr><td>a<td><pre>b</pre></table>" => "a\n\n```\nb\n```";
        "<table><tr><td class=linenos><pre>1</pre><td><pre>b</pre></table>" => "```\nb\n```";
        "<table><tr><td>x<td><table><tr><th>a<th>b<tr><td>c<td>d</table></table>"
            => "x\n\n| a | b |\n| --- | --- |\n| c | d |";
        // Text that looks like markup.
        "<p># a" => "\\# a";
        "<p>1. a" => "1\\. a";
        "<p>- a" => "\\- a";
        "<p>&gt; a" => "\\> a";
        "<p>```" => "\\`\\`\\`";
        "<p>~~~" => "\\~\\~\\~";
        "<p>a*b* snake_case _x_" => "a\\*b\\* snake_case \\_x\\_";
        "<p>&lt;b&gt; a &lt; b" => "\\<b> a < b";
        "<p>a * b <b>T</b> *<i>p</i>" => "a * b **T** \\*p";
        "<p>a \\ b\\" => "a \\ b\\\\";
        "<p>[a](b)" => "[a\\](b)";
        "<p>&amp;lt;" => "\\&lt;";
        // Permalinks.
        "<h2>A<a class=headerlink href=#a title='Permalink to this heading'>¶</a></h2>b"
            => "## A\n\nb";
        "<h2><a href=#a>#</a> A</h2>b" => "## A\n\nb";
        "<h2>A<a class=anchor href=#a>Permalink to this heading</a></h2>b" => "## A\n\nb";
        // Invisible elements.
        "<script>x</script><style>y</style><template>z</template><p hidden>h<p style='display: none'>n<p>a"
            => "a";
        "<button>Copy</button><pre>a</pre>" => "```\na\n```";
    };
    for (html, expected) in table {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

#[test]
fn the_main_part_is_recognized() {
    let prose = "Prose of the page that goes on and on and has no links at all. ".repeat(4);
    let nav = "<a href=/1>One</a> <a href=/2>Two</a> <a href=/3>Three</a>";
    let table = pairs! {
        // Explicit landmarks.
        "<div class=top>NAV</div><main><h1>T</h1>PROSE</main><div>Imprint</div>" => "article";
        "<div class=x>NAV</div><div role=main><h1>T</h1>PROSE</div>" => "article";
        "<header><h1><a href=/>Site</a></h1>NAV</header><article><h1>T</h1>PROSE</article>" => "article";
        // Names in class and id.
        "<ul>NAV</ul><div id=content><h1>T</h1>PROSE</div><p>Imprint" => "article";
        "<div class=sidebar>Imprint NAV</div><div class=post><h1>T</h1>PROSE</div>" => "article";
        // Only the amount of text.
        "<div><table><tr><td>NAV<td><h1>T</h1>PROSE</table></div>" => "article";
        // The heading is outside of the part.
        "<div>NAV</div><h1>T</h1><div id=content>PROSE</div><div id=footer>Imprint</div>" => "article";
        // There is no such part.
        "<div class=nav>NAV</div><h1>T</h1><p>PROSE<div class=footer>Imprint</div>" => "whole";
    };
    for (html, extraction) in table {
        let html = html.replace("NAV", nav).replace("PROSE", &prose);
        let article = read_article(&html);
        assert_eq!(article.extraction.name(), extraction, "{html}");
        assert!(
            article.markdown.starts_with("# T"),
            "{html}\n{}",
            article.markdown
        );
        assert!(article.text.contains("goes on"), "{html}");
        assert!(
            !article.text.contains("Imprint") && !article.text.contains("Two"),
            "{html}\n{}",
            article.text
        );
    }
}

#[test]
fn a_main_part_with_hardly_any_text_is_a_failure() {
    let prose = "<p>Prose of the page that goes on and on and has no links at all.</p>";
    let page = format!(
        "<main>© 2020 The Company</main><div>{}</div><div>{prose}</div>",
        prose.repeat(9)
    );
    let article = read_article(&page);
    assert_eq!(
        article.extraction,
        Extraction::Fallback(ExtractionFailure::SmallShare)
    );
    assert!(article.text.contains("goes on"));
}

#[test]
fn an_index_of_links_is_kept() {
    let links: String = (0..30)
        .map(|page| format!("<li><a href=p{page}.html>Page {page}</a>"))
        .collect();
    let pages = [
        format!("<h1>T</h1><ul class=toc>{links}</ul>"),
        format!(
            "<div class=header><a href=/>Up</a></div><h1>T</h1><ul>{links}</ul><div class=footer>© The Company, all rights</div>"
        ),
        format!("<main><h1>T</h1><div class=contents><ul>{links}</ul></div></main>"),
        format!(
            "<div class='page with-sidebar'><div role=main><h1>T</h1><ul>{links}</ul></div></div><div class=x>© rights</div>"
        ),
    ];
    for page in pages {
        let article = read_article(&page);
        assert!(article.text.contains("Page 29"), "{page}");
        assert!(!article.text.contains("rights"), "{page}");
    }
}

#[test]
fn contents_of_the_page_itself_are_dropped() {
    let page = "<main><h1>T</h1><div class=toc><a href=#a>A of it</a></div><h2 id=a>A</h2><p>Some text.</main>";
    assert_eq!(read_article(page).markdown, "# T\n\n## A\n\nSome text.");
}

#[test]
fn code_outside_the_part_overrules_it() {
    let page = "<div id=content>Some text of the page.</div><div><pre>let code = 1;</pre></div>";
    assert!(read_article(page).markdown.contains("let code"));
}

#[test]
fn titles_lose_the_name_of_the_site() {
    let table = pairs! {
        "<title>The avocet - Birds</title><main><h1>The avocet</h1>x" => "The avocet";
        "<title>exec — CMake 3.25</title><main><h1>exec<a class=headerlink href=#x>¶</a></h1>x"
            => "exec";
        "<title>Structures (GNU Octave)</title><h4>6.1.4 Structures</h4>x" => "Structures";
        "<title>Erlang -- </title><main><h1>Release Notes</h1>x" => "Release Notes";
        "<main><h1>Only</h1>x" => "Only";
        "<title>Only</title>x" => "Only";
        "<title>Another</title><main><h1>Heading</h1>x" => "Another";
        "<title>Post | Blog</title><h1><a href=/>Blog</a></h1><h2>Post</h2>x" => "Post";
        "x" => "";
    };
    for (html, expected) in table {
        assert_eq!(read_article(html).title, expected, "{html}");
    }
}

#[test]
fn headings_have_their_fragment_and_their_offset() {
    let page = "<main><h1 id=t>T</h1>a<section id=s><h2>S</h2>b</section><a name=n></a><h2>N</h2>c\
                <h2><a name=i>I</a></h2>d<ul><li><h2 id=l>L</h2></ul><h2>U</h2>e</main>";
    let article = read_article(page);
    let found: Vec<_> = article
        .headings
        .iter()
        .map(|heading| (heading.text.as_str(), heading.id.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("T", Some("t")),
            ("S", Some("s")),
            ("N", Some("n")),
            ("I", Some("i")),
            ("U", None)
        ]
    );
    for heading in &article.headings {
        let line = format!("{} {}", "#".repeat(heading.level.into()), heading.text);
        assert!(
            article.markdown[heading.start..].starts_with(&line),
            "{heading:?}"
        );
    }
}

#[test]
fn chunks_are_sections() {
    let page = "<main><p>Before.<h1 id=t>T</h1><h2 id=a>A</h2><p>One.<p>Two.<pre>x\n\ny</pre><h2>B</h2><p>Three.</main>";
    let article = read_article(page);
    // The headings, the fragment and the Markdown of each chunk.
    let found = |limit| -> Vec<String> {
        let chunks = chunks(&article.markdown, &article.headings, limit);
        let shown = chunks.iter().map(|chunk| {
            let fragment = chunk.fragment.unwrap_or("-");
            format!("{} {fragment} {}", chunk.headings.join("/"), chunk.markdown)
        });
        shown.collect()
    };
    assert_eq!(
        found(1000),
        [
            " - Before.",
            "T/A a ## A\n\nOne.\n\nTwo.\n\n```\nx\n\ny\n```",
            "T/B t ## B\n\nThree.",
        ]
    );
    // A heading stays with its first block, and a fenced block is not split.
    assert_eq!(
        found(4),
        [
            " - Before.",
            "T/A a ## A\n\nOne.",
            "T/A a Two.",
            "T/A a ```\nx\n\ny\n```",
            "T/B t ## B\n\nThree.",
        ]
    );
}

#[test]
fn chunks_split_lists_between_items_and_never_in_a_fence() {
    let page =
        "<main><ol><li>One.<pre>--\n\n- x\n\n1. y</pre><li>Two.<li><p>Three.<p>More.</ol></main>";
    let article = read_article(page);
    let found = chunks(&article.markdown, &article.headings, 5);
    let found: Vec<&str> = found.iter().map(|chunk| chunk.markdown).collect();
    let first = "1. One.\n   ```\n   --\n\n   - x\n\n   1. y\n   ```";
    assert_eq!(found, [first, "2. Two.", "3. Three.\n\n   More."]);
}

#[test]
fn a_page_without_an_article_gives_its_text() {
    let article = read_article("<title>t</title><p>short");
    assert_eq!(
        (article.title.as_str(), article.text.as_str()),
        ("t", "short")
    );
    assert_eq!(article.extraction, Extraction::Whole);
    let empty = read_article("");
    assert_eq!(
        (empty.text.as_str(), empty.extraction),
        ("", Extraction::Whole)
    );
    assert_eq!(read_article("<select>``````").markdown, "\\``````");
    assert_eq!(read_article("<nav><a href=/>Home</a></nav>").text, "Home");
}

#[test]
fn the_fallback_is_all_but_navigation() {
    let page = "<nav><a href=/>Home</a></nav><main>© Us</main><p>One.<p>Two.";
    let article = whole(page, &url(), ExtractionFailure::Repeated);
    assert_eq!(article.text, "© Us\nOne.\nTwo.");
    assert_eq!(article.extraction.reason(), Some("repeated"));
}

#[test]
fn text_that_most_pages_repeat_is_removed() {
    let page = |text: &str| {
        let html =
            format!("<p>© Us<h2>Site</h2><p>{text}<pre>}}</pre><h2 id=e>End {text}</h2><p>Imprint");
        whole(&html, &url(), ExtractionFailure::Repeated)
    };
    let pages: Vec<Article> = ["One.", "Two.", "Three."].map(page).into();
    let mut first = pages[0].clone();
    Template::of(&pages).remove_from(&mut first);
    assert_eq!(first.text, "One.\nEnd One.");
    assert_eq!(first.markdown, "One.\n\n## End One.");
    assert_eq!(first.headings.len(), 1);
    assert!(first.markdown[first.headings[0].start..].starts_with("## End"));
    // Two pages are too few, and a page that is all template stays unchanged.
    let mut second = pages[1].clone();
    Template::of(&pages[..2]).remove_from(&mut second);
    assert_eq!(second, pages[1]);
    let same: Vec<Article> = ["One.", "One.", "One."].map(page).into();
    let mut all = same[0].clone();
    Template::of(&same).remove_from(&mut all);
    assert_eq!(all, same[0]);
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
        assert!(!fits_tree_limits(&page), "{:.40}", page);
        let article = read_article(&page);
        assert_eq!(
            article.extraction,
            Extraction::Fallback(ExtractionFailure::Hostile)
        );
        assert!(article.text.contains("sweeps its bill"), "{:.40}", page);
    }
}

#[test]
fn the_deepest_accepted_page_fits_the_stack() {
    // Leaves room for the elements of the story itself.
    for open in [
        "<div>",
        "<ul><li>",
        "<blockquote>",
        "<b>",
        "<font>",
        "<table><tr><td>",
        "<pre>",
        "<dl><dd>",
    ] {
        let formatting = open == "<b>" || open == "<font>";
        let levels = (MAX_DEPTH - 20) / open.matches('<').count() / if formatting { 2 } else { 1 };
        let page = format!("{}{}", open.repeat(levels), story());
        assert!(fits_tree_limits(&page), "{open}");
        let article = read_article(&page);
        assert!(article.markdown.contains("sweeps its bill"), "{open}");
    }
}

#[test]
fn careless_markup_is_within_the_tree_limits() {
    let lists = format!(
        "{}<p>a<p>b{}",
        "<ul>".to_owned() + &"<li>x".repeat(5_000) + "</ul>",
        "<tr><td>y".repeat(5_000)
    );
    assert!(fits_tree_limits(&lists));
    let picture = format!("<img src='data:{}'>", "x".repeat(100_000));
    assert!(fits_tree_limits(&picture));
}

#[test]
fn output_is_bounded_where_it_could_multiply() {
    let long = PageUrl::parse(&format!("http://a.example/{}/", "x".repeat(1900))).unwrap();
    let pages = [
        "<a href=x>y</a>".repeat(20_000),
        format!(
            "<table>{}{}</table>",
            "<tr>".to_owned() + &"<td rowspan=9999>x".repeat(5_000),
            "<tr><td>y".repeat(5_000)
        ),
        format!(
            "<table>{}</table>",
            "<tr><td colspan=9999>x<td>y".repeat(5_000)
        ),
        format!("{}{}", "<ul><li>".repeat(100), "x<br>".repeat(20_000)),
        format!("{}{}", "<blockquote>".repeat(200), "x<br>".repeat(20_000)),
    ];
    let wide = [
        "<header><h2>x</h2></header>",
        "<div class=nav><h1>x</h1></div>",
        "<pre class=x>y</pre>",
        "<div class=toc><a href=#x>y</a></div>",
        "<h1><a href=/>x</a></h1>",
        "<article>x</article>",
        "<b><i>x</i></b>",
    ];
    // Code that examines the whole page for each element would not end in reasonable time.
    let wide = wide.map(|piece| piece.repeat(300_000 / piece.len()));
    for page in pages.into_iter().chain(wide) {
        let article = article(&page, &long);
        let bound = 20 * page.len() + (64 << 10);
        assert!(
            article.markdown.len() < bound,
            "{:.40}: {}",
            page,
            article.markdown.len()
        );
    }
}

/// Removes the list and quotation prefixes of a line.
fn unmarked(line: &str) -> &str {
    let mut rest = line;
    loop {
        let bare = rest.trim_start_matches([' ', '>']);
        let number = bare.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let number = number
            .strip_prefix(". ")
            .filter(|_| number.len() < bare.len());
        match bare.strip_prefix("- ").or(number) {
            Some(inner) => rest = inner,
            None => return bare,
        }
    }
}

/// Returns whether every opened fence is closed.
fn fences_balance(markdown: &str) -> bool {
    let mut open: Option<usize> = None;
    for line in markdown.lines() {
        let bare = unmarked(line);
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        match open {
            Some(length) if ticks >= length && bare.trim_end().len() == ticks => open = None,
            None if ticks >= 3 && !bare[ticks..].contains('`') => open = Some(ticks),
            _ => {}
        }
    }
    open.is_none()
}

fn tags() -> impl Strategy<Value = String> {
    let pieces = "<p>,</p>,<div>,</div>,<ul>,</ul>,<ol>,<li>,<pre>,</pre>,<code>,</code>,<table>,\
        </table>,<tr>,<td>,<th>,<td rowspan=3>,<td colspan=2>,<b>,</b>,<i>,</i>,<a href=/x>,\
        </a>,<h1>,</h1>,<h2 id=x>,</h2>,<blockquote>,</blockquote>,<main>,</main>,<nav>,\
        </nav>,<br>,<img alt=x src=y>,<dl>,<dt>,<dd>,<span class=nav>,<article>,text, ,\n,\
        ```,`,~~~,*,_,# x,- y,1. z,|,[a](b),&lt;b&gt;,é,漢字,\\,<script>,</script>,<!--,-->,\
        <svg>,<math>,<template>,<form>,<select>,<frameset>,<body class=x>";
    let pieces = prop::sample::select(pieces.split(',').collect::<Vec<_>>());
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_markup_panics_or_multiplies(html in tags()) {
        let article = read_article(&html);
        let bound = 40 * html.len() + 256;
        prop_assert!(article.markdown.len() <= bound, "{} of {}", article.markdown.len(), html.len());
        prop_assert!(article.text.len() <= html.len() + 256);
        prop_assert!(fences_balance(&article.markdown), "{}", article.markdown);
        for limit in [1, 50, 1000] {
            let chunks = chunks(&article.markdown, &article.headings, limit);
            for chunk in &chunks {
                prop_assert!(fences_balance(chunk.markdown), "{}", chunk.markdown);
            }
            // Only headings without text are lost.
            let kept: usize = chunks.iter().map(|chunk| chunk.markdown.split_whitespace().count()).sum();
            let head = |heading: &Heading| article.markdown[heading.start..].lines().next().unwrap_or("");
            let heads = article.headings.iter().map(head);
            let heads: usize = heads.map(|line| line.split_whitespace().count()).sum();
            prop_assert!(kept + heads >= article.markdown.split_whitespace().count());
        }
        whole(&html, &url(), ExtractionFailure::Repeated);
    }

    #[test]
    fn code_keeps_all_characters_except_white_space(code in "[ -~\n]{1,200}", around in tags()) {
        let escaped = code.replace('&', "&amp;").replace('<', "&lt;");
        let html = format!("<main><p>x</p><pre>\n{escaped}</pre><p>y</p></main>{}", around.replace(['<', '>'], ""));
        let article = read_article(&html);
        let bare = |text: &str| -> String { text.split_whitespace().collect() };
        prop_assert!(bare(&article.markdown).contains(&bare(&code)), "{}", article.markdown);
    }
}
