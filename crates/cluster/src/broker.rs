//! The broker: NATS JetStream, as the log of every slot, the mail between slots, and the medium of
//! heartbeats.
//!
//! A crawl has four streams, whatever its number of slots: `facts` and `offers` with a subject per
//! slot, and `beats` and `notes` with a subject per node, of which only the last message is kept.
//!
//! **The fence:** every append to a slot's log names the sequence of the last message of that log.
//! The broker refuses it if another node has written since.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, LastRawMessageErrorKind, StorageType, Stream,
};
use async_nats::jetstream::{self, ErrorCode, object_store};
use async_nats::{Client, ConnectOptions};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::copies::LAST_ARCHIVE;
use crate::division::{Division, Slot};
use crate::error::BrokerError;
use crate::log::{AppendError, Mail, SlotLog};
use crate::member::{Heartbeat, Order};
use crate::message::{NodeName, pack};
use crate::objects::{ObjectPlace, ObjectStore};

/// The first version of `nats-server` whose compare-and-set on subjects is reliable under restarts.
const OLDEST: (u64, u64) = (2, 12);

/// How long a request to the broker may take before it is repeated.
const PATIENCE: Duration = Duration::from_secs(5);

/// Wait before the second attempt to connect again. It grows to ten times this.
const RECONNECT: Duration = Duration::from_millis(100);

/// Largest message that is sent, in bytes. The default limit of `nats-server` is 1 MiB, headers
/// included.
pub const MESSAGE_LIMIT: usize = 960 << 10;

/// How to reach the broker.
#[derive(Debug, Clone, Default)]
pub struct BrokerSettings {
    /// Addresses of its servers, such as `nats://10.0.0.1:4222`.
    pub servers: Vec<String>,
    /// The name of the crawl. Crawls with different names share a broker and nothing else.
    pub crawl: String,
    /// A file of NATS credentials.
    pub credentials: Option<PathBuf>,
    /// A PEM file of certificates that the servers' certificates are checked with.
    pub roots: Option<PathBuf>,
    /// PEM files of the client's certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Monitoring addresses of its servers, by which their set-up is checked.
    pub monitors: Vec<String>,
    /// Copies of each stream; `None`: 3, or 1 if the broker is a single server.
    pub replicas: Option<usize>,
    /// Largest size of the stream of facts and of the stream of offers, in bytes each; with an
    /// object store in NATS, also of its bucket.
    pub stream_bytes: u64,
    /// The object store of the crawl, if it has one.
    pub object_store: Option<ObjectPlace>,
}

/// The server's side of a read. A server allows a limited number of consumers, and removes one that
/// is not used only after minutes; so it is deleted when the read ends.
struct ReadConsumer {
    stream: Stream,
    name: String,
}

impl Drop for ReadConsumer {
    fn drop(&mut self) {
        let (stream, name) = (self.stream.clone(), std::mem::take(&mut self.name));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { stream.delete_consumer(&name).await.map(drop) });
        }
    }
}

/// The last part of the subject of offers to several slots.
const ANY: &str = "any";

/// A message of a stream that has a subject per slot.
struct SlotMessage {
    /// The slot that the subject names; `None`: it is [`ANY`].
    slot: Option<Slot>,
    sequence: u64,
    payload: Bytes,
}

/// A connection to the broker.
#[derive(Debug, Clone)]
pub struct Broker {
    client: Client,
    context: jetstream::Context,
    facts: Stream,
    offers: Stream,
    notes: Stream,
    prefix: String,
    warnings: Vec<String>,
    objects: Option<ObjectStore>,
}

