//! How the process takes memory from the system.

/// Turns transparent huge pages off for this process.
///
/// The allocator asks for them where the system permits it. A huge page has 2 MiB, and the kernel
/// clears all of it at the first touch. On a virtual machine this took 6 ms, inside a step of the
/// core. A crawl of 1,700 pages took 112 MB of memory without and 143 MB with huge pages, at the
/// same CPU time (docs/science/numbers.md). Does nothing on systems other than Linux.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!("the kernel keeps transparent huge pages on: {error}");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn huge_pages_are_off_afterwards() {
        super::use_small_pages();
        let disabled = rustix::thread::transparent_huge_pages_are_disabled();
        assert!(disabled.unwrap());
    }
}
