//! Decodes the chunked transfer coding (RFC 9112, 7.1).
//!
//! The decoder is as strict as hyper, because both must read the same bytes as the same body.
//!
//! **Invariant:** the number of bytes consumed between two chunks is bounded, and no byte after
//! the last chunk and its trailers is consumed.

use bytes::{Buf, Bytes, BytesMut};

use crate::heads::HeadLimits;

/// A body is refused when it has this many bytes that carry no information: extensions of chunks,
/// spaces, and leading zeros of sizes. Hyper has the same limit for extensions, which have no
/// practical use.
const IDLE: usize = 16 * 1024;

/// The decoder of one chunked body.
pub(crate) struct Chunks {
    state: ChunkState,
    idle: usize,
    trailers: Vec<u8>,
    fields: usize,
    limits: HeadLimits,
}

/// What the decoder expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    /// The first digit of a size.
    Start,
    /// More digits of a size, whose value so far is given.
    Size(u64),
    /// Spaces after the size.
    Spaces(u64),
    Extension(u64),
    /// The line feed after the size.
    SizeEnd(u64),
    /// The given number of bytes of a chunk.
    Data(u64),
    DataReturn,
    DataEnd,
    /// The first byte of a trailer field, or of the line that ends the body.
    TrailerStart,
    Trailer,
    TrailerEnd,
    LastEnd,
    Over,
}

/// The result of one decoding step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyPiece {
    /// More bytes are needed.
    More,
    Data(Bytes),
    /// The body is complete.
    End,
}

/// The bytes are not valid chunked coding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotChunks;

impl Chunks {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            state: ChunkState::Start,
            idle: 0,
            trailers: Vec::new(),
            fields: 0,
            limits,
        }
    }

    /// Consumes bytes of the body, up to and including the next piece of data.
    pub(crate) fn next(&mut self, bytes: &mut BytesMut) -> Result<BodyPiece, NotChunks> {
        loop {
            if let ChunkState::Data(left) = self.state {
                return Ok(self.data(left, bytes));
            }
            if self.state == ChunkState::Over {
                return Ok(BodyPiece::End);
            }
            let Some(&byte) = bytes.first() else {
                return Ok(BodyPiece::More);
            };
            bytes.advance(1);
            self.state = self.after(byte)?;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state == ChunkState::Over
    }

    fn data(&mut self, left: u64, bytes: &mut BytesMut) -> BodyPiece {
        if bytes.is_empty() {
            return BodyPiece::More;
        }
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - length as u64;
        self.state = if left == 0 {
            ChunkState::DataReturn
        } else {
            ChunkState::Data(left)
        };
        BodyPiece::Data(bytes.split_to(length).freeze())
    }

    /// Returns the state after a byte that is not data.
    fn after(&mut self, byte: u8) -> Result<ChunkState, NotChunks> {
        Ok(match (self.state, byte) {
            (ChunkState::Start, _) => ChunkState::Size(digit(byte).ok_or(NotChunks)?),
            (ChunkState::Size(size) | ChunkState::Spaces(size), b' ' | b'\t') => {
                self.idle()?;
                ChunkState::Spaces(size)
            }
            (ChunkState::Size(size) | ChunkState::Spaces(size), b';') => {
                ChunkState::Extension(size)
            }
            (
                ChunkState::Size(size) | ChunkState::Spaces(size) | ChunkState::Extension(size),
                b'\r',
            ) => ChunkState::SizeEnd(size),
            (ChunkState::Size(size), _) => {
                if size == 0 {
                    self.idle()?;
                }
                let digit = digit(byte).ok_or(NotChunks)?;
                let size = size
                    .checked_mul(16)
                    .and_then(|size| size.checked_add(digit));
                ChunkState::Size(size.ok_or(NotChunks)?)
            }
            (ChunkState::Extension(size), _) if byte != b'\n' => {
                self.idle()?;
                ChunkState::Extension(size)
            }
            (ChunkState::SizeEnd(0), b'\n') => ChunkState::TrailerStart,
            (ChunkState::SizeEnd(size), b'\n') => ChunkState::Data(size),
            (ChunkState::DataReturn, b'\r') => ChunkState::DataEnd,
            (ChunkState::DataEnd, b'\n') => ChunkState::Start,
            (ChunkState::TrailerStart, b'\r') => {
                self.keep(byte)?;
                ChunkState::LastEnd
            }
            (ChunkState::TrailerStart | ChunkState::Trailer, _) => {
                self.keep(byte)?;
                if byte == b'\r' {
                    ChunkState::TrailerEnd
                } else {
                    ChunkState::Trailer
                }
            }
            (ChunkState::TrailerEnd, b'\n') if self.fields < self.limits.fields => {
                self.fields += 1;
                self.keep(byte)?;
                ChunkState::TrailerStart
            }
            (ChunkState::LastEnd, b'\n') => {
                self.keep(byte)?;
                self.check_trailers()?;
                ChunkState::Over
            }
            _ => return Err(NotChunks),
        })
    }

    fn idle(&mut self) -> Result<(), NotChunks> {
        self.idle += 1;
        if self.idle >= IDLE {
            return Err(NotChunks);
        }
        Ok(())
    }

    fn keep(&mut self, byte: u8) -> Result<(), NotChunks> {
        self.trailers.push(byte);
        if self.trailers.len() >= self.limits.bytes {
            return Err(NotChunks);
        }
        Ok(())
    }

    /// Trailers are not used, but must be well-formed.
    fn check_trailers(&self) -> Result<(), NotChunks> {
        let mut fields = vec![httparse::EMPTY_HEADER; self.fields];
        match httparse::parse_headers(&self.trailers, &mut fields) {
            Ok(httparse::Status::Complete(_)) => Ok(()),
            _ => Err(NotChunks),
        }
    }
}

fn digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}
