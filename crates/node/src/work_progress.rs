//! How far a long piece of work is, for a display.

/// The unit of the size of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkUnit {
    /// Things that the name of the work says, such as pages.
    Steps,
    /// Bytes.
    Bytes,
}

/// Shows how far a long piece of work is.
pub trait WorkProgress {
    /// A piece of work begins, with a size.
    fn begin(&self, what: &str, size: u64, unit: WorkUnit);

    /// The work has arrived here: `done` of its size.
    fn reach(&self, done: u64);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl WorkProgress for NoProgress {
    fn begin(&self, _: &str, _: u64, _: WorkUnit) {}

    fn reach(&self, _: u64) {}
}
