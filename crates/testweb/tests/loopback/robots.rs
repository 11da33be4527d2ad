//! Tests of the hostile robots.txt files: each has the content that its variant describes.

use std::net::Ipv4Addr;
use std::time::Duration;

use testweb::lying::{HostileRobots, HostileServer, Nature, Pace};

use crate::client::{ByteClient, links};

const HOST: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 11);

async fn start(robots: HostileRobots) -> HostileServer {
    // Only the silent server reaches this time limit.
    let pace = Pace {
        longest: Duration::from_millis(300),
        ..Pace::QUICK
    };
    HostileServer::start(HOST, Nature::Robots(robots), pace)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_file_has_the_content_that_its_variant_describes() {
    for robots in HostileRobots::ALL {
        let server = start(robots).await;
        let got = ByteClient::connect(server.address())
            .await
            .get("/robots.txt", "")
            .await;
        assert_eq!(server.hits("/robots.txt"), 1);
        let Some(got) = got else {
            assert_eq!(robots, HostileRobots::Slow);
            continue;
        };
        let text = got.text();
        let expected = match robots {
            HostileRobots::Missing => 404,
            HostileRobots::ServerError => 500,
            HostileRobots::Redirects | HostileRobots::RedirectLoop => 301,
            _ => 200,
        };
        assert_eq!(got.status, expected, "{robots:?}");
        let limit = 500 << 10;
        let lies = match robots {
            HostileRobots::Huge => text.find("Disallow: /\n").unwrap() > limit,
            HostileRobots::Html => got.header("content-type").unwrap().starts_with("text/html"),
            HostileRobots::Nuls => {
                text.starts_with('\0') && text.contains("*\rDisallow: /forbidden\r")
            }
            HostileRobots::Redirects | HostileRobots::RedirectLoop => {
                got.header("location").is_some()
            }
            HostileRobots::Missing => text.contains("Disallow: /\n"),
            HostileRobots::ServerError => text.contains("Allow: /\n"),
            HostileRobots::Slow => false,
            HostileRobots::ManyRules => text.lines().count() > 100_000,
            HostileRobots::Wildcards => text.matches('*').count() > 1_000,
            HostileRobots::DelayHuge => text.ends_with("Crawl-delay: 1e9\n"),
            HostileRobots::DelayNegative => text.ends_with("Crawl-delay: -1\n"),
            HostileRobots::DelayNan => text.ends_with("Crawl-delay: NaN\n"),
        };
        assert!(lies, "{robots:?}");
        assert!((43..=49).contains(&robots.row()));
    }
}

#[tokio::test]
async fn pages_are_served_whether_robots_txt_allows_them_or_not() {
    for robots in HostileRobots::ALL {
        let server = start(robots).await;
        let mut client = ByteClient::connect(server.address()).await;
        let index = client.get("/", "").await.unwrap();
        assert!(links(index.text()).eq(HostileRobots::pages()));
        for path in HostileRobots::pages() {
            assert_eq!(client.get(&path, "").await.unwrap().status, 200);
        }
        assert_eq!(client.get("/other", "").await.unwrap().status, 404);
        let allowed = HostileRobots::pages()
            .iter()
            .filter(|path| robots.allows(path))
            .count();
        assert!(matches!(allowed, 0 | 3 | 4), "{robots:?}");
    }
}

#[tokio::test]
async fn redirects_end_after_five_hops_or_never() {
    for (robots, ends_after) in [
        (HostileRobots::Redirects, Some(5)),
        (HostileRobots::RedirectLoop, None),
    ] {
        let server = start(robots).await;
        let mut client = ByteClient::connect(server.address()).await;
        let mut path = String::from("/robots.txt");
        let mut hops = 0;
        let end = loop {
            let got = client.get(&path, "").await.unwrap();
            match got.header("location") {
                Some(next) if hops < 30 => path = next.to_owned(),
                Some(_) => break None,
                None => break Some(hops),
            }
            hops += 1;
        };
        assert_eq!(end, ends_after, "{robots:?}");
    }
}
