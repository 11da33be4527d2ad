//! The trait of log entries, and their JSON encoding.
//!
//! **Invariant:** an entry is read back exactly as it was written, and contains no line break.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A log entry: an event with a time.
pub trait LogEntry: Serialize + DeserializeOwned {
    /// The prefix of its file names.
    const KIND: &str;

    /// Returns the time of the event.
    fn time(&self) -> Timestamp;

    /// Encodes the entry as JSON, without a line break.
    fn written(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and a time can be written as JSON")
    }

    /// Decodes a line. Returns `None` if it is not an entry of this kind.
    fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// Encodes a time in the format of RFC 3339.
pub(super) mod time {
    use jiff::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(time)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
