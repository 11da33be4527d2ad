//! Test of the API against its OpenAPI description, with valid and invalid requests by
//! schemathesis.

use std::path::Path;
use std::process::Command;

use crate::program::TestProgram;
use crate::server::{AvocetServer, Leaf, put};

#[test]
fn the_api_matches_its_openapi_description() {
    let version = Command::new("schemathesis").arg("--version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no schemathesis (pip install schemathesis)");
        return;
    }
    let program = TestProgram::new();
    let leaf = |number| {
        let url = format!("http://birds.example/{number}");
        Leaf::new(&url, "Avocets", "The pied avocet wades.")
    };
    put(&program, &(0..5).map(leaf).collect::<Vec<_>>());
    let settings = program.store().join("avocet.toml");
    std::fs::write(settings, "[serve]\nrate = 0.0\n").unwrap();
    let server = AvocetServer::start(&program, &[]);
    let token = std::fs::read_to_string(program.store().join("TOKEN")).unwrap();
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/schemathesis.toml");
    let output = Command::new("schemathesis")
        .arg("--config-file")
        .arg(known)
        .arg("run")
        .arg(format!("http://{}/api/v1/openapi.json", server.address))
        .arg("--header")
        .arg(format!("Authorization: Bearer {}", token.trim()))
        .args(["--checks", "all", "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", "8", "--seed", "1"])
        // schemathesis stores examples in the current directory.
        .current_dir(program.store())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Tested: 21"), "all operations: {said}");
    assert_eq!(server.interrupt(), Some(0), "and it still lives");
}
