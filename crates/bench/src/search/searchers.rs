//! The searchers of `bench search`: each sends one search after another over its own connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::SearchOptions;
use super::invented::InventedPages;

/// Runs all searchers and returns the times of all searches, sorted.
pub fn search(address: &str, options: &SearchOptions) -> Result<Vec<Duration>> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let mut times = thread::scope(|scope| {
        let searchers: Vec<_> = (1..=options.searchers)
            .map(|number| scope.spawn(move || one(address, options, number, until)))
            .collect();
        let mut times = Vec::new();
        for searcher in searchers {
            let found = searcher.join();
            times.extend(found.map_err(|_| anyhow::anyhow!("a searcher panicked"))??);
        }
        anyhow::Ok(times)
    })?;
    ensure!(!times.is_empty(), "no search was made: use more --seconds");
    times.sort();
    Ok(times)
}

fn one(
    address: &str,
    options: &SearchOptions,
    number: u32,
    until: Instant,
) -> Result<Vec<Duration>> {
    let mut drawn = InventedPages::searcher(number.into());
    let mut times = Vec::new();
    let stream = TcpStream::connect(address).context("cannot connect")?;
    stream.set_nodelay(true)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut requests = stream;
    loop {
        let pause = drawn.pause(options.pause as f64 / 1e3);
        thread::sleep(Duration::from_secs_f64(pause));
        if Instant::now() >= until {
            return Ok(times);
        }
        let path = if options.html { "/" } else { "/api/v1/search" };
        let query = drawn.query();
        let request = format!("GET {path}?q={query} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        let began = Instant::now();
        requests.write_all(request.as_bytes())?;
        let body = read(&mut answers).with_context(|| format!("searching for {query}"))?;
        times.push(began.elapsed());
        ensure!(
            body.contains("results"),
            "the answer has no results: {body}"
        );
    }
}

/// Reads an answer to its end.
fn read(answers: &mut BufReader<TcpStream>) -> Result<String> {
    let mut length = 0;
    let mut line = String::new();
    answers.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "answered {line:?}");
    loop {
        line.clear();
        if answers.read_line(&mut line)? == 0 {
            bail!("the answer ends within its head");
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body)?;
    Ok(String::from_utf8(body)?)
}
