//! Runs of sectors, each of them a data unit of XTS.

use alloc::borrow::Cow;

use arrayvec::ArrayVec;

use crate::backend::FLIGHT;
use crate::backend::{BLOCK, Block};
use crate::burst::{Messages, PLACES};
use crate::engine::{AssociatedData, Batch, Message, Schedule};
use crate::modes::Mode;
use crate::{Error, Key};

/// Consecutive sectors of a disk or a file, encrypted with XTS. The tweak of a sector is its number, as a little-endian
/// number of 16 bytes.
///
/// A run may end with a shorter sector, which has at least 16 bytes.
///
/// ```
/// use sealcomb::Key;
/// use sealcomb::hazmat::{self, Sectors};
///
/// let bytes: Vec<u8> = (0..64).collect();
/// let key = Key::new(hazmat::by_id("aes256-xts")?, &bytes)?;
/// let mut run = vec![0; 8 * 512];
/// // LUKS and dm-crypt with `aes-xts-plain64` and sectors of 512 bytes.
/// let sectors = Sectors::new(&key, 512)?;
/// sectors.encrypt(100, &mut run)?;
///
/// // Any sector of the run can be decrypted alone.
/// sectors.decrypt(103, &mut run[3 * 512..4 * 512])?;
/// assert_eq!(run[3 * 512..4 * 512], [0; 512]);
/// # Ok::<(), sealcomb::Error>(())
/// ```
///
/// LUKS2 numbers sectors of 4096 bytes in units of 512 bytes, so that the numbers of consecutive sectors differ by 8:
///
/// ```
/// # use sealcomb::Key;
/// # use sealcomb::hazmat::{self, Sectors};
/// # let bytes: Vec<u8> = (0..64).collect();
/// # let key = Key::new(hazmat::by_id("aes256-xts")?, &bytes)?;
/// let (mut run, mut second) = (vec![0; 2 * 4096], vec![0; 4096]);
/// Sectors::new(&key, 4096)?.step(8).encrypt(800, &mut run)?;
/// Sectors::new(&key, 4096)?.encrypt(808, &mut second)?;
/// assert_eq!(run[4096..], second);
/// # Ok::<(), sealcomb::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sectors<'k> {
    key: &'k Key,
    bytes: usize,
    step: u64,
}

impl<'k> Sectors<'k> {
    /// Returns sectors of this size in bytes. Their numbers differ by 1.
    ///
    /// # Errors
    /// [`Error::NoSectors`] unless the key's algorithm is XTS, [`Error::MessageTooShort`] and
    /// [`Error::MessageTooLong`] for sectors of less than 16 or more than 2^24 bytes.
    pub fn new(key: &'k Key, bytes: usize) -> Result<Self, Error> {
        let algorithm = key.algorithm();
        if algorithm.mode_id() != "xts" {
            return Err(Error::NoSectors { algorithm: algorithm.id() });
        }
        algorithm.check(BLOCK, 0, 0, bytes as u64)?;
        Ok(Self { key, bytes, step: 1 })
    }

    /// Sets the difference of the numbers of consecutive sectors. With 0, all sectors of a run have the same number.
    #[must_use]
    pub fn step(self, step: u64) -> Self {
        Self { step, ..self }
    }

    /// Encrypts a run of sectors in place. The first one has the number `first`.
    ///
    /// # Errors
    /// [`Error::MessageTooShort`] if the last sector has less than 16 bytes. Nothing was written in this case.
    pub fn encrypt(&self, first: u64, run: &mut [u8]) -> Result<(), Error> {
        self.process(first, run, |mode, batch| mode.seal(batch))
    }

    /// Decrypts a run of sectors in place. The first one has the number `first`. Nothing is verified.
    ///
    /// # Errors
    /// Those of [`Sectors::encrypt`].
    pub fn decrypt(&self, first: u64, run: &mut [u8]) -> Result<(), Error> {
        self.process(first, run, |mode, batch| mode.open(batch))
    }

    fn process(
        &self,
        first: u64,
        run: &mut [u8],
        process: impl Fn(&dyn Mode, &mut Batch<'_, '_, '_>),
    ) -> Result<(), Error> {
        if let got @ 1..BLOCK = run.len() % self.bytes {
            return Err(Error::MessageTooShort { min: BLOCK, got });
        }
        let (algorithm, key) = (self.key.algorithm(), self.key.material());
        let tweak = |number: usize| u128::from(first) + number as u128 * u128::from(self.step);
        for (flight, run) in run.chunks_mut(FLIGHT * self.bytes).enumerate() {
            let mut tweaks = ArrayVec::<Block, FLIGHT>::new();
            let numbers = flight * FLIGHT..;
            tweaks.extend(numbers.take(run.len().div_ceil(self.bytes)).map(|n| tweak(n).to_le_bytes()));
            let (mut places, mut messages) = (PLACES, Messages::new());
            for ((place, tweak), data) in places.iter_mut().zip(&tweaks).zip(run.chunks_mut(self.bytes)) {
                let (aad, bytes) = (AssociatedData::One(Cow::Borrowed(&[])), data.len());
                let message = Message { key, nonce: tweak, aad, data: data.into(), bytes, tag: [0; BLOCK] };
                messages.push(place.write(message));
            }
            let mut batch =
                Batch { backend: self.key.backend(), schedule: Schedule::Auto, messages: &mut messages };
            process(algorithm.code(), &mut batch);
        }
        Ok(())
    }
}
