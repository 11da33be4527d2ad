//! `avocet crawl`: flags and configuration become a plan, the engine carries it out.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fetch::{Depth, Http};
use frontier::DomainLimits;
use page::PageUrl;
use page::url::traps::Rules;
use policy::retry::Retry;
use repository::archive::Level;

use crate::cli::Crawl;
use crate::logs::say;
use crate::progress::StatusLine;
use crate::signal::signalled;
use crawl::Again;
use crawl::Summary;
use crawl::scope::{Blocked, Reach, ScopeRules};
use node::engine;
use node::engine::plan::Plan;
use node::live::Live;
use node::settings::config::{Config, HttpName, Time};
use node::settings::ranking::{Choice, LastCrawl, Ranking};
use node::settings::topic::{self, Subject};
use node::settings::usage::Usage;
use node::store::Store;

/// Crawls.
pub fn run(root: &Path, json: bool, wishes: &Crawl) -> Result<()> {
    let config = Config::load(wishes.config.as_deref(), root)?;
    let plan = plan(&config, wishes, root)?;
    let ranking = ranking(&config, wishes, root);
    let choice = ranking.choose()?;
    refuse_aimless(&plan, &choice)?;
    if plan.stop_coverage.is_some() && choice.order.report().coverage.is_none() {
        bail!("--stop-coverage needs an ordering that knows its coverage: --order rankmass");
    }
    let store = Store::create(root)?;
    say(&format!(
        "crawling {} into {} by {} and {}; a kill can cost at most {} requests",
        describe(&plan.seeds),
        root.display(),
        ranking.order,
        ranking.servers,
        plan.core().at_risk()
    ));
    let live = Live::of(root);
    live.decides_by(&ranking);
    let last = LastCrawl {
        ranking,
        scope: plan.scope.clone(),
        allow_private: allows_private(&config, wishes),
        domains: plan.domains,
    };
    last.write(store.root())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let interrupted = async {
        signalled().await;
        // Whoever asks twice does not want to wait for requests under way.
        tokio::spawn(async {
            signalled().await;
            std::process::exit(130);
        });
    };
    let summary = runtime.block_on(engine::crawl(
        &store,
        plan,
        choice,
        StatusLine::start(),
        &live,
        interrupted,
    ))?;
    if json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        print(&summary);
    }
    if summary.pages + summary.unchanged == 0 && summary.queued > summary.deferred {
        bail!("no page could be fetched; `avocet export urls` says why for each");
    }
    Ok(())
}

/// Who wants what was found must say what that is.
pub(super) fn refuse_aimless(plan: &Plan, choice: &Choice) -> Result<()> {
    let wished = plan.until_found.is_some() || plan.only_found;
    if wished && choice.order.report().found.is_none() {
        let why = "--until-found and --only-found need to know what is wanted: --topic NAME, or --where PREDICATE";
        return Err(Usage(why.into()).into());
    }
    Ok(())
}

/// What the user wants first: flags win over the configuration.
pub(super) fn ranking(config: &Config, wishes: &Crawl, root: &Path) -> Ranking {
    let usual = Ranking::default();
    let (set, flags) = (config.crawl.clone(), wishes);
    let described = flags.predicate.as_deref();
    let subject = match (described, flags.topic.clone().or(set.topic)) {
        (Some(predicate), _) => Some(Subject::described(root, predicate)),
        (None, topic) => topic.map(|topic| Subject::named(root, &topic)),
    };
    let usual_order = match subject {
        Some(_) => topic::FOCUS.to_owned(),
        None => usual.order,
    };
    // A method of focused crawling is an ordering that knows a topic.
    let order = flags.focus.clone().or(flags.order.clone());
    let order = order.or(set.focus).or(set.order);
    Ranking {
        order: order.unwrap_or(usual_order),
        topic: subject,
        servers: flags
            .servers
            .clone()
            .or(set.servers)
            .unwrap_or(usual.servers),
        query: flags.query.clone().or(set.query),
        location: if flags.location.is_empty() {
            set.location
        } else {
            flags.location.clone()
        },
        // In full, so that `explain` finds it from anywhere.
        scores: (flags.scores.clone().or(set.scores))
            .map(|path| std::path::absolute(&path).unwrap_or(path)),
        threshold: flags.threshold.or(set.threshold),
        refresh: None,
    }
}

fn http(config: &Config, wishes: &Crawl) -> Result<Http> {
    let name = wishes.http.or(config.fetch.http).unwrap_or(HttpName::Auto);
    let depth = wishes.pipeline_depth.or(config.fetch.pipeline_depth);
    if depth.is_some() && name != HttpName::Pipelined {
        bail!("--pipeline-depth has a meaning with --http pipelined only");
    }
    Ok(match name {
        HttpName::Auto => Http::Auto,
        HttpName::Http10 => Http::Http10,
        HttpName::Http11 => Http::Http11,
        HttpName::Http2 => Http::Http2,
        HttpName::Pipelined => Http::Pipelined(match depth {
            Some(depth) => Depth::new(depth).context("fetch.pipeline_depth must be 2 to 32")?,
            None => Depth::default(),
        }),
    })
}

