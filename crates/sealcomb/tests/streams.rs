//! Streams: however a message is cut into pieces, the result is that of the whole message.

mod common {
    pub(crate) mod backends;
    pub(crate) mod misuse;
}

use common::{backends, misuse};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sealcomb::hazmat::{OpenStream, SealStream};
use sealcomb::reference::gf128::ghash_multiply;
use sealcomb::study::{self, ALGORITHMS};
use sealcomb::{Algorithm, Backend, Cipher, Error, Forged, Key, KeyOptions, Kind, OpenError, SealJob};

/// Returns the algorithms that have streams.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    let modes = ["GCM", "GMAC", "CMAC", "OCB3-T64", "OCB3-T96", "OCB3-T128"];
    ALGORITHMS.iter().copied().filter(move |a| a.cipher() == Cipher::Aes && modes.contains(&a.mode()))
}

fn key(algorithm: Algorithm, backend: Backend) -> Key {
    let bytes: Vec<u8> = (0..algorithm.key_bytes() as u8).map(|byte| byte.wrapping_mul(37)).collect();
    KeyOptions::new().backend(backend).any_nonce_bytes().expand(algorithm, &bytes).unwrap()
}

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * i / 7 + i) as u8).collect()
}

/// A message sealed by one call.
struct Whole {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    message: Vec<u8>,
    sealed: Vec<u8>,
    tag: Vec<u8>,
}

fn whole(key: &Key, nonce: &[u8], aad: &[u8], message: &[u8]) -> Whole {
    let (mut sealed, mut tag) = (message.to_vec(), vec![0; key.tag_bytes()]);
    sealcomb::seal_jobs(&mut [SealJob::in_place(key, nonce, aad, &mut sealed, &mut tag)]).unwrap();
    Whole { nonce: nonce.to_vec(), aad: aad.to_vec(), message: message.to_vec(), sealed, tag }
}

/// Ends the message and returns its tag.
fn tag_of(mut stream: SealStream<&Key>) -> Vec<u8> {
    let mut tag = vec![0; stream.tag_bytes()];
    stream.finish(&mut tag).unwrap();
    tag
}

