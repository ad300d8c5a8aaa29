//! `sealcomb macsec` on the captures that this repository ships.

mod bad_input;
mod bench;
mod drops;
mod packet_numbers;
mod round_trips;
