//! Figures of this process, from `/proc`, for monitoring.

use std::fs;

/// Figures of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessFigures {
    /// Processor time in seconds, in user and kernel mode.
    pub cpu_seconds: f64,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
    /// Virtual memory in bytes.
    pub virtual_bytes: u64,
    /// Number of threads.
    pub threads: u64,
    /// Start time, in Unix seconds.
    pub started: f64,
    /// Open file descriptors.
    pub open_files: u64,
    /// The limit on open file descriptors.
    pub most_files: u64,
}

impl ProcessFigures {
    /// Reads the figures of this process. Figures that cannot be read are 0.
    pub fn read() -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut figures = Self::of(
            &text("/proc/self/stat"),
            &text("/proc/stat"),
            rustix::param::clock_ticks_per_second() as f64,
            rustix::param::page_size() as u64,
        );
        figures.open_files = fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64);
        let limits = text("/proc/self/limits");
        let limit = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"));
        let limit = limit.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        figures.most_files = limit.unwrap_or(0);
        figures
    }

    /// Reads the figures from the text of `/proc/self/stat` and the start of the system from that
    /// of `/proc/stat` (`man 5 proc`).
    fn of(stat: &str, system: &str, ticks: f64, page: u64) -> Self {
        // The name of the program, in parentheses, may have spaces.
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // The field after the name is number 3.
        let field = |number: usize| {
            fields
                .get(number - 3)
                .and_then(|text| text.parse::<u64>().ok())
        };
        let number = |place: usize| field(place).unwrap_or(0);
        let booted = system.lines().find_map(|line| line.strip_prefix("btime "));
        let booted: f64 = booted
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0.0);
        Self {
            cpu_seconds: (number(14) + number(15)) as f64 / ticks,
            threads: number(20),
            started: booted + number(22) as f64 / ticks,
            virtual_bytes: number(23),
            resident_bytes: number(24) * page,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_fields_of_stat() {
        let stat =
            "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 9 0 1000 4096000 25 1844";
        let figures = ProcessFigures::of(stat, "cpu 1\nbtime 1700000000\n", 100.0, 4096);
        let expected = ProcessFigures {
            cpu_seconds: 3.0,
            resident_bytes: 102_400,
            virtual_bytes: 4_096_000,
            threads: 9,
            started: 1_700_000_010.0,
            ..ProcessFigures::default()
        };
        assert_eq!(figures, expected);
        let now = ProcessFigures::read();
        assert!(
            now.resident_bytes > 0 && now.open_files > 0 && now.most_files > 0,
            "{now:?}"
        );
    }
}