impl Broker {
    /// Connects, checks the version of the server and creates the streams of the crawl if they do
    /// not exist.
    pub async fn connect(settings: &BrokerSettings) -> Result<Self, BrokerError> {
        let client = connect(settings).await?;
        let found = client.server_info().version.clone();
        if !is_recent(&found) {
            return Err(BrokerError::Version { found });
        }
        let mut context = jetstream::new(client.clone());
        context.set_timeout(PATIENCE);
        let prefix = format!("avocet.{}", settings.crawl);
        let mut warnings = Vec::new();
        for monitor in &settings.monitors {
            warnings.extend(crate::monitor::fault(monitor).await);
        }
        let kept = Config {
            storage: StorageType::File,
            discard: DiscardPolicy::New,
            max_bytes: i64::try_from(settings.stream_bytes).unwrap_or(i64::MAX),
            allow_direct: true,
            ..Config::default()
        };
        let beats = Config {
            storage: StorageType::Memory,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::Old,
            max_bytes: 64 << 20,
            ..Config::default()
        };
        let notes = Config {
            storage: StorageType::File,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::Old,
            max_bytes: 64 << 20,
            ..Config::default()
        };
        let mut streams = Vec::new();
        let parts = [
            ("facts", kept.clone()),
            ("offers", kept),
            ("notes", notes),
            ("beats", beats),
        ];
        for (part, config) in parts {
            let config = Config {
                name: format!("avocet-{}-{part}", settings.crawl),
                subjects: vec![format!("{prefix}.{part}.*")],
                ..config
            };
            let stream = create(&context, config, settings.replicas, &mut warnings).await?;
            streams.push(stream);
        }
        warnings.dedup();
        let [facts, offers, notes, _] =
            <[Stream; 4]>::try_from(streams).expect("four were created");
        let objects = match &settings.object_store {
            None => None,
            Some(ObjectPlace::Directory(path)) => {
                Some(ObjectStore::in_directory(path, &settings.crawl))
            }
            Some(ObjectPlace::Nats) => {
                let replicas = facts.cached_info().config.num_replicas;
                Some(bucket(&context, settings, replicas).await?)
            }
        };
        Ok(Self {
            objects,
            client,
            context,
            facts,
            offers,
            notes,
            prefix,
            warnings,
        })
    }

    /// Returns what an operator should know about the set-up of the broker.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns whether a NATS server is connected now. The client connects again by itself.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Returns a number for the archive of a store that no other archive of the cluster has.
    pub async fn new_archive(&self) -> Result<u32, BrokerError> {
        let subject = format!("{}.facts.archives", self.prefix);
        loop {
            let last = self.facts.get_last_raw_message_by_subject(&subject).await;
            let (sequence, used) = match last {
                Ok(last) => (last.sequence, read_number(&last.payload)?),
                Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => (0, 0),
                Err(error) => return Err(BrokerError::request("number an archive", error)),
            };
            if used >= LAST_ARCHIVE {
                let why = "all numbers are in use: continue the crawl under a new --name";
                return Err(BrokerError::request("number an archive", why));
            }
            let number = used + 1;
            let publish = PublishMessage::build()
                .payload(number.to_be_bytes().to_vec().into())
                .expected_last_subject_sequence(sequence);
            let sent = self.context.send_publish(subject.clone(), publish).await;
            let acknowledged = match sent {
                Ok(acknowledgement) => acknowledgement.await,
                Err(error) => Err(error),
            };
            match acknowledged {
                Ok(_) => return Ok(number),
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {}
                Err(error) => return Err(BrokerError::request("number an archive", error)),
            }
        }
    }

