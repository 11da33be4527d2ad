//! `bench extraction`: compares extracted main text with labels.
//!
//! The method is that of Zyte's article-extraction-benchmark. For each site, a label made by hand
//! names the element that holds the main text, and the parts inside that are not main text.
//! Precision and recall count shingles of four words and are averaged over pages. F1 is computed
//! from the two averages.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use dom_query::{Document, NodeRef};
use page::PageUrl;
use page::article::{Extraction, article};

/// Words per shingle.
const SHINGLE: usize = 4;

/// The label of a site: where the main text of its pages is.
struct Label {
    held_out: bool,
    /// Selectors of the element that holds the main text, separated by ` else `.
    main: String,
    /// A selector of parts inside that element that are not main text.
    dropped: String,
}

/// The scores of one page.
struct Score {
    site: String,
    page: String,
    precision: Option<f64>,
    recall: Option<f64>,
    /// Preformatted blocks in the labelled text, and how many of them the Markdown holds in full.
    code: (usize, usize),
    extraction: Extraction,
}

/// Options of `bench extraction`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench extraction --site zsh=/usr/share/doc/zsh-common/html --site postfix=/usr/share/doc/postfix/html

docs/science/extraction.md explains the labels, and how to get the sites.")]
pub struct ExtractionOptions {
    /// File of labels
    #[arg(
        long,
        value_name = "FILE",
        default_value = "docs/science/extraction/labels.tsv"
    )]
    pub labels: PathBuf,
    /// Directory of the HTML files of the labelled site NAME (repeatable)
    #[arg(long, value_name = "NAME=DIR", required = true)]
    pub site: Vec<String>,
    /// Print every page, and for scores below 0.9 the missing and the extra lines
    #[arg(long)]
    pub verbose: bool,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &ExtractionOptions) -> Result<()> {
    let roots: HashMap<&str, PathBuf> = options
        .site
        .iter()
        .map(|site| {
            site.split_once('=')
                .map(|(name, root)| (name, PathBuf::from(root)))
        })
        .collect::<Option<_>>()
        .context("a site is written like --site cmake=/usr/share/doc/cmake-data/html")?;
    let text = fs::read_to_string(&options.labels)
        .with_context(|| format!("cannot read {}", options.labels.display()))?;
    let (labels, pages) = parse(&text)?;
    let mut scores = Vec::new();
    let mut passed_over = 0;
    for (site, path) in pages {
        let label = labels
            .get(site)
            .with_context(|| format!("the site {site} has no label"))?;
        let Some(root) = roots.get(site) else {
            passed_over += 1;
            continue;
        };
        let file = root.join(path);
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let (html, _) = page::charset::decode(&bytes, None);
        scores.push(score(site, path, &html, label, options.verbose)?);
    }
    if passed_over > 0 {
        eprintln!("{passed_over} labelled pages were skipped: no --site names their sites");
    }
    report(&scores, &labels, options.verbose);
    Ok(())
}

/// The labels of sites, and the pages as site and path.
type Labelled<'a> = (BTreeMap<&'a str, Label>, Vec<(&'a str, &'a str)>);

/// Parses rules and pages: lines of fields separated by tabs.
fn parse(text: &str) -> Result<Labelled<'_>> {
    let mut labels = BTreeMap::new();
    let mut pages = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["rule", site, half, main, dropped] => {
                let label = Label {
                    held_out: half == "held-out",
                    main: main.to_owned(),
                    dropped: dropped.to_owned(),
                };
                labels.insert(site, label);
            }
            ["page", site, path] => pages.push((site, path)),
            _ => bail!("not a label: {line}"),
        }
    }
    Ok((labels, pages))
}

fn score(site: &str, path: &str, html: &str, label: &Label, verbose: bool) -> Result<Score> {
    let document = Document::from(html);
    for node in document.select("script, style, noscript, template").nodes() {
        node.remove_from_parent();
    }
    let mut alternatives = label.main.split(" else ");
    let main = alternatives.find_map(|main| document.select_single(main).nodes().first().copied());
    let main = main.with_context(|| format!("{site}/{path}: no element is {}", label.main))?;
    if !label.dropped.is_empty() {
        for node in document.select(&label.dropped).nodes() {
            node.remove_from_parent();
        }
    }
    let mut expected = String::new();
    push_text(&main, &mut expected);
    let url = PageUrl::parse(&format!("http://{site}.test/{path}"))?;
    let found = article(html, &url);
    let (precision, recall) = compare(&expected, &found.text);
    if verbose && precision.is_none_or(|it| it < 0.9) | recall.is_none_or(|it| it < 0.9) {
        explain(site, path, &expected, &found.text);
    }
    let markdown: String = found.markdown.split_whitespace().collect();
    // Inside quotations, Markdown puts `>` before lines of code.
    let markdown = markdown.replace('>', "");
    let blocks = document.select("pre");
    let inside = |node: &&NodeRef<'_>| {
        node.id == main.id || node.ancestors_it(None).any(|around| around.id == main.id)
    };
    let mut code = (0, 0);
    for block in blocks.nodes().iter().filter(inside) {
        let text: String = block.text().split_whitespace().collect();
        if !text.is_empty() {
            code.0 += 1;
            let kept = markdown.contains(&text.replace('>', ""));
            code.1 += usize::from(kept);
            if verbose && !kept {
                println!("{site}/{path}: code is missing: {}", block.text());
            }
        }
    }
    Ok(Score {
        site: site.to_owned(),
        page: path.to_owned(),
        precision,
        recall,
        code,
        extraction: found.extraction,
    })
}

