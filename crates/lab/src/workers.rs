//! Parallel execution with results that do not depend on the number of threads.
//!
//! **Invariant:** results are in the order of the work, and no piece of work sees another. The
//! number of threads therefore changes only the time.

use std::sync::Mutex;
use std::thread;

/// Receives the progress of an experiment.
pub trait ExperimentProgress: Sync {
    /// Announces the start of `steps` steps of `what`.
    fn begin(&self, what: &str, steps: usize);
    /// Announces the end of one step.
    fn step(&self);
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl ExperimentProgress for Silent {
    fn begin(&self, _what: &str, _steps: usize) {}
    fn step(&self) {}
}

/// Applies `work` to each piece, on up to `threads` threads, and reports each finished piece to
/// `progress`.
///
/// # Panics
/// If `work` panics.
pub fn each<T: Send, R: Send>(
    pieces: Vec<T>,
    threads: usize,
    progress: &dyn ExperimentProgress,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let count = pieces.len();
    let queue = Mutex::new(pieces.into_iter().enumerate());
    let next = || {
        queue
            .lock()
            .expect("another task panicked while it held this lock")
            .next()
    };
    let work_off = || {
        let mut done = Vec::new();
        while let Some((place, piece)) = next() {
            done.push((place, work(piece)));
            progress.step();
        }
        done
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count))
            .map(|_| scope.spawn(work_off))
            .collect();
        let mut done = work_off();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    results.sort_unstable_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct CountedSteps(AtomicUsize);

    impl ExperimentProgress for CountedSteps {
        fn begin(&self, _: &str, _: usize) {}
        fn step(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_results_in_order() {
        for threads in [0, 1, 2, 5, 100] {
            let counted = CountedSteps(AtomicUsize::new(0));
            let squares = each((0..37).collect(), threads, &counted, |n: u64| n * n);
            assert!(squares.iter().copied().eq((0..37).map(|n| n * n)));
            assert_eq!(counted.0.into_inner(), 37);
        }
        assert!(each(Vec::<u8>::new(), 2, &Silent, |n| n).is_empty());
    }
}