    /// Returns the messages of a stream with these subjects from a sequence on, and the name of the
    /// consumer that the server has created for them.
    async fn read(
        &self,
        stream: &Stream,
        subjects: Vec<String>,
        from: u64,
    ) -> Result<(String, BoxStream<'static, Result<SlotMessage, BrokerError>>), BrokerError> {
        let config = OrderedConfig {
            filter_subjects: subjects,
            deliver_policy: DeliverPolicy::ByStartSequence {
                start_sequence: from,
            },
            replay_policy: ReplayPolicy::Instant,
            ..OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await;
        let consumer =
            consumer.map_err(|error| BrokerError::request("create a consumer", error))?;
        let name = consumer.cached_info().name.clone();
        let messages = consumer.messages().await;
        let messages = messages.map_err(|error| BrokerError::request("read a stream", error))?;
        let read = |message: Result<jetstream::Message, _>| {
            let message = message.map_err(|error| BrokerError::request("read a stream", error))?;
            let info = message
                .info()
                .map_err(|error| BrokerError::request("read a message", error))?;
            Ok(SlotMessage {
                slot: slot_of(&message.subject),
                sequence: info.stream_sequence,
                payload: message.payload.clone(),
            })
        };
        Ok((name, messages.map(read).boxed()))
    }

    /// Returns the last heartbeat of each node that is heard within `patience`.
    pub async fn nodes(&self, patience: Duration) -> Result<Vec<Heartbeat>, BrokerError> {
        let beats = self.beats().await?;
        let heard: Vec<Heartbeat> = beats
            .take_until(tokio::time::sleep(patience))
            .collect()
            .await;
        let last = heard.into_iter().map(|beat| (beat.node.clone(), beat));
        Ok(last.collect::<BTreeMap<_, _>>().into_values().collect())
    }

    /// Sends an order to a node. Returns the number of answers: 0 if the node does not answer.
    pub async fn order(
        &self,
        node: &str,
        order: &Order,
        patience: Duration,
    ) -> Result<usize, BrokerError> {
        let order = pack(order, Vec::new());
        let answers = self
            .ask(&format!("orders.{node}"), order, 1, patience)
            .await?;
        Ok(answers.len())
    }

    /// Asks a node for the digests of its slots (`digests`) or for a sample of its pages
    /// (`sample`). Returns `None` if the node does not answer.
    pub async fn ask_node(
        &self,
        what: &str,
        node: &str,
        patience: Duration,
    ) -> Result<Option<Bytes>, BrokerError> {
        let answers = self
            .ask(&format!("{what}.{node}"), Vec::new(), 1, patience)
            .await?;
        Ok(answers.into_iter().next())
    }

    /// Sends a request to a subject of the crawl and returns all answers that arrive within
    /// `patience`, or the first `most`.
    pub async fn ask(
        &self,
        subject: &str,
        request: Vec<u8>,
        most: usize,
        patience: Duration,
    ) -> Result<Vec<Bytes>, BrokerError> {
        let failed = |error| BrokerError::request(format!("request to {subject}"), error);
        let inbox = self.client.new_inbox();
        let answers = self.client.subscribe(inbox.clone()).await;
        let answers = answers.map_err(|error| BrokerError::request("subscribe", error))?;
        let subject = format!("{}.{subject}", self.prefix);
        let sent = self
            .client
            .publish_with_reply(subject, inbox, request.into());
        sent.await
            .map_err(|error| failed(Box::<dyn std::error::Error + Send + Sync>::from(error)))?;
        let deadline = tokio::time::sleep(patience);
        let answers = answers
            .filter(|answer| std::future::ready(answer.status.is_none()))
            .map(|answer| answer.payload)
            .take(most)
            .take_until(deadline);
        Ok(answers.collect().await)
    }

    /// Appends a message to a subject if the last message there has the sequence `expected`.
    async fn compare_and_append(
        &self,
        subject: String,
        expected: u64,
        message: &Bytes,
    ) -> Result<u64, AppendError> {
        let publish = PublishMessage::build()
            .payload(message.clone())
            .expected_last_subject_sequence(expected);
        let sent = self.context.send_publish(subject.clone(), publish).await;
        let acknowledged = match sent {
            Ok(acknowledgement) => acknowledgement.await,
            Err(error) => Err(error),
        };
        match acknowledged {
            Ok(acknowledgement) => Ok(acknowledgement.sequence),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                Err(AppendError::Fenced)
            }
            Err(error) if is_full(&error) => Err(AppendError::Full),
            Err(error) => Err(BrokerError::request(format!("append to {subject}"), error).into()),
        }
    }

