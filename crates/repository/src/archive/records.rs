//! Reads the records of one WARC file in order.
//!
//! **Invariant:** damage is reported, and a damaged record does not hide those after it, up to
//! [`DAMAGE_LIMIT`] damaged records. Memory is bounded by the block limit. A larger block is
//! decoded and dropped, unless it is a decompression bomb.
//!
//! Accepts the variants that existing tools write: one gzip member per record, one for all
//! records, or no compression. After damage the next record is found by its first bytes. A page
//! that is itself an archive may contain such bytes, so records after damage are less certain.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::input::{GZIP_FIRST, Input};
use super::parse::{self, ReadFailure};
use super::{ArchiveError, Fault, WarcRecord};

/// Maximum number of damaged records that are skipped; at the next one, reading ends. Each costs
/// a search through the file, and the author of the file controls how many there are.
const DAMAGE_LIMIT: u32 = 1000;

/// Maximum ratio of decoded to encoded bytes while a record above the block limit is skipped, not
/// counting the first decoded MiB (hostile-web.md, row 1).
const SKIP_RATIO: u64 = 100;

/// The block limit for files of other tools, in bytes: eight times the largest page that is
/// fetched by default.
pub const BLOCK_LIMIT: u64 = 64 << 20;

/// A record and its position in the file.
#[derive(Debug)]
pub struct FoundRecord {
    /// Offset of the first byte of the record, or of the gzip member that contains it.
    pub offset: u64,
    /// The bytes it takes in the file, with the line ends after it. `None` if it shares a gzip
    /// member with other records, so that it cannot be read alone.
    pub length: Option<u64>,
    /// The record.
    pub record: WarcRecord,
}

/// Reads a WARC file of any tool.
pub struct Records<R: Read + Seek> {
    source: ReadState<R>,
    path: PathBuf,
    block_limit: u64,
    /// The length of the file in bytes.
    end: u64,
    damaged: u32,
}

enum ReadState<R> {
    Between(Input<R>),
    Member(Box<BufReader<GzDecoder<Input<R>>>>, GzipMember),
    Done,
}

/// An open gzip member.
#[derive(Clone, Copy)]
struct GzipMember {
    start: u64,
    /// Whether a record of this member was read or skipped before.
    shared: bool,
}

impl Records<File> {
    /// Opens a file. A record whose block is larger than `block_limit` bytes is reported as
    /// [`Fault::Large`] and skipped.
    pub fn open(path: &Path, block_limit: u64) -> Result<Self, ArchiveError> {
        let file = File::open(path).map_err(ArchiveError::io("open", path))?;
        Self::new(file, path, block_limit)
    }
}

impl<R: Read + Seek> Records<R> {
    /// Reads from any seekable source. Errors name it `path`.
    pub fn new(file: R, path: &Path, block_limit: u64) -> Result<Self, ArchiveError> {
        Self::after(file, path, 0, block_limit)
    }

    /// Reads from an offset at which a record, or the gzip member that contains it, begins.
    pub(super) fn after(
        mut file: R,
        path: &Path,
        offset: u64,
        block_limit: u64,
    ) -> Result<Self, ArchiveError> {
        let fail = || ArchiveError::io("read", path);
        let end = file.seek(SeekFrom::End(0)).map_err(fail())?;
        let mut input = Input::new(file);
        input.go(offset).map_err(fail())?;
        Ok(Self {
            source: ReadState::Between(input),
            path: path.to_path_buf(),
            block_limit,
            end,
            damaged: 0,
        })
    }

    /// Returns the error for a record that shares a gzip member although it should be alone.
    pub(super) fn misplaced(&self, offset: u64) -> ArchiveError {
        self.fail(offset, Fault::Misplaced.into())
    }

    fn fail(&self, offset: u64, trouble: ReadFailure) -> ArchiveError {
        let path = self.path.clone();
        match trouble {
            ReadFailure::End => ArchiveError::Torn { path, offset },
            ReadFailure::Fault(source) => ArchiveError::Damaged {
                path,
                offset,
                source,
            },
            ReadFailure::Io(source) => ArchiveError::Io {
                action: "read",
                path,
                source,
            },
        }
    }

    /// Moves to the next record after a damaged one. Returns the error to report.
    fn recover(&mut self, mut input: Input<R>, start: u64, trouble: ReadFailure) -> ArchiveError {
        if matches!(trouble, ReadFailure::Io(_)) {
            return self.fail(start, trouble);
        }
        self.damaged += 1;
        if self.damaged > DAMAGE_LIMIT {
            return self.fail(start, Fault::Hopeless.into());
        }
        let found = input.find_record(start, self.end);
        let moved = found.and_then(|next| next.map(|next| input.go(next)).transpose());
        let trouble = match (moved, trouble) {
            (Err(source), _) => ReadFailure::Io(source),
            (Ok(None), trouble) => trouble,
            (Ok(Some(())), trouble) => {
                self.source = ReadState::Between(input);
                match trouble {
                    // The file did not end here: the damaged record has no valid end.
                    ReadFailure::End => Fault::Gzip(io::ErrorKind::UnexpectedEof.into()).into(),
                    other => other,
                }
            }
        };
        self.fail(start, trouble)
    }