/// Cuts a message, or its additional data, into pieces of these sizes.
fn cut<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for &size in sizes {
        let (piece, rest) = bytes.split_at(size.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

/// Seals a message in pieces, continuing with a fork after each piece. Returns the output and the tag.
fn sealed(key: &Key, whole: &Whole, cuts: &[usize], in_place: bool) -> (Vec<u8>, Vec<u8>) {
    let mut stream = SealStream::new(key, &whole.nonce).unwrap();
    for piece in cut(&whole.aad, cuts) {
        stream.aad(piece).unwrap();
        stream = stream.fork();
    }
    let from = &whole.message;
    let (mut to, mut done) = (if in_place { from.clone() } else { vec![0x55; from.len()] }, 0);
    if key.algorithm().kind() == Kind::Aead {
        for piece in cut(from, cuts) {
            let room = &mut to[done..][..piece.len()];
            if in_place {
                stream.update(room).unwrap();
            } else {
                stream.update_to(piece, room).unwrap();
            }
            done += piece.len();
            stream = stream.fork();
        }
    }
    let mut tag = vec![0; key.tag_bytes()];
    stream.finish(&mut tag).unwrap();
    (to, tag)
}

/// Opens a message in pieces like [`sealed`], with the right and with wrong tags. Returns the output and the correct tag.
fn opened(key: &Key, whole: &Whole, cuts: &[usize], in_place: bool) -> (Vec<u8>, Vec<u8>) {
    let mut stream = OpenStream::new(key, &whole.nonce).unwrap();
    for piece in cut(&whole.aad, cuts) {
        stream.aad(piece).unwrap();
        stream = stream.fork();
    }
    let from = &whole.sealed;
    let (mut to, mut done) = (if in_place { from.clone() } else { vec![0x55; from.len()] }, 0);
    if key.algorithm().kind() == Kind::Aead {
        for piece in cut(from, cuts) {
            let room = &mut to[done..][..piece.len()];
            if in_place {
                stream.update_unverified(room).unwrap();
            } else {
                stream.update_unverified_to(piece, room).unwrap();
            }
            done += piece.len();
            stream = stream.fork();
        }
    }
    let mut tag = vec![0; key.tag_bytes()];
    stream.fork().finish_unverified(&mut tag).unwrap();
    assert_eq!(stream.fork().verify(&whole.tag), Ok(()));
    for at in 0..tag.len() {
        let mut forged = whole.tag.clone();
        forged[at] ^= 1 << (at % 8);
        assert_eq!(stream.fork().verify(&forged), Err(OpenError::Forged));
    }
    (to, tag)
}

/// Asserts that sealing and opening in pieces, in place or not, equals one call.
fn agrees(key: &Key, whole: &Whole, cuts: &[usize]) {
    // All pieces of OCB3 except the last are whole blocks.
    let unit = if key.algorithm().mode().starts_with("OCB3") { 16 } else { 1 };
    let cuts: Vec<usize> = cuts.iter().map(|size| size / unit * unit).collect();
    for in_place in [false, true] {
        let place = format!("{key:?}, {} bytes, {} of aad, {cuts:?}", whole.message.len(), whole.aad.len());
        let sealed = sealed(key, whole, &cuts, in_place);
        assert_eq!(sealed, (whole.sealed.clone(), whole.tag.clone()), "sealing by {place}");
        let opened = opened(key, whole, &cuts, in_place);
        assert_eq!(opened, (whole.message.clone(), whole.tag.clone()), "opening by {place}");
    }
}

#[test]
fn every_cut_into_two_or_three_pieces_equals_one_call() {
    for backend in backends::available() {
        for algorithm in algorithms() {
            let (key, nonce) = (key(algorithm, backend), bytes(algorithm.nonce_bytes()));
            for len in [0, 1, 15, 16, 17, 33, 64, 100] {
                let message = if algorithm.kind() == Kind::Mac { vec![] } else { bytes(len) };
                let whole = whole(&key, &nonce, &bytes(len + 3), &message);
                for first in 0..=len {
                    agrees(&key, &whole, &[first]);
                    agrees(&key, &whole, &[first, (len - first) / 3]);
                }
            }
        }
    }
}

#[test]
fn random_messages_nonces_and_cuts_equal_one_call() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 300, failure_persistence: None, ..Config::default() },
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let backends = backends::available();
    let algorithms: Vec<_> = algorithms().collect();
    let strategy = (
        0..algorithms.len(),
        0..backends.len(),
        prop_oneof![Just(12_usize), 1..200_usize],
        prop_oneof![0..200_usize, 0..20_000_usize],
        0..600_usize,
        prop::collection::vec(prop_oneof![0..40_usize, 0..9000_usize, Just(16), Just(8192)], 0..12),
    );
    runner
        .run(&strategy, |(algorithm, backend, nonce, len, aad, cuts)| {
            let algorithm = algorithms[algorithm];
            let key = key(algorithm, backends[backend]);
            let nonce = bytes(nonce.clamp(algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes()));
            let message = if algorithm.kind() == Kind::Mac { vec![] } else { bytes(len) };
            agrees(&key, &whole(&key, &nonce, &bytes(aad), &message), &cuts);
            Ok(())
        })
        .unwrap();
}

/// OCB3 takes additional data between the pieces of the message, and after them.
#[test]
fn late_additional_data_of_ocb3_count_like_early_ones() {
    for backend in backends::available() {
        for algorithm in algorithms().filter(|a| a.mode().starts_with("OCB3")) {
            let key = key(algorithm, backend);
            let whole = whole(&key, b"nonce", &bytes(70), &bytes(83));
            let mut stream = SealStream::new(&key, b"nonce").unwrap();
            let mut data = whole.message.clone();
            let (one, rest) = data.split_at_mut(32);
            let (two, three) = rest.split_at_mut(48);
            stream.update(one).unwrap();
            stream.aad(&whole.aad[..5]).unwrap();
            stream.update(two).unwrap();
            stream.update(three).unwrap();
            stream.aad(&whole.aad[5..]).unwrap();
            assert_eq!(tag_of(stream), whole.tag);
            assert_eq!(data, whole.sealed);
        }
    }
}