    fn subject(&self, part: &str, slot: Slot) -> String {
        format!("{}.{part}.{}", self.prefix, slot.0)
    }
}

impl SlotLog for Broker {
    async fn last(&self, slot: Slot) -> Result<Option<(u64, Bytes)>, BrokerError> {
        let subject = self.subject("facts", slot);
        match self.facts.get_last_raw_message_by_subject(&subject).await {
            Ok(last) => Ok(Some((last.sequence, last.payload))),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(BrokerError::request(
                format!("last message of {subject}"),
                error,
            )),
        }
    }

    async fn try_append(
        &self,
        slot: Slot,
        expected: u64,
        message: &Bytes,
    ) -> Result<u64, AppendError> {
        let subject = self.subject("facts", slot);
        self.compare_and_append(subject, expected, message).await
    }

    async fn notes(&self) -> Result<BTreeMap<NodeName, (u64, Bytes)>, BrokerError> {
        let failed = |error| BrokerError::request("names of notes", error);
        let subjects = format!("{}.notes.*", self.prefix);
        let subjects = self.notes.info_with_subjects(subjects).await;
        let mut subjects = subjects.map_err(failed)?;
        let mut notes = BTreeMap::new();
        while let Some(subject) = subjects.next().await {
            let (subject, _) = subject.map_err(failed)?;
            let name = subject.rsplit('.').next().and_then(NodeName::new);
            let Some(name) = name else { continue };
            let last = self.notes.get_last_raw_message_by_subject(&subject).await;
            let last = last.map_err(|error| BrokerError::request("read notes", error))?;
            notes.insert(name, (last.sequence, last.payload));
        }
        Ok(notes)
    }

    async fn put_notes(
        &self,
        node: &NodeName,
        expected: u64,
        message: &Bytes,
    ) -> Result<u64, AppendError> {
        let subject = format!("{}.notes.{node}", self.prefix);
        self.compare_and_append(subject, expected, message).await
    }