pub(super) fn plan(config: &Config, wishes: &Crawl, root: &Path) -> Result<Plan> {
    let last = last_scope(config, wishes, root);
    let (seeds, added) = seeds(config, wishes, last.as_ref())?;
    let mut fetch = config.fetch_settings()?;
    fetch.http = http(config, wishes)?;
    let at_least_one = [
        ("crawl.connections", config.crawl.connections == Some(0)),
        (
            "crawl.pages_per_host",
            config.crawl.pages_per_host == Some(0),
        ),
        ("crawl.buffer", config.crawl.buffer == Some(0)),
    ];
    if let Some((key, _)) = at_least_one.iter().find(|(_, zero)| *zero) {
        bail!("{key} must be at least 1");
    }
    for host in &config.crawl.block {
        Blocked::parse(host).map_err(Usage).context("crawl.block")?;
    }
    let share = |share: &f64| *share > 0.0 && *share <= 1.0;
    if wishes.stop_coverage.is_some_and(|wanted| !share(&wanted)) {
        bail!("--stop-coverage must be a share above 0 and up to 1, such as 0.95");
    }
    if let Some(contact) = wishes.contact.as_ref().or(config.fetch.contact.as_ref()) {
        fetch.user_agent = format!("{} (+{contact})", fetch.user_agent);
    }
    if let Some(proxy) = &wishes.proxy {
        fetch.proxy = Some(fetch::Proxy::parse(proxy).context("--proxy")?);
    }
    fetch.cookies |= wishes.cookies;
    fetch.open_gate(allows_private(config, wishes), &seeds);
    let seeds = [seeds, added.clone()].concat();
    let time = |flag: Option<Time>, set: Option<Time>| flag.or(set).map(|time| time.0);
    let usual = Retry::default();
    let traps = Rules::default();
    let scope = scope(config, wishes, [&seeds, &added], last);
    let domains = domain_limits(config, scope.reach);
    crawl::scope::Scope::new(&scope, traps.clone()).context("--include or --exclude")?;
    Ok(Plan {
        seeds,
        scope,
        traps: Rules {
            max_length: config.limits.url_length.unwrap_or(traps.max_length),
            max_depth: config.limits.url_depth.unwrap_or(traps.max_depth),
            max_repeats: config.limits.url_repeats.unwrap_or(traps.max_repeats),
            ..traps
        },
        fetch,
        pages: wishes.pages,
        time: wishes.time.map(|time| time.0),
        connections: wishes
            .connections
            .map(usize::from)
            .or(config.crawl.connections)
            .unwrap_or(64),
        per_server: wishes
            .per_server
            .or(config.crawl.per_server)
            .unwrap_or(1)
            .max(1),
        pages_per_host: config.crawl.pages_per_host.unwrap_or(1_000_000),
        domains,
        delay: time(wishes.delay, config.crawl.delay),
        again: wishes
            .refresh_after
            .map_or(Again::Never, |time| Again::OlderThan(time.0)),
        retry: Retry {
            first: config.crawl.retry_after.map_or(usual.first, |time| time.0),
            attempts: config.crawl.attempts.unwrap_or(usual.attempts),
            ..usual
        },
        buffer: wishes
            .buffer
            .or(config.crawl.buffer)
            .map(|pages| pages as usize),
        stop_coverage: wishes.stop_coverage,
        until_found: wishes.until_found,
        only_found: wishes.only_found,
        archive: !wishes.no_archive,
        level: match config.crawl.compression {
            Some(level) => Level::new(level).context("crawl.compression must be 1 to 9")?,
            None => Level::default(),
        },
        index: !wishes.no_index,
    })
}

/// Returns whether the operator allows private addresses.
pub(super) fn allows_private(config: &Config, wishes: &Crawl) -> bool {
    wishes.allow_private || config.fetch.allow_private == Some(true)
}

/// Page budgets of domains that are not a seed's. Every scope but `any` ends at the seeds' domains.
fn domain_limits(config: &Config, reach: Reach) -> Option<DomainLimits> {
    let usual = DomainLimits::default();
    let limits = DomainLimits {
        pages: config.crawl.domain_pages.unwrap_or(usual.pages),
        spare: config.crawl.domain_spare.unwrap_or(usual.spare),
    };
    (reach == Reach::Any && limits.pages > 0).then_some(limits)
}

/// Returns the previous crawl's scope when no seeds are given, so that a bare `avocet crawl` resumes it.
fn last_scope(config: &Config, wishes: &Crawl, root: &Path) -> Option<ScopeRules> {
    let set = !config.crawl.all_seeds().is_empty();
    let named = !wishes.urls.is_empty() || wishes.seeds.is_some() || set;
    let last = LastCrawl::read(root).ok().filter(|_| !named)?;
    Some(last.scope)
}

