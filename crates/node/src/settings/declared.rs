//! Every setting of Avocet, declared once.
//!
//! The doc comment of a setting is what `--help`, `avocet config reference` and the API print.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use fetch::FetchLimits;
use frontier::DomainLimits;
use page::url::traps::Rules;
use policy::catalog::Upkeep;
use policy::retry::Retry;
use policy::source::SourceRules;
use repository::changes::ChangeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::brand::{BrandTitle, Colour, PathPrefix};
use super::quantity::{ByteSize, ListenAddress, Rate, Retention, Time};
use super::secret::Secret;
use super::setting::{Setting, SettingsSection, section};
use super::site::{RateText, SiteHours};
use crawl::scope::Reach;

section! {
    /// What is crawled, and how fast.
    [crawl] CrawlSettings {
        /// URLs where the crawl starts, if the command line names none.
        seeds: Vec<String> = Vec::new(), example(["https://docs.example.org/"]),
            excludes(&["added_seeds"]);
        /// Seeds that the dashboard or the API added. Unlike `seeds` they do not allow private
        /// addresses or unusual ports: for that, write them into `seeds`.
        added_seeds: Vec<String> = Vec::new(), example(["https://blog.example.org/"]);
        /// Which URLs belong to the crawl, relative to the seeds.
        scope: Option<Reach> = None, usual("host"), example("host"), flag("scope", "SCOPE");
        /// Fetch only URLs that match one of these regular expressions.
        include: Vec<String> = Vec::new(), example(["/guide/"]), flag("include", "REGEX");
        /// Fetch no URL that matches one of these regular expressions.
        exclude: Vec<String> = Vec::new(), example(["[?]print=1"]), flag("exclude", "REGEX");
        /// Follow at most this many links from a seed.
        depth: Option<u16> = None, example(20), flag("depth", "N");
        /// Hosts to which no request is made: `example.org`, `example.org:8080` (one port),
        /// `*.example.org` (all its subdomains, not `example.org` itself).
        block: Vec<String> = Vec::new(), example(["ads.example.org"]);
        /// The maximum number of connections open at once.
        connections: u16 = 64, range(1.0..=10_000.0), flag("connections", "N");
        /// The maximum number of connections to one server at once.
        per_server: u8 = 1, range(1.0..=64.0), flag("per-server", "N");
        /// The maximum number of pages that one run fetches from one host.
        pages_per_host: Option<u32> = None, usual("1000000, unlimited for run"),
            example(1_000_000), range(1.0..);
        /// With the scope `any`: the page budget of a domain without a seed is this number, times
        /// the number of other domains that link to it (at least 1), times a factor. The factor
        /// begins at 0.5; it rises towards 1 if the texts of the domain differ, and falls if they
        /// repeat. Further pages are deferred until the budget grows or nothing else is left to
        /// fetch. 0 means unlimited.
        domain_pages: u32 = DomainLimits::default().pages;
        /// With the scope `any`: when nothing else is left to fetch, deferred pages of a domain are
        /// fetched too, if at most this many pages of the domain are known.
        domain_spare: u32 = DomainLimits::default().spare;
        /// The minimum time between two requests to one server; a longer `Crawl-delay` of its
        /// robots.txt wins. With a delay and a `burst` of 1, a visit fetches one page, so the
        /// server strategies crawl-ability and best-prefix rank servers alike.
        delay: Option<Time> = None,
            usual("1s; none on loopback or where robots.txt has Crawl-delay: 0"),
            example(Time::seconds(1)), flag("delay", "TIME");
        /// The maximum number of requests that a visit makes without the delay between them. A
        /// visit of n requests is followed by n delays, so the mean rate of requests stays the
        /// same. A server with a `Crawl-delay` gets one request at a time.
        burst: u16 = 1, range(1.0..=100.0), flag("burst", "N");
        /// Consecutive failed attempts after which a page is given up.
        attempts: Option<u16> = None, usual("3, unlimited for run"), example(3), range(1.0..);
        /// The wait before the second attempt. It doubles with each further attempt, up to 24
        /// hours.
        retry_after: Time = Time(Retry::default().first);
        /// The wait before `run` requests a page again that has a copy but is now missing on its
        /// server.
        confirm_after: Time = Time::seconds(3600);
        /// Keep answers in the archive.
        archive: bool = true, off_flag("no-archive", "Keep no copies of what is fetched");
        /// Make pages searchable.
        index: bool = true, off_flag("no-index", "Build no search index");
        /// Compression of the archive, from 1 (fast) to 9 (small).
        compression: u32 = 1, range(1.0..=9.0);
        /// Which pages come first: an ordering, or several with weights.
        order: Option<String> = None, usual("rankmass"), example("rankmass"),
            flag("order", "ORDER"), excludes(&["focus"]);
        /// The server strategy: which servers are visited first.
        servers: String = "best-prefix".into(), flag("servers", "STRATEGY");
        /// Words that the orderings similarity, hot-anchor and hot-page look for.
        query: Option<String> = None, example("type system"), flag("query", "WORDS");
        /// Rules for the ordering `location`: each multiplies the worth of URLs that match, such as
        /// host:.edu=2, path:/docs/=3 or depth=0.8 (a factor for each path segment).
        location: Vec<String> = Vec::new(), example(["path:/docs/=3"]), flag("location", "RULE");
        /// Scores for the ordering `given`: a file of lines URL<tab>number.
        scores: Option<PathBuf> = None, usual("the scores of `avocet import urls`"), example("scores.tsv"), flag("scores", "FILE");
        /// What the crawl is about: a topic that `avocet topic train` made, or the words of a
        /// query.
        topic: Option<String> = None, example("type system"), flag("topic", "NAME|WORDS"),
            excludes(&["predicate"]);
        /// What the crawl is about, as a predicate, such as
        /// `contains("workshop") and topic("ml") > .7 and not url("/archive/")`. Conditions:
        /// contains, url, title, host, language("en"), date("2019..2021"), topic("ml") > .7,
        /// similar("some text") > .3. Operators: `and`, `or`, `not`, parentheses.
        predicate: Option<String> = None, example("contains(\"workshop\")"),
            flag("where", "PREDICATE"), excludes(&["topic"]);
        /// Which links lead to the topic: a method of focused crawling.
        focus: Option<String> = None, usual("learned"), example("learned"),
            flag("focus", "METHOD"), excludes(&["order"]);
        /// Index only pages that match the topic or predicate; other pages stay in the archive, and
        /// their links are followed.
        only_found: bool = false, flag("only-found", "");
        /// Fetch a new page only if its worth by the ordering is at least this. Each ordering has
        /// its own range; `avocet crawl --help` lists them.
        threshold: Option<f64> = None, example(0.001), positive(), flag("threshold", "WORTH");
        /// Keep at most this many pages, the most important ones; others leave archive and index.
        buffer: Option<u32> = None, example(100_000), range(1.0..), flag("buffer", "N");
    }
}