    async fn messages(
        &self,
        slot: Slot,
    ) -> Result<BoxStream<'static, Result<(u64, Bytes), BrokerError>>, BrokerError> {
        let subjects = vec![self.subject("facts", slot)];
        let (name, messages) = self.read(&self.facts, subjects, 1).await?;
        let consumer = ReadConsumer {
            stream: self.facts.clone(),
            name,
        };
        let plain = move |message: Result<SlotMessage, BrokerError>| {
            let _kept = &consumer;
            message.map(|message| (message.sequence, message.payload))
        };
        Ok(messages.map(plain).boxed())
    }

    async fn offer(&self, to: Option<Slot>, message: Bytes) -> Result<(), AppendError> {
        let subject = match to {
            Some(slot) => self.subject("offers", slot),
            None => format!("{}.offers.{ANY}", self.prefix),
        };
        let sent = self.context.publish(subject.clone(), message).await;
        let acknowledged = match sent {
            Ok(acknowledgement) => acknowledgement.await,
            Err(error) => Err(error),
        };
        match acknowledged {
            Ok(_) => Ok(()),
            Err(error) if is_full(&error) => Err(AppendError::Full),
            Err(error) => Err(BrokerError::request(format!("offers to {subject}"), error).into()),
        }
    }

    async fn mail(
        &self,
        applied: BTreeMap<Slot, u64>,
        division: Division,
    ) -> Result<BoxStream<'static, Result<Mail, BrokerError>>, BrokerError> {
        let Some(first) = applied.values().min() else {
            return Ok(futures_util::stream::pending().boxed());
        };
        let of_slot = applied.keys().map(|slot| self.subject("offers", *slot));
        let subjects = of_slot.chain([format!("{}.offers.{ANY}", self.prefix)]);
        let (_, messages) = self
            .read(&self.offers, subjects.collect(), first + 1)
            .await?;
        let wanted = move |message: Result<SlotMessage, BrokerError>| {
            let mail = message.and_then(|message| {
                let SlotMessage {
                    slot,
                    sequence,
                    payload,
                } = message;
                Mail::read(slot, sequence, &payload, &applied, division)
            });
            std::future::ready(mail.transpose())
        };
        Ok(messages.filter_map(wanted).boxed())
    }

    async fn beat(&self, beat: &Heartbeat) -> Result<(), BrokerError> {
        let subject = format!("{}.beats.{}", self.prefix, beat.node);
        let bytes = pack(beat, Vec::new());
        let sent = self.context.publish(subject, bytes.into()).await;
        let acknowledged = match sent {
            Ok(acknowledgement) => acknowledgement.await.map(|_| ()),
            Err(error) => Err(error),
        };
        acknowledged.map_err(|error| BrokerError::request("heartbeat", error))
    }

    async fn beats(&self) -> Result<BoxStream<'static, Heartbeat>, BrokerError> {
        let subscription = self
            .client
            .subscribe(format!("{}.beats.*", self.prefix))
            .await;
        let subscription =
            subscription.map_err(|error| BrokerError::request("subscribe to heartbeats", error))?;
        let read = |message: async_nats::Message| {
            std::future::ready(postcard::from_bytes(&message.payload).ok())
        };
        Ok(subscription.filter_map(read).boxed())
    }

    async fn requests(
        &self,
        subject: &str,
    ) -> Result<BoxStream<'static, (Bytes, Option<async_nats::Subject>)>, BrokerError> {
        let subscription = self
            .client
            .subscribe(format!("{}.{subject}", self.prefix))
            .await;
        let subscription = subscription
            .map_err(|error| BrokerError::request(format!("subscribe to {subject}"), error))?;
        Ok(subscription
            .map(|message| (message.payload, message.reply))
            .boxed())
    }

    fn objects(&self) -> Option<&ObjectStore> {
        self.objects.as_ref()
    }

    async fn trim(&self, slot: Slot, before: u64) -> Result<(), BrokerError> {
        let subject = self.subject("facts", slot);
        let trimmed = self.facts.purge().filter(&subject).sequence(before).await;
        trimmed
            .map(drop)
            .map_err(|error| BrokerError::request(format!("trim {subject}"), error))
    }

    async fn lengths(&self) -> Result<BTreeMap<Slot, u64>, BrokerError> {
        let failed = |error| BrokerError::request("lengths of the logs", error);
        let subjects = format!("{}.facts.*", self.prefix);
        let lengths = self.facts.info_with_subjects(subjects).await;
        let mut lengths = lengths.map_err(failed)?;
        let mut found = BTreeMap::new();
        while let Some(length) = lengths.next().await {
            let (subject, length) = length.map_err(failed)?;
            found.extend(slot_of(&subject).map(|slot| (slot, length as u64)));
        }
        Ok(found)
    }

    async fn answer(&self, to: async_nats::Subject, answer: Vec<u8>) -> Result<(), BrokerError> {
        let sent = self.client.publish(to, answer.into()).await;
        sent.map_err(|error| BrokerError::request("answer", error))
    }
}

async fn connect(settings: &BrokerSettings) -> Result<Client, BrokerError> {
    let mut options = ConnectOptions::new()
        .name("avocet")
        .connection_timeout(PATIENCE)
        .ping_interval(Duration::from_secs(2))
        // The default grows to 4 s: longer than a short silence after which nodes are replaced.
        .reconnect_delay_callback(|attempts| RECONNECT * attempts.min(10) as u32);
    if let Some(path) = &settings.credentials {
        let read = options.credentials_file(path).await;
        options = read.map_err(|source| BrokerError::Credentials {
            path: path.clone(),
            source,
        })?;
    }
    if let Some(roots) = &settings.roots {
        options = options.add_root_certificates(roots.clone());
    }
    if let Some((certificate, key)) = &settings.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    // A server may also be a list, such as `nats://a,b,c`.
    let servers: Vec<&str> = settings
        .servers
        .iter()
        .flat_map(|servers| servers.split(','))
        .collect();
    let connected = options.connect(&servers).await;
    connected.map_err(|source| BrokerError::Connect {
        servers: servers.join(","),
        source,
    })
}

