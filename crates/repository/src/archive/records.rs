//! The records of one file, in order.
//!
//! **Invariant:** every byte of the file belongs to a record that was returned or to an error that
//! was; one damaged record does not hide those after it. Memory is bounded by the block limit, and
//! no member is decoded far beyond it.
//!
//! Takes what the tools of the field write: a gzip member for each record, one for all, or plain.
//! After damage the next record is found by its first bytes. A page that was itself an archive
//! may hold such bytes, so what follows damage is evidence of a weaker kind.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::input::{GZIP_FIRST, Input};
use super::parse::{self, Trouble};
use super::{ArchiveError, Fault, Record};

/// After so many damaged records the rest of a file is given up: each costs a search through the
/// file, and whoever made the file chooses how many there are.
const DAMAGE_LIMIT: u32 = 1000;

/// How much more than its bytes a member may decode to when a record over the limit is passed
/// over (hostile-web.md, row 1).
const SKIP_RATIO: u64 = 100;

/// The block limit for files of others: eight times the largest page we fetch by default.
pub const BLOCK_LIMIT: u64 = 64 << 20;

/// A record and where it was.
#[derive(Debug)]
pub struct Found {
    /// The first byte of the record, or of the gzip member that holds it.
    pub offset: u64,
    /// The bytes it takes in the file, with the line ends after it. `None` where it shares a
    /// gzip member with others, and so cannot be read alone.
    pub length: Option<u64>,
    /// The record.
    pub record: Record,
}

/// Reads a WARC file of any tool.
pub struct Records<R: Read + Seek> {
    source: Source<R>,
    path: PathBuf,
    block_limit: u64,
    /// The end of what is read.
    end: u64,
    damaged: u32,
}

enum Source<R> {
    Between(Input<R>),
    Member(Box<BufReader<GzDecoder<Input<R>>>>, Member),
    Done,
}

/// An open gzip member.
#[derive(Clone, Copy)]
struct Member {
    start: u64,
    /// Whether a record of it was returned already.
    shared: bool,
}

impl Records<File> {
    /// Opens a file. Records whose block is larger than `block_limit` bytes are reported as such
    /// and passed over.
    pub fn open(path: &Path, block_limit: u64) -> Result<Self, ArchiveError> {
        let file = File::open(path).map_err(ArchiveError::io("open", path))?;
        Self::new(file, path, block_limit)
    }
}

impl<R: Read + Seek> Records<R> {
    /// Reads from anything that can be sought in; `path` is what errors call it.
    pub fn new(file: R, path: &Path, block_limit: u64) -> Result<Self, ArchiveError> {
        Self::after(file, path, 0, block_limit)
    }

    /// Reads from an offset on, where a record or the member that holds it begins.
    pub(super) fn after(
        mut file: R,
        path: &Path,
        offset: u64,
        block_limit: u64,
    ) -> Result<Self, ArchiveError> {
        let fail = |source| ArchiveError::io("read", path)(source);
        let end = file.seek(SeekFrom::End(0)).map_err(fail)?;
        let mut input = Input::new(file);
        input.go(offset).map_err(ArchiveError::io("read", path))?;
        let path = path.to_path_buf();
        Ok(Self {
            source: Source::Between(input),
            path,
            block_limit,
            end,
            damaged: 0,
        })
    }

    /// The error for a record that is not alone in its member, where it should be.
    pub(super) fn misplaced(&self, offset: u64) -> ArchiveError {
        self.fail(offset, Fault::Misplaced.into())
    }

    fn fail(&self, offset: u64, trouble: Trouble) -> ArchiveError {
        let path = self.path.clone();
        match trouble {
            Trouble::End => ArchiveError::Torn { path, offset },
            Trouble::Fault(source) => ArchiveError::Damaged {
                path,
                offset,
                source,
            },
            Trouble::Io(source) => ArchiveError::Io {
                action: "read",
                path,
                source,
            },
        }
    }

    /// Turns to the next record after a damaged one, and says what was wrong.
    fn recover(&mut self, mut input: Input<R>, start: u64, trouble: Trouble) -> ArchiveError {
        if matches!(trouble, Trouble::Io(_)) {
            return self.fail(start, trouble);
        }
        self.damaged += 1;
        if self.damaged > DAMAGE_LIMIT {
            return self.fail(start, Fault::Hopeless.into());
        }
        let next = match input.find_record(start, self.end) {
            Ok(next) => next,
            Err(source) => return self.fail(start, Trouble::Io(source)),
        };
        let Some(next) = next else {
            return self.fail(start, trouble);
        };
        if let Err(source) = input.go(next) {
            return self.fail(start, Trouble::Io(source));
        }
        self.source = Source::Between(input);
        // It only looked like the end of the file because the damaged member never ended.
        let early = || Fault::Gzip(io::ErrorKind::UnexpectedEof.into()).into();
        let trouble = if matches!(trouble, Trouble::End) {
            early()
        } else {
            trouble
        };
        self.fail(start, trouble)
    }

