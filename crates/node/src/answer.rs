//! Converts HTTP answers, from the network or from the archive, to the [`Answer`] that is judged.

use anyhow::{Context, Result};
use bytes::Bytes;
use crawl::Answer;
use fetch::Response;
use page::{Directives, PageUrl, link_header};
use repository::archive::{CodingLimits, Cut, PayloadDigest, WarcRecord};

use crate::documents;

/// The error code of a body whose content coding could not be decoded.
const UNDECODED: &str = "undecoded";

/// Converts an answer that came over the network. `payload` is the digest of its body, if it is
/// needed. [`documents::read`] reads a document.
pub fn live(
    response: &Response,
    url: &PageUrl,
    token: &str,
    payload: Option<PayloadDigest>,
) -> Answer {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Answer {
        status: response.status,
        content_type: owned(response.content_type()),
        etag: owned(response.etag()),
        last_modified: owned(response.last_modified()),
        language: owned(response.content_language()),
        location: response.location(url),
        hub: link_header::hub(response.links(), url),
        directives: response.x_robots_tag(token),
        content: response.content.clone(),
        payload: payload.map(|digest| digest.0),
        truncated: response
            .truncated
            .map(fetch::Truncation::name)
            .or(response.undecoded.then_some(UNDECODED)),
        document: None,
    }
}

/// Converts an archived answer, and reads it if it is a document.
pub fn kept(record: &WarcRecord, url: &PageUrl, token: &str) -> Result<Answer> {
    let status = record.status().context("the record holds no HTTP answer")?;
    let header = |name| record.header(name).map(|value| value.into_owned());
    let content = record.content(CodingLimits::default());
    let tags = record.headers("x-robots-tag");
    let links = record.headers("link");
    let mut answer = Answer {
        status,
        content_type: header("content-type"),
        etag: header("etag"),
        last_modified: header("last-modified"),
        language: header("content-language"),
        location: header("location").map(|target| url.join(&target)),
        hub: link_header::hub(links.iter().map(AsRef::as_ref), url),
        directives: Directives::of(tags.iter().map(AsRef::as_ref), token),
        truncated: archived_cut(record).or(content.cut.map(|cut| match cut {
            Cut::Size => "truncated:size",
            Cut::Ratio => "truncated:ratio",
            Cut::Corrupt => "truncated:coding",
            Cut::Encoded => UNDECODED,
        })),
        content: Bytes::from(content.bytes.into_owned()),
        payload: Some(PayloadDigest::of(&[&record.body()]).0),
        document: None,
    };
    documents::read(&mut answer);
    Ok(answer)
}

/// Returns why the archived body is truncated, from the field `WARC-Truncated`, by the names of
/// [`fetch::Truncation`].
///
/// This reason takes precedence over a decoding error: a truncated body cannot be decoded to its
/// end either.
fn archived_cut(record: &WarcRecord) -> Option<&'static str> {
    Some(match record.field("WARC-Truncated")? {
        "length" => "truncated:size",
        "time" => "truncated:time",
        "disconnect" => "truncated:reset",
        _ => "truncated:malformed",
    })
}
