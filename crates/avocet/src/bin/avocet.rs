//! The program `avocet`. Everything it does is in the library of the same name.

use std::process::ExitCode;

/// Version 2 (see Cargo.toml) gives freed memory back within 10 ms, version 3 within a second.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    avocet::main()
}
