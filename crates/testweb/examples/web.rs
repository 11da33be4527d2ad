//! Serves an invented web on loopback until it is stopped, so that the crawler can be tried
//! without a network.
//!
//! Run it with `cargo run --release -p testweb --example web [PAGES]`.

use testweb::site::{ServedWeb, WebClock, WebPlan};

/// The port that the README names.
const PORT: u16 = 8400;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pages = match std::env::args().nth(1) {
        Some(text) => text
            .parse()
            .map_err(|_| format!("{text:?} is not a number of pages"))?,
        None => 2_000,
    };
    let plan = WebPlan {
        servers: 20,
        pages,
        ..WebPlan::small(1)
    };
    let serving = ServedWeb::start(plan.invent(), WebClock::Running(60.0), Some(PORT)).await?;
    println!("{pages} pages on 20 servers; a minute of theirs is a second of ours");
    println!(
        "avocet crawl {} --scope any --allow-private",
        serving.homes()[0]
    );
    std::future::pending::<()>().await;
    Ok(())
}
