//! The layout around the text of a page: site name, navigation and style.
//!
//! **Invariant:** apart from the title of the page, the layout is the same on every page of a site
//! and at every moment, so that a page changes only with its text.

use std::fmt::Write;

use figure::escaped;

use super::super::web::{InventedPage, Web};
use super::page::TownPageKind;
use super::{FORUM, MANUAL, NEWSPAPER, SHOP, TownRecords, forum, newspaper, shop};

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:17px/1.55 Georgia,serif;max-width:44rem;margin:0 auto;padding:0 1rem 3rem}\
header{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:baseline;border-bottom:3px solid var(--site);padding:1rem 0 .5rem;margin-bottom:1.2rem}\
header b{font-size:1.35rem}header b a{color:inherit;text-decoration:none}nav a,footer a{margin-right:.8rem}\
.list{padding-left:0;list-style:none}.list li{padding:.5rem 0;border-bottom:1px solid #8884}small,.by{color:GrayText}\
.price{font-size:2rem;margin:.5rem 0}.post{border-left:4px solid var(--site);padding-left:1rem;margin:1.2rem 0}\
pre{background:#8882;padding:.7rem;overflow:auto}footer{margin-top:3rem;border-top:1px solid #8886;padding-top:.7rem;font-size:.85rem}";

/// Name and colour of each site.
const SITES: [(&str, &str); 4] = [
    ("The Estuary Courier", "#a33"),
    ("Tern manual", "#27c"),
    ("The Slipway", "#283"),
    ("Chandler & Daughter", "#b70"),
];

/// Returns the whole page around a text.
pub(super) fn frame(
    records: &TownRecords,
    web: &Web,
    page: &InventedPage,
    port: u16,
    text: &str,
) -> String {
    let (site, colour) = SITES[page.server.0 as usize % SITES.len()];
    let title = escaped(&records.title(web, page));
    let site = escaped(site);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title} - {site}</title>{}\n<style>:root{{--site:{colour}}}{STYLE}</style></head>\n<body>\n\
         <header><b><a href=\"/\">{site}</a></b><nav>",
        discovery(page)
    );
    for list in records.lists_of(page.server).iter().skip(1) {
        let list = web.page(*list);
        let _ = write!(
            html,
            "<a href=\"{}\">{}</a> ",
            list.path,
            escaped(&records.title(web, list))
        );
    }
    let _ = write!(
        html,
        "</nav></header>\n<main><h1>{title}</h1>\n{text}</main>\n<footer>Also in town: "
    );
    for server in [NEWSPAPER, MANUAL, FORUM, SHOP] {
        if server != page.server {
            let name = escaped(SITES[server.0 as usize].0);
            let _ = write!(
                html,
                "<a href=\"{}\">{name}</a> ",
                web.url(web.home(server), port)
            );
        }
    }
    html.push_str("<br>An invented town; no one in it is real.</footer>\n</body></html>\n");
    html
}

/// Returns the element that announces the feed of a site.
fn discovery(page: &InventedPage) -> &'static str {
    match page.server {
        NEWSPAPER | FORUM => {
            "<link rel=\"alternate\" type=\"application/rss+xml\" title=\"Newest\" href=\"/feed.xml\">"
        }
        _ => "",
    }
}

/// Returns the entry for a page in a list. It contains only what never changes about the page.
pub(super) fn lead(records: &TownRecords, web: &Web, page: &InventedPage) -> String {
    let title = escaped(&records.title(web, page));
    let more = match records.kind(page.number()) {
        TownPageKind::Article => newspaper::teaser(web, page),
        TownPageKind::Thread => forum::asked_by(web, page),
        TownPageKind::Product => shop::kind(web, page),
        _ => String::new(),
    };
    format!(
        "<li><a href=\"{}\">{title}</a><br><small>{}</small></li>\n",
        page.path(),
        escaped(&more)
    )
}
