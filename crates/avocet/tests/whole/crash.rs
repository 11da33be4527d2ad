//! Tests of kills at any instant and of a full disk. The test server's log is the oracle.

use std::time::Duration;

use testweb::site::{Faults, Latency, RobotsShares, Spread, WebPlan};

use crate::program::{TestProgram, warcio_accepts};
use crate::webs::{crawl, requests, serve};

/// Maximum number of requests that a kill may lose: 8 connections and one group commit of 20 pages.
const COST: usize = 8 + 20;
const EIGHT: [&str; 2] = ["--connections", "8"];

/// Plans a web without temporary errors, so that two crawls of it must agree.
fn steady(seed: u64, pages: usize) -> WebPlan {
    let robots = RobotsShares {
        rules: 0.3,
        missing: 0.7,
        ..RobotsShares::default()
    };
    let faults = Faults {
        redirects: 0.05,
        gone: 0.05,
        ..Faults::default()
    };
    let pause = Spread {
        median: 0.004,
        sigma: 0.5,
    };
    WebPlan {
        pages,
        servers: 6,
        robots,
        faults,
        latency: Latency::PerServer {
            connect: pause,
            response: pause,
        },
        ..WebPlan::small(seed)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_at_any_instant_lose_nothing_and_repeat_at_most_28_requests_per_kill() {
    let serving = serve(steady(21, 400)).await;
    let homes = serving.homes();
    let arguments = crawl(&homes, &EIGHT);
    let straight = TestProgram::new();
    straight.json(&arguments);
    let expected = straight.fetched();
    let once = requests(&serving);

    let killed = TestProgram::new();
    let mut kills = 0u32;
    for round in 0u64.. {
        let mut child = killed.start(&arguments);
        // Each kill comes later, so that every stage of a crawl is hit and the loop ends.
        std::thread::sleep(Duration::from_millis(60 + round * 37));
        let ended = child.try_wait().unwrap();
        if ended.is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert!(round < 200, "the crawl never ends");
    }
    assert!(kills >= 5, "only {kills} kills");
    assert_eq!(
        killed.fetched(),
        expected,
        "exactly the pages of an uninterrupted crawl"
    );
    let repeated: u32 = requests(&serving)
        .iter()
        .map(|(url, count)| count - once[url] - 1)
        .sum();
    assert!(
        repeated as usize <= kills as usize * COST,
        "{repeated} requests repeated by {kills} kills"
    );
    killed.verified();
    warcio_accepts(&killed.warcs());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_any_two_steps_of_a_commit_is_made_good() {
    let serving = serve(steady(22, 150)).await;
    let homes = serving.homes();
    let arguments = crawl(&homes, &EIGHT);
    let straight = TestProgram::new();
    straight.json(&arguments);
    let expected = straight.fetched();
    for point in ["archived", "committed", "indexed", "published"] {
        for count in [1, 3] {
            let program = TestProgram::new();
            let mut command = program.command(&arguments);
            let crashed = command
                .env("AVOCET_CRASH_AT", format!("{point}:{count}"))
                .output()
                .unwrap();
            // Such a short crawl publishes the index only once, so it does not reach `published:3`.
            assert!(
                !crashed.status.success() || point == "published",
                "{point}:{count}"
            );
            program.verified();
            program.json(&arguments);
            assert_eq!(program.fetched(), expected, "{point}:{count}");
            program.verified();
            warcio_accepts(&program.warcs());
        }
    }
}

/// A crawl with a buffer of 9 pages is killed at several points. Then a crawl with a buffer of 8
/// ends with exactly 8 pages, at most 12 responses are left in the archive, and no record is torn.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_while_the_archive_makes_room_leaves_it_whole() {
    let serving = serve(steady(24, 80)).await;
    let homes = serving.homes();
    let mut arguments = crawl(&homes, &EIGHT);
    arguments.extend(["--buffer", "9"]);
    for point in ["archived:2", "committed:2", "moved", "collected"] {
        let program = TestProgram::new();
        let mut command = program.command(&arguments);
        let crashed = command.env("AVOCET_CRASH_AT", point).output().unwrap();
        assert!(!crashed.status.success(), "{point}");
        program.verified();
        program.json(&arguments);
        arguments.pop();
        arguments.push("8");
        program.json(&arguments);
        arguments.pop();
        arguments.push("9");
        program.verified();
        assert_eq!(program.lines(&["export", "pages"]).len(), 8, "{point}");
        let mut records = 0;
        for warc in program.warcs() {
            let bytes = std::fs::read(warc).unwrap();
            let mut plain = Vec::new();
            let mut members = flate2::read::MultiGzDecoder::new(&bytes[..]);
            std::io::Read::read_to_end(&mut members, &mut plain).unwrap();
            let response = b"WARC-Type: response";
            let lines = plain.split(|byte| *byte == b'\n');
            records += lines.filter(|line| line.starts_with(response)).count();
        }
        assert!((8..=12).contains(&records), "{point}: {records} records");
        warcio_accepts(&program.warcs());
    }
}

/// Runs in a private mount namespace, where the store is a disk of 3 MB that is enlarged later.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_the_crawl_and_loses_nothing() {
    let shell = |script: &str| {
        std::process::Command::new("unshare")
            .args(["-rm", "sh", "-c", script])
            .output()
    };
    if !shell("mount -t tmpfs tmpfs /mnt").is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this machine does not let us mount a small disk (unshare -rm)");
        return;
    }
    let sizes = Spread {
        median: 40_000.0,
        sigma: 0.5,
    };
    let plan = WebPlan {
        sizes,
        ..steady(23, 300)
    };
    let serving = serve(plan).await;
    let homes = serving.homes();
    let arguments = crawl(&homes, &EIGHT).join(" ");
    let program = TestProgram::new();
    let script = format!(
        "set -e; mkdir -p {disk}; mount -t tmpfs -o size=3m tmpfs {disk}; avocet() {{ '{avocet}' \"$@\" --store {disk}; }}
        ! avocet {arguments} > {disk}-first 2>&1
        mount -o remount,size=500m {disk}
        avocet verify --json >&2
        avocet {arguments} >&2
        avocet verify --json >&2
        avocet export urls",
        disk = program.path("disk").display(),
        avocet = env!("CARGO_BIN_EXE_avocet"),
    );
    let output = shell(&script).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("\"problems\":[]").count(), 2, "{said}");
    let first = std::fs::read_to_string(program.path("disk-first")).unwrap();
    assert!(first.contains("No space left on device"), "{first}");

    let lines = String::from_utf8(output.stdout).unwrap();
    let fetched = lines
        .lines()
        .filter(|line| line.contains("\"status\":200"))
        .count();
    let straight = TestProgram::new();
    straight.json(&arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(fetched, straight.fetched().len());
}
