//! Runs [`fuzz::html`] on what libFuzzer makes up.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::html(data));
