//! What is a line of the log, whatever it tells?
//!
//! **Invariant:** a line that is written is read back as it was, and has no line break within.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that happened at a time.
pub trait Line: Serialize + DeserializeOwned {
    /// How its files are called.
    const KIND: &str;

    /// When it happened.
    fn time(&self) -> Timestamp;

    /// As text, without an end.
    fn written(&self) -> String {
        // Strings, numbers and a time: there is nothing in it that JSON cannot say.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a line. Returns `None` if it is none of this kind.
    fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

/// A time as RFC 3339 writes it.
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
