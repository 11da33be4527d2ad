//! A few fixed pages, crawled and served by `avocet serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// HTML pages by path. `SITE` in them stands for the address of the site.
pub type Pages = &'static [(&'static str, &'static str)];

/// A store of the pages, served until dropped.
pub struct ServedPages {
    process: Child,
    directory: tempfile::TempDir,
    /// Address of the search page, without a slash at the end.
    pub address: String,
    /// Address of the pages, without a slash at the end.
    pub site: String,
    asked: Requests,
}

/// The paths that were requested from a site.
pub type Requests = Arc<Mutex<Vec<String>>>;

impl ServedPages {
    pub fn start(pages: Pages) -> Self {
        let (address, asked) = publish(pages);
        let site = format!("http://{address}");
        let directory = tempfile::tempdir().unwrap();
        let avocet = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
            command.args(arguments);
            command.arg("--store").arg(directory.path().join("store"));
            command.stderr(Stdio::null());
            command
        };
        let crawl = ["crawl", "--allow-private", "--json", &format!("{site}/")];
        assert!(avocet(&crawl).output().unwrap().status.success());
        asked.lock().unwrap().clear();
        let mut process = avocet(&["serve", "--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let address = said["listening"].as_str().unwrap().trim_end_matches('/');
        Self {
            process,
            directory,
            address: address.to_owned(),
            site,
            asked,
        }
    }

    /// Returns the paths requested from the site since the crawl.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the lines of a log: `queries` or `clicks`.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let directory: PathBuf = self.directory.path().join("store/log");
        let files = std::fs::read_dir(directory).into_iter().flatten();
        let paths = files.map(|file| file.unwrap().path());
        let ours = paths.filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(kind)
        });
        let text: String = ours
            .map(|path| std::fs::read_to_string(path).unwrap())
            .collect();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

impl Drop for ServedPages {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves pages on loopback until the test ends. Returns the address and the requested paths.
pub fn publish(pages: Pages) -> (SocketAddr, Requests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Requests::default();
    let all = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let asked = all.clone();
            let answered = move || stream.map(|stream| answer(stream, address, pages, &asked));
            std::thread::spawn(answered);
        }
    });
    (address, asked)
}

fn answer(mut stream: TcpStream, address: SocketAddr, pages: Pages, asked: &Requests) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(length) if length > 0 => request.extend(&piece[..length]),
            _ => return,
        }
    }
    let text = String::from_utf8_lossy(&request);
    let path = text.split(' ').nth(1).unwrap_or_default();
    asked.lock().unwrap().push(path.to_owned());
    let page = pages.iter().find(|(known, _)| *known == path);
    let (status, html) = page.map_or(("404 Not Found", "nothing"), |(_, html)| ("200 OK", *html));
    let html = html.replace("SITE", &format!("http://{address}"));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        html.len()
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(html.as_bytes());
}
