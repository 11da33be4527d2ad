//! `avocet crawl`: makes a plan from flags and `avocet.toml`, and runs it in the engine.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use frontier::{DomainLimits, PageKey, Visited};
use page::PageUrl;
use policy::retry::Retry;
use repository::archive::Level;
use tokio::runtime::Runtime;

use super::run::lend;
use crate::cli::CrawlArguments;
use crate::logs::say;
use crate::progress::StatusLine;
use crate::signal::{StopSignals, exit_at_next};
use crawl::Again;
use crawl::Summary;
use crawl::scope::{Blocked, Outside, Reach, Scope, ScopeRules};
use node::clock::Clock;
use node::documents;
use node::engine;
use node::engine::plan::EnginePlan;
use node::forget::ForgetLog;
use node::live::Live;
use node::number::{amount, bytes, counted};
use node::retention::thin;
use node::settings::last_crawl::LastCrawl;
use node::settings::policies::{ChosenPolicies, PolicySettings};
use node::settings::{Layer, Retention, Settings, SiteSettings, Usage, seed_url};
use node::socket::StoreSocket;
use node::store::{self, Store};

/// Maximum number of pages that `avocet crawl` fetches from one host if the user sets no limit.
/// `avocet run` has no limit by default.
const PAGES_PER_HOST: u32 = 1_000_000;

/// Crawls until nothing is left to fetch, a limit is reached, or a signal arrives.
pub fn run(root: &Path, json: bool, arguments: &CrawlArguments) -> Result<()> {
    let flags = with_seeds(&arguments.settings.layer, arguments)?;
    let file = Settings::file(arguments.config.as_deref(), root)?;
    let mut settings = flags.over(&file).settings()?;
    documents::configure(&settings.documents);
    let mut plan = plan(&mut settings, arguments, root)?;
    let policies = PolicySettings::new(&settings, root, false);
    let mut choice = policies.choose()?;
    refuse_without_target(&plan, &choice)?;
    if plan.rules.stop_coverage.is_some() && choice.order.report().coverage.is_none() {
        let why = "--stop-coverage needs an ordering that measures coverage: use --order rankmass";
        return Err(Usage(why.into()).into());
    }
    refuse_other_files(root, arguments.force)?;
    let mut store = Store::create(root)?;
    say(&format!(
        "crawling {} into {}; ordering {}, servers {}; after a kill at most {} requests are repeated",
        describe(&plan.rules.seeds),
        root.display(),
        policies.order(),
        policies.crawl.servers,
        plan.core().at_risk()
    ));
    let seeds = plan.rules.seeds.clone();
    let live = Live::of(root);
    live.decides_by(&policies);
    record(&plan, policies.clone(), &settings).write(store.root())?;
    let socket = StoreSocket::open(&live);
    let runtime = Runtime::new()?;
    let mut signals = runtime.block_on(async { StopSignals::listen() });
    let (begun, time) = (Instant::now(), plan.time);
    let summary = loop {
        let mut is_wanted = false;
        let interrupted = async {
            tokio::select! {
                () = signals.next() => exit_at_next(),
                () = live.loans().wanted() => is_wanted = true,
            }
        };
        let progress = StatusLine::start();
        let crawled = engine::crawl(&store, plan.clone(), choice, progress, &live, interrupted);
        let summary = runtime.block_on(crawled)?;
        if !is_wanted {
            break summary;
        }
        let Some(returned) = runtime.block_on(lend(store, &live, &mut signals))? else {
            return finish(&summary, json);
        };
        store = returned;
        plan.scope.forgotten = ForgetLog::read(root)?.targets();
        plan.time = time.map(|time| time.saturating_sub(begun.elapsed()));
        choice = policies.choose()?;
    };
    // Each reader has its data, or gets the error that the crawl has ended.
    drop(socket);
    retain(&store, &settings)?;
    finish(&summary, json)?;
    if summary.urls_seen == 0 {
        bail!("no seed may be fetched: each is out of scope, blocked or forgotten");
    }
    let waits = summary.queued > summary.deferred;
    let fetched = summary.pages + summary.unchanged;
    if fetched == 0 && (waits || !summary.errors.is_empty()) && all_failed(&store, &seeds)? {
        bail!(
            "no page could be fetched; `avocet export urls --store {}` gives the reason for each URL",
            summary.store
        );
    }
    Ok(())
}

