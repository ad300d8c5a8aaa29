//! The batches of a cell, which every contender processes one after the other.
//!
//! A branch predictor memorizes thousands of branches, so repeating one batch favors code whose branches depend on
//! lengths. A cell therefore rotates 256 different batches. Each has other nonces and, in a mix, other lengths. The data
//! differs as well, because it is replaced in place. All batches share a contender's buffers, so that the data stays in
//! cache, as if the program had just received it.
//!
//! A contender processes all batches per call, so all contenders do the same work. Cells with many or long messages
//! have fewer batches, which limits the duration of a call and the memory for lengths and tags.
//!
//! Before a batch is opened, its ciphertexts and tags are copied into the buffers. Their source should stay in cache,
//! too. A stream cipher that is applied twice returns its input, so in modes that contain one, the same bytes are valid
//! ciphertexts of every batch, with other tags. Ciphers without tags accept any bytes. In SIV modes, the keystream
//! depends on the message, and each batch has its own ciphertexts.

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sealcomb::{Algorithm, Kind};

use crate::buffers::{Buffers, Layout, Messages, Short};
use crate::lengths::Lengths;

/// Maximum number of batches of a timing. A comparison with an earlier commit has many cells.
pub(crate) const BATCHES: usize = if cfg!(earlier) { 32 } else { 256 };

/// Maximum number of messages in all batches, unless a single batch has more.
const MESSAGES: usize = 1 << 14;

/// Maximum number of bytes in all batches, approximately.
const BYTES: usize = 16 << 20;

/// The batches of a cell.
pub(crate) struct Batches {
    algorithm: Algorithm,
    /// Number of messages per batch.
    batch: usize,
    stride: Option<usize>,
    /// Lengths of all messages in bytes, batch by batch.
    lengths: Vec<usize>,
    /// Batch `number` has the nonces from this index on.
    nonces: Vec<Short>,
    sealed: Option<Sealed>,
}

/// What contenders open.
#[derive(Default)]
struct Sealed {
    /// The contiguous ciphertexts of each batch, or a single entry that is valid in all batches.
    data: Vec<Vec<u8>>,
    /// Tags of all messages, batch by batch.
    tags: Vec<Short>,
}

impl Batches {
    /// Returns up to `most` batches.
    pub(crate) fn new(
        algorithm: Algorithm,
        lengths: Lengths,
        batch: usize,
        layout: Layout,
        most: usize,
    ) -> Self {
        let messages = MESSAGES.min(BYTES / lengths.mean().max(1));
        let count = (messages / batch).clamp(1, most);
        let mut random = StdRng::seed_from_u64(1);
        let mut nonce = || Short { bytes: random.random(), len: algorithm.nonce_bytes() };
        Self {
            algorithm,
            batch,
            stride: layout.stride(algorithm.padded_bytes(lengths.max())),
            lengths: lengths.of(algorithm, count * batch),
            nonces: (0..count + batch).map(|_| nonce()).collect(),
            sealed: None,
        }
    }

    /// Returns the number of messages in all batches.
    pub(crate) fn messages(&self) -> usize {
        self.lengths.len()
    }

    /// Returns buffers for a contender.
    pub(crate) fn buffers(&self) -> Buffers {
        self.buffers_with(self.stride)
    }

    /// Calls `process` with each batch. Batches are ciphertexts after a call of `seal_with`.
    pub(crate) fn process(&self, buffers: &mut Buffers, mut process: impl FnMut(Messages<'_>)) {
        for (number, lengths) in self.lengths().enumerate() {
            if let Some(sealed) = &self.sealed {
                let data = &sealed.data[number % sealed.data.len()];
                buffers.copy_from(&data[..lengths.iter().sum()], lengths);
                buffers.tags.copy_from_slice(&sealed.tags[number * self.batch..][..self.batch]);
            }
            process(buffers.messages(self.nonces(number), lengths));
        }
    }

    /// Seals every batch, to open it later.
    pub(crate) fn seal_with(&mut self, seal: impl Fn(Messages<'_>)) {
        let mut buffers = self.buffers_with(None);
        let plain = buffers.data().to_vec();
        let (mut once, mut twice) = (Sealed::default(), Sealed { data: vec![plain.clone()], tags: vec![] });
        let mut is_inverse = true;
        for (number, lengths) in self.lengths().enumerate() {
            buffers.data().copy_from_slice(&plain);
            seal(buffers.messages(self.nonces(number), lengths));
            once.data.push(buffers.data().to_vec());
            once.tags.extend(&buffers.tags);
            seal(buffers.messages(self.nonces(number), lengths));
            twice.tags.extend(&buffers.tags);
            is_inverse &= buffers.data() == plain;
        }
        let any_is_valid = self.algorithm.kind() == Kind::Cipher;
        self.sealed = Some(if any_is_valid || is_inverse { twice } else { once });
    }

    fn lengths(&self) -> impl Iterator<Item = &[usize]> {
        self.lengths.chunks_exact(self.batch)
    }

    fn nonces(&self, number: usize) -> &[Short] {
        &self.nonces[number..][..self.batch]
    }

    fn buffers_with(&self, stride: Option<usize>) -> Buffers {
        let packed = self.lengths().map(|lengths| lengths.iter().sum()).max().unwrap_or(0);
        let tag = Short { bytes: [0; 32], len: self.algorithm.tag_bytes() };
        let bytes = stride.map_or(packed, |stride| stride * self.batch);
        Buffers::new(bytes, stride, vec![tag; self.batch])
    }
}
