//! Tests the verdicts on answers, case by case.

mod evidence;
mod listings;

use bytes::Bytes;
use page::Directives;
use page::Refusal;
use sha1::Digest as _;

use super::*;
use crate::answer::DocumentText;

const PAGE: &str = "<html><title>T</title><body>some words of a page <a href=/a>a</a> <a href=/b rel=nofollow>b</a></body>";

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn answer(status: u16, body: &str) -> Answer {
    Answer {
        status,
        content_type: Some("text/html".into()),
        etag: Some("\"1\"".into()),
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content: Bytes::copy_from_slice(body.as_bytes()),
        payload: Some(sha1::Sha1::digest(body).into()),
        truncated: None,
        document: None,
    }
}

fn at(second: u64) -> Moment {
    Moment::from_micros(second * 1_000_000)
}

fn judge(page: &PageUrl, before: Option<&Visited>, second: u64, answer: &Answer) -> Verdict {
    let history = before.map_or(History::discovered(at(0), 0), |before| before.history);
    let asked = Asked {
        url: page,
        hops: 0,
        history,
        before,
        at: at(second),
        missing: None,
        details: Details::INDEXED,
    };
    asked.judge(answer, 100, &|other| other.host() == page.host())
}

fn leads(verdict: &Verdict) -> Vec<&str> {
    verdict.leads.iter().map(|lead| lead.url.as_str()).collect()
}

#[test]
fn a_page_gives_its_text_and_its_links_without_nofollow() {
    let page = url("http://e.org/");
    let verdict = judge(&page, None, 1, &answer(200, PAGE));
    assert_eq!(verdict.visited.history.outcome, Some(Outcome::Changed));
    assert_eq!(leads(&verdict), ["http://e.org/a"]);
    let text = verdict.text.unwrap();
    assert_eq!(
        (text.title.as_str(), text.body.as_str()),
        ("T", "some words of a page a b")
    );
    assert!(verdict.copied && !verdict.repeated && !verdict.gone);
}

#[test]
fn a_page_may_forbid_index_and_links_by_header_or_markup() {
    let page = url("http://e.org/");
    let header = |noindex, nofollow| Answer {
        directives: Directives {
            noindex,
            nofollow,
            noarchive: false,
        },
        ..answer(200, PAGE)
    };
    let markup = |word: &str| answer(200, &format!("<meta name=robots content={word}>{PAGE}"));
    for (answer, indexed, followed) in [
        (header(true, false), false, true),
        (header(false, true), true, false),
        (markup("noindex"), false, true),
        (markup("nofollow"), true, false),
        (markup("none"), false, false),
        (markup("index"), true, true),
    ] {
        let verdict = judge(&page, None, 1, &answer);
        assert_eq!(verdict.text.is_some(), indexed);
        assert_eq!(verdict.visited.copy.unwrap().indexed, indexed);
        assert_eq!(!verdict.leads.is_empty(), followed);
    }
}

#[test]
fn a_page_whose_canonical_url_is_another_one_in_scope_is_not_indexed() {
    let page = url("http://www.e.org/?print=1");
    let canonical =
        |target: &str| answer(200, &format!("<link rel=canonical href='{target}'>{PAGE}"));
    let ours = judge(&page, None, 1, &canonical("http://www.e.org/"));
    assert!(ours.text.is_none() && leads(&ours).contains(&"http://www.e.org/"));
    let itself = judge(&page, None, 1, &canonical("http://www.e.org/?print=1"));
    assert!(itself.text.is_some());
    let out_of_scope = judge(&page, None, 1, &canonical("http://other.e.org/"));
    assert!(out_of_scope.text.is_some());
    let stranger = judge(&page, None, 1, &canonical("http://evil.net/"));
    assert!(stranger.text.is_some() && !leads(&stranger).contains(&"http://evil.net/"));
}

