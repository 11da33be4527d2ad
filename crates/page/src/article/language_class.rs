//! Finds the programming language of a code block from its markup.

use dom_query::NodeRef;

use super::tree::name;

/// Names that highlighters use as a class without a prefix: `<pre class="cpp">`, `sourceCode
/// haskell`.
const BARE: &str = " ada applescript asm awk bash bat batch c clojure cmake cobol coffeescript console cpp cs csharp css \
    cuda cython d dart delphi diff docker dockerfile elisp elixir erlang fish fortran fsharp gas glsl go golang graphql \
    groovy haskell haxe hcl html http ini java javascript js json jsx julia kotlin latex lean less lisp llvm lua make \
    makefile markdown matlab mermaid nasm nginx nim nix objc objectivec ocaml octave pascal perl php powershell prolog \
    protobuf python py python3 qml r rst ruby rust sass scala scheme scss sh shell shell-session smalltalk sql svelte \
    swift tcl terraform tex toml ts tsx typescript vb vbnet verilog vhdl vim vue wasm xml yaml yml zig zsh ";

/// Prefixes of language classes: `language-c`, `highlight-source-js`.
const PREFIXES: [&str; 6] = [
    "language-",
    "lang-",
    "highlight-source-",
    "highlight-",
    "brush-",
    "src-",
];

/// Names that mean "no known language".
const NONE: &str = " default none text plain plaintext nohighlight txt notranslate ";

/// Returns the language of a preformatted element, as stated on the element itself, on its
/// `code` child, or on its parent or grandparent. A parent or grandparent counts only if it has at
/// most two child elements.
pub(super) fn language(pre: &NodeRef<'_>) -> Option<String> {
    let inner = pre.first_element_child();
    let inner = inner.filter(|child| name(child).is_some_and(|name| &*name == "code"));
    stated(pre)
        .or_else(|| inner.as_ref().and_then(stated))
        .or_else(|| {
            let around = pre.ancestors_it(Some(2));
            // The class of a container with many children does not describe this block alone.
            // To bound the work, only the first nine child nodes (elements and text) are counted.
            let few = |node: &NodeRef<'_>| {
                let nodes = node.children_it(false).take(9);
                nodes.filter(NodeRef::is_element).count() <= 2
            };
            around.filter(few).find_map(|node| stated(&node))
        })
}

fn stated(node: &NodeRef<'_>) -> Option<String> {
    let attributes = ["data-lang", "data-language"];
    if let Some(word) = attributes.iter().find_map(|name| node.attr(name)) {
        return accepted(&word.to_lowercase());
    }
    let class = node.class()?.to_lowercase().replace("brush:", "brush-");
    let class = class.replace("brush- ", "brush-");
    let words = || class.split([' ', '\t', '\n', ';', ','].as_slice());
    let prefixed = words().find_map(|word| {
        let rest = PREFIXES
            .iter()
            .find_map(|prefix| word.strip_prefix(prefix))?;
        accepted(rest)
    });
    prefixed.or_else(|| {
        let bare = words().find(|word| !word.is_empty() && lists(BARE, word))?;
        Some(bare.to_owned())
    })
}

/// Returns whether a list has a word. In the list, each word is between spaces.
fn lists(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Returns a word if it names a language and is valid after a Markdown fence.
fn accepted(word: &str) -> Option<String> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "+#-_.".contains(letter);
    let known = !word.is_empty() && word.len() <= 24 && word.chars().all(fits);
    (known && !lists(NONE, word)).then(|| word.to_owned())
}