section! {
    /// What the archive keeps.
    [archive] ArchiveSettings {
        /// Remove older versions from the archive: keep `3 versions` of each page, what was fetched
        /// within `90d`, or the newest `50GB`. The newest copy of each page always stays. `crawl`
        /// applies it at its end, `run` at its start and once a day.
        keep: Option<Retention> = None, usual("everything"), example("3 versions"),
            flag("keep", "WHAT");
    }
}

section! {
    /// The disk of the store.
    [store] StoreSettings {
        /// Free disk space that the crawl leaves. Below twice this size it makes requests ever more
        /// slowly, and below this size it stops with an error.
        min_free: Option<ByteSize> = None, usual("until the disk is full"), example("2GB"),
            flag("min-free", "SIZE");
    }
}

section! {
    /// How requests are made.
    [fetch] FetchSettings {
        /// Where a site owner can reach you: a URL or mailto:, sent with every request.
        contact: Option<String> = None, example("mailto:me@example.org"),
            flag("contact", "CONTACT");
        /// Send all requests through this proxy: http://host:port or socks5://host:port. Without
        /// it, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY of the environment are read; `none`
        /// means no proxy.
        proxy: Option<String> = None, usual("the environment"), example("http://proxy.example.org:3128"),
            flag("proxy", "URL");
        /// Keep the cookies that sites set, and send them back to these sites.
        cookies: bool = false, flag("cookies", "");
        /// A PEM file of certificates to trust beside Mozilla's.
        roots: Option<PathBuf> = None, example("roots.pem");
        /// Allow requests to private, loopback and link-local addresses, and to any port. The
        /// hosts and ports of seeds on the command line, or in `[crawl] seeds` of avocet.toml, are
        /// always allowed.
        allow_private: bool = false, flag("allow-private", "");
        /// The version of HTTP to use.
        http: HttpVersion = HttpVersion::Auto, flag("http", "VERSION");
        /// The maximum number of requests under way at once on a pipelined connection.
        pipeline_depth: Option<u8> = None, usual("8"), example(8), range(2.0..=32.0),
            flag("pipeline-depth", "N");
    }
}

