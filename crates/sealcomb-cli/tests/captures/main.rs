//! Captures of every shape: each packet is handled, or counted under a named cause, which the exit status tells.

mod carried;
mod files;
mod fragments;
mod frames;
mod lengths;
mod links;
mod macsec;
mod packets;
mod run;
