//! An nginx that serves a directory on loopback and logs its answers.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// The programs that the benchmark needs, which are also the names of their Debian packages.
const NEEDED: [&str; 2] = ["wget2", "nginx"];

/// Installs the programs that are missing, where apt-get may.
pub fn install() -> Result<()> {
    let missing = |name: &&str| !is_installed(name);
    if !NEEDED.iter().any(missing) {
        return Ok(());
    }
    eprintln!("installing wget2 and nginx");
    let status = Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(NEEDED)
        .stdout(Stdio::null())
        .status();
    ensure!(
        status.is_ok_and(|status| status.success()) && !NEEDED.iter().any(missing),
        "wget2 and nginx are needed: apt-get install wget2 nginx"
    );
    Ok(())
}

fn is_installed(program: &str) -> bool {
    let asked = Command::new(program)
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok()
}

/// A running nginx, which ends when this is dropped.
pub struct Nginx {
    process: Child,
    url: String,
    log: PathBuf,
}

impl Nginx {
    /// Starts nginx on a free port of 127.0.0.1. Its files are in `place`.
    pub fn start(site: &Path, place: &Path) -> Result<Self> {
        let site = fs::canonicalize(site)
            .with_context(|| format!("cannot find the directory {}", site.display()))?;
        ensure!(
            site.join("index.html").exists(),
            "{} has no index.html",
            site.display()
        );
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = place.join("nginx.log");
        let config = place.join("nginx.conf");
        let text = configuration(&site, place, port);
        fs::write(&config, text).with_context(|| format!("cannot write {}", config.display()))?;
        let process = Command::new("nginx")
            .arg("-c")
            .arg(&config)
            .arg("-e")
            .arg(place.join("nginx-errors.log"))
            .spawn()
            .context("cannot start nginx")?;
        let mut nginx = Self {
            process,
            url: format!("http://127.0.0.1:{port}/index.html"),
            log,
        };
        nginx.wait_until_it_listens(port)?;
        Ok(nginx)
    }

    /// Returns the URL of the first page.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the number of pages that were served so far: answers with status 200.
    pub fn pages(&self) -> Result<u64> {
        let log = fs::read_to_string(&self.log)
            .with_context(|| format!("cannot read {}", self.log.display()))?;
        Ok(log.lines().filter(|status| *status == "200").count() as u64)
    }

    fn wait_until_it_listens(&mut self, port: u16) -> Result<()> {
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.process.try_wait()? {
                bail!("nginx ended with {status}");
            }
            thread::sleep(Duration::from_millis(10));
        }
        bail!("nginx does not listen on port {port}")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a configuration with one process. The log has the status of each answer.
fn configuration(site: &Path, place: &Path, port: u16) -> String {
    let (site, place) = (site.display(), place.display());
    format!(
        "daemon off;
master_process off;
pid {place}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
    log_format status $status;
    access_log {place}/nginx.log status;
    types {{ text/html html htm; text/css css; text/plain txt; }}
    keepalive_requests 1000000;
    sendfile on;
    server {{ listen 127.0.0.1:{port}; root {site}; }}
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_serves_the_site_on_loopback_only() {
        let text = configuration(Path::new("/srv/docs"), Path::new("/tmp/place"), 8123);
        assert!(
            text.contains("listen 127.0.0.1:8123; root /srv/docs;"),
            "{text}"
        );
        assert!(text.contains("access_log /tmp/place/nginx.log"), "{text}");
    }
}
