//! Standard output, which is for answers only.
//!
//! `println!` panics when the reader has gone, as `head` does after its last line. [`outln!`] ends the
//! program quietly then, and with an error when the output cannot be written for another reason.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a line to standard output, like `println!`.
macro_rules! outln {
    ($($argument:tt)*) => {
        $crate::output::line(format_args!($($argument)*))
    };
}

/// Prints a line.
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
