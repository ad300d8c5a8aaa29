//! `sealcomb macsec` on this repository's captures.

mod bad_input;
mod bench;
mod drops;
mod packet_numbers;
mod round_trips;
