//! Reads the facts of the ledger, in this process or in another one.

use std::sync::Arc;

use fjall::Slice;
use frontier::{Discovery, Facts, HostFacts, Known, OutLinks, PageKey, Partition, ServerFacts};
use frontier::{ServerKey, Visited};
use page::HostId;
use policy::Moment;

use crate::codec::{self, decode, decode_visit, host_key, page_key, page_of};
use crate::records::{
    LedgerPart, RawRecords, RecordSource, RecordsAnswer, RecordsRequest, RemoteRecords,
};
use crate::{AHEAD, AT_RISK, FIRST_FREE, LedgerError, NOTE, PASSED_OVER, RUN, SEED, Scan};

/// Reads the facts of a ledger: the newest ones, those of one moment, or those of a ledger that
/// another process has open.
#[derive(Clone)]
pub struct LedgerReader(pub(crate) RecordSource);

impl LedgerReader {
    /// Creates a reader of a ledger that another process has open.
    pub fn remote(remote: Arc<dyn RemoteRecords>) -> Self {
        Self(RecordSource::Remote(remote))
    }

    /// Returns the answer to the request of another process.
    pub fn answer(&self, request: &RecordsRequest) -> RecordsAnswer {
        self.0.answer(request)
    }

    /// Returns how a page was discovered. Returns `None` if the page is unknown.
    pub fn discovery(&self, key: PageKey) -> Result<Option<Discovery>, LedgerError> {
        self.read(LedgerPart::Urls, &page_key(key))
    }

    /// Returns what the last visit to a page found. Returns `None` if there was no visit.
    pub fn visited(&self, key: PageKey) -> Result<Option<Visited>, LedgerError> {
        let value = self.0.get(LedgerPart::Visits, &page_key(key))?;
        let decode = |value: Slice| decode_visit(&value, || format!("the visit to {key:?}"));
        value.map(decode).transpose()
    }

    /// Returns the links of a page when its content last changed. Returns `None` if it was never
    /// read.
    pub fn links(&self, key: PageKey) -> Result<Option<OutLinks>, LedgerError> {
        self.read(LedgerPart::Links, &page_key(key))
    }

