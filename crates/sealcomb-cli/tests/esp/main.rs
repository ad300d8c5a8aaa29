//! `sealcomb esp` on the captures that this repository ships.

mod bad_input;
mod bench;
mod captures;
mod cut_off;
mod demonstration;
mod drops;
mod extended;
mod formats;
mod round_trips;
mod secrets;
mod sequence_numbers;
mod suites;