section! {
    /// Limits on the time and size of one response, and on the form of URLs.
    [limits] LimitSettings {
        /// The maximum time to connect to a server, over all its addresses.
        connect: Time = Time(FetchLimits::default().connect);
        /// The maximum time from the request until the whole response header has arrived.
        first_byte: Time = Time(FetchLimits::default().first_byte);
        /// The maximum time from the request until the whole body has arrived.
        total: Time = Time(FetchLimits::default().total);
        /// The maximum number of bytes of a body as transferred, before decompression.
        body: usize = FetchLimits::default().body;
        /// The maximum number of bytes of a body, after decompression.
        decoded: usize = FetchLimits::default().decoded;
        /// The maximum number of decompressed bytes for each compressed byte, checked once a body
        /// has more than 1 MiB decompressed.
        ratio: usize = FetchLimits::default().ratio;
        /// Interval between checks of a body's mean speed. Below 256 bytes per second the rest of
        /// the body is not read.
        slow_for: Time = Time(FetchLimits::default().slow_for);
        /// The maximum number of bytes of a URL that is fetched.
        url_length: usize = Rules::default().max_length;
        /// The maximum number of segments of a URL's path.
        url_depth: usize = Rules::default().max_depth;
        /// How often a path segment, or a cycle of up to four segments, may occur in a row:
        /// `/a/b/a/b` counts as 2. A URL with more is not fetched.
        url_repeats: usize = Rules::default().max_repeats;
    }
}

section! {
    /// How PDF, Office and EPUB files are read: by processes without files or network.
    [documents] DocumentSettings {
        /// Read documents, so that search finds their text and their links are followed.
        read: bool = true, off_flag("no-documents", "Read no PDF, Office, OpenDocument or EPUB files");
        /// The maximum processor time to read one document, in seconds.
        seconds: u32 = 20, range(1.0..=600.0);
        /// The maximum memory to read one document, in megabytes.
        memory: u32 = 512, range(64.0..=65_536.0);
    }
}

section! {
    /// What is sent to one host only. The section may be repeated.
    [host] HostSettings {
        /// The host: scheme, name and, unless it is the default, port.
        origin: String = String::new(), example("https://example.org");
        /// Headers to add to every request to this host. A value may be a secret, as `password`.
        headers: BTreeMap<String, Secret> = BTreeMap::new(),
            example(BTreeMap::from([("x-team", "search")]));
        /// The user name of basic authentication.
        user: Option<String> = None, example("me");
        /// The password of basic authentication: a text, or `{env="NAME"}` for a variable of the
        /// environment, or `{file="PATH"}` for a file.
        password: Option<Secret> = None, example(BTreeMap::from([("env", "INTRANET_PASSWORD")]));
    }
}

section! {
    /// Rules for some sites only. The section may be repeated; the first one that names a host
    /// holds for it.
    [site] SiteSettings {
        /// The hosts: `example.org`, `example.org:8080` (one port), `*.example.org` (all
        /// subdomains, not `example.org` itself).
        hosts: Vec<String> = Vec::new(), example(["docs.example.org", "*.docs.example.org"]);
        /// The minimum time between two requests, instead of `[crawl] delay`; a longer
        /// `Crawl-delay` of robots.txt wins.
        delay: Option<Time> = None, example(Time::seconds(5));
        /// Requests at most, such as `500/day`: they are spread evenly, as with a longer `delay`.
        /// Hosts on one server share it.
        budget: Option<RateText> = None, example("500/day");
        /// When the site may be asked, in UTC. Outside of these hours its server rests, with all
        /// hosts on it; `crawl` does not wait for them.
        hours: Option<SiteHours> = None, example("22:00-06:00");
        /// Follow at most this many links from a seed, instead of `[crawl] depth`.
        depth: Option<u16> = None, example(3);
        /// Fetch only URLs that match one of these regular expressions, instead of `[crawl]
        /// include`.
        include: Vec<String> = Vec::new(), example(["/guide/"]);
        /// Fetch no URL that matches one of these regular expressions, beside `[crawl] exclude`.
        exclude: Vec<String> = Vec::new(), example(["[?]print=1"]);
    }
}

