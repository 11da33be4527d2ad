//! Answers of a child, and ends of one.

use std::process::Command;
use std::thread;

use super::*;

#[test]
fn an_answer_of_a_child_is_parsed_or_refused_as_a_whole() {
    let text = |html: &str| {
        Some(Ok(DocumentText {
            format: "pdf",
            html: html.into(),
            cut: false,
        }))
    };
    let head =
        |bytes: usize| format!(r#"{{"read":{{"format":"pdf","cut":false,"bytes":{bytes}}}}}"#);
    for (output, expected) in [
        (head(3) + "\n<p>", text("<p>")),
        (head(0) + "\n", text("")),
        (head(4) + "\n<p>", None),
        (head(2) + "\n<p>", None),
        (head(0), None),
        (
            r#"{"refused":"document:damaged"}"#.to_owned() + "\n",
            Some(Err("document:damaged")),
        ),
        (
            r#"{"refused":"document:no-sandbox"}"#.to_owned() + "\n",
            Some(Err(NO_SANDBOX)),
        ),
        (
            r#"{"refused":"document:damaged"}"#.to_owned() + "\nmore",
            None,
        ),
        (r#"{"refused":"robots"}"#.to_owned() + "\n", None),
        (head(0).replace("pdf", "exe") + "\n", None),
        (head(0).replace("cut", "more") + "\n", None),
        (" ".repeat(HEAD) + &head(0) + "\n", None),
        (String::new(), None),
        ("\n".to_owned(), None),
    ] {
        assert_eq!(parsed(output.as_bytes()), expected, "{output}");
    }
    assert_eq!(
        parsed(&[(head(1) + "\n").as_bytes(), b"\xff"].concat()),
        None
    );
}

/// Runs a shell instead of a child, with a document of a megabyte.
fn end_of(script: &str, patience: Duration) -> ChildEnd {
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let body = vec![b'a'; 1 << 20];
    exchange::exchange(command.spawn().unwrap(), &body, 1 << 21, patience).unwrap()
}

#[test]
fn every_end_of_a_child_is_an_outcome() {
    let long = Duration::from_secs(60);
    let refused = r#"echo '{"refused":"document:encrypted"}'"#;
    for (script, expected) in [
        (format!("cat >/dev/null; {refused}"), "document:encrypted"),
        // It does not read its input.
        (refused.to_owned(), "document:encrypted"),
        ("cat >/dev/null; echo nonsense".into(), CRASHED),
        ("exit 3".into(), CRASHED),
        ("kill -SEGV $$".into(), CRASHED),
        ("kill -XCPU $$".into(), TIME),
        // The kernel does so when the machine has no memory left.
        ("kill -KILL $$".into(), MEMORY),
        (
            "echo memory allocation of 9 bytes failed >&2; kill -ABRT $$".into(),
            MEMORY,
        ),
        ("cat /dev/zero".into(), "document:too-large"),
        ("head -c 9000000 /dev/zero >&2".into(), CRASHED),
    ] {
        assert_eq!(outcome(&end_of(&script, long)), Err(expected), "{script}");
    }
    let soon = Duration::from_millis(200);
    assert_eq!(outcome(&end_of("exec sleep 600", soon)), Err(TIME));
    // A child that closes its outputs does not run on.
    assert!(outcome(&end_of("exec sleep 600 >&- 2>&-", long)).is_err());
}

#[test]
fn all_of_a_large_document_arrives() {
    let end = end_of("cat", Duration::from_secs(60));
    assert!(end.is_success() && end.output == vec![b'a'; 1 << 20]);
}

#[test]
fn no_more_children_run_at_once_than_there_are_slots() {
    let slots = ReaderSlots::new(2);
    let (running, most) = (Mutex::new(0), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let slot = slots.take();
                    let now = {
                        let mut running = running.lock().unwrap();
                        *running += 1;
                        *running
                    };
                    let mut most = most.lock().unwrap();
                    *most = now.max(*most);
                    drop(most);
                    thread::yield_now();
                    *running.lock().unwrap() -= 1;
                    drop(slot);
                }
            });
        }
    });
    let most = most.into_inner().unwrap();
    assert!((1..=2).contains(&most), "{most}");
    assert_eq!(*slots.free.lock().unwrap(), 2);
}

#[test]
fn every_code_of_a_document_has_a_sentence() {
    let codes = Unreadable::ALL.map(Unreadable::code).into_iter();
    let codes = codes.chain([TIME, MEMORY, CRASHED, NO_SANDBOX, "document:cut"]);
    for code in codes {
        assert!(explained(code).is_some(), "{code}");
    }
    assert_eq!(explained("robots"), None);
}
