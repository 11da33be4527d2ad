//! Tests on disks that are full, limited or read-only. Some run in a private mount namespace.

use std::process::{Command, Output};

use serde_json::json;

use crate::files::Files;
use crate::program::{TestProgram, holds};

/// Runs a script in a private mount namespace. Returns `None` if this machine does not allow it.
fn in_namespace(script: &str) -> Option<Output> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script]).output()
    };
    if !shell("mount -t tmpfs tmpfs /mnt").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this machine does not let us mount (unshare -rm)");
        return None;
    }
    Some(shell(script).unwrap())
}

/// Pages committed before the disk became full can be searched while it is full.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_on_a_full_disk_can_be_searched() {
    let home = format!("http://{}/", Files::site(300, 40_000).serve().await);
    let program = TestProgram::new();
    let script = format!(
        "set -e; mkdir -p {disk}; mount -t tmpfs -o size=6m tmpfs {disk}; avocet() {{ '{avocet}' \"$@\" --store {disk}; }}
        ! avocet crawl {home} 2>&1
        avocet search everywhere --json --no-log
        cp -r {disk} {copy}
        ",
        disk = program.path("disk").display(),
        copy = program.store().display(),
        avocet = env!("CARGO_BIN_EXE_avocet"),
    );
    std::fs::remove_dir_all(program.store()).unwrap();
    let Some(output) = in_namespace(&script) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}{errors}");
    assert!(told.contains("No space left on device"), "{told}");
    let found: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let committed = program.fetched().len();
    assert!(committed > 10, "{committed}");
    assert_eq!(found["total"], committed);
    assert!(!program.store().join("RESERVE").exists());
}

/// Beyond `ulimit -f` the kernel sends SIGXFSZ, which kills a process by default.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_on_file_sizes_stops_the_crawl_and_loses_nothing() {
    let home = format!("http://{}/", Files::site(300, 40_000).serve().await);
    let program = TestProgram::new();
    let script = format!(
        "ulimit -f 2000; exec '{}' crawl {home} --store {}",
        env!("CARGO_BIN_EXE_avocet"),
        program.store().display()
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("ulimit -f"), "{told}");
    program.json(&["crawl", &home]);
    assert_eq!(program.fetched().len(), 301);
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_written_to_is_searched_and_served() {
    let home = format!("http://{}/", Files::site(19, 100).serve().await);
    let program = TestProgram::new();
    program.json(&["crawl", &home]);
    let script = format!(
        "set -e; mount --bind {store} {store}; mount -o remount,bind,ro {store}
        ! touch {store}/x 2>/dev/null
        avocet() {{ '{avocet}' \"$@\" --store {store}; }}
        avocet search everywhere --json
        avocet status --json
        avocet serve --listen 127.0.0.1:0 --json > {out} 2> {out}-errors & server=$!
        for _ in $(seq 200); do [ -s {out} ] && break; sleep .05; done
        address=$(grep -o 'http://[0-9.:]*' {out})
        python3 - $address <<'EOF'
import json, sys, urllib.request
get = lambda path: urllib.request.urlopen(sys.argv[1] + path).read().decode()
print(json.loads(get('/api/v1/search?q=everywhere'))['total'])
assert 'page3' in get('/?q=page3')
get('/health')
EOF
        kill $server; wait $server || true",
        store = program.store().display(),
        avocet = env!("CARGO_BIN_EXE_avocet"),
        out = program.path("served").display(),
    );
    let Some(output) = in_namespace(&script) else {
        return;
    };
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let served = std::fs::read_to_string(program.path("served-errors")).unwrap_or_default();
    assert!(output.status.success(), "{told}{errors}{served}");
    let found: serde_json::Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(found["total"], 20, "{told}");
    let status: serde_json::Value = serde_json::from_str(told.lines().nth(1).unwrap()).unwrap();
    holds(&status, &json!({ "running": false, "documents": 20 }));
    assert_eq!(told.lines().last(), Some("20"), "{told}");
}