/// What belongs to the crawl: flags win over the configuration, and that over the last crawl.
fn scope(
    config: &Config,
    wishes: &Crawl,
    [seeds, added]: [&[PageUrl]; 2],
    last: Option<ScopeRules>,
) -> ScopeRules {
    let texts = |urls: &[PageUrl]| urls.iter().map(|url| url.as_str().to_owned()).collect();
    let last = last.unwrap_or_default();
    let lists = |flags: &[String], set: &[String], last: Vec<String>| match (flags, set) {
        ([], []) => last,
        ([], set) => set.to_vec(),
        (flags, _) => flags.to_vec(),
    };
    let set = &config.crawl;
    ScopeRules {
        seeds: texts(seeds),
        added: texts(added),
        reach: wishes.scope.or(set.scope).unwrap_or(last.reach),
        include: lists(&wishes.include, &set.include, last.include),
        exclude: lists(&wishes.exclude, &set.exclude, last.exclude),
        depth: wishes.depth.or(set.depth).or(last.depth),
        block: set.block.clone(),
    }
}

/// Returns the seeds that the operator named, and those that the dashboard or the API added.
fn seeds(
    config: &Config,
    wishes: &Crawl,
    last: Option<&ScopeRules>,
) -> Result<(Vec<PageUrl>, Vec<PageUrl>)> {
    let (mut texts, mut added) = (wishes.urls.clone(), Vec::new());
    if let Some(path) = &wishes.seeds {
        let mut list = String::new();
        if path == Path::new("-") {
            std::io::stdin().read_to_string(&mut list)?;
        } else {
            list = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read the seeds in {}", path.display()))?;
        }
        let lines = list
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        texts.extend(lines.map(str::to_owned));
    }
    if texts.is_empty() {
        texts.clone_from(&config.crawl.seeds);
        added.clone_from(&config.crawl.added_seeds);
    }
    if let Some(last) = last {
        (texts, added) = (last.named(), last.added.clone());
    }
    if texts.is_empty() && added.is_empty() {
        let why =
            "there are no seeds: give a URL, a file with --seeds, or [crawl] seeds in avocet.toml";
        return Err(Usage(why.into()).into());
    }
    let parse = |text: &String| {
        PageUrl::parse(text)
            .with_context(|| format!("the seed {text:?}: write it like https://example.org/"))
    };
    let parse = |texts: Vec<String>| texts.iter().map(parse).collect::<Result<Vec<PageUrl>>>();
    Ok((parse(texts)?, parse(added)?))
}

pub(super) fn describe(seeds: &[PageUrl]) -> String {
    match seeds {
        [one] => one.to_string(),
        [first, rest @ ..] => format!("{first} and {} more seeds", rest.len()),
        [] => String::new(),
    }
}

pub(super) fn print(summary: &Summary) {
    let took = Duration::from_secs_f64(summary.seconds);
    let rate = (summary.pages + summary.unchanged) as f64 / summary.seconds.max(0.001);
    outln!(
        "{} pages, {} unchanged, {:.1} MB in {:.1} s ({rate:.0} pages/s)",
        summary.pages,
        summary.unchanged,
        summary.bytes as f64 / 1e6,
        took.as_secs_f64()
    );
    match summary.price {
        Some(price) => outln!(
            "{} URLs known and looked after; a fetch must be worth {price:.3e}",
            summary.urls_seen
        ),
        None => outln!(
            "{} URLs known, {} still to fetch",
            summary.urls_seen,
            summary.queued
        ),
    }
    for (kind, count) in &summary.errors {
        outln!("  {count:>8}  {kind}");
    }
    if summary.deferred > 0 {
        let domains = summary.deferred_domains.iter();
        let domains: Vec<String> = domains
            .map(|(domain, pages)| format!("{domain} {pages}"))
            .collect();
        println!(
            "{} URLs are deferred, beyond the budget of their domain ({}); `avocet explain URL` says why",
            summary.deferred,
            domains.join(", ")
        );
    }
    if summary.dropped > 0 {
        outln!(
            "{} pages fell out of the buffer and were dropped",
            summary.dropped
        );
    }
    if let Some(coverage) = summary.coverage {
        outln!(
            "a random walk from the seeds is on fetched pages at least {:.1} % of the time",
            coverage * 100.0
        );
    }
    if let Some(found) = summary.found {
        outln!("{found} pages are what was looked for");
    }
    if !summary.unseen_words.is_empty() {
        let words = summary.unseen_words.join(", ");
        outln!("in no page, link or URL so far: {words}");
    }
    for remark in &summary.remarks {
        outln!("{remark}");
    }
    outln!("search it: avocet search WORDS --store {}", summary.store);
}
