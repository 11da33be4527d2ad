//! Tests the verdicts on sitemaps and feeds.

use page::listing::ListingKind;

use super::*;

const SITEMAP: &str = "<urlset><url><loc>http://e.org/a</loc><lastmod>2024-05-17</lastmod></url>
    <url><loc>http://e.org/b</loc></url><url><loc>http://other.net/</loc></url></urlset>";
/// 2024-05-20.
const NOW: u64 = 1_716_163_200;

fn served(content_type: &str, body: &str) -> Answer {
    Answer {
        content_type: Some(content_type.into()),
        ..answer(200, body)
    }
}

#[test]
fn a_sitemap_is_read_for_leads_and_signals_and_not_indexed() {
    let place = url("http://e.org/sitemap.xml");
    let verdict = judge(&place, None, NOW, &served("application/xml", SITEMAP));
    assert_eq!(verdict.listing, Some(ListingKind::Sitemap));
    assert_eq!(leads(&verdict), ["http://e.org/a", "http://e.org/b"]);
    assert!(
        verdict
            .leads
            .iter()
            .all(|lead| !lead.listing && !lead.redirect && lead.anchor.is_empty())
    );
    let signal = Signal {
        page: url("http://e.org/a").id(),
        modified: at(1_715_904_000),
    };
    assert_eq!(verdict.signals, [signal]);
    assert_eq!(verdict.strangers, 1);
    let copy = verdict.visited.copy.unwrap();
    assert!(verdict.text.is_none() && !copy.indexed && copy.text.is_some() && !verdict.gone);
}

#[test]
fn a_listing_has_changed_only_if_its_entries_have() {
    let place = url("http://e.org/sitemap.xml");
    let visit = |before: Option<&Visited>, body: &str| {
        judge(&place, before, NOW, &served("text/xml", body))
    };
    let first = visit(None, SITEMAP).visited;
    let outcome = |body: &str| visit(Some(&first), body).visited.history.outcome;
    assert_eq!(
        outcome(&SITEMAP.replace("<urlset>", "<urlset><!-- made at 12:01 -->")),
        Some(Outcome::Unchanged)
    );
    assert_eq!(
        outcome(&SITEMAP.replace("05-17", "05-18")),
        Some(Outcome::Changed)
    );
    assert_eq!(
        outcome(&SITEMAP.replace("org/b", "org/c")),
        Some(Outcome::Changed)
    );
}

#[test]
fn an_index_leads_to_sitemaps_and_a_page_to_feeds() {
    let index = served(
        "text/xml",
        "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap></sitemapindex>",
    );
    let verdict = judge(&url("http://e.org/sitemap.xml"), None, NOW, &index);
    assert_eq!(verdict.listing, Some(ListingKind::Index));
    assert!(verdict.leads[0].listing && leads(&verdict) == ["http://e.org/1.xml"]);
    assert!(Lead::listing(url("http://e.org/1.xml")).listing);
    let page = format!("<link rel=alternate type=application/rss+xml href=/feed>{PAGE}");
    let verdict = judge(&url("http://e.org/"), None, NOW, &answer(200, &page));
    assert_eq!(leads(&verdict), ["http://e.org/feed", "http://e.org/a"]);
    assert!(verdict.leads[0].listing && !verdict.leads[1].listing && verdict.listing.is_none());
}

#[test]
fn a_feed_is_found_under_any_content_type_and_a_text_of_urls_is_a_sitemap() {
    let feed = "<?xml version='1.0'?><rss><channel><item><link>http://other.net/1</link></item></channel></rss>";
    for declared in ["application/rss+xml", "text/xml", "text/html"] {
        let verdict = judge(
            &url("http://e.org/feed"),
            None,
            NOW,
            &served(declared, feed),
        );
        assert_eq!(verdict.listing, Some(ListingKind::Feed), "{declared}");
        assert_eq!(leads(&verdict), ["http://other.net/1"]);
        assert!(verdict.signals.is_empty() && verdict.strangers == 0);
    }
    let place = url("http://e.org/urls.txt");
    let list = judge(
        &place,
        None,
        NOW,
        &served("text/plain", "http://e.org/a\nhttp://e.org/b\n"),
    );
    assert!(
        list.listing == Some(ListingKind::Sitemap) && list.leads.len() == 2 && list.text.is_none()
    );
    let prose = judge(
        &place,
        None,
        NOW,
        &served("text/plain", "see http://e.org/a\n"),
    );
    assert!(prose.listing.is_none() && prose.leads.is_empty() && prose.text.is_some());
}

#[test]
fn a_broken_listing_has_an_error_and_nofollow_drops_its_entries() {
    let place = url("http://e.org/sitemap.xml");
    let visit = |answer: &Answer| judge(&place, None, NOW, answer);
    let bomb = visit(&served(
        "text/xml",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><urlset/>",
    ));
    assert_eq!(bomb.visited.error.as_deref(), Some("listing:doctype"));
    assert!(bomb.leads.is_empty() && bomb.listing.is_none() && bomb.text.is_none());
    let half = visit(&served("text/xml", &SITEMAP[..90]));
    assert_eq!(
        (half.visited.error.as_deref(), half.leads.len()),
        (Some("listing:broken"), 1)
    );
    let kept_back = Answer {
        directives: Directives {
            nofollow: true,
            ..Directives::default()
        },
        ..served("text/xml", SITEMAP)
    };
    let kept_back = visit(&kept_back);
    assert!(
        kept_back.listing.is_some() && kept_back.leads.is_empty() && kept_back.signals.is_empty()
    );
    let other = visit(&served("application/xml", "<opml/>"));
    assert!(other.listing.is_none() && other.visited.error.is_none() && other.copied);
}

#[test]
fn the_hub_of_the_answer_comes_before_that_of_the_document() {
    let place = url("http://e.org/feed");
    let feed = "<feed><link rel='hub' href='/in'/><entry><link href='1'/></entry></feed>";
    let told = |hub: Option<&str>| Answer {
        hub: hub.map(url),
        ..served("application/atom+xml", feed)
    };
    for (said, kept) in [
        (None, "http://e.org/in"),
        (Some("http://e.org/out"), "http://e.org/out"),
    ] {
        let copy = judge(&place, None, NOW, &told(said)).visited.copy;
        assert_eq!(copy.unwrap().hub.as_deref(), Some(kept));
    }
}