    fn plain(&mut self, mut input: Input<R>) -> Result<FoundRecord, ArchiveError> {
        let offset = input.position;
        match plain_record(&mut input, self.block_limit, self.end) {
            Ok(Ok(record)) => {
                let length = Some(input.position - offset);
                self.source = ReadState::Between(input);
                Ok(FoundRecord {
                    offset,
                    length,
                    record,
                })
            }
            Ok(Err(large)) => {
                self.source = ReadState::Between(input);
                Err(self.fail(offset, large.into()))
            }
            Err(trouble) => Err(self.recover(input, offset, trouble)),
        }
    }

    /// Reads a record of an open member. Returns `None` if the member ends without a record.
    fn member(
        &mut self,
        mut decoder: Box<BufReader<GzDecoder<Input<R>>>>,
        member: GzipMember,
    ) -> Option<Result<FoundRecord, ArchiveError>> {
        let start = member.start;
        let outcome = member_record(&mut decoder, start, self.block_limit);
        let (record, more) = match outcome {
            Ok(found) => found,
            Err(trouble) => {
                let input = decoder.into_inner().into_inner();
                return Some(Err(self.recover(input, start, trouble)));
            }
        };
        let mut length = None;
        if more {
            self.source = ReadState::Member(
                decoder,
                GzipMember {
                    start,
                    shared: true,
                },
            );
        } else {
            let input = decoder.into_inner().into_inner();
            length = (!member.shared).then(|| input.position - start);
            self.source = ReadState::Between(input);
        }
        let record = match record? {
            Ok(record) => record,
            Err(large) => return Some(Err(self.fail(start, large.into()))),
        };
        Some(Ok(FoundRecord {
            offset: start,
            length,
            record,
        }))
    }
}

impl<R: Read + Seek> Iterator for Records<R> {
    type Item = Result<FoundRecord, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match std::mem::replace(&mut self.source, ReadState::Done) {
                ReadState::Done => return None,
                ReadState::Between(mut input) => {
                    let start = input.position;
                    let first = match input.fill_buf() {
                        Ok(bytes) => bytes.first().copied(),
                        Err(source) => return Some(Err(self.fail(start, ReadFailure::Io(source)))),
                    };
                    match first {
                        None => return None,
                        Some(GZIP_FIRST) => {
                            let decoder = Box::new(BufReader::new(GzDecoder::new(input)));
                            let member = GzipMember {
                                start,
                                shared: false,
                            };
                            self.source = ReadState::Member(decoder, member);
                        }
                        Some(_) => return Some(self.plain(input)),
                    }
                }
                ReadState::Member(decoder, member) => {
                    if let Some(found) = self.member(decoder, member) {
                        return Some(found);
                    }
                }
            }
        }
    }
}

/// The record, or why it was skipped.
type Passed = Result<WarcRecord, Fault>;

fn plain_record<R: Read + Seek>(
    input: &mut Input<R>,
    limit: u64,
    end: u64,
) -> Result<Passed, ReadFailure> {
    if !parse::skip_line_ends(input)? {
        return Err(ReadFailure::End);
    }
    let header = parse::header(input)?;
    let after = input
        .position
        .checked_add(header.length)
        .filter(|&after| after <= end);
    let after = after.ok_or(ReadFailure::End)?;
    if header.length > limit {
        input.go(after)?;
        parse::skip_line_ends(input)?;
        return Ok(Err(Fault::Large(header.length)));
    }
    let mut block = Vec::new();
    input.by_ref().take(header.length).read_to_end(&mut block)?;
    if (block.len() as u64) < header.length {
        return Err(ReadFailure::End);
    }
    parse::skip_line_ends(input)?;
    Ok(Ok(WarcRecord::new(header, block)))
}

/// Reads a record of a gzip member. Returns it, and whether more follows in the member.
///
/// The checksum of a member is verified at its end. So a record that fills its member is
/// returned only if the checksum is right.
fn member_record<R: Read + Seek>(
    decoder: &mut BufReader<GzDecoder<Input<R>>>,
    start: u64,
    limit: u64,
) -> Result<(Option<Passed>, bool), ReadFailure> {
    if !parse::skip_line_ends(decoder)? {
        return Ok((None, false));
    }
    let header = parse::header(decoder)?;
    if header.length > limit {
        skip(decoder, header.length, start)?;
        let more = parse::skip_line_ends(decoder)?;
        return Ok((Some(Err(Fault::Large(header.length))), more));
    }
    let mut block = Vec::new();
    decoder
        .by_ref()
        .take(header.length)
        .read_to_end(&mut block)?;
    if (block.len() as u64) < header.length {
        // The member is complete, but its record is not.
        return Err(Fault::Length.into());
    }
    let more = parse::skip_line_ends(decoder)?;
    Ok((Some(Ok(WarcRecord::new(header, block))), more))
}

/// Decodes and drops `length` bytes. Fails if the member is a decompression bomb.
fn skip<R: Read>(
    decoder: &mut BufReader<GzDecoder<Input<R>>>,
    length: u64,
    start: u64,
) -> Result<(), ReadFailure> {
    let mut left = length;
    while left > 0 {
        let taken = io::copy(
            &mut decoder.by_ref().take(left.min(1 << 20)),
            &mut io::sink(),
        )?;
        if taken == 0 {
            return Err(Fault::Length.into());
        }
        left -= taken;
        let eaten = decoder.get_ref().get_ref().position - start;
        if length - left > (1 << 20) + eaten * SKIP_RATIO {
            return Err(Fault::Bomb.into());
        }
    }
    Ok(())
}