#[test]
fn a_revisit_finds_a_change_only_if_the_text_differs() {
    let page = url("http://e.org/");
    let place = page::RecordLocation {
        file: 1,
        offset: 2,
        length: 3,
    };
    let mut first = judge(&page, None, 1, &answer(200, PAGE)).visited;
    first.copy.as_mut().unwrap().place = Some(place);

    let same = judge(&page, Some(&first), 5, &answer(200, PAGE));
    assert!(same.repeated && !same.is_news());
    assert_eq!(same.visited.history.outcome, Some(Outcome::Unchanged));
    let copy = same.visited.copy.unwrap();
    assert_eq!(
        (copy.place, copy.at),
        (Some(place), at(1)),
        "the archive has this body"
    );

    let nonce = judge(
        &page,
        Some(&first),
        5,
        &answer(200, &format!("<!-- 7 -->{PAGE}")),
    );
    assert_eq!(nonce.visited.history.outcome, Some(Outcome::Unchanged));
    assert!(nonce.is_news(), "other bytes may be other links");
    assert!(!nonce.repeated && nonce.visited.copy.unwrap().place.is_none());

    let edited = judge(
        &page,
        Some(&first),
        5,
        &answer(200, &PAGE.replace("words", "news")),
    );
    assert_eq!(edited.visited.history.outcome, Some(Outcome::Changed));
    assert_eq!(
        (
            edited.visited.history.revisits,
            edited.visited.history.changes
        ),
        (1, 1)
    );
    let kept = edited.visited.kept_share.unwrap();
    let revisit = edited.visited.history.recent.iter().last().unwrap();
    assert!(kept < 1.0 && revisit.differing == 1.0 - kept);

    let unmodified = judge(&page, Some(&first), 5, &answer(304, ""));
    assert_eq!(unmodified.visited.history.outcome, Some(Outcome::Unchanged));
    assert!(!unmodified.is_news());
    assert_eq!(unmodified.visited.copy, first.copy);
}

#[test]
fn a_redirect_is_recorded_and_its_target_is_a_lead() {
    let page = url("http://e.org/");
    let to = |location: Option<Result<PageUrl, Refusal>>| Answer {
        location,
        ..answer(301, "")
    };
    let verdict = judge(&page, None, 1, &to(Some(Ok(url("http://e.org/new")))));
    assert_eq!(verdict.visited.status, Some(301));
    assert!(verdict.leads[0].redirect && leads(&verdict) == ["http://e.org/new"]);
    assert!(!verdict.copied && verdict.text.is_none());

    let asked = Asked {
        url: &page,
        hops: HOPS,
        history: History::default(),
        before: None,
        at: at(1),
        missing: None,
        details: Details::INDEXED,
    };
    let last = asked.judge(&to(Some(Ok(url("http://e.org/11")))), 0, &|_| true);
    assert_eq!(
        (last.leads.len(), last.visited.error.as_deref()),
        (0, Some("redirect:too-many"))
    );
    let file = judge(&page, None, 1, &to(Some(Err(Refusal::Scheme))));
    assert_eq!(file.visited.error.as_deref(), Some("redirect:not-a-page"));
    assert!(judge(&page, None, 1, &to(None)).leads.is_empty());
}

#[test]
fn a_picture_is_copied_and_has_neither_text_nor_leads() {
    let page = url("http://e.org/logo.png");
    let picture = Answer {
        content_type: Some("image/png".into()),
        content: Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0"),
        ..answer(200, "png")
    };
    let verdict = judge(&page, None, 1, &picture);
    assert!(verdict.copied && verdict.text.is_none() && verdict.leads.is_empty());
    assert_eq!(verdict.visited.history.outcome, Some(Outcome::Changed));
    let again = judge(&page, Some(&verdict.visited), 2, &picture);
    assert_eq!(again.visited.history.outcome, Some(Outcome::Unchanged));
}