/// OCB3 encodes the tag length in the nonce block, so a stream with another length than the key's equals a key of
/// that length.
#[test]
fn a_stream_with_another_tag_length_equals_a_key_of_that_length() {
    for (own, other) in [("aes128-ocb3-t128", "aes128-ocb3-t64"), ("aes128-ocb3-t64", "aes128-ocb3-t96")] {
        for backend in backends::available() {
            let keys = [own, other].map(|id| key(study::by_id(id).unwrap(), backend));
            let expected = whole(&keys[1], b"nonce", b"header", &bytes(100));
            let tag_bytes = keys[1].tag_bytes();
            let mut stream = SealStream::with_tag_bytes(&keys[0], b"nonce", tag_bytes).unwrap();
            assert_eq!(stream.tag_bytes(), tag_bytes);
            let mut data = expected.message.clone();
            stream.aad(b"header").unwrap();
            stream.update(&mut data).unwrap();
            assert_eq!(data, expected.sealed);
            assert_eq!(tag_of(stream), expected.tag);
            let mut stream = OpenStream::with_tag_bytes(&keys[0], b"nonce", tag_bytes).unwrap();
            stream.aad(b"header").unwrap();
            stream.update_unverified(&mut data).unwrap();
            assert_eq!(data, expected.message);
            assert_eq!(stream.verify(&expected.tag), Ok(()));
        }
    }
}

/// Returns the 16-byte nonce that GCM hashes to this first counter block: solves `J0 = (N • H ⊕ L) • H` for `N`.
fn nonce_of(h: [u8; 16], j0: [u8; 16]) -> [u8; 16] {
    let times = |a: [u8; 16], b: [u8; 16]| ghash_multiply(a, b);
    // 1/H = H^(2^128 - 2)
    let (mut square, mut inverse) = (times(h, h), times(h, h));
    for _ in 2..128 {
        square = times(square, square);
        inverse = times(inverse, square);
    }
    let lengths = 128_u128.to_be_bytes();
    let x = times(j0, inverse);
    times(core::array::from_fn(|i| x[i] ^ lengths[i]), inverse)
}

#[test]
fn gcms_counter_overflows_in_any_piece() {
    let ecb = Key::new(
        study::by_id("aes128-ecb").unwrap(),
        &[0, 37, 74, 111, 148, 185, 222, 3, 40, 77, 114, 151, 188, 225, 6, 43],
    );
    let mut h = [0; 16];
    ecb.unwrap().seal_in_place_detached(b"", b"", &mut h, &mut []).unwrap();
    for backend in backends::available() {
        let key = key(Algorithm::by_id("aes128-gcm").unwrap(), backend);
        for before in [0, 1, 2, 3, 40] {
            let mut j0 = [9; 16];
            j0[12..].copy_from_slice(&(u32::MAX - before).to_be_bytes());
            let whole = whole(&key, &nonce_of(h, j0), b"header", &bytes(1000));
            for cuts in [&[][..], &[1], &[16], &[31, 2], &[640], &[641, 20]] {
                agrees(&key, &whole, cuts);
            }
        }
    }
}

