//! No sequence or packet number ever serves twice under one key, wherever the SA file and the state lie.

mod model;
#[cfg(unix)]
mod situations;
mod world;
