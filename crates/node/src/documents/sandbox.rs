//! The sandbox of a process that reads a document: limits on time and memory, and a filter of
//! system calls.
//!
//! The filter permits what a computation needs: memory, the standard streams, locks, time and
//! exit. All other calls fail with `EPERM`, among them those that open files, connect, start
//! processes, signal other processes, or make memory executable.
//!
//! **Invariant:** after [`enter`] has returned `Ok`, the process cannot open a file or a socket.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};
use thiserror::Error;

/// The limits of a process that reads a document.
#[derive(Debug, Clone, Copy)]
pub struct SandboxLimits {
    /// Processor time in seconds.
    pub seconds: u32,
    /// Memory in megabytes (2^20 bytes).
    pub megabytes: u32,
}

/// Why the sandbox could not be set up.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// A resource limit was refused.
    #[error("cannot set a limit of the process: {0}")]
    Limit(#[from] io::Error),
    /// The filter of system calls was refused.
    #[error("cannot filter system calls: {0}")]
    Filter(String),
}

/// Puts this process into the sandbox. It cannot leave it.
pub fn enter(limits: SandboxLimits) -> Result<(), SandboxError> {
    let seconds = u64::from(limits.seconds);
    let set = |resource, soft, hard| {
        let limit = Rlimit {
            current: Some(soft),
            maximum: Some(hard),
        };
        setrlimit(resource, limit).map_err(io::Error::from)
    };
    // The first limit sends SIGXCPU, the second one SIGKILL.
    set(Resource::Cpu, seconds, seconds + 1)?;
    let memory = u64::from(limits.megabytes) << 20;
    set(Resource::Data, memory, memory)?;
    set(Resource::Core, 0, 0)?;
    set(Resource::Fsize, 0, 0)?;
    set(Resource::Nofile, 3, 3)?;
    end_with_parent()?;
    filter_calls()
}

/// Makes the kernel end this process when the process that started it ends.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, Signal};
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Other processes of the user cannot read the memory of this one.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn filter_calls() -> Result<(), SandboxError> {
    Err(SandboxError::Filter("only Linux can do this".into()))
}

/// Installs the filter of system calls for the calling thread.
#[cfg(target_os = "linux")]
fn filter_calls() -> Result<(), SandboxError> {
    let program = linux::program().map_err(|error| SandboxError::Filter(error.to_string()))?;
    seccompiler::apply_filter(&program).map_err(|error| SandboxError::Filter(error.to_string()))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use seccompiler::{
        BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
        SeccompFilter, SeccompRule, TargetArch,
    };

    /// Calls that are permitted with all arguments.
    const PERMITTED: [libc::c_long; 22] = [
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
    ];

    /// Returns the filter for this process.
    pub fn program() -> Result<BpfProgram, BackendError> {
        let is = |argument: u8, value: u64| {
            let operator = SeccompCmpOp::Eq;
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        };
        let rule = |condition| SeccompRule::new(vec![condition]);
        let executable = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
        let data = SeccompCondition::new(2, SeccompCmpArgLen::Dword, executable, 0)?;
        let own = u64::from(std::process::id());
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = PERMITTED
            .into_iter()
            .map(|call| (call, Vec::new()))
            .collect();
        // The standard streams.
        rules.insert(libc::SYS_read, vec![rule(is(0, 0)?)?]);
        rules.insert(libc::SYS_write, vec![rule(is(0, 1)?)?, rule(is(0, 2)?)?]);
        rules.insert(libc::SYS_mmap, vec![rule(data.clone())?]);
        rules.insert(libc::SYS_mprotect, vec![rule(data)?]);
        // `abort` sends a signal to its own process.
        rules.insert(libc::SYS_tgkill, vec![rule(is(0, own)?)?]);
        let filter = SeccompFilter::new(
            rules,
            SeccompAction::Errno(libc::EPERM as u32),
            SeccompAction::Allow,
            TargetArch::try_from(std::env::consts::ARCH)?,
        )?;
        filter.try_into()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    use std::thread;

    /// The filter holds for the thread that installs it, so the test needs no process.
    #[test]
    fn a_thread_behind_the_filter_opens_no_file_and_no_socket_and_starts_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("made");
        let attempts = move || {
            let error = |what: &'static str, error: Option<std::io::Error>| {
                (what, error.map(|error| error.kind()))
            };
            vec![
                error("read a file", File::open("/proc/self/status").err()),
                error("make a file", File::create(&file).err()),
                error("list", std::fs::read_dir("/").err()),
                error("connect", TcpStream::connect(address).err()),
                error("listen", TcpListener::bind("127.0.0.1:0").err()),
                error("datagrams", UdpSocket::bind("127.0.0.1:0").err()),
                error("local sockets", UnixStream::pair().err()),
                error("program", Command::new("/bin/true").status().err()),
                error("thread", thread::Builder::new().spawn(|| ()).err()),
                error("remove", std::fs::remove_file(&file).err()),
            ]
        };
        // The same attempts succeed without the filter.
        let free = attempts();
        let failed: Vec<_> = free.iter().filter(|(_, error)| error.is_some()).collect();
        assert!(failed.is_empty(), "{failed:?}");
        let confined = thread::spawn(move || {
            super::filter_calls().map_err(|error| error.to_string())?;
            // Memory and computation still work.
            let sum: u64 = vec![1_u64; 1 << 20].iter().sum();
            assert_eq!(sum, 1 << 20);
            Ok::<_, String>(attempts())
        });
        let found = confined.join().unwrap().unwrap();
        assert_eq!(found.len(), free.len());
        for (what, error) in found {
            assert_eq!(error, Some(ErrorKind::PermissionDenied), "{what}");
        }
    }
}
