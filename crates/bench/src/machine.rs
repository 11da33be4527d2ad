//! The machine of a measurement, and the resources that this process has used.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// The machine that figures were measured on.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Cores that this process may use.
    pub cores: usize,
    /// The model name of the processor.
    pub cpu: String,
}

impl Machine {
    /// Returns the machine that this process runs on.
    pub fn this() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cores,
            cpu: model(&cpu).unwrap_or("unknown").to_owned(),
        }
    }
}

fn model(cpuinfo: &str) -> Option<&str> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim())
}

/// Returns the CPU time of all threads of this process.
pub fn process_time() -> Duration {
    read(ClockId::ProcessCPUTime)
}

/// Returns the CPU time of this thread.
pub fn thread_time() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// Waits until the other threads of this process are idle (less than 5 % of a core for 250 ms), at
/// most ten minutes.
///
/// So the background work of one phase of a benchmark is charged to that phase, and disturbs no
/// other.
pub fn rest() {
    const LOOK: Duration = Duration::from_millis(250);
    for _ in 0..2400 {
        let before = process_time();
        thread::sleep(LOOK);
        if process_time() - before < LOOK / 20 {
            return;
        }
    }
}

fn read(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// Returns the resident memory of this process, in bytes.
pub fn resident() -> u64 {
    memory("self", "VmRSS:")
}

/// Returns a size in bytes that the kernel reports of a process, such as `VmRSS:`; 0 if it reports
/// none.
pub fn memory(process: &str, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// Returns the bytes that the files under a directory occupy on disk.
pub fn occupied(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => occupied(&entry.path()),
            // The length would be wrong: a journal is allocated longer than its content.
            Ok(data) => data.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work_and_resident_memory_with_allocation() {
        let (thread, process) = (thread_time(), process_time());
        let memory = vec![1u8; 64 << 20];
        assert!(resident() > 64 << 20, "{}", resident());
        assert!(memory.iter().map(|&byte| u64::from(byte)).sum::<u64>() == 64 << 20);
        assert!(thread_time() > thread && process_time() > process);
    }

    #[test]
    fn the_model_name_is_read_from_cpuinfo() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(model(text), Some("Some CPU @ 2 GHz"));
        assert_eq!(model("processor : 0\n"), None);
    }

    #[test]
    fn allocated_blocks_of_files_in_subdirectories_are_counted() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("a")).unwrap();
        fs::write(place.path().join("a/full"), vec![7; 1 << 20]).unwrap();
        let hole = fs::File::create(place.path().join("hole")).unwrap();
        hole.set_len(1 << 30).unwrap();
        let bytes = occupied(place.path());
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
    }
}
