//! `avocet check URL`: prints what a crawl would do with one page, without a store.

use std::path::Path;

use anyhow::{Result, bail};
use tokio::runtime::Runtime;

use super::crawl::{plan, seed};
use crate::cli::{CheckArguments, CrawlArguments};
use node::documents;
use node::dry_run::{LinkCheck, PageCheck, RobotsCheck, TextCheck, check_page};
use node::number::{bytes, counted, duration};
use node::settings::Settings;

/// Requests a page and prints what a crawl would do with it. Fails if a crawl would not get it.
pub fn run(root: &Path, json: bool, arguments: &CheckArguments) -> Result<()> {
    let file = Settings::file(arguments.config.as_deref(), root)?;
    let mut settings = arguments.settings.layer.over(&file).settings()?;
    documents::configure(&settings.documents);
    let url = seed(&arguments.url)?;
    if settings.crawl.all_seeds().is_empty() {
        settings.crawl.seeds = vec![url.as_str().to_owned()];
    }
    let plan = plan(&mut settings, &CrawlArguments::default(), root)?;
    let check = Runtime::new()?.block_on(check_page(&url, &plan))?;
    if json {
        outln!("{}", serde_json::to_string(&check)?);
    } else {
        print(&check);
    }
    if !check.has_page() {
        let why = check.why.clone().or(check.error.clone());
        bail!(
            "no page: {}",
            why.unwrap_or_else(|| "the server sent none".into())
        );
    }
    if !check.in_scope {
        bail!(
            "a crawl with these settings would not request {}: it is out of scope",
            check.url
        );
    }
    Ok(())
}

/// Prints a line: a name and a formatted text.
macro_rules! line {
    ($name:expr, $($text:tt)*) => {
        outln!("{:<9} {}", $name, format_args!($($text)*))
    };
}

fn print(check: &PageCheck) {
    for url in &check.redirects {
        line!("redirect", "{url}");
    }
    line!("url", "{}", check.url);
    match &check.outside {
        None => line!("scope", "in scope"),
        Some(why) => line!("scope", "out of scope: {why}"),
    }
    if let Some(robots) = &check.robots {
        print_robots(robots);
    }
    if let Some(status) = check.status {
        let kind = check.content_type.as_deref().unwrap_or("no type stated");
        let took = duration(check.took_ms as f64 / 1000.0);
        line!(
            "answer",
            "status {status}, {kind}, {} in {took}",
            bytes(check.bytes as f64)
        );
    }
    if let Some(error) = &check.error {
        let why = check
            .why
            .as_ref()
            .map_or(String::new(), |why| format!(": {why}"));
        line!("error", "{error}{why}");
    }
    if let Some(format) = check.document {
        line!("document", "{format}");
    }
    if let Some(kind) = check.listing {
        line!("listing", "{kind}");
    }
    if let Some(links) = &check.links {
        print_links(links);
    }
    if let Some(text) = &check.text {
        print_text(text);
    }
    if let Some(date) = &check.last_modified {
        line!("changed", "{date}, by the header Last-Modified");
    }
    match check.indexed {
        true => line!("search", "would find it"),
        false if check.why_not_indexed.is_empty() => {}
        false => line!(
            "search",
            "would not find it: {}",
            check.why_not_indexed.join("; ")
        ),
    }
}

fn print_robots(robots: &RobotsCheck) {
    let verdict = match (robots.file, robots.allowed) {
        ("missing", _) => "there is none, so everything is allowed",
        ("unavailable", _) => "it cannot be fetched now, so nothing is allowed",
        (_, true) => "allowed",
        (_, false) => "forbidden",
    };
    let delay = robots.crawl_delay;
    let delay = delay.map_or(String::new(), |delay| format!("; Crawl-delay {delay} s"));
    let sitemaps = match robots.sitemaps.len() {
        0 => String::new(),
        many => format!("; {} named", counted(many, "sitemap")),
    };
    line!("robots", "{verdict}{delay}{sitemaps}");
}

fn print_links(links: &LinkCheck) {
    let hosts = links.outside_hosts.iter();
    let hosts: Vec<String> = hosts
        .map(|(host, links)| format!("{host} {links}"))
        .collect();
    let hosts = match hosts.is_empty() {
        true => String::new(),
        false => format!(" ({})", hosts.join(", ")),
    };
    let nofollow = match links.nofollow {
        0 => String::new(),
        many => format!(", {many} not to be followed"),
    };
    line!(
        "links",
        "{} in scope, {} out of scope{hosts}{nofollow}",
        links.in_scope,
        links.outside
    );
}

fn print_text(text: &TextCheck) {
    if !text.title.is_empty() {
        line!("title", "{}", text.title);
    }
    let language = text.language.as_deref().unwrap_or("unknown");
    line!(
        "text",
        "{}, {} of them main text ({}); language {language}",
        counted(text.characters, "character"),
        text.main_characters,
        text.extraction
    );
    let fields = &text.fields;
    let single = [
        ("kind", &fields.kind),
        ("published", &fields.published),
        ("modified", &fields.modified),
        ("publisher", &fields.publisher),
        ("identifier", &fields.identifier),
        ("about", &fields.description),
    ];
    for (name, value) in single {
        if let Some(value) = value {
            line!(name, "{value}");
        }
    }
    for (name, values) in [("authors", &fields.authors), ("keywords", &fields.keywords)] {
        if !values.is_empty() {
            line!(name, "{}", values.join(", "));
        }
    }
}
