//! `sealcomb esp` and `sealcomb macsec` on captures of every kind: each packet is handled or counted under a cause,
//! and the exit status reports losses.

mod carried;
mod files;
mod fragments;
mod frames;
mod lengths;
mod links;
mod macsec;
mod packets;
mod run;
#[cfg(target_os = "linux")]
mod streams;
