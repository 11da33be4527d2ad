//! Runs [`fuzz::document`] on the inputs that libFuzzer generates.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::document(data));