section! {
    /// What `run` may spend. Set one of the two keys.
    [budget] BudgetSettings {
        /// Fetches per second at most.
        fetches_per_second: Option<f64> = None, usual("1/s"), example(1.0), positive(),
            flag("budget", "RATE"), read_by(read_rate), excludes(&["fetches_per_day"]),
            flag_help("Maximum rate of fetches: 2/s, 90/min, 500/h, 50000/day");
        /// Fetches per day at most.
        fetches_per_day: Option<f64> = None, example(86_400.0), positive(),
            excludes(&["fetches_per_second"]);
    }
}

section! {
    /// How `run` keeps pages fresh.
    [refresh] RefreshSettings {
        /// Which known pages are fetched again, and when.
        policy: String = "holistic".into(), flag("refresh", "POLICY");
        /// The estimator of the pages' change rates.
        rate: Option<String> = None, usual("gamma"), example("gamma"), flag("rate", "ESTIMATOR");
        /// Change rates for the estimator `given`: a file of lines URL<tab>changes per day.
        rates: Option<PathBuf> = None, example("rates.tsv"), flag("rates", "FILE");
        /// The length of a step in the plans of the policies sbr and ebr.
        step: Time = Time(Upkeep::default().step);
        /// How many steps the policies sbr and ebr plan ahead.
        slots: u32 = Upkeep::default().slots, range(1.0..);
        /// The longest time between two polls of a sitemap or feed.
        listings: Time = Time::seconds(86_400);
    }
}

section! {
    /// How `run` polls pages that name new ones.
    [source] SourceSettings {
        /// The scheduler of sources: how often pages that link to new pages are polled, and what a
        /// new page is worth. `none` polls only sitemaps and feeds, at the interval of
        /// `[refresh] listings`.
        policy: String = "priced".into(), flag("sources", "SCHEDULER");
        /// The share of the budget for which the published schedulers plan; `priced` does not use
        /// it.
        share: f64 = 0.5, range((std::ops::Bound::Excluded(0.0), std::ops::Bound::Included(1.0)));
        /// The number of past polls from which the published schedulers estimate the rate of new
        /// links.
        polls: usize = SourceRules::default().polls, range(1.0..=10.0);
        /// The longest time between two plans of polls. A plan estimates the rates and profits of
        /// all sources again.
        replan: Time = Time(SourceRules::default().replan);
        /// Clicks are counted by the age of their page at the click, in bins of this width.
        bin: Time = Time(SourceRules::default().bin), range(1.0..);
        /// Time since its discovery after which a page that is one link from a front page becomes a
        /// source.
        older_than: Time = Time(SourceRules::default().older);
        /// Whether the estimated rates of new links vary with the hour of the week.
        rhythm: bool = SourceRules::default().rhythm;
        /// Clicks that a new page is expected to get before any click was counted. `priced` uses it
        /// only if the quality of new pages is not known.
        profit: f64 = SourceRules::default().profit, positive();
        /// When the counting of clicks on a page begins. A page without clicks is evidence of a low
        /// profit only after that moment.
        clicks: ClickLog = ClickLog::Fetched;
        /// The sources that a new page and its clicks count for, if several link to it.
        credit: CreditedSources = CreditedSources::First;
        /// The minimum time between two polls of one source.
        least: Time = Time(SourceRules::default().least);
    }
}

section! {
    /// How the store is served.
    [serve] ServeSettings {
        /// The address to serve the search page, the dashboard and the API at. A port alone means
        /// 127.0.0.1.
        listen: Option<ListenAddress> = None, usual("127.0.0.1:8321"), example("127.0.0.1:8321"),
            flag("listen", "ADDRESS");
        /// Further host names that a server on loopback answers to, such as the public name of a
        /// reverse proxy.
        hosts: Vec<String> = Vec::new(), example(["search.example.org"]);
        /// The path below which a reverse proxy offers the server, if not at the root. Requests
        /// may come with it or without it.
        base: Option<PathPrefix> = None, example("/search");
        /// Requests per second that one client may make on average. 0: unlimited.
        rate: f64 = 20.0, range(0.0..);
        /// Connections that one client may have open at once. 0: unlimited. For a client behind a
        /// trusted proxy, this limits its requests under way.
        // A browser opens 6 connections to a server, and an office behind one address has several.
        connections_per_client: usize = 64;
        /// Addresses of reverse proxies. A request from one of them counts for the client that its
        /// `X-Forwarded-For` header names; from other addresses the header is ignored.
        trusted_proxies: Vec<IpAddr> = Vec::new(), example(["127.0.0.1"]);
        /// Who may open the dashboard. Controls need the token of the store in any case.
        admin: Admin = Admin::Loopback;
        /// Origins whose pages may read the API.
        cors: Vec<String> = Vec::new(), example(["https://intranet.example"]);
        /// The title of the search page, 1 to 60 characters.
        title: Option<BrandTitle> = None, usual("Avocet"), example("Example Docs");
        /// The logo of the search page: an SVG or PNG file of at most 256 KiB.
        logo: Option<PathBuf> = None, example("logo.svg");
        /// The colour of buttons, URLs and marks on the search page, as `#rrggbb`. It is made
        /// darker or lighter where text would be hard to read.
        colour: Option<Colour> = None, example("#0f6b63");
    }
}

