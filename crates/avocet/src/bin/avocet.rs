//! The program `avocet`. All its code is in the library of the same name.

use std::process::ExitCode;

/// mimalloc version 2 (see Cargo.toml): it returns freed memory to the system within 10 ms, version
/// 3 within a second.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    avocet::main()
}
