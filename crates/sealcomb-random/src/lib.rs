//! Random bytes for keys, nonces, and other values that must not repeat.
//!
//! This is the project's only source of such bytes; `tools/check_randomness.py` rejects all others. A thread-local
//! or static generator would be unsafe: `fork` copies it, parent and child then draw equal nonces, and two messages
//! under one nonce reveal each other. Therefore [`fill`] asks the operating system each time. A [`Generator`], which
//! expands a seed into many bytes, takes a new seed when it detects that it is in another process.
//!
//! ```
//! let mut key = [0; 32];
//! sealcomb_random::fill(&mut key)?;
//!
//! let mut generator = sealcomb_random::Generator::new()?;
//! let mut nonces = [[0; 12]; 512];
//! generator.fill(nonces.as_flattened_mut())?;
//! assert_ne!(nonces[0], nonces[1]);
//! # Ok::<(), sealcomb_random::Error>(())
//! ```
#![forbid(unsafe_code)]

use std::fmt;
use std::process;

use chacha20::ChaCha12Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

/// The error if the operating system returned no random bytes. On Linux, that only happens if the system call is
/// forbidden.
pub use getrandom::Error;

/// Fills `bytes` with random bytes from the operating system.
///
/// # Errors
/// [`Error`] if the operating system returns no random bytes. The content of `bytes` is then unspecified; do not use
/// it.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes)
}

/// Returns `N` random bytes from the operating system.
///
/// # Errors
/// [`Error`] if the operating system returns no random bytes.
pub fn array<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// A random generator for calls that draw many nonces: `ChaCha12` with a seed of 32 bytes from the operating system.
///
/// Create one per call and thread, and drop it at the end of the call. If the process forks while a generator
/// exists, both copies remain safe to use: [`fill`](Self::fill) compares the current process with the one that drew
/// the seed. The seed is zeroized on drop.
pub struct Generator {
    stream: ChaCha12Rng,
    process: u32,
}

impl Generator {
    /// Creates a generator with a new seed.
    ///
    /// # Errors
    /// [`Error`] if the operating system returns no random bytes.
    pub fn new() -> Result<Self, Error> {
        let seed = Zeroizing::new(array::<32>()?);
        Ok(Self { stream: ChaCha12Rng::from_seed(*seed), process: process::id() })
    }

    /// Fills `bytes` with the next bytes of the stream. Draw many nonces at once if possible: each call makes a
    /// system call to identify the process.
    ///
    /// # Errors
    /// [`Error`] if this is not the process that drew the seed, and the operating system returns no random bytes for
    /// a new one. `bytes` is then unchanged.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        if self.process != process::id() {
            *self = Self::new()?;
        }
        self.stream.fill_bytes(bytes);
        Ok(())
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::thread;

    use super::*;

    /// Returns two generators as after a `fork`: with the same seed, and only one in the process that drew it.
    fn forked() -> [Generator; 2] {
        let [parent, child] = [0, 1].map(|_| ChaCha12Rng::from_seed([7; 32]));
        let here = process::id();
        [
            Generator { stream: parent, process: here },
            Generator { stream: child, process: here.wrapping_add(1) },
        ]
    }

    fn nonce(generator: &mut Generator) -> [u8; 12] {
        let mut nonce = [0; 12];
        generator.fill(&mut nonce).unwrap();
        nonce
    }

    #[test]
    fn a_generator_in_another_process_takes_another_seed() {
        let [mut parent, mut child] = forked();
        let drawn: HashSet<_> = (0..1000).flat_map(|_| [nonce(&mut parent), nonce(&mut child)]).collect();
        assert_eq!(drawn.len(), 2000);
        assert_eq!(child.process, process::id());
    }

    #[test]
    fn generators_of_many_threads_draw_different_bytes() {
        let draw = || {
            let mut generator = Generator::new().unwrap();
            (0..500).map(|_| nonce(&mut generator)).collect::<Vec<_>>()
        };
        let drawn: HashSet<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(draw)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(drawn.len(), 8 * 500);
    }

    #[test]
    fn a_generator_does_not_print_its_seed() {
        let generator = Generator { stream: ChaCha12Rng::from_seed([7; 32]), process: 1 };
        assert_eq!(format!("{generator:?}"), "Generator { .. }");
    }

    #[test]
    fn all_bytes_are_drawn() {
        let drawn: HashSet<[u8; 16]> = (0..100).map(|_| array().unwrap()).collect();
        assert_eq!(drawn.len(), 100);
        let mut long = [0; 300];
        fill(&mut long).unwrap();
        assert!(long.chunks(30).all(|part| part.iter().any(|byte| *byte != 0)));
    }
}