section! {
    /// A receiver of changes: new, changed and gone pages are posted to it as JSON. The section may
    /// be repeated.
    [webhook] WebhookSettings {
        /// The URL that the changes are posted to.
        url: String = String::new(), example("https://hooks.example.org/avocet");
        /// The key of the signature: the header `X-Avocet-Signature` is `sha256=` and the
        /// HMAC-SHA256, in hexadecimal, of the header `X-Avocet-Timestamp`, a dot and the body. A
        /// text, or `{env="NAME"}`, or `{file="PATH"}`.
        secret: Secret = Secret::default(), example(BTreeMap::from([("env", "WEBHOOK_SECRET")]));
        /// Which changes are posted: `new`, `changed`, `gone`. An empty list stands for all.
        changes: Vec<ChangeKind> = Vec::new(), example(["new", "gone"]);
        /// Only changes of this host and its subdomains.
        site: Option<String> = None, example("docs.example.org");
    }
}

section! {
    /// How results are ranked.
    [search] SearchSettings {
        /// Raise a page that people chose over the results above it, by a quarter of its score at
        /// most.
        clicks: bool = true;
    }
}

section! {
    /// One crawl on several machines, over NATS JetStream. Without `servers` the crawl runs on one
    /// machine and needs no broker.
    [cluster] ClusterSettings {
        /// The NATS servers. All nodes of a crawl use the same ones.
        servers: Vec<String> = Vec::new(), example(["nats://10.0.0.1:4222"]),
            flag("cluster", "SERVERS"),
            flag_help("Crawl together with other machines, over these NATS servers");
        /// The monitoring addresses of the NATS servers (`http: 8222` in their configuration). A
        /// node warns at its start if a server does not sync every write.
        monitors: Vec<String> = Vec::new(), example(["http://10.0.0.1:8222"]);
        /// The name of the crawl: 1 to 40 lower-case letters, digits and hyphens. Nodes with the
        /// same name are one crawl.
        name: String = "crawl".into(), flag("name", "NAME");
        /// The name of this node, unique in its crawl: 1 to 40 lower-case letters, digits and
        /// hyphens. It must stay the same after a restart.
        node: Option<String> = None, usual("the host name"), example("node-1"),
            flag("node", "NAME");
        /// How slots are assigned to nodes.
        coordination: Coordination = Coordination::Dynamic, flag("coordination", "MODE");
        /// With static coordination: the names of all nodes.
        nodes: Vec<String> = Vec::new(), example(["node-1", "node-2"]);
        /// What happens to links between slots of different nodes.
        exchange: LinkExchange = LinkExchange::Exchange, flag("exchange", "MODE");
        /// The number of slots that the web is divided into: a power of two, 256 at most. All nodes
        /// use the same number, and it cannot change later. Take at least twice the number of
        /// nodes. A node sends at least one message for each of its slots in `publish_every`.
        slots: u16 = 16, range(1.0..=256.0);
        /// The longest time that a node collects pages before it sends them to the NATS servers. A
        /// longer time makes fewer messages; the pages of this time are fetched again if the node
        /// dies.
        publish_every: Time = Time::seconds(3), range(0.1..=60.0), flag("publish-every", "TIME");
        /// A node that was silent for this long is replaced by the others. It stops its requests
        /// after half of this time without an answer of the NATS servers.
        silence: Time = Time::seconds(10), range(1.0..), flag("silence", "TIME");
        /// The share of the slots that this node takes, relative to the other nodes.
        capacity: f64 = 1.0, positive();
        /// Where people reach the web server of this node. The dashboards of the other nodes link
        /// to it.
        address: Option<String> = None, usual("the address that it listens on"),
            example("http://10.0.0.11:8321"), flag("advertise", "URL");
        /// A file of NATS credentials.
        credentials: Option<PathBuf> = None, example("avocet.creds");
        /// A PEM file of certificates that the certificates of the NATS servers are checked with.
        roots: Option<PathBuf> = None, example("nats-ca.pem");
        /// A PEM file of the certificate that this node shows to the NATS servers. Needs `key`.
        certificate: Option<PathBuf> = None, example("node.pem");
        /// A PEM file of the key of `certificate`.
        key: Option<PathBuf> = None, example("node.key");
        /// Copies of each stream on different NATS servers.
        replicas: Option<u8> = None, usual("3; 1 if the broker is a single server"), example(3),
            range(1.0..=5.0);
        /// The maximum number of bytes of the stream of facts, of the stream of offers, and of the
        /// object store if it is `nats`. If a stream is full, the crawl waits.
        stream_bytes: u64 = 4 << 30, range(1_048_576.0..);
        /// Where nodes put their archive files, so that the copies of pages move with the pages:
        /// `file://` and the absolute path of a directory that all nodes see, or `nats` for a small
        /// crawl. All nodes use the same one. Without it, a node that takes over pages fetches them
        /// again.
        object_store: Option<String> = None, example("file:///mnt/shared"),
            flag("object-store", "PLACE");
        /// With an object store: the log of a slot is replaced by a snapshot of the slot when it
        /// has this many messages.
        snapshot_after: u64 = 1000, range(10.0..), flag("snapshot-after", "N");
        /// An archive file is closed and copied to the object store after this time. Copies that a
        /// node has not uploaded are lost with it.
        upload_every: Time = Time::seconds(300), range(1.0..), flag("upload-every", "TIME");
    }
}

