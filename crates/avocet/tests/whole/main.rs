//! The whole program against real servers, real kills and real disks.

mod crash;
mod crawl;
mod hostile;
mod program;
mod usage;
