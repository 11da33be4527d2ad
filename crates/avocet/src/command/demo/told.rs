//! What does whoever starts the demo read?

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use testweb::site::Serving;

use super::judged::{Judged, freshness, publication};
use super::noticed::Noticed;
use super::searching::Searching;
use crate::cli::Demo;
use node::live::Live;

/// How often something is said while it runs.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// How often it is looked whether there is a search page.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Over how long freshness is told, in seconds.
const LATELY: f64 = 20.0;

/// Moments of them at which all copies are looked at.
const LOOKS: u32 = 20;

/// What is said at the beginning.
pub struct Setting {
    root: PathBuf,
    temporary: bool,
    budget: f64,
    speed: f64,
    searches: f64,
}

impl Setting {
    /// Of this demo.
    pub fn new(root: &Path, temporary: bool, wishes: &Demo) -> Self {
        Self {
            root: root.to_owned(),
            temporary,
            budget: wishes.budget.per_second,
            speed: wishes.speed,
            searches: wishes.searches,
        }
    }
}

/// Says where everything is, and then how it goes.
pub async fn tell(
    live: Arc<Live>,
    web: Arc<Serving>,
    searching: Searching,
    noticed: Noticed,
    setting: Setting,
) {
    let address = loop {
        match live.address() {
            Some(address) => break address,
            None => tokio::time::sleep(LOOK_EVERY).await,
        }
    };
    begin(&address, &web, &setting);
    let mut tick = tokio::time::interval(SAY_EVERY);
    tick.tick().await;
    loop {
        tick.tick().await;
        // It takes long enough to keep others from being answered.
        let (web, searching, noticed) = (web.clone(), searching.clone(), noticed.clone());
        let told = tokio::task::spawn_blocking(move || line(&web, &searching, &noticed));
        if let Ok(told) = told.await {
            outln!("{told}");
        }
    }
}

fn begin(address: &str, web: &Serving, setting: &Setting) {
    let homes = web.homes();
    let every = |seconds: f64| format!("{:.0} s", seconds / setting.speed);
    let sites = [
        format!(
            "a newspaper: an article every {}, corrections, live reports",
            every(8.0)
        ),
        "a manual that is edited".to_owned(),
        format!("a forum: threads grow, a new one every {}", every(20.0)),
        format!(
            "a shop: prices change, something is sold out every {}",
            every(30.0)
        ),
    ];
    outln!("A town is on the web of this machine, and nowhere else:\n");
    for (home, site) in homes.iter().zip(sites) {
        outln!("  {home:<26} {site}");
    }
    let fate = if setting.temporary {
        ", which is deleted in the end"
    } else {
        ""
    };
    outln!(
        "\nAvocet keeps it fresh with {} fetches a second, in {}{fate}.\nPeople of the town search it, {} times a second.\n",
        setting.budget,
        setting.root.display(),
        setting.searches
    );
    outln!("  search     {address}/\n  dashboard  {address}/dashboard\n");
    outln!("What to look at:");
    outln!("  search for 'ferry timetable', and again in a minute: what is new is there");
    outln!(
        "  search for 'rope', open a product and watch its price; the search page says when it was last checked"
    );
    outln!("  the dashboard: the price of a fetch, what the budget goes to, which pages and why");
    outln!(
        "  from another terminal: avocet pause --store {0}; avocet resume --store {0}",
        setting.root.display()
    );
    outln!("\nHow fresh it is, by the town's own truth, every 10 s (Ctrl-C ends it):");
}

fn line(web: &Serving, searching: &Searching, noticed: &Noticed) -> String {
    let now = web.now();
    let lately = freshness(web, searching, (now - LATELY).max(0.0), now, LOOKS);
    let delay = publication(web, noticed, now).mean_delay;
    format!(
        "{:>4.0} s  {} pages, {} requests; copies {} fresh ({} if all pages were visited alike), results shown {} ({}); new pages found after {}; {} searches, {} clicks",
        now,
        web.copies().pages(),
        web.fetches().all(),
        share(lately.copies),
        share(lately.copies_if_alike),
        share(lately.shown),
        share(lately.shown_if_alike),
        delay.map_or("-".into(), |delay| format!("{delay:.1} s")),
        searching.searches(),
        searching.clicks(),
    )
}

/// Says how it went.
pub fn end(judged: &Judged, root: &Path, temporary: bool) {
    let (fresh, new) = (&judged.freshness, &judged.publication);
    let fetches = &judged.fetches;
    outln!("\nIn {:.0} s, by the town's own truth:", judged.seconds);
    outln!(
        "  {} of {} pages known, {} requests: {} new, {} changed, {} unchanged, {} gone, {} lists, {} robots.txt",
        judged.known,
        judged.pages,
        judged.requests,
        fetches.new,
        fetches.changed,
        fetches.unchanged,
        fetches.gone,
        fetches.lists,
        fetches.robots
    );
    outln!(
        "  copies as their pages, in the second half: {} ({} if all pages were visited alike)",
        share(fresh.copies),
        share(fresh.copies_if_alike)
    );
    outln!(
        "  results shown to searchers as their pages: {} ({} if all pages were visited alike)",
        share(fresh.shown),
        share(fresh.shown_if_alike)
    );
    let seconds = |delay: Option<f64>| delay.map_or("-".into(), |delay| format!("{delay:.1} s"));
    outln!(
        "  {} pages appeared and {} can be found, after {} on average, half of them within {}",
        new.published,
        new.found,
        seconds(new.mean_delay),
        seconds(new.median_delay)
    );
    outln!("  {} searches, {} clicks", judged.searches, judged.clicks);
    match temporary {
        true => outln!("The store is deleted; --store DIR keeps one."),
        false => outln!("The store is in {}.", root.display()),
    }
}

fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.0} %", share * 100.0))
}