#[test]
fn a_stream_refuses_misuse_and_stays_unchanged() {
    let aead = |id: &str| key(study::by_id(id).unwrap(), Backend::best());
    let new = |id: &str, nonce: &[u8]| SealStream::new(aead(id), nonce);
    for &algorithm in ALGORITHMS {
        let refused = new(algorithm.id(), &bytes(algorithm.nonce_bytes())).err();
        let expected = if algorithms().any(|other| other.id() == algorithm.id()) {
            None
        } else {
            Some(Error::NotInPieces)
        };
        assert_eq!(refused, expected, "{algorithm:?}");
    }
    let [gcm, ocb3] = ["aes128-gcm", "aes128-ocb3-t128"].map(|id| study::by_id(id).unwrap());
    assert_eq!(new(gcm.id(), &[]).err(), Some(misuse::nonce_length(gcm, 0)));
    assert_eq!(new(ocb3.id(), &[0; 16]).err(), Some(misuse::nonce_length(ocb3, 16)));
    for got in [0, 17] {
        let refused = OpenStream::with_tag_bytes(aead("aes128-gcm"), &[0; 12], got);
        let expected = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        assert_eq!(refused.err(), Some(Error::TagLength { algorithm: gcm.id(), expected, got }));
    }

    let mut ended = new("aes128-gcm", &[0; 12]).unwrap();
    ended.finish(&mut [0; 16]).unwrap();
    assert_eq!(ended.begin(&[]), Err(misuse::nonce_length(gcm, 0)));
    assert_eq!(ended.aad(b""), Err(Error::MessageEnded));
    assert_eq!(ended.update(&mut [0; 1]), Err(Error::MessageEnded));
    assert_eq!(ended.finish(&mut [0; 16]), Err(Error::MessageEnded));
    let mut ended = OpenStream::new(aead("aes128-gcm"), &[0; 12]).unwrap();
    assert_eq!(ended.verify(&[0; 16]), Err(Forged.into()));
    assert_eq!(ended.verify(&[0; 16]), Err(Error::MessageEnded.into()));
    assert_eq!(ended.finish_unverified(&mut [0; 16]), Err(Error::MessageEnded));
    assert_eq!(ended.update_unverified(&mut [0; 1]), Err(Error::MessageEnded));

    let key = aead("aes128-gcm");
    let whole = whole(&key, &[0; 12], b"header", &bytes(50));
    let (mut data, mut short) = (bytes(50), [0; 9]);
    let mut stream = SealStream::new(&key, &[0; 12]).unwrap();
    stream.aad(b"header").unwrap();
    let too_short = Error::OutputTooShort { needed: 50, got: 9 };
    assert_eq!(stream.update_to(&data, &mut short), Err(too_short));
    assert_eq!(short, [0; 9]);
    stream.update(&mut data).unwrap();
    assert_eq!(stream.aad(b"late"), Err(Error::AadAfterMessage));
    assert_eq!(stream.aad(b""), Err(Error::AadAfterMessage));
    assert_eq!(stream.finish(&mut short), Err(misuse::tag_length(gcm, 9)));
    assert_eq!(tag_of(stream), whole.tag);

    let mut stream = OpenStream::new(&key, &[0; 12]).unwrap();
    stream.aad(b"header").unwrap();
    assert_eq!(stream.update_unverified_to(&data, &mut short), Err(too_short));
    stream.update_unverified(&mut data).unwrap();
    assert_eq!(stream.aad(b""), Err(Error::AadAfterMessage));
    assert_eq!(stream.verify(&[0; 15]), Err(misuse::tag_length(gcm, 15).into()));
    assert_eq!(stream.finish_unverified(&mut short), Err(misuse::tag_length(gcm, 9)));
    assert_eq!(stream.fork().verify(&[0; 16]), Err(Forged.into()));
    assert_eq!(stream.verify(&whole.tag), Ok(()));

    let mut stream = new("aes128-ocb3-t128", &[0; 12]).unwrap();
    for bytes in [20, 32] {
        let mut data = vec![1; 16];
        stream.update(&mut vec![1; bytes]).unwrap();
        if bytes == 20 {
            assert_eq!(stream.update(&mut data), Err(Error::NotWholeBlocks { got: 20 }));
            assert_eq!(data, [1; 16]);
            stream = new("aes128-ocb3-t128", &[0; 12]).unwrap();
        }
    }
    stream.update(&mut [2; 23]).unwrap();
    assert_eq!(stream.update(&mut [2; 1]), Err(Error::NotWholeBlocks { got: 23 }));

    for id in ["aes128-gmac", "aes256-cmac"] {
        let nonce = bytes(study::by_id(id).unwrap().nonce_bytes());
        assert_eq!(new(id, &nonce).unwrap().update(&mut [0; 1]), Err(Error::TakesNoMessage));
    }
}

