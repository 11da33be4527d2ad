//! Generator of servers with latencies, and of their pages: the web of the two-level scheduling
//! experiment.
//!
//! Round-trip and response times are log-normal over the servers, and constant for each server.
//! Requests per connection are 1, 100, or a number between (`docs/science/theory.md`, §3). Pages
//! and links are those of [`site::WebPlan::two_level`], whose documentation names the sources.
//!
//! **Invariant:** the default settings give exactly that web.

use testweb::site::{self, KeepAlive, Latency, Spread};

use super::knob::plan;
use crate::LabError;

plan! {
    /// Servers to invent.
    ServersPlan {
        /// Servers.
        servers: u32 = 500, 1 to 1_000_000;
        /// Pages in all; at least one for each server, its home page.
        pages: u32 = 30_000, 1 to 5_000_000;
        /// Median round-trip time over the servers, in seconds.
        connect: f64 = 0.03, 0 to 60;
        /// Standard deviation of the logarithm of round-trip times; 0 makes all equal.
        connect_sigma: f64 = 1.0, 0 to 4;
        /// Median response time over the servers, in seconds.
        response: f64 = 0.08, 0 to 60;
        /// Standard deviation of the logarithm of response times.
        response_sigma: f64 = 1.0, 0 to 4;
        /// The share of servers that answer one request per connection.
        one: f64 = 0.24, 0 to 1;
        /// The share of servers that answer 100 requests per connection; the rest answer 2 to 99.
        hundred: f64 = 0.66, 0 to 1;
        /// The least number of links on a page, besides those that make all pages reachable.
        least_links: u32 = 3, 0 to 1_000;
        /// Exponent of the power law of the number of these links.
        out_exponent: f64 = 2.7, 1.1 to 10;
    }
}

impl ServersPlan {
    /// Invents the servers.
    ///
    /// # Errors
    /// If the shares `one` and `hundred` add up to more than 1.
    pub fn invent(&self, seed: u64) -> Result<site::Web, LabError> {
        if self.one + self.hundred > 1.0 + 1e-9 {
            return Err(LabError::Wish(format!(
                "one and hundred of invented:servers are shares of all servers, and {} + {} is more than 1",
                self.one, self.hundred
            )));
        }
        Ok(self.site(seed).invent())
    }

    fn site(&self, seed: u64) -> site::WebPlan {
        let usual = site::WebPlan::two_level(seed);
        site::WebPlan {
            servers: self.servers as usize,
            pages: self.pages as usize,
            links: site::Tail {
                least: self.least_links,
                exponent: self.out_exponent,
                ..usual.links
            },
            latency: Latency::PerServer {
                connect: Spread {
                    median: self.connect,
                    sigma: self.connect_sigma,
                },
                response: Spread {
                    median: self.response,
                    sigma: self.response_sigma,
                },
            },
            keep_alive: KeepAlive {
                one: self.one,
                hundred: self.hundred,
            },
            ..usual
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_settings_give_the_web_of_the_experiment() {
        assert_eq!(ServersPlan::default().site(5), site::WebPlan::two_level(5));
    }

    #[test]
    fn servers_have_the_distributions_that_were_set() {
        let plan = ServersPlan {
            servers: 2_000,
            pages: 2_000,
            connect: 0.5,
            response: 2.0,
            response_sigma: 0.0,
            one: 0.5,
            hundred: 0.25,
            ..ServersPlan::default()
        };
        let web = plan.invent(3).unwrap();
        let mut trips: Vec<f64> = web
            .servers()
            .map(|(_, server)| server.round_trip.as_secs_f64())
            .collect();
        trips.sort_unstable_by(f64::total_cmp);
        assert!((trips[1_000] / 0.5 - 1.0).abs() < 0.1, "{}", trips[1_000]);
        let answers = |n| move |s: &testweb::site::InventedServer| s.requests_per_connection == n;
        let share = |is: &dyn Fn(&testweb::site::InventedServer) -> bool| {
            web.servers().filter(|(_, server)| is(server)).count() as f64 / 2_000.0
        };
        assert!((share(&answers(1)) - 0.5).abs() < 0.04);
        assert!((share(&answers(100)) - 0.25).abs() < 0.04);
        assert_eq!(share(&|s| s.response_latency.as_secs_f64() == 2.0), 1.0);
    }

    #[test]
    fn shares_that_exceed_1_together_are_refused() {
        let plan = ServersPlan {
            one: 0.5,
            ..ServersPlan::default()
        };
        let error = plan.invent(1).unwrap_err().to_string();
        assert!(error.contains("0.5 + 0.66"), "{error}");
    }
}
