//! Where does a chunked body end, and what is in it?
//!
//! RFC 9112, 7.1, as strictly as hyper reads it: the same bytes must not be one answer here and another
//! there.
//!
//! **Invariant:** between two chunks a bounded number of bytes is taken, and nothing beyond the last one.

use bytes::{Buf, Bytes, BytesMut};

use crate::heads::HeadLimits;

/// Bytes of the lines before chunks that say nothing (extensions, spaces, zeros before a size) in one
/// body. Hyper has it so for extensions, which nobody uses for anything.
const IDLE: usize = 16 * 1024;

/// A chunked body as far as it was read.
pub(crate) struct Chunks {
    state: State,
    idle: usize,
    trailers: Vec<u8>,
    fields: usize,
    limits: HeadLimits,
}

/// What is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The first digit of a size.
    Start,
    /// The rest of a size, so far this.
    Size(u64),
    /// Spaces after the size.
    Spaces(u64),
    Extension(u64),
    /// The line feed after the size.
    SizeEnd(u64),
    /// So many bytes of a chunk.
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

/// What the bytes at hand have led to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// More bytes are needed.
    More,
    Data(Bytes),
    /// The body is complete.
    End,
}

/// These are not chunks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotChunks;

impl Chunks {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            state: State::Start,
            idle: 0,
            trailers: Vec::new(),
            fields: 0,
            limits,
        }
    }

    /// Takes from the bytes at hand what belongs to the body, up to the next piece of data.
    pub(crate) fn next(&mut self, bytes: &mut BytesMut) -> Result<Chunk, NotChunks> {
        loop {
            if let State::Data(left) = self.state {
                return Ok(self.data(left, bytes));
            }
            if self.state == State::Over {
                return Ok(Chunk::End);
            }
            let Some(&byte) = bytes.first() else {
                return Ok(Chunk::More);
            };
            bytes.advance(1);
            self.state = self.after(byte)?;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn data(&mut self, left: u64, bytes: &mut BytesMut) -> Chunk {
        if bytes.is_empty() {
            return Chunk::More;
        }
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let left = left - length as u64;
        self.state = if left == 0 {
            State::DataReturn
        } else {
            State::Data(left)
        };
        Chunk::Data(bytes.split_to(length).freeze())
    }

    /// The state after a byte that is not data.
    fn after(&mut self, byte: u8) -> Result<State, NotChunks> {
        Ok(match (self.state, byte) {
            (State::Start, _) => State::Size(digit(byte).ok_or(NotChunks)?),
            (State::Size(size) | State::Spaces(size), b' ' | b'\t') => {
                self.idle()?;
                State::Spaces(size)
            }
            (State::Size(size) | State::Spaces(size), b';') => State::Extension(size),
            (State::Size(size) | State::Spaces(size) | State::Extension(size), b'\r') => {
                State::SizeEnd(size)
            }
            (State::Size(size), _) => {
                if size == 0 {
                    self.idle()?;
                }
                let digit = digit(byte).ok_or(NotChunks)?;
                let size = size
                    .checked_mul(16)
                    .and_then(|size| size.checked_add(digit));
                State::Size(size.ok_or(NotChunks)?)
            }
            (State::Extension(size), _) if byte != b'\n' => {
                self.idle()?;
                State::Extension(size)
            }
            (State::SizeEnd(0), b'\n') => State::TrailerStart,
            (State::SizeEnd(size), b'\n') => State::Data(size),
            (State::DataReturn, b'\r') => State::DataEnd,
            (State::DataEnd, b'\n') => State::Start,
            (State::TrailerStart, b'\r') => {
                self.keep(byte)?;
                State::LastEnd
            }
            (State::TrailerStart | State::Trailer, _) => {
                self.keep(byte)?;
                if byte == b'\r' {
                    State::TrailerEnd
                } else {
                    State::Trailer
                }
            }
            (State::TrailerEnd, b'\n') if self.fields < self.limits.fields => {
                self.fields += 1;
                self.keep(byte)?;
                State::TrailerStart
            }
            (State::LastEnd, b'\n') => {
                self.keep(byte)?;
                self.check_trailers()?;
                State::Over
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

    /// Trailers mean nothing to us, but must be what they are said to be.
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