fn finish(summary: &Summary, json: bool) -> Result<()> {
    if json {
        outln!("{}", serde_json::to_string(summary)?);
    } else {
        print(summary);
    }
    Ok(())
}

/// Returns whether no seed was ever fetched without an error. Then the crawl has failed; otherwise
/// what is left over are single pages.
fn all_failed(store: &Store, seeds: &[PageUrl]) -> Result<bool> {
    let ledger = store.ledger()?;
    for seed in seeds {
        let visited = ledger.visited(PageKey::of(seed))?;
        let good = |visited: &Visited| visited.copy.is_some() || visited.error.is_none();
        if visited.as_ref().is_some_and(good) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Refuses to make a store in a directory that has other files, unless `force`.
pub(super) fn refuse_other_files(root: &Path, force: bool) -> Result<()> {
    let others = match force {
        true => Vec::new(),
        false => store::other_files(root)?,
    };
    let Some(first) = others.first() else {
        return Ok(());
    };
    let more = match others.len() {
        1 => String::new(),
        many => format!(" and {}", counted(many - 1, "more file")),
    };
    let why = format!(
        "{} is no store and has other files ({first}{more}): give another directory with --store, or --force to make a \
         store among them",
        root.display()
    );
    Err(Usage(why).into())
}

/// Removes old versions from the archive, as the settings say.
pub(super) fn retain(store: &Store, settings: &Settings) -> Result<()> {
    let Some(keep) = settings.archive.keep else {
        return Ok(());
    };
    let thinned = thin(store, &*store.ledger()?, keep, Clock::start().now())?;
    if thinned.records > 0 {
        say(&format!(
            "{} of old versions removed from the archive ({}), as [archive] keep = \"{keep}\" says",
            counted(thinned.records, "record"),
            bytes(thinned.bytes as f64)
        ));
    }
    if let Retention::Size(limit) = keep
        && thinned.left > limit.0
    {
        say(&format!(
            "the newest copies alone take {}, more than [archive] keep = \"{keep}\"; --buffer limits their number",
            bytes(thinned.left as f64)
        ));
    }
    Ok(())
}

/// Refuses a crawl with `--until-found` or `--only-found` that has no topic and no predicate.
pub(super) fn refuse_without_target(plan: &EnginePlan, choice: &ChosenPolicies) -> Result<()> {
    let needs_target = plan.rules.until_found.is_some() || plan.rules.only_found;
    if needs_target && choice.order.report().found.is_none() {
        let why = "--until-found and --only-found need a topic or a predicate: give --topic NAME or --where PREDICATE";
        return Err(Usage(why.into()).into());
    }
    Ok(())
}

/// Returns what the next crawl and `explain` need to know about this one.
pub(super) fn record(
    plan: &EnginePlan,
    policies: PolicySettings,
    settings: &Settings,
) -> LastCrawl {
    LastCrawl {
        policies,
        scope: plan.scope.clone(),
        allow_private: settings.fetch.allow_private,
        domains: plan.rules.domains,
        contact: settings.fetch.contact.clone(),
    }
}

/// Returns the plan of a crawl.
///
/// A crawl without seeds resumes the last one: it takes over the seeds and, where the settings give
/// none, the scope and the contact.
pub(super) fn plan(
    settings: &mut Settings,
    arguments: &CrawlArguments,
    root: &Path,
) -> Result<EnginePlan> {
    for host in &settings.crawl.block {
        Blocked::parse(host).map_err(Usage).context("crawl.block")?;
    }
    let share = |share: &f64| *share > 0.0 && *share <= 1.0;
    if arguments
        .stop_coverage
        .is_some_and(|wanted| !share(&wanted))
    {
        let why = "--stop-coverage must be a share above 0 and up to 1, such as 0.95";
        return Err(Usage(why.into()).into());
    }
    let last = match settings.crawl.all_seeds().is_empty() {
        true => LastCrawl::read(root).ok(),
        false => None,
    };
    let (last, contact) = last.map(|last| (last.scope, last.contact)).unzip();
    settings.fetch.contact = settings.fetch.contact.take().or(contact.flatten());
    let (settings, crawl) = (&*settings, &settings.crawl);
    let (named, added) = seeds(settings, last.as_ref())?;
    let mut fetch = settings.requests()?;
    fetch.open_gate(settings.fetch.allow_private, &named);
    let seeds = [named, added.clone()].concat();
    let mut scope = scope(settings, [&seeds, &added], last);
    scope.forgotten = ForgetLog::read(root)?.targets();
    let traps = settings.limits.url_rules();
    let compiled = Scope::new(&scope, traps.clone())
        .map_err(|error| Usage(format!("--include or --exclude: {error}")))?;
    for seed in &seeds {
        if compiled.judge(seed, 0) == Err(Outside::Forgotten) {
            say(&format!(
                "the seed {seed} is not fetched: it was forgotten; `avocet forget --list` shows when, and --allow lets it in"
            ));
        }
    }
    let again = match arguments.refresh_after {
        Some(age) => Again::OlderThan(age.0),
        None => Again::Never,
    };
    let retry = Retry {
        first: crawl.retry_after.0,
        ..Retry::default()
    };
    let sites = settings.site.iter().map(|site| site.rules().map_err(Usage));
    let sites = sites.collect::<Result<_, _>>()?;
    let rules = crawl::Plan {
        seeds,
        connections: usize::from(crawl.connections),
        per_server: crawl.per_server,
        pages_per_host: crawl.pages_per_host.unwrap_or(PAGES_PER_HOST),
        domains: domain_limits(settings, scope.reach),
        delay: crawl.delay.map(|delay| delay.0),
        sites,
        burst: crawl.burst,
        again,
        retry: Retry {
            attempts: crawl.attempts.unwrap_or(retry.attempts),
            ..retry
        },
        buffer: crawl.buffer.map(|pages| pages as usize),
        stop_coverage: arguments.stop_coverage,
        until_found: arguments.until_found,
        only_found: crawl.only_found,
        index: crawl.index,
        ..crawl::Plan::default()
    };
    Ok(EnginePlan {
        rules,
        scope,
        traps,
        fetch,
        pages: arguments.pages,
        time: arguments.time.map(|time| time.0),
        min_free: settings.store.min_free.map(|size| size.0),
        archive: crawl.archive,
        level: Level::new(crawl.compression).context("crawl.compression must be 1 to 9")?,
        term: None,
    })
}

/// Returns the page budget of domains without a seed, or `None` if these have no limit.
///
/// Only the scope `any` has such domains; every other scope ends at the domains of the seeds.
fn domain_limits(settings: &Settings, reach: Reach) -> Option<DomainLimits> {
    let limits = DomainLimits {
        pages: settings.crawl.domain_pages,
        spare: settings.crawl.domain_spare,
    };
    (reach == Reach::Any && limits.pages > 0).then_some(limits)
}

/// Returns the scope of the crawl. Reach, include, exclude and depth come from the last crawl where
/// the settings give none.
fn scope(
    settings: &Settings,
    [seeds, added]: [&[PageUrl]; 2],
    last: Option<ScopeRules>,
) -> ScopeRules {
    let texts = |urls: &[PageUrl]| urls.iter().map(|url| url.as_str().to_owned()).collect();
    let last = last.unwrap_or_default();
    let or_last = |set: &[String], last: Vec<String>| match set {
        [] => last,
        set => set.to_vec(),
    };
    let crawl = &settings.crawl;
    ScopeRules {
        seeds: texts(seeds),
        added: texts(added),
        reach: crawl.scope.unwrap_or(last.reach),
        include: or_last(&crawl.include, last.include),
        exclude: or_last(&crawl.exclude, last.exclude),
        depth: crawl.depth.or(last.depth),
        block: crawl.block.clone(),
        sites: settings.site.iter().map(SiteSettings::scope).collect(),
        forgotten: Vec::new(),
    }
}

/// Returns the flags together with the seeds of the command line, given as URLs or in a file.
pub(super) fn with_seeds(flags: &Layer, arguments: &CrawlArguments) -> Result<Layer> {
    let mut seeds = arguments.urls.clone();
    if let Some(path) = &arguments.seeds {
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
        seeds.extend(lines.map(str::to_owned));
    }
    Ok(flags.with_seeds(seeds))
}

/// Returns the seeds that the operator named, and those that the dashboard or the API added.
fn seeds(settings: &Settings, last: Option<&ScopeRules>) -> Result<(Vec<PageUrl>, Vec<PageUrl>)> {
    let (named, added) = match last {
        Some(last) => (last.named(), last.added.clone()),
        None => (
            settings.crawl.seeds.clone(),
            settings.crawl.added_seeds.clone(),
        ),
    };
    if named.is_empty() && added.is_empty() {
        let why =
            "there are no seeds: give a URL, a file with --seeds, or [crawl] seeds in avocet.toml";
        return Err(Usage(why.into()).into());
    }
    let parse = |texts: Vec<String>| texts.iter().map(|text| seed(text)).collect::<Result<_>>();
    Ok((parse(named)?, parse(added)?))
}

/// Parses a seed. A message says what a seed without a scheme means.
pub(super) fn seed(text: &str) -> Result<PageUrl> {
    let url = seed_url(text).map_err(|error| {
        let why = format!("the seed {text:?} cannot be used ({error})");
        Usage(format!("{why}: write it like https://example.org/"))
    })?;
    if PageUrl::parse(text).is_err() {
        say(&format!("the seed {text} means {url}"));
    }
    Ok(url)
}

pub(super) fn describe(seeds: &[PageUrl]) -> String {
    match seeds {
        [one] => one.to_string(),
        [first, rest @ ..] => {
            format!("{first} and {}", counted(rest.len(), "more seed"))
        }
        [] => String::new(),
    }
}

pub(super) fn print(summary: &Summary) {
    let took = Duration::from_secs_f64(summary.seconds);
    let rate = (summary.pages + summary.unchanged) as f64 / summary.seconds.max(0.001);
    outln!(
        "{} fetched, {} unchanged, {:.1} MB in {:.1} s ({rate:.0} pages/s)",
        counted(summary.pages, "page"),
        summary.unchanged,
        summary.bytes as f64 / 1e6,
        took.as_secs_f64()
    );
    match summary.price {
        Some(price) => outln!(
            "{} known; price {} (pages whose fetch is worth less wait)",
            counted(summary.urls_seen, "URL"),
            amount(price)
        ),
        None => outln!(
            "{} known, {} still to fetch",
            counted(summary.urls_seen, "URL"),
            summary.queued
        ),
    }
    for (kind, count) in &summary.errors {
        let hint = match kind.as_str() {
            "refused:private-address" | "refused:port" => " (--allow-private permits it)",
            _ => "",
        };
        outln!("  {count:>8}  {kind}{hint}");
    }
    if let [(first, _), ..] = &summary.outside_hosts[..] {
        let hosts = summary.outside_hosts.iter();
        let hosts: Vec<String> = hosts
            .map(|(host, links)| format!("{host} {links}"))
            .collect();
        outln!(
            "{} left out, most of them to {}; to take in a host, name it as a seed (https://{first}/) or use --scope domain or any",
            counted(summary.outside, "link"),
            hosts.join(", ")
        );
    }
    if summary.deferred > 0 {
        let domains = summary.deferred_domains.iter();
        let domains: Vec<String> = domains
            .map(|(domain, pages)| format!("{domain} {pages}"))
            .collect();
        outln!(
            "{} deferred by a domain's page budget ({}); `avocet explain URL` gives the reason",
            counted(summary.deferred, "URL"),
            domains.join(", ")
        );
    }
    if summary.dropped > 0 {
        outln!(
            "{} dropped because the buffer was full",
            counted(summary.dropped, "page")
        );
    }
    if let Some(coverage) = summary.coverage {
        outln!(
            "a random walk from the seeds spends at least {:.1} % of its time on fetched pages",
            coverage * 100.0
        );
    }
    if let Some(found) = summary.found {
        outln!("pages of the store that match the topic or predicate: {found}");
    }
    if !summary.unseen_words.is_empty() {
        let words = summary.unseen_words.join(", ");
        outln!("query words that no page, link or URL has so far: {words}");
    }
    for remark in &summary.remarks {
        outln!("{remark}");
    }
    if !summary.errors.is_empty() {
        outln!(
            "`avocet export urls --store {}` lists the pages with errors",
            summary.store
        );
    }
    if summary.pages + summary.unchanged > 0 {
        outln!("search it: avocet search WORDS --store {}", summary.store);
    }
}
