//! Who serves the directories, without being counted?
//!
//! A process of its own: it prints the start page of each site, one a line, and serves until its
//! standard input ends, so it never outlives the benchmark that started it.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, ensure};
use testweb::site::directory::Directory;
use tokio::runtime;

/// The process that serves; it ends when dropped.
pub struct Server {
    process: Child,
    /// Closed first: that is what ends the process.
    input: Option<ChildStdin>,
    /// The start pages, in the order of the directories.
    pub urls: Vec<String>,
}

impl Server {
    /// Starts it and waits until every site can be asked.
    pub fn start(directories: &[PathBuf]) -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg("serve")
            .args(directories)
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        // It is ending; how is of no interest any more.
        let _ = self.process.wait();
    }
}

/// Serves.
pub fn run(directories: &[PathBuf]) -> Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut servers = Vec::new();
    for (number, directory) in (1..).zip(directories) {
        let start = start_page(directory)?;
        let served = Directory::read(directory)?;
        // 127.0.0.1 is left to others; 127.0.x.y has room for as many sites as anyone has.
        let address = Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + number);
        let server = runtime.block_on(served.serve(address, None))?;
        println!("{}", server.url(&start));
        servers.push(server);
    }
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The path of the start page: that of the `index.html` nearest to the root.
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
    anyhow::bail!("{} has no index.html to begin with", directory.display())
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
