//! Standard output, which carries results only; progress and errors go to standard error.
//!
//! `println!` panics when the reader has closed the pipe, as `head` does after its last line.
//! [`outln!`] then exits with code 0. It exits with code 1 if writing fails for another reason.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line to standard output, like `println!`.
macro_rules! outln {
    ($($argument:tt)*) => {
        $crate::output::line(format_args!($($argument)*))
    };
}

/// Prints a line to standard output.
pub fn line(text: Arguments<'_>) {
    let Err(error) = writeln!(io::stdout().lock(), "{text}") else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(0);
    }
    eprintln!("avocet: cannot write to standard output: {error}");
    std::process::exit(1);
}
