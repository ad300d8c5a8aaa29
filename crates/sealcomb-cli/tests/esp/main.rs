//! `sealcomb esp` on the captures that this repository ships.

mod bad_input;
mod bench;
mod captures;
mod demonstration;
mod drops;
mod round_trips;
mod sequence_numbers;
mod suites;
