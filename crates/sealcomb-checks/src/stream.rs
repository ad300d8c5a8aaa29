//! Streams, whose results must equal those of single messages.

use std::sync::Arc;

use sealcomb::hazmat::{OpenStream, SealStream};
use sealcomb::{Algorithm, Error, Key, KeyOptions, OpenError};

use crate::{Call, Case, Job, Memory, Role};

/// Size of a piece in bytes: several registers, and whole blocks as OCB3 requires.
const PIECE: usize = 144;

impl Case {
    /// Seals a message in pieces, then opens it with the right and with a wrong tag. Does nothing if the algorithm
    /// has no streams.
    pub(crate) fn in_pieces<M: Memory>(&self, memory: &mut M, key: &[u8], job: &Job<M>) {
        let held = memory.hold(Role::Key, key);
        let key = memory.call(Call::NewKey, || {
            Arc::new(
                call!(KeyOptions::expand(
                    KeyOptions::new().backend(self.backend).any_nonce_bytes(),
                    self.algorithm,
                    &held
                ))
                .expect("a key of the right length"),
            )
        });
        if takes_pieces(self.algorithm) {
            self.seal_pieces(memory, &key, job);
            self.open_pieces(memory, &key, job);
        }
        memory.call(Call::DropKeys, || drop(key));
    }

    fn seal_pieces<M: Memory>(&self, memory: &mut M, key: &Arc<Key>, job: &Job<M>) {
        let mut data = memory.hold(Role::Message, &job.message);
        let apart = memory.hold(Role::Message, &job.message);
        let mut output = memory.hold(Role::Output, &vec![0; job.message.len()]);
        let mut tags = [0, 1].map(|_| memory.hold(Role::Output, &vec![0; self.tag]));
        let [tag, tag_apart] = &mut tags;
        let sealed = memory.call(Call::Seal, || {
            let mut stream = call!(SealStream::with_tag_bytes(key.clone(), &job.nonce, self.tag))?;
            if self.tag == key.tag_bytes() {
                stream = call!(SealStream::new(key.clone(), &job.nonce))?;
            }
            job.aad.chunks(23).try_for_each(|piece| call!(SealStream::aad(&mut stream, piece)))?;
            data.chunks_mut(PIECE).try_for_each(|piece| call!(SealStream::update(&mut stream, piece)))?;
            call!(SealStream::finish(&mut stream, tag))?;
            call!(SealStream::begin(&mut stream, &job.nonce))?;
            call!(SealStream::aad(&mut stream, &job.aad))?;
            let mut stream = call!(SealStream::fork(&stream));
            let pieces = apart.chunks(PIECE).zip(output.chunks_mut(PIECE));
            for (input, output) in pieces {
                call!(SealStream::update_to(&mut stream, input, output))?;
            }
            call!(SealStream::finish(&mut stream, tag_apart))
        });
        sealed.expect("sizes that the algorithm takes");
        for (data, tag) in [&mut data, &mut output].into_iter().zip(&mut tags) {
            assert_eq!(memory.publish(data), job.ciphertext, "{self:?}");
            assert_eq!(memory.publish(tag), job.tag, "{self:?}");
        }
    }

    fn open_pieces<M: Memory>(&self, memory: &mut M, key: &Arc<Key>, job: &Job<M>) {
        let mut data = memory.hold(Role::Ciphertext, &job.ciphertext);
        let tag = memory.hold(Role::Tag, &job.tag);
        let mut forged = memory.hold(Role::Tag, &job.tag);
        forged[0] ^= 1;
        let (_, rest) = job.ciphertext.split_at(job.ciphertext.len().min(2 * PIECE));
        let mut rest = memory.hold(Role::Ciphertext, rest);
        let apart = memory.hold(Role::Ciphertext, &job.ciphertext);
        let mut output = memory.hold(Role::Output, &vec![0; job.message.len()]);
        let mut computed = memory.hold(Role::Output, &vec![0; self.tag]);
        let opened = memory.call(Call::Open, || {
            let mut stream = call!(OpenStream::with_tag_bytes(key.clone(), &job.nonce, self.tag))?;
            if self.tag == key.tag_bytes() {
                stream = call!(OpenStream::new(key.clone(), &job.nonce))?;
            }
            call!(OpenStream::aad(&mut stream, &job.aad))?;
            let mut pieces = data.chunks_mut(PIECE);
            pieces
                .by_ref()
                .take(2)
                .try_for_each(|piece| call!(OpenStream::update_unverified(&mut stream, piece)))?;
            let mut again = call!(OpenStream::fork(&stream));
            pieces.try_for_each(|piece| call!(OpenStream::update_unverified(&mut stream, piece)))?;
            rest.chunks_mut(PIECE)
                .try_for_each(|piece| call!(OpenStream::update_unverified(&mut again, piece)))?;
            let verdicts = (
                call!(OpenStream::verify(&mut stream, &tag)),
                call!(OpenStream::verify(&mut again, &forged)),
            );
            call!(OpenStream::begin(&mut stream, &job.nonce))?;
            call!(OpenStream::aad(&mut stream, &job.aad))?;
            for (input, output) in apart.chunks(PIECE).zip(output.chunks_mut(PIECE)) {
                call!(OpenStream::update_unverified_to(&mut stream, input, output))?;
            }
            call!(OpenStream::finish_unverified(&mut stream, &mut computed))?;
            Ok::<_, Error>(verdicts)
        });
        assert_eq!(opened, Ok((Ok(()), Err(OpenError::Forged))), "{self:?}");
        for data in [&mut data, &mut output] {
            assert_eq!(memory.publish(data), job.message, "{self:?}");
        }
        assert_eq!(memory.publish(&mut computed), job.tag, "{self:?}");
    }
}

fn takes_pieces(algorithm: Algorithm) -> bool {
    let modes = ["GCM", "GMAC", "OCB3-T64", "OCB3-T96", "OCB3-T128", "CMAC"];
    algorithm.id().starts_with("aes") && modes.contains(&algorithm.mode())
}
