//! No sequence or packet number ever repeats under one key, wherever the SA file and the state are.

mod model;
#[cfg(unix)]
mod situations;
mod world;
