//! The server process of `bench crawl`, whose cost is not counted.
//!
//! It prints the start page of each site, one per line, and serves until its standard input ends.
//! So it never outlives the benchmark that started it.

use std::io::{self, BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use anyhow::{Context, Result, ensure};
use testweb::site::directory::Directory;
use tokio::runtime;

use crate::child;

/// The server process. Dropping this value ends it.
pub struct SiteServer {
    process: Child,
    /// Closed first, which ends the process.
    input: Option<ChildStdin>,
    /// The start pages, in the order of the directories.
    pub urls: Vec<String>,
}

impl SiteServer {
    /// Starts the process and waits until it serves every site.
    pub fn start(directories: &[PathBuf]) -> Result<Self> {
        let mut process = child::part("serve", &directories)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let input = process.stdin.take();
        let output = process.stdout.take().context("the server has no output")?;
        let lines = BufReader::new(output).lines().take(directories.len());
        let mut server = Self {
            process,
            input,
            urls: Vec::new(),
        };
        server.urls = lines.collect::<io::Result<_>>()?;
        ensure!(
            server.urls.len() == directories.len(),
            "the server ended before it served"
        );
        Ok(server)
    }
}

impl Drop for SiteServer {
    fn drop(&mut self) {
        drop(self.input.take());
        // The process is ending; its status does not matter.
        let _ = self.process.wait();
    }
}

/// Serves directories until standard input ends.
pub fn run(directories: &[PathBuf]) -> Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut servers = Vec::new();
    for (number, directory) in (1..).zip(directories) {
        let start = start_page(directory)?;
        let served = Directory::read(directory)?;
        // The first site gets 127.0.0.2: other programs may use 127.0.0.1.
        let address = Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + number);
        let server = runtime.block_on(served.serve(address, None))?;
        println!("{}", server.url(&start));
        servers.push(server);
    }
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Returns the path of the start page: the `index.html` nearest to the root.
fn start_page(directory: &Path) -> Result<String> {
    let mut level = vec![(directory.to_owned(), String::from("/"))];
    while !level.is_empty() {
        level.sort();
        if let Some((_, path)) = level
            .iter()
            .find(|(folder, _)| folder.join("index.html").is_file())
        {
            return Ok(path.clone());
        }
        let mut below = Vec::new();
        for (folder, path) in level {
            for entry in folder
                .read_dir()
                .with_context(|| format!("cannot read {}", folder.display()))?
            {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    below.push((
                        entry.path(),
                        format!("{path}{}/", entry.file_name().to_string_lossy()),
                    ));
                }
            }
        }
        level = below;
    }
    anyhow::bail!("{} has no index.html to start from", directory.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_site_starts_at_the_index_nearest_to_its_root() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        assert!(start_page(root).is_err());
        for (folder, start) in [("b/c", "/b/c/"), ("b/a", "/b/a/"), ("z", "/z/"), ("", "/")] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join("index.html"), "").unwrap();
            assert_eq!(start_page(root).unwrap(), start);
        }
    }
}