/// Returns all sections, in the order of the reference.
pub fn sections() -> [SettingsSection; 15] {
    [
        CrawlSettings::section(),
        ArchiveSettings::section(),
        StoreSettings::section(),
        FetchSettings::section(),
        LimitSettings::section(),
        DocumentSettings::section(),
        HostSettings::section(),
        SiteSettings::section(),
        BudgetSettings::section(),
        RefreshSettings::section(),
        SourceSettings::section(),
        ServeSettings::section(),
        WebhookSettings::section(),
        SearchSettings::section(),
        ClusterSettings::section(),
    ]
}

/// The sections that are lists: each of their tables is one element.
pub const REPEATED: [&str; 3] = ["host", "site", "webhook"];

/// Returns every setting, in the order of the reference.
pub fn declared() -> Vec<Setting> {
    let sections = sections().into_iter();
    sections.flat_map(|section| section.settings).collect()
}

fn read_rate(text: &str) -> Result<Value, String> {
    let rate: Rate = text.parse()?;
    Ok(Value::Float(rate.per_second))
}

/// A version of HTTP, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HttpVersion {
    /// HTTP/2 where a server chooses it over TLS, else HTTP/1.1
    #[serde(rename = "auto")]
    Auto,
    /// HTTP/1.0, with a new connection for every page
    #[serde(rename = "1.0")]
    Http10,
    /// HTTP/1.1, one page after another over a kept connection
    #[serde(rename = "1.1")]
    Http11,
    /// HTTP/1.1, with several requests sent before the first answer
    #[serde(rename = "pipelined")]
    Pipelined,
    /// HTTP/2, with several streams on one connection; HTTP/1.1 after a failure
    #[serde(rename = "2")]
    Http2,
}

/// How slots are assigned to nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Coordination {
    /// Living nodes divide the slots, and replace a node that is silent
    #[default]
    Dynamic,
    /// The nodes of the list `nodes` divide the slots once and for all
    Static,
    /// Every node crawls the whole web for itself, with the whole budget; only searches go to all
    /// nodes
    Independent,
}

/// What happens to links between slots of different nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkExchange {
    /// The owner of the slot gets them
    #[default]
    Exchange,
    /// A node that has no page of its own slots to fetch follows them itself
    Crossover,
    /// They are dropped
    Firewall,
}

/// Who may open the dashboard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Admin {
    /// Anyone on this machine
    #[default]
    Loopback,
    /// Anyone with the token of the store, from anywhere
    Token,
}

/// The sources that a new page counts for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CreditedSources {
    /// The one whose poll discovered it
    #[default]
    First,
    /// All that link to it, as in the paper on ECHO
    All,
}

/// When the counting of clicks on a page begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ClickLog {
    /// From its first fetch on, as in our own log: searchers can click only pages of the index
    #[default]
    Fetched,
    /// From its discovery on, fetched or not, as in imported counts of a site
    Known,
}
