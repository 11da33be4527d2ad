//! Fuzz target for WARC files from any tool, and for the records that Avocet writes.

use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use jiff::Timestamp;
use repository::archive::{
    ArchiveError, Capture, CodingLimits, FoundRecord, Level, Records, Truncated, WarcRecord, seal,
};

/// Size limit of a block in bytes; lower than the default, so that the fuzzer reaches it.
const BLOCK: u64 = 1 << 16;
const DECODE: CodingLimits = CodingLimits {
    bytes: 1 << 16,
    ratio: 100,
    ratio_from: 1 << 20,
};
/// The largest expansion factor of gzip.
const GZIP_RATIO: usize = 1_032;
/// A lower bound of the bytes of a record, which has at least a version line, a length field and a
/// blank line.
const SHORTEST: usize = 20;
/// The reader stops after this many damaged records.
const DAMAGED: usize = 1_001;

/// Reads the input as a WARC file, and as a response that is archived.
///
/// Reading ends, yields records in the order of their offsets, and stays within the limits. A
/// record with a known length can be read alone. The body of an archived response is read back
/// unchanged.
pub fn warc(data: &[u8]) {
    let mut before = 0;
    let mut records = open(data);
    let most = data.len() * GZIP_RATIO / SHORTEST + DAMAGED + 1;
    for number in 0.. {
        assert!(number < most, "reading does not end");
        let offset = match records.next() {
            None => break,
            Some(Ok(found)) => {
                check(data, &found);
                found.offset
            }
            Some(Err(ArchiveError::Torn { offset, .. } | ArchiveError::Damaged { offset, .. })) => {
                offset
            }
            Some(Err(error)) => panic!("memory can be read: {error}"),
        };
        assert!(before <= offset && offset < data.len() as u64);
        before = offset;
    }
    assert!(records.next().is_none(), "a record after the end");
    sealed(data);
}

fn open(data: &[u8]) -> Records<Cursor<&[u8]>> {
    Records::new(Cursor::new(data), Path::new("fuzz.warc"), BLOCK).expect("memory can be read")
}

fn check(data: &[u8], found: &FoundRecord) {
    let record = &found.record;
    assert!(record.block().len() as u64 <= BLOCK);
    assert!(record.block().starts_with(record.head()));
    let content = record.content(DECODE);
    assert!(content.bytes.len() <= DECODE.bytes.max(record.block().len()));
    let _ = (record.url(), record.at(), record.status(), record.address());
    let _ = (
        record.payload_digest(),
        record.is_intact(),
        record.media_type(),
    );
    if let Some(length) = found.length {
        let (start, length) = (found.offset as usize, length as usize);
        let alone = open(&data[start..start + length]).next();
        let alone = alone.expect("a record").expect("as it was read before");
        assert_eq!(describe(&alone.record), describe(record));
    }
}

fn describe(record: &WarcRecord) -> String {
    format!("{record:?}")
}

/// Archives the input as a response: header fields up to the first blank line, then the body.
fn sealed(data: &[u8]) {
    let blank = data.windows(2).position(|pair| pair == b"\n\n");
    let (fields, body) = data.split_at(blank.map_or(0, |blank| blank + 1));
    let head = [b"HTTP/1.1 200 OK\r\n", fields, b"\r\n"].concat();
    let url = crate::found_at();
    let at = Timestamp::from_millisecond(1_500_000_000_123).expect("a time of 2017");
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let truncated = Some(Truncated::Length);
    let capture = Capture::new(&url, at, address, &head, body, truncated);
    let level = Level::new(1).expect("a level");
    let member = seal::response(&capture, level);
    let mut records = Records::new(
        Cursor::new(member.bytes()),
        Path::new("sealed.warc.gz"),
        u64::MAX,
    )
    .expect("memory can be read");
    let found = records.next().expect("a record").expect("what was sealed");
    assert!(records.next().is_none(), "one record");
    let record = &found.record;
    assert_eq!(found.length, Some(member.size() as u64));
    assert_eq!(record.body(), body);
    assert_eq!(record.url().as_ref(), Some(&url));
    assert_eq!((record.at(), record.address()), (Some(at), Some(address)));
    assert_eq!(record.status(), Some(200));
    assert_eq!(record.payload_digest(), Some(capture.digest()));
    assert_eq!(record.is_intact(), Some(true));
}
