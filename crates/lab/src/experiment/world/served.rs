//! Description of servers: latencies and requests per connection.

use testweb::site::Web;

use super::WorldDescription;
use super::distribution::{median, ranked};

pub(super) fn describe(web: &Web, description: &mut WorldDescription) {
    let servers: Vec<_> = web.servers().map(|(_, server)| server).collect();
    description.count("servers", servers.len());
    let trips: Vec<f64> = servers
        .iter()
        .map(|server| server.round_trip.as_secs_f64())
        .collect();
    let answers: Vec<f64> = servers
        .iter()
        .map(|server| server.response_latency.as_secs_f64())
        .collect();
    description.number("round_trip@median", median(&trips));
    description.number("response@median", median(&answers));
    let one = servers
        .iter()
        .filter(|server| server.requests_per_connection == 1);
    description.number("one_request", one.count() as f64 / servers.len() as f64);
    let millis = |seconds: &[f64]| -> Vec<u64> {
        seconds
            .iter()
            .map(|seconds| (seconds * 1e3).round() as u64)
            .collect()
    };
    description.draw(
        "servers",
        [
            "Latencies of servers",
            "rank of the server, log10",
            "milliseconds, log10",
        ],
        vec![
            ("round trip", ranked(&millis(&trips))),
            ("response", ranked(&millis(&answers))),
        ],
    );
}
