//! A headless Chromium, controlled by chromedriver.
//!
//! **Invariant:** driver and browser end with the test, even if it panics, and leave nothing on the
//! disk.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// Time-out of a wait, long enough that only a hang exceeds it.
const PATIENCE: Duration = Duration::from_secs(240);
/// Time between two checks of a condition.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// A browser and its driver process.
pub struct Chromium {
    pub client: Client,
    _driver: ChromeDriver,
}

struct ChromeDriver {
    process: Child,
    profile: tempfile::TempDir,
}

impl Drop for ChromeDriver {
    fn drop(&mut self) {
        // The driver and its browser are one process group.
        let group = format!("-{}", self.process.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.process.wait();
    }
}

impl Chromium {
    /// Starts a browser. Without chromedriver the test fails in CI, and elsewhere this returns
    /// `None`.
    pub async fn open(javascript: bool) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new("chromedriver");
        command
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let mut process = match command.spawn() {
            Ok(process) => process,
            Err(error) => {
                let why = format!(
                    "chromedriver cannot be started ({error}): apt-get install chromium chromium-driver"
                );
                assert!(std::env::var_os("CI").is_none(), "{why}");
                eprintln!("skipped: {why}");
                return None;
            }
        };
        let output = BufReader::new(process.stdout.take().unwrap());
        let driver = ChromeDriver { process, profile };
        let port = output
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                line.strip_suffix('.')
                    .and_then(|line| line.rsplit_once("successfully on port "))?
                    .1
                    .parse::<u16>()
                    .ok()
            })
            .expect("chromedriver says its port");
        let profile = driver.profile.path().display();
        let mut options = json!({ "args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,1600", format!("--user-data-dir={profile}"),
        ] });
        if !javascript {
            options["prefs"] = json!({ "profile.managed_default_content_settings.javascript": 2 });
        }
        let capabilities = json!({ "goog:chromeOptions": options });
        let Value::Object(capabilities) = capabilities else {
            unreachable!()
        };
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a browser opens");
        Some(Self {
            client,
            _driver: driver,
        })
    }

    /// Opens an address.
    pub async fn goto(&self, address: &str) {
        self.client.goto(address).await.unwrap();
    }

    /// Returns the first element that matches.
    pub async fn find(&self, css: &str) -> Element {
        self.client.find(Locator::Css(css)).await.unwrap()
    }

    /// Clicks on the first element that matches.
    pub async fn click(&self, css: &str) {
        self.find(css).await.click().await.unwrap();
    }

    /// Runs a script on the page. Returns its result.
    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Closes the browser.
    pub async fn close(self) {
        self.client.close().await.unwrap();
    }

    /// Returns the text of the first element that matches.
    pub async fn text(&self, css: &str) -> Option<String> {
        let element = self.client.find(Locator::Css(css)).await.ok()?;
        element.text().await.ok()
    }

    /// Waits until the text of an element fulfils a condition, and returns it.
    pub async fn wait(&self, css: &str, wanted: impl Fn(&str) -> bool) -> String {
        until(&format!("{css} as wanted"), async || {
            self.text(css).await.filter(|text| wanted(text))
        })
        .await
    }

    /// Returns the accessibility problems that axe finds on the page, or `None` if axe is missing.
    pub async fn audit(&self) -> Option<Vec<String>> {
        let Some(axe) = axe() else {
            let why = "axe-core is not installed: npm install --prefix target/axe axe-core";
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        };
        self.run(&axe).await;
        let run = "const done = arguments[arguments.length - 1]; axe.run().then(r => done(r.violations), e => done(String(e)));";
        let found = self.client.execute_async(run, Vec::new()).await.unwrap();
        let wrong = found
            .as_array()
            .unwrap_or_else(|| panic!("axe failed: {found}"));
        let say = |one: &Value| {
            let places: Vec<String> = (one["nodes"].as_array().into_iter().flatten())
                .map(|node| node["html"].to_string())
                .collect();
            format!("{}: {} ({})", one["id"], one["help"], places.join(", "))
        };
        Some(wrong.iter().map(say).collect())
    }
}

fn axe() -> Option<String> {
    let mut target = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    target.push("../../target/axe/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(target).ok()
}

/// Repeats a check until it returns a value. Panics after [`PATIENCE`].
pub async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(CHECK_EVERY).await;
    }
}
