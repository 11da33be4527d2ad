//! Test of the Python client in `clients/python` against the program.

use std::process::Command;

use crate::files::Files;
use crate::running::CrawlProcess;

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_speaks_with_the_program() {
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/python");
    let version = "import sys; sys.exit(sys.version_info < (3, 10))";
    let python = Command::new("python3").args(["-c", version]).status();
    if !python.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no python3, or it is older than 3.10");
        return;
    }
    let files = Files::site(12, 300);
    // A page that no link names.
    files.put("/more", "text/html", "<title>more</title>onlyhere");
    let address = files.serve().await;
    let site = format!("http://{address}/");
    let crawl = CrawlProcess::crawl(std::slice::from_ref(&site), &["--budget", "50/s"]).await;
    crawl.until_fetched(13).await;
    // The index commits later than the ledger.
    for _ in 0..300 {
        let found = crawl.get("/api/v1/search?q=everywhere").json();
        if found["total"].as_u64() > Some(12) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let tested = Command::new("python3")
        .args(["-W", "error", "-m", "unittest", "discover", "-s", "tests"])
        .current_dir(client)
        .env("PYTHONPATH", client)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("AVOCET_ADDRESS", format!("http://{}", crawl.address))
        .env("AVOCET_TOKEN", &crawl.token)
        .env("AVOCET_SITE", &site)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tested.stderr);
    assert!(tested.status.success(), "{said}");
    assert!(said.contains("Ran 6 tests"), "{said}");
    crawl.stop().await;
}
