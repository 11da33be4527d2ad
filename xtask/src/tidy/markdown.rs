//! Reads Markdown files line by line: the prose outside of code, and the anchors of headings.

/// Returns the lines outside of fenced code blocks, each with its number from one.
pub fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((number, line));
        }
    }
    lines
}

/// Returns the fragments that a link may name: of headings, as GitHub writes them, and of HTML ids.
///
/// The fragment of a heading is its text in lower case, without punctuation, with hyphens for
/// spaces. The second heading of the same text gets `-1`, the third `-2`.
pub fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in lines(text) {
        if let Some(heading) = heading(line) {
            let name = slug(heading);
            let numbered = (1..).map(|number| format!("{name}-{number}"));
            let mut names = std::iter::once(name.clone()).chain(numbered);
            anchors.extend(names.find(|name| !anchors.contains(name)));
        }
        for attribute in ["id=\"", "name=\""] {
            for (at, _) in line.match_indices(attribute) {
                let value = line[at + attribute.len()..].split('"').next();
                anchors.extend(value.map(str::to_owned));
            }
        }
    }
    anchors
}

/// Returns the text of a heading line such as `## Text`.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// Returns the fragment that GitHub gives a heading.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_alphanumeric() => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns a line without its code spans.
pub fn without_code(line: &str) -> String {
    // Every second part between backticks is code. An unpaired backtick opens no span.
    let parts: Vec<&str> = line.split('`').collect();
    let is_prose = |at: usize| at.is_multiple_of(2) || at + 1 == parts.len();
    let prose = parts.iter().enumerate().filter(|(at, _)| is_prose(*at));
    prose.map(|(_, part)| *part).collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_lines_are_left_out() {
        assert_eq!(lines("a\n```\nb\n```\nc"), [(1, "a"), (5, "c")]);
    }

    #[test]
    fn headings_become_anchors() {
        for (text, expected) in [
            ("# One two\n", &["one-two"][..]),
            ("## Why `run`, and how?\n", &["why-run-and-how"]),
            ("### A\n## a\n# A\n", &["a", "a-1", "a-2"]),
            (
                "# ΔQ: half-life, snake_case\n",
                &["δq-half-life-snake_case"],
            ),
            ("#no\n####### no\n```\n# no\n```\n", &[]),
            ("<a id=\"x\"></a> <a name=\"y\">\n", &["x", "y"]),
        ] {
            assert_eq!(anchors(text), expected, "{text}");
        }
    }

    #[test]
    fn code_spans_are_cut_out() {
        for (line, expected) in [("a `b` c `d`", "a ` c `"), ("a ` b", "a ` b"), ("a", "a")] {
            assert_eq!(without_code(line), expected);
        }
    }
}
