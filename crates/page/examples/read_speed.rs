//! Measures the CPU time of decoding, parsing, text digests and language detection.
//!
//! `cargo run --release -p page --example read_speed -- DIR` loads up to 4,000 of the `.html` files
//! under a directory, evenly chosen. It runs each measurement 15 times over all of them and prints
//! the fastest run.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use page::{PageUrl, ReadLimits, Refusal};

/// Maximum number of pages. This bounds the memory, because all pages are loaded before measuring.
const PAGES: usize = 4_000;
const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: read_speed DIR")?;
    let root = Path::new(&directory);
    let mut files = Vec::new();
    find(root, &mut files)?;
    let step = files.len().div_ceil(PAGES).max(1);
    let pages = files
        .iter()
        .step_by(step)
        .map(|file| load(root, file))
        .collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = pages.iter().map(|(_, body)| body.len()).sum();
    if pages.is_empty() {
        return Err(format!("no .html file under {directory}").into());
    }
    println!(
        "{} pages, {:.1} KB each",
        pages.len(),
        bytes as f64 / pages.len() as f64 / 1e3
    );

    let limits = ReadLimits::default();
    let report = |name: &str, work: &dyn Fn() -> usize| {
        let round = || {
            let start = cpu_seconds();
            let sum = work();
            (cpu_seconds() - start, sum)
        };
        let (seconds, sum) = (0..ROUNDS)
            .map(|_| round())
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or_default();
        println!(
            "{name:<28} {:>7.1} MB/s  {:.4} ms/page  {:.4} ms per 27 KB  ({:.1} a page)",
            bytes as f64 / seconds / 1e6,
            seconds * 1e3 / pages.len() as f64,
            seconds * 1e3 * 27_000.0 / bytes as f64,
            sum as f64 / pages.len() as f64,
        );
    };
    report("decode", &|| {
        pages.iter().map(|(_, body)| decode(body).len()).sum()
    });
    let links =
        |(url, body): &(PageUrl, Vec<u8>)| page::read(&decode(body), url, &limits).links.len();
    report("decode and read", &|| pages.iter().map(links).sum());
    let texts: Vec<String> = pages
        .iter()
        .map(|(url, body)| page::read(&String::from_utf8_lossy(body), url, &limits).text)
        .collect();
    let digest = |text: &String| page::TextDigest::of(text).shingles.values().len();
    report("digest of the text alone", &|| {
        texts.iter().map(digest).sum()
    });
    let language = |text: &String| usize::from(page::language::detect(text, None).is_some());
    report("language of the text", &|| texts.iter().map(language).sum());
    Ok(())
}

/// Returns the CPU time of this thread in seconds, from `/proc` (Linux only).
fn cpu_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times
        .split(' ')
        .next()
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .unwrap_or(f64::NAN)
        / 1e9
}

fn decode(body: &[u8]) -> Cow<'_, str> {
    page::charset::decode(body, Some("text/html; charset=utf-8")).0
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            find(&entry.path(), files)?;
        } else if entry.file_type()?.is_file()
            && entry.path().extension().is_some_and(|end| end == "html")
        {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn load(root: &Path, file: &Path) -> Result<(PageUrl, Vec<u8>), Box<dyn std::error::Error>> {
    let path = file.strip_prefix(root)?.to_string_lossy().into_owned();
    let url: Result<PageUrl, Refusal> = PageUrl::parse(&format!("http://127.0.0.1:8080/{path}"));
    Ok((url?, std::fs::read(file)?))
}
