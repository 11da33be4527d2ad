//! Tests of completions and manual pages.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::program::{TestProgram, has};

/// Returns what bash offers at the end of a line.
fn offered(script: &Path, words: &[&str]) -> Vec<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let code = format!(
        "COMP_WORDS=({}); COMP_CWORD={}; _avocet avocet \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1
    );
    let output = Command::new("bash")
        .args(["-c", &format!("source '{}'; {code}", script.display())])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let program = TestProgram::new();
    let script = program.path("avocet.bash");
    std::fs::write(&script, program.text(&["completions", "bash"])).unwrap();
    let check = |words: &[&str], expected: &[&str]| {
        assert_eq!(offered(&script, words), expected, "{words:?}");
    };
    check(&["avocet", "cra"], &["crawl"]);
    check(&["avocet", "--json", "lab", "ord"], &["ordering"]);
    check(&["avocet", "crawl", "--scop"], &["--scope"]);
    check(
        &["avocet", "crawl", "--scope", ""],
        &["host", "domain", "prefix", "any"],
    );
    check(&["avocet", "export", "wa"], &["warc"]);
    check(&["avocet", "completions", "z"], &["zsh"]);
    assert!(offered(&script, &["avocet", "run", "--"]).contains(&"--budget".into()));
}

#[test]
fn other_shells_accept_their_scripts() {
    let program = TestProgram::new();
    for shell in ["zsh", "fish"] {
        let script = program.text(&["completions", shell]);
        has(&script, "crawl");
        let file = program.path(shell);
        std::fs::write(&file, script).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(_) => eprintln!("skipped: {shell} is not installed"),
        }
    }
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let program = TestProgram::new();
    let out = program.path("man1");
    program.run(&["man", "--out", out.to_str().unwrap()]);
    let mut pages = 0;
    for entry in std::fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        has(&text, ".TH avocet");
        has(&text, ".SH SYNOPSIS\n");
        has(&text, "\\fB\\-\\-store\\fR");
        if let Ok(mut groff) = Command::new("groff")
            .args(["-man", "-Kutf8", "-Tutf8", "-ww", "-Wbreak"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
        {
            groff
                .stdin
                .take()
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
            let output = groff.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && said.is_empty(),
                "{}: {said}",
                path.display()
            );
        }
        pages += 1;
    }
    assert!(pages > 40, "{pages}");
    has(
        &program.text(&["man", "lab", "ordering"]),
        ".TH avocet-lab-ordering",
    );
    let (code, said) = program.fail(&["man", "fly"]);
    assert_eq!(code, Some(2), "{said}");
}