/// Creates a stream, or returns the existing one. Without a given number of replicas it makes
/// three, or one if the broker is a single server, with a warning.
async fn create(
    context: &jetstream::Context,
    config: Config,
    replicas: Option<usize>,
    warnings: &mut Vec<String>,
) -> Result<Stream, BrokerError> {
    let name = config.name.clone();
    let failed = |source| BrokerError::Stream {
        stream: name.clone(),
        source,
    };
    let with = |num_replicas| Config {
        num_replicas,
        ..config.clone()
    };
    let tried = context
        .get_or_create_stream(with(replicas.unwrap_or(3)))
        .await;
    match tried {
        Err(error) if replicas.is_none() && is_single_server(&error) => {
            warnings.push(
                "the broker is a single NATS server: if its disk fails, the cluster's facts are lost; three servers keep three copies".into(),
            );
            context.get_or_create_stream(with(1)).await.map_err(failed)
        }
        Ok(stream) => {
            let copies = stream.cached_info().config.num_replicas;
            let wanted = replicas.unwrap_or(3);
            if copies < wanted {
                warnings.push(format!(
                    "the stream {name} has {copies} of {wanted} copies on different NATS servers: `nats stream edit {name} --replicas {wanted}` adds the others"
                ));
            }
            Ok(stream)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Creates the bucket of a crawl, or returns the existing one.
async fn bucket(
    context: &jetstream::Context,
    settings: &BrokerSettings,
    replicas: usize,
) -> Result<ObjectStore, BrokerError> {
    let name = format!("avocet-{}", settings.crawl);
    let config = object_store::Config {
        bucket: name.clone(),
        storage: StorageType::File,
        num_replicas: replicas,
        max_bytes: i64::try_from(settings.stream_bytes).unwrap_or(i64::MAX),
        ..object_store::Config::default()
    };
    let found = match context.get_object_store(&name).await {
        Ok(found) => found,
        Err(_) => {
            let created = context.create_object_store(config).await;
            created.map_err(|error| BrokerError::request("create the object store", error))?
        }
    };
    Ok(ObjectStore::in_bucket(found, format!("nats:{name}")))
}

/// Reads the number in a message of [`Broker::new_archive`].
fn read_number(message: &[u8]) -> Result<u32, BrokerError> {
    let bytes = message.try_into();
    let bytes =
        bytes.map_err(|error| BrokerError::request("read the number of an archive", error))?;
    Ok(u32::from_be_bytes(bytes))
}

fn is_single_server(error: &jetstream::context::CreateStreamError) -> bool {
    use jetstream::context::CreateStreamErrorKind::JetStream;
    matches!(error.kind(), JetStream(error) if error.error_code() == ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED)
}

/// Returns whether an append failed because the stream has reached its size.
fn is_full(error: &jetstream::context::PublishError) -> bool {
    let full = "maximum bytes exceeded";
    std::error::Error::source(error).is_some_and(|source| source.to_string().contains(full))
}

/// Returns the slot that a subject ends with.
fn slot_of(subject: &str) -> Option<Slot> {
    let number = subject.rsplit('.').next()?;
    number.parse().ok().map(Slot)
}

/// Returns whether a version such as `2.12.1` is recent enough.
fn is_recent(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= OLDEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_from_2_12_on_are_recent_enough() {
        for (version, recent) in [
            ("2.12.0", true),
            ("2.15.1", true),
            ("3.0.0-beta", true),
            ("2.9.10", false),
            ("2.11.99", false),
            ("", false),
        ] {
            assert_eq!(is_recent(version), recent, "{version}");
        }
    }

    #[test]
    fn a_subject_names_its_slot() {
        assert_eq!(slot_of("avocet.docs.facts.17"), Some(Slot(17)));
        assert_eq!(slot_of("avocet.docs.facts.x"), None);
    }
}