#[test]
fn a_document_is_judged_by_the_text_that_was_read_from_it() {
    let page = url("http://e.org/paper");
    let read = |document| Answer {
        content_type: Some("application/pdf".into()),
        document,
        ..answer(200, "%PDF-1.7")
    };
    let text = |cut| {
        read(Some(Ok(DocumentText {
            format: "pdf",
            html: "<title>Waders</title><p>Avocets <a href=/more>wade</a>".into(),
            cut,
        })))
    };
    let whole = judge(&page, None, 1, &text(false));
    let found = whole.text.as_ref().unwrap();
    assert_eq!((found.kind, found.title.as_str()), ("pdf", "Waders"));
    assert_eq!(found.body.trim(), "Avocets wade");
    assert_eq!(leads(&whole), ["http://e.org/more"]);
    assert_eq!(whole.visited.error, None);
    // The text decides whether it changed, as it does for other pages.
    let copy = whole.visited.clone();
    let rewritten = Answer {
        payload: Some([7; 20]),
        ..text(false)
    };
    let again = judge(&page, Some(&copy), 2, &rewritten);
    assert_eq!(again.visited.history.outcome, Some(Outcome::Unchanged));
    let cut = judge(&page, None, 1, &text(true));
    assert!(cut.text.is_some());
    assert_eq!(cut.visited.error.as_deref(), Some("document:cut"));
    let hidden = Answer {
        directives: Directives {
            noindex: true,
            nofollow: true,
            ..Directives::default()
        },
        ..text(false)
    };
    let hidden = judge(&page, None, 1, &hidden);
    assert!(hidden.text.is_none() && hidden.leads.is_empty());
    // A document that cannot be read has an error and is kept. It leaves the index.
    let refused = judge(
        &page,
        Some(&copy),
        2,
        &read(Some(Err("document:encrypted"))),
    );
    assert!(refused.copied && refused.text.is_none() && refused.gone);
    let error = refused.visited.error.as_deref();
    assert_eq!(error, Some("document:encrypted"));
    let unread = judge(&page, None, 1, &read(None));
    assert!(unread.copied && unread.text.is_none() && unread.visited.error.is_none());
}

#[test]
fn details_are_read_only_if_they_are_requested() {
    let page = url("http://e.org/");
    let html = "<html lang=de><meta name=author content=Maus><nav><a href=/a>Hin und her</a></nav>\
        <h1 id=f>Der Fuchs</h1><p>Der schnelle Fuchs springt und läuft dann über die Wiese.";
    let read = |details| {
        let asked = Asked {
            details,
            ..Asked::again(&page)
        };
        asked.judge(&answer(200, html), 0, &|_| true)
    };
    let (all, least) = (read(Details::ALL), read(Details::FACTS));
    assert_eq!(
        all.visited.copy, least.visited.copy,
        "the facts are the same"
    );
    let (lead, bare) = (&all.leads[0], &least.leads[0]);
    assert_eq!((&lead.url, &lead.anchor), (&bare.url, &bare.anchor));
    assert!(lead.aside && lead.path == "html/nav/a" && lead.around.ends_with("läuft"));
    assert!(!bare.aside && bare.path.is_empty() && bare.around.is_empty());
    let (all, least) = (all.text.unwrap(), least.text.unwrap());
    assert_eq!(all.title, least.title);
    assert!(all.body.ends_with("Wiese.") && least.body.is_empty());
    assert_eq!(
        (all.language.as_deref(), least.language),
        (Some("de"), None)
    );
    assert_eq!(
        (all.stated.authors.len(), least.stated.authors.len()),
        (1, 0)
    );
    assert_eq!((all.sections.len(), least.sections.len()), (1, 0));
    assert_eq!((all.asides.len(), least.asides.len()), (1, 0));
}

#[test]
fn equal_bodies_are_recognized_with_and_without_an_archive() {
    let page = url("http://e.org/a.png");
    let picture = |archived: bool, body: &str| Answer {
        content_type: Some("image/png".into()),
        payload: archived.then(|| sha1::Sha1::digest(body).into()),
        ..answer(200, body)
    };
    let outcome = |first: &Answer, second: &Answer| {
        let before = judge(&page, None, 1, first).visited;
        let verdict = judge(&page, Some(&before), 2, second);
        let payload = verdict.visited.copy.unwrap().payload;
        assert_eq!(page::is_body_hash(&payload), second.payload.is_none());
        (verdict.visited.history.outcome, verdict.repeated)
    };
    let same = (Some(Outcome::Unchanged), true);
    let other = (Some(Outcome::Changed), false);
    assert_eq!(
        outcome(&picture(false, "png"), &picture(false, "png")),
        same
    );
    assert_eq!(
        outcome(&picture(false, "png"), &picture(false, "gif")),
        other
    );
    // The crawl has an archive now.
    assert_eq!(outcome(&picture(false, "png"), &picture(true, "png")), same);
    assert_eq!(
        outcome(&picture(false, "png"), &picture(true, "gif")),
        other
    );
    assert_eq!(outcome(&picture(true, "png"), &picture(true, "png")), same);
}
