//! Streams, whose results must equal those of single messages.

use std::sync::Arc;

use sealcomb::hazmat::{Direction, Stream};
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
            let mut stream =
                call!(Stream::with_tag_bytes(key.clone(), Direction::Seal, &job.nonce, self.tag))?;
            job.aad.chunks(23).try_for_each(|piece| call!(Stream::aad(&mut stream, piece)))?;
            data.chunks_mut(PIECE).try_for_each(|piece| call!(Stream::update(&mut stream, piece)))?;
            call!(Stream::finish(&mut stream, tag))?;
            call!(Stream::begin(&mut stream, Direction::Seal, &job.nonce))?;
            call!(Stream::aad(&mut stream, &job.aad))?;
            let pieces = apart.chunks(PIECE).zip(output.chunks_mut(PIECE));
            for (input, output) in pieces {
                call!(Stream::update_to(&mut stream, input, output))?;
            }
            call!(Stream::finish(&mut stream, tag_apart))
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
        let opened = memory.call(Call::Open, || {
            let mut stream = if self.tag == key.tag_bytes() {
                call!(Stream::new(key.clone(), Direction::Open, &job.nonce))?
            } else {
                call!(Stream::with_tag_bytes(key.clone(), Direction::Open, &job.nonce, self.tag))?
            };
            call!(Stream::aad(&mut stream, &job.aad))?;
            let mut pieces = data.chunks_mut(PIECE);
            pieces.by_ref().take(2).try_for_each(|piece| call!(Stream::update(&mut stream, piece)))?;
            let mut again = call!(Clone::clone(&stream));
            pieces.try_for_each(|piece| call!(Stream::update(&mut stream, piece)))?;
            rest.chunks_mut(PIECE).try_for_each(|piece| call!(Stream::update(&mut again, piece)))?;
            Ok::<_, Error>((
                call!(Stream::verify(&mut stream, &tag)),
                call!(Stream::verify(&mut again, &forged)),
            ))
        });
        assert_eq!(opened, Ok((Ok(()), Err(OpenError::Forged))), "{self:?}");
        assert_eq!(memory.publish(&mut data), job.message, "{self:?}");
    }
}

fn takes_pieces(algorithm: Algorithm) -> bool {
    let modes = ["GCM", "GMAC", "OCB3-T64", "OCB3-T96", "OCB3-T128", "CMAC"];
    algorithm.id().starts_with("aes") && modes.contains(&algorithm.mode())
}