    /// Returns the links of every page that was read.
    pub fn all_links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), LedgerError>> {
        records(self.0.all(LedgerPart::Links), "key", page_of)
    }

    /// Returns the facts of a host. Returns `None` if the ledger has none.
    pub fn host(&self, key: (Partition, HostId)) -> Result<Option<HostFacts>, LedgerError> {
        self.read(LedgerPart::Hosts, &host_key(key.0, key.1))
    }

    /// Returns the URLs that seeds redirected to.
    pub fn seeds(&self) -> Result<Vec<String>, LedgerError> {
        let last = [SEED, &[u8::MAX]].concat();
        let seeds = self.0.range(LedgerPart::Meta, SEED, &last);
        let url = |key: &[u8]| String::from_utf8_lossy(&key[SEED.len()..]).into_owned();
        seeds.map(|seed| Ok(url(&seed?.0))).collect()
    }

    /// Returns every page with its last visit, sorted by partition, host and page id.
    pub fn scan(&self) -> Scan {
        Scan::new(&self.0)
    }

    /// Counts the discovered pages. Reads their keys and values without decoding them.
    pub fn pages_known(&self) -> Result<u64, LedgerError> {
        let mut pages = 0;
        for record in self.0.all(LedgerPart::Urls) {
            record?;
            pages += 1;
        }
        Ok(pages)
    }

    /// Returns the number of the last batch; 0 before the first.
    pub fn sequence(&self) -> Result<u64, LedgerError> {
        Ok(self.read(LedgerPart::Meta, b"sequence")?.unwrap_or(0))
    }

    /// Returns the file number and the byte offset at which the committed archive ends. Returns
    /// `None` before the first commit of a process that writes the archive.
    pub fn archive_end(&self) -> Result<Option<(u32, u64)>, LedgerError> {
        self.read(LedgerPart::Meta, b"archive-end")
    }

    /// Returns how many pages had ever been fetched when the current run began, including copies
    /// that were dropped from the buffer. Returns `None` unless a run is under way or was
    /// interrupted.
    pub fn open_run(&self) -> Result<Option<u64>, LedgerError> {
        self.read(LedgerPart::Meta, RUN)
    }

    /// Returns the maximum number of records that the last writing process can have left after the
    /// committed end of the archive. Returns `None` if no process has stored this number yet.
    pub fn at_risk(&self) -> Result<Option<u64>, LedgerError> {
        self.read(LedgerPart::Meta, AT_RISK)
    }

    /// Returns the file number and byte offset of each archive record that the rebuild which
    /// created this ledger could not read.
    pub fn passed_over(&self) -> Result<Vec<(u32, u64)>, LedgerError> {
        let places = self.read(LedgerPart::Meta, PASSED_OVER)?;
        Ok(places.unwrap_or_default())
    }

    /// Returns the value that [`Batch::note`](crate::Batch::note) or
    /// [`Ledger::set_note`](crate::Ledger::set_note) stored last.
    pub fn note(&self) -> Result<Option<Vec<u8>>, LedgerError> {
        let value = self.0.get(LedgerPart::Meta, NOTE)?;
        Ok(value.map(|value| value.to_vec()))
    }

    /// Returns when facts dated after the current time were first noticed. Returns `None` if
    /// there are none.
    ///
    /// Such facts exist after the system clock was set back.
    pub fn noticed_ahead(&self) -> Result<Option<Moment>, LedgerError> {
        self.read(LedgerPart::Meta, AHEAD)
    }

    /// Returns a page number above all that were ever used.
    pub fn free_number(&self) -> Result<u32, LedgerError> {
        let mut free = self.first_free()?;
        for known in self.scan() {
            let order = known?.discovery.order;
            free = free.max(u32::try_from(order + 1).unwrap_or(u32::MAX));
        }
        Ok(free)
    }

    /// Returns the bytes that the ledger takes on disk.
    pub fn disk_bytes(&self) -> Result<u64, LedgerError> {
        self.0.disk_bytes()
    }

    pub(crate) fn read<T: serde::de::DeserializeOwned>(
        &self,
        part: LedgerPart,
        key: &[u8],
    ) -> Result<Option<T>, LedgerError> {
        let value = self.0.get(part, key)?;
        value
            .map(|value| decode(&value, || format!("key {key:02x?}")))
            .transpose()
    }
}

impl Facts for LedgerReader {
    type Error = LedgerError;

    fn pages(&self) -> impl Iterator<Item = Result<Known, LedgerError>> {
        self.scan()
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), LedgerError>> {
        self.all_links()
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), LedgerError>> {
        records(self.0.all(LedgerPart::Hosts), "host", codec::host_of)
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), LedgerError>> {
        records(self.0.all(LedgerPart::Servers), "server", codec::server_key)
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, LedgerError> {
        LedgerReader::noticed_ahead(self)
    }

    fn first_free(&self) -> Result<u32, LedgerError> {
        Ok(self.read(LedgerPart::Meta, FIRST_FREE)?.unwrap_or(0))
    }

    fn damaged(what: String) -> LedgerError {
        LedgerError::Damaged { what }
    }
}

/// Decodes records and their keys. `kind` names a record in an error.
pub(crate) fn records<K, T: serde::de::DeserializeOwned>(
    part: RawRecords,
    kind: &str,
    named: fn(&[u8]) -> Option<K>,
) -> impl Iterator<Item = Result<(K, T), LedgerError>> {
    part.map(move |record| {
        let (key, value) = record?;
        let what = || format!("{kind} {key:02x?}");
        let name = named(&key).ok_or_else(|| LedgerError::Damaged { what: what() })?;
        Ok((name, decode(&value, what)?))
    })
}
