//! `sealcomb esp` on this repository's captures.

mod bad_input;
mod bench;
mod captures;
mod demonstration;
mod drops;
mod extended;
mod formats;
mod round_trips;
mod secrets;
mod sequence_numbers;
mod suites;
mod truncated;