/// Every algorithm takes empty pieces of the message, whatever precedes them.
#[test]
fn an_empty_piece_of_the_message_changes_nothing() {
    for algorithm in algorithms() {
        let key = key(algorithm, Backend::best());
        let nonce = bytes(algorithm.nonce_bytes());
        for len in [0, 1, 16, 40] {
            let message = if algorithm.kind() == Kind::Mac { vec![] } else { bytes(len) };
            let whole = whole(&key, &nonce, &bytes(len), &message);
            let mut stream = SealStream::new(&key, &nonce).unwrap();
            let empty = |stream: &mut SealStream<&Key>| {
                stream.update(&mut []).unwrap();
                stream.update_to(b"", &mut [7]).unwrap();
            };
            empty(&mut stream);
            stream.aad(&whole.aad).unwrap();
            empty(&mut stream);
            let mut data = message.clone();
            if !data.is_empty() {
                stream.update(&mut data).unwrap();
            }
            empty(&mut stream);
            assert_eq!(data, whole.sealed, "{algorithm:?} {len}");
            let mut tag = vec![0; key.tag_bytes()];
            stream.finish(&mut tag).unwrap();
            assert_eq!(tag, whole.tag, "{algorithm:?} {len}");
            assert_eq!(stream.update(&mut []), Err(Error::MessageEnded));
            assert_eq!(stream.update_to(b"", &mut []), Err(Error::MessageEnded));
        }
    }
}

/// A fork shares only the key with its original.
#[test]
fn a_fork_is_independent() {
    for algorithm in algorithms() {
        let key = key(algorithm, Backend::best());
        let nonce = bytes(algorithm.nonce_bytes());
        let mut stream = SealStream::new(&key, &nonce).unwrap();
        stream.aad(b"one").unwrap();
        let mut other = stream.fork();
        stream.aad(b"two").unwrap();
        other.aad(b"three").unwrap();
        for (stream, aad) in [(stream, &b"onetwo"[..]), (other, b"onethree")] {
            assert_eq!(tag_of(stream), whole(&key, &nonce, aad, b"").tag, "{algorithm:?}");
        }
    }
}

/// Messages that are abandoned or ended at any point leave no state to the next message of the stream.
#[test]
fn a_reused_stream_equals_a_new_one() {
    for backend in backends::available() {
        for algorithm in algorithms() {
            let key = key(algorithm, backend);
            let nonce = bytes(algorithm.nonce_bytes());
            let mut stream = OpenStream::new(&key, &nonce).unwrap();
            for (i, len) in [0, 33, 16, 100, 5, 64].into_iter().enumerate() {
                let message = if algorithm.kind() == Kind::Mac { vec![] } else { bytes(len) };
                let whole = whole(&key, &nonce, &bytes(7 * i), &message);
                for pieces in 0..4 {
                    stream.begin(&nonce).unwrap();
                    stream.aad(&whole.aad[..i]).unwrap();
                    stream.aad(&whole.aad[i..]).unwrap();
                    let mut data = whole.sealed.clone();
                    let cut = (len * pieces / 3).min(data.len()) / 16 * 16;
                    let (one, two) = data.split_at_mut(cut);
                    if pieces > 0 && !one.is_empty() {
                        stream.update_unverified(one).unwrap();
                    }
                    // The first message is abandoned.
                    if pieces > 0 {
                        if !two.is_empty() {
                            stream.update_unverified(two).unwrap();
                        }
                        assert_eq!(stream.verify(&whole.tag), Ok(()), "{key:?} {len} {pieces}");
                        assert_eq!(data, whole.message);
                    }
                }
            }
        }
    }
}

#[test]
fn debug_output_shows_nothing_of_the_message() {
    let key = key(Algorithm::by_id("aes128-gcm").unwrap(), Backend::named("portable").unwrap());
    let (seals, opens) = (SealStream::new(&key, &[7; 12]).unwrap(), OpenStream::new(&key, &[7; 12]).unwrap());
    assert_eq!(format!("{seals:?}"), "SealStream(Key(aes128-gcm, portable))");
    assert_eq!(format!("{opens:?}"), "OpenStream(Key(aes128-gcm, portable))");
}