    fn plain(&mut self, mut input: Input<R>) -> Result<Found, ArchiveError> {
        let offset = input.position;
        match plain_record(&mut input, self.block_limit, self.end) {
            Ok(Ok(record)) => {
                let length = Some(input.position - offset);
                self.source = Source::Between(input);
                Ok(Found {
                    offset,
                    length,
                    record,
                })
            }
            Ok(Err(large)) => {
                self.source = Source::Between(input);
                Err(self.fail(offset, large.into()))
            }
            Err(trouble) => Err(self.recover(input, offset, trouble)),
        }
    }

    /// Reads a record of an open member. Returns `None` at the end of one without any.
    fn member(
        &mut self,
        mut decoder: Box<BufReader<GzDecoder<Input<R>>>>,
        member: Member,
    ) -> Option<Result<Found, ArchiveError>> {
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
            self.source = Source::Member(
                decoder,
                Member {
                    start,
                    shared: true,
                },
            );
        } else {
            let input = decoder.into_inner().into_inner();
            length = (!member.shared).then(|| input.position - start);
            self.source = Source::Between(input);
        }
        let record = match record? {
            Ok(record) => record,
            Err(large) => return Some(Err(self.fail(start, large.into()))),
        };
        Some(Ok(Found {
            offset: start,
            length,
            record,
        }))
    }
}

impl<R: Read + Seek> Iterator for Records<R> {
    type Item = Result<Found, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match std::mem::replace(&mut self.source, Source::Done) {
                Source::Done => return None,
                Source::Between(mut input) => {
                    let start = input.position;
                    let first = match input.fill_buf() {
                        Ok(bytes) => bytes.first().copied(),
                        Err(source) => return Some(Err(self.fail(start, Trouble::Io(source)))),
                    };
                    match first {
                        None => return None,
                        Some(GZIP_FIRST) => {
                            let decoder = Box::new(BufReader::new(GzDecoder::new(input)));
                            let member = Member {
                                start,
                                shared: false,
                            };
                            self.source = Source::Member(decoder, member);
                        }
                        Some(_) => return Some(self.plain(input)),
                    }
                }
                Source::Member(decoder, member) => {
                    if let Some(found) = self.member(decoder, member) {
                        return Some(found);
                    }
                }
            }
        }
    }
}

/// The record, or why it was passed over whole.
type Passed = Result<Record, Fault>;

fn plain_record<R: Read + Seek>(
    input: &mut Input<R>,
    limit: u64,
    end: u64,
) -> Result<Passed, Trouble> {
    if !parse::skip_line_ends(input)? {
        return Err(Trouble::End);
    }
    let header = parse::header(input)?;
    let after = input
        .position
        .checked_add(header.length)
        .filter(|&after| after <= end);
    let after = after.ok_or(Trouble::End)?;
    if header.length > limit {
        input.go(after)?;
        parse::skip_line_ends(input)?;
        return Ok(Err(Fault::Large(header.length)));
    }
    let mut block = Vec::new();
    input.by_ref().take(header.length).read_to_end(&mut block)?;
    if (block.len() as u64) < header.length {
        return Err(Trouble::End);
    }
    parse::skip_line_ends(input)?;
    Ok(Ok(Record::new(header, block)))
}

/// Reads a record of a member, and whether the member goes on after it. Its check sum is verified
/// when its end is reached, so a record that fills its member is returned only if that is right.
fn member_record<R: Read + Seek>(
    decoder: &mut BufReader<GzDecoder<Input<R>>>,
    start: u64,
    limit: u64,
) -> Result<(Option<Passed>, bool), Trouble> {
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
        // The member is whole and its record is not.
        return Err(Fault::Length.into());
    }
    let more = parse::skip_line_ends(decoder)?;
    Ok((Some(Ok(Record::new(header, block))), more))
}

/// Decodes and drops `length` bytes, unless the member turns out to be a bomb.
fn skip<R: Read>(
    decoder: &mut BufReader<GzDecoder<Input<R>>>,
    length: u64,
    start: u64,
) -> Result<(), Trouble> {
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
