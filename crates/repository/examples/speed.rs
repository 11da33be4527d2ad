//! Measures what it costs to store a page: prints the time to seal, append, index, read and move
//! the HTML files of a directory.
//!
//! Run it with `cargo run --release -p repository --example speed DIR`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use page::PageUrl;
use repository::archive::{
    ArchiveOptions, ArchiveWriter, Capture, Info, Level, MAX_BYTES, read, scan, seal,
};
use repository::index::{Document, HEAP, Index};

/// Pages per commit of the index.
const GROUP: usize = 2000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: speed DIR")?;
    let mut pages = Vec::new();
    gather(Path::new(&dir), &mut pages)?;
    let store = std::env::temp_dir().join(format!("avocet-speed-{}", std::process::id()));
    let options = ArchiveOptions {
        max_bytes: MAX_BYTES,
        info: Info::default(),
        at_risk: 0,
    };
    let mut archive = ArchiveWriter::open(&store.join("archive"), options, None)?;
    let mut writer = Index::open(&store.join("index"))?.writer(HEAP)?;
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let [mut sealing, mut appending, mut indexing] = [Duration::ZERO; 3];
    let (mut bytes, mut kept) = (0, 0);
    let mut locations = Vec::new();
    for (n, (url, body)) in pages.iter().enumerate() {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let start = Instant::now();
        let capture = Capture::new(
            url,
            Timestamp::UNIX_EPOCH,
            address,
            head.as_bytes(),
            body,
            None,
        );
        let sealed = seal::response(&capture, Level::default());
        let sealed_at = Instant::now();
        locations.push(archive.append(&sealed)?);
        let appended_at = Instant::now();
        let text = without_tags(&String::from_utf8_lossy(body));
        let text_at = Instant::now();
        writer.put(&Document {
            title: url.path_and_query(),
            text: &text,
            ..Document::new(url.id(), url.as_str(), url.host_name())
        })?;
        if (n + 1) % GROUP == 0 || n + 1 == pages.len() {
            writer.commit(n as u64)?;
        }
        indexing += text_at.elapsed();
        sealing += sealed_at - start;
        appending += appended_at - sealed_at;
        bytes += body.len();
        kept += sealed.size();
    }
    archive.sync()?;
    let each = |time: Duration| time.as_secs_f64() * 1000.0 / pages.len() as f64;
    println!(
        "{} pages, {:.1} KB each, {:.1} KB sealed",
        pages.len(),
        bytes as f64 / 1e3 / pages.len() as f64,
        kept as f64 / 1e3 / pages.len() as f64
    );
    println!(
        "seal {:.4} ms, append {:.4} ms, index {:.4} ms a page",
        each(sealing),
        each(appending),
        each(indexing)
    );
    let start = Instant::now();
    for location in &locations {
        read(&store.join("archive"), location)?;
    }
    println!("read {:.4} ms a page", each(start.elapsed()));
    let start = Instant::now();
    let found = scan(&store.join("archive"))?.filter(Result::is_ok).count();
    println!(
        "scan {:.4} ms a page, {found} records",
        each(start.elapsed())
    );
    let half: Vec<_> = locations.iter().copied().step_by(2).collect();
    let start = Instant::now();
    let moved = archive.keep(archive.end().file, &half)?;
    archive.discard(moved)?;
    let time = start.elapsed().as_secs_f64() * 1000.0;
    println!(
        "keep {:.4} ms a page, of {}",
        time / half.len() as f64,
        half.len()
    );
    let start = Instant::now();
    archive.close()?;
    println!("close {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    std::fs::remove_dir_all(&store)?;
    Ok(())
}

fn gather(
    dir: &Path,
    pages: &mut Vec<(PageUrl, Vec<u8>)>,
) -> Result<(), Box<dyn std::error::Error>> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            gather(&path, pages)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "html")
            && path.is_file()
        {
            let url = PageUrl::parse(&format!("http://docs.example{}", path.display()))?;
            pages.push((url, std::fs::read(&path)?));
        }
    }
    Ok(())
}

/// Returns roughly the text of a page. The measured times do not include this step.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 2);
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
        text.push(' ');
    }
    text
}