/// Appends the text of a node, with line breaks around every element that is not inline.
fn push_text(node: &NodeRef<'_>, out: &mut String) {
    const INLINE: [&str; 20] = [
        "a", "abbr", "b", "big", "cite", "code", "em", "font", "i", "kbd", "q", "s", "samp",
        "small", "span", "strong", "sub", "sup", "tt", "var",
    ];
    for child in node.children() {
        if child.is_text() {
            out.push_str(&child.text());
        } else if let Some(name) = child.node_name() {
            let apart = !INLINE.contains(&&*name);
            if apart {
                out.push('\n');
            }
            push_text(&child, out);
            if apart {
                out.push('\n');
            }
        }
    }
}

/// Returns the words of a text: runs of letters, digits and underscores.
fn words(text: &str) -> Vec<&str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.filter(|word| !word.is_empty()).collect()
}

fn shingles<'a>(words: &[&'a str]) -> HashMap<Vec<&'a str>, usize> {
    let mut counts = HashMap::new();
    let last = words.len().saturating_sub(SHINGLE - 1).max(1);
    for start in 0..last {
        let shingle = words[start..words.len().min(start + SHINGLE)].to_vec();
        if !shingle.is_empty() {
            *counts.entry(shingle).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns precision and recall of a page.
///
/// Precision is `None` if no text was extracted, recall if none is expected.
fn compare(expected: &str, found: &str) -> (Option<f64>, Option<f64>) {
    let (expected, found) = (words(expected), words(found));
    let (expected, found) = (shingles(&expected), shingles(&found));
    let total = |counts: &HashMap<_, usize>| counts.values().sum::<usize>() as f64;
    let shared = expected
        .iter()
        .map(|(shingle, &count)| count.min(found.get(shingle).copied().unwrap_or(0)));
    let shared = shared.sum::<usize>() as f64;
    let share = |of: f64| (of > 0.0).then(|| shared / of);
    (share(total(&found)), share(total(&expected)))
}

/// Prints lines that only one of the two texts has.
fn explain(site: &str, path: &str, expected: &str, found: &str) {
    let lines = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.filter(|line| !line.is_empty()).collect()
    };
    let whole = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    println!("{site}/{path}");
    for (sign, these, others) in [('-', expected, found), ('+', found, expected)] {
        let others = whole(others);
        let apart = lines(these);
        for line in apart
            .iter()
            .filter(|line| !others.contains(line.as_str()))
            .take(8)
        {
            println!("  {sign} {}", line.chars().take(120).collect::<String>());
        }
    }
}

fn report(scores: &[Score], labels: &BTreeMap<&str, Label>, verbose: bool) {
    println!(
        "| site | half | pages | precision | recall | F1 | pages with code | code kept | fallback |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (site, label) in labels {
        let of: Vec<&Score> = scores.iter().filter(|score| score.site == *site).collect();
        line(
            site,
            if label.held_out { "held out" } else { "tuning" },
            &of,
        );
    }
    let half = |held_out: bool| -> Vec<&Score> {
        let of = |score: &&Score| labels[score.site.as_str()].held_out == held_out;
        scores.iter().filter(of).collect()
    };
    line("**all**", "tuning", &half(false));
    line("**all**", "held out", &half(true));
    line("**all**", "both", &scores.iter().collect::<Vec<_>>());
    if verbose {
        for score in scores {
            println!(
                "{}/{}\t{:.3}\t{:.3}\t{}",
                score.site,
                score.page,
                score.precision.unwrap_or(f64::NAN),
                score.recall.unwrap_or(f64::NAN),
                score.extraction.name()
            );
        }
    }
}

fn line(site: &str, half: &str, scores: &[&Score]) {
    if scores.is_empty() {
        return;
    }
    let mean = |of: fn(&Score) -> Option<f64>| {
        let known: Vec<f64> = scores.iter().filter_map(|score| of(score)).collect();
        known.iter().sum::<f64>() / known.len() as f64
    };
    let (precision, recall) = (mean(|score| score.precision), mean(|score| score.recall));
    let coded = scores.iter().filter(|score| score.code.0 > 0);
    let kept = coded.clone().filter(|score| score.code.0 == score.code.1);
    let fallback = scores
        .iter()
        .filter(|score| score.extraction.reason().is_some());
    println!(
        "| {site} | {half} | {} | {precision:.3} | {recall:.3} | {:.3} | {} | {} | {} |",
        scores.len(),
        2.0 * precision * recall / (precision + recall),
        coded.count(),
        kept.count(),
        fallback.count(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_recall_count_shingles() {
        assert_eq!(compare("a b c d e", "a b c d e"), (Some(1.0), Some(1.0)));
        // Two shingles are expected, one of them and one other are found.
        assert_eq!(compare("a b c d e", "b c d e f"), (Some(0.5), Some(0.5)));
        assert_eq!(compare("a b", "a b"), (Some(1.0), Some(1.0)));
        assert_eq!(compare("a b c d e", ""), (None, Some(0.0)));
    }

    #[test]
    fn lines_are_parsed_as_rules_or_pages_and_others_are_refused() {
        let (labels, pages) =
            parse("# x\nrule\ta\theld-out\tmain\tnav\npage\ta\tb/c.html\n").unwrap();
        assert!(labels["a"].held_out && labels["a"].main == "main");
        assert_eq!(pages, [("a", "b/c.html")]);
        assert!(parse("page\tx").is_err());
    }
}
