//! The web of the two-level experiment, and what its pages are worth.

use lab::site::{Kind, PageNumber, Plan, RobotsFile, Scope, quality};

#[test]
fn the_two_level_web_is_what_the_paper_says() {
    let web = Plan::two_level(1).invent();
    assert_eq!((web.servers().count(), web.pages().count()), (500, 30_000));
    assert!(web.pages().all(|page| page.kind() == Kind::Ordinary));
    let all = web.reachable(&[PageNumber(0)], Scope::Any, 0.0);
    assert_eq!(all.len(), 30_000, "some page cannot be found");
    let (mut trips, mut answers, mut one, mut hundred) = (Vec::new(), Vec::new(), 0, 0);
    for (_, server) in web.servers() {
        let open = matches!(server.robots, RobotsFile::Open | RobotsFile::Missing);
        assert!(open && !server.calendar && server.coding.is_none());
        trips.push(server.round_trip.as_secs_f64());
        answers.push(server.response_latency.as_secs_f64());
        one += u32::from(server.requests_per_connection == 1);
        hundred += u32::from(server.requests_per_connection == 100);
    }
    // Binomials of 500, within four deviations.
    assert!(
        (82..=158).contains(&one) && (288..=372).contains(&hundred),
        "{one}, {hundred}"
    );
    for (mut times, median) in [(trips, 0.03), (answers, 0.08)] {
        times.sort_unstable_by(f64::total_cmp);
        // The median of 500 draws has a deviation of 5.6%, and the upper sixth begins at e times it.
        assert!((times[250] / median - 1.0).abs() < 0.25, "{}", times[250]);
        assert!((times[420] / median - 2.72).abs() < 0.8, "{}", times[420]);
    }
}

#[test]
fn pagerank_is_that_of_the_paper() {
    let web = Plan {
        servers: 20,
        pages: 1_000,
        ..Plan::two_level(2)
    }
    .invent();
    let ranks = quality::pagerank(&web);
    assert_eq!(ranks.len(), 1_000);
    let mut given = vec![0.15 / 1_000.0; 1_000];
    for page in web.pages() {
        let links = web.leads_to(page.number(), 0.0);
        for to in &links {
            let share = ranks[page.number().0 as usize] / links.len() as f64;
            given[to.0 as usize] += 0.85 * share;
        }
    }
    for (rank, given) in ranks.iter().zip(given) {
        assert!((rank / given - 1.0).abs() < 1e-11, "{rank}, not {given}");
    }
    let total: f64 = ranks.iter().sum();
    assert!(total <= 1.0 + 1e-9 && total > 0.15, "{total}");
}

#[test]
fn zipf_gives_every_place_once_and_by_chance() {
    let web = Plan {
        servers: 20,
        pages: 1_000,
        ..Plan::two_level(3)
    }
    .invent();
    let qualities = quality::zipf(&web, 1);
    let mut sorted = qualities.clone();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let expected: Vec<f64> = (1..=1_000).map(|i| 1.0 / f64::from(i)).collect();
    assert_eq!(sorted, expected);
    assert_ne!(qualities, expected, "the pages are in order");
    assert_eq!(qualities, quality::zipf(&web, 1));
    assert_ne!(qualities, quality::zipf(&web, 2));
    let urls: Vec<String> = web.urls(80).collect();
    assert_eq!(urls.len(), qualities.len());
    assert_eq!(urls[5], web.url(PageNumber(5), 80));
}
