//! The program that `sealcomb-trace` executes one instruction at a time, once per secret, and compares: all
//! operations of the library with each algorithm, between marks. Keys, messages and additional data depend on the
//! secret. Sizes, nonces and verdicts do not.
//!
//! usage: traced BACKEND SECRET quick|full [ID...]
//!
//! On Arm, `tools/check_branches.py` executes it.
//!
//! Every function of the library that takes or returns a secret is called here by the macro `call!`;
//! `crates/sealcomb-trace/tests/coverage.rs` fails if one is missing.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn main() {
    traced::main();
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() {
    println!("skipped: the tracers only support x86-64 and Arm");
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod traced {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use sealcomb::hazmat::{OpenStream, SealStream, Sectors};
    use sealcomb::rustcrypto::aead::{AeadInOut, Aes128Gcm, Aes128Siv, KeyInit};
    use sealcomb::rustcrypto::aead_05::AeadInPlace;
    use sealcomb::rustcrypto::mac::{Aes128Cmac, Mac};
    use sealcomb::study::{self, ALGORITHMS, Schedule, open_jobs_with, seal_jobs_with};
    use sealcomb::{
        Algorithm, Backend, Burst, Cipher, Error, Key, KeyOptions, Kind, OpenError, OpenJob, PacketLayout,
        SealJob, Verdict, open_jobs, seal_jobs,
    };
    use std::collections::BTreeSet;
    use std::env;
    use std::hint::black_box;
    use std::io::Read;
    use std::sync::{Mutex, PoisonError};

    /// The names of the functions that were called, in static memory: recording a name allocates nothing.
    static CALLED: Mutex<[Option<&str>; 64]> = Mutex::new([None; 64]);

    /// Calls a function of the library by its path, and records the path.
    macro_rules! call {
        ($($path:ident)::+ ($($argument:expr),* $(,)?)) => {{
            note(stringify!($($path)::+));
            $($path)::+($($argument),*)
        }};
    }

    fn note(path: &'static str) {
        let mut called = CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let place = called.iter_mut().find(|place| place.is_none_or(|other| other == path));
        *place.expect("room for one more function") = Some(path);
    }

    /// Asserts that every `call!` in this file was executed.
    fn assert_all_were_called() {
        let called = CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let called: BTreeSet<_> = called.iter().flatten().map(|path| path.replace(' ', "")).collect();
        let source = include_str!("traced.rs").split("mod traced").nth(1).unwrap_or_default();
        let calls = source.split("call!(").skip(1).filter_map(|call| call.split_once('('));
        let calls: BTreeSet<_> = calls.map(|(path, _)| path.trim().to_owned()).collect();
        let missing: Vec<_> = calls.difference(&called).filter(|path| !path.contains('"')).collect();
        assert!(missing.is_empty(), "never called: {missing:?}");
    }

    pub(super) fn main() {
        let words: Vec<String> = env::args().skip(1).collect();
        let [backend, secret, extent, ids @ ..] = words.as_slice() else {
            panic!("usage: traced BACKEND SECRET quick|full [ID|CIPHER-...]");
        };
        // A byte on standard input says that the tracer is attached.
        std::io::stdin().read_exact(&mut [0]).expect("the tracer writes a byte");
        let backend = match Backend::named(backend) {
            Ok(backend) => backend,
            Err(Error::BackendUnavailable { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut secret = Secret::new(secret.parse().expect("a secret is a number"));
        let full = extent == "full";

        controls(&mut secret);
        for &algorithm in ALGORITHMS {
            if ids.is_empty() || ids.iter().any(|id| names(id, algorithm)) {
                operations(algorithm, backend, &mut secret, full);
            }
        }
        types(&mut secret);
        // One key size covers all modes.
        if ids.is_empty() || ids.iter().any(|id| id.ends_with('-')) {
            assert_all_were_called();
        }
    }

    /// Returns whether a word is the algorithm's id, or its cipher with a key size and a hyphen: `aes256-` selects all
    /// algorithms with AES and this key size, among them `xaes256-gcm`.
    fn names(word: &str, algorithm: Algorithm) -> bool {
        let cipher = match algorithm.cipher() {
            Cipher::Aes => "aes",
            _ => "serpent",
        };
        word == algorithm.id() || word == format!("{cipher}{}-", 8 * algorithm.cipher_key_bytes())
    }

    /// Signals to the tracer that the named operation begins, or, if the name is empty, that the operation ends.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    fn mark(name: &str) {
        // SAFETY: the breakpoint stops the program for the tracer, which is attached, and changes no state.
        unsafe { core::arch::asm!("int3", in("rdi") name.as_ptr(), in("rsi") name.len()) };
    }

    /// Signals the beginning or the end of an operation to a tracer that finds this function by its name and reads
    /// the operations' names from the output.
    #[cfg(target_arch = "aarch64")]
    #[inline(never)]
    fn mark(name: &str) {
        if !name.is_empty() {
            println!("{name}");
        }
    }

    fn traced<T>(name: &str, operation: impl FnOnce() -> T) -> T {
        mark(name);
        let result = black_box(operation());
        mark("");
        result
    }

    /// A source of secret bytes. The first two secrets have extreme values, which lead to rare cases, and every
    /// fourth ends in zeros.
    struct Secret {
        number: u64,
        random: StdRng,
    }

    impl Secret {
        fn new(number: u64) -> Self {
            Self { number, random: StdRng::seed_from_u64(number) }
        }

        fn bytes(&mut self, count: usize) -> Vec<u8> {
            let mut bytes = vec![0; count];
            self.fill(&mut bytes);
            bytes
        }

        /// Returns a key. The halves of a key of XTS, which must not be equal, differ in one byte, whose place depends on
        /// the secret.
        fn key(&mut self, algorithm: Algorithm) -> Vec<u8> {
            let mut key = self.bytes(algorithm.key_bytes());
            if algorithm.mode_id() == "xts" {
                let half = key.len() / 2;
                key.copy_within(..half, half);
                key[half + self.number as usize % half] ^= 1;
            }
            key
        }

        fn fill(&mut self, bytes: &mut [u8]) {
            match self.number {
                0 => bytes.fill(0),
                1 => bytes.fill(0xff),
                _ => self.random.fill_bytes(bytes),
            }
            if self.number % 4 == 3 {
                let zeros = bytes.len() / 3;
                bytes.iter_mut().rev().take(zeros).for_each(|byte| *byte = 0);
            }
        }
    }

    /// Leaks on purpose: the tracer must report these.
    fn controls(secret: &mut Secret) {
        #[inline(never)]
        fn one_way(byte: u8) -> u8 {
            black_box(byte)
        }
        #[inline(never)]
        fn other_way(byte: u8) -> u8 {
            black_box(byte) + 1
        }
        static TABLE: [u8; 256] = [1; 256];
        let byte = black_box(secret.bytes(1)[0]);
        traced("control: a branch", || if byte & 1 == 0 { one_way(0) } else { other_way(0) });
        traced("control: an index", || black_box(&TABLE)[usize::from(byte)]);
        traced("control: a division", || black_box(1_000_000_007_u64) / (u64::from(byte) + 1));
    }

    fn operations(algorithm: Algorithm, backend: Backend, secret: &mut Secret, full: bool) {
        use Schedule::{Auto, Blocks, Comb, Refill};
        let mut batch = |schedule, lengths: &[usize], keys| {
            Batch::new(algorithm, backend, secret, lengths, keys).run(schedule, secret);
        };
        batch(Auto, &[37], 1);
        batch(Auto, &[5, 49, 100], 1);
        // Enough blocks for a table of the first round of the counter blocks.
        if matches!(algorithm.mode_id(), "gcm" | "ctr") {
            batch(Auto, &[1024; 16], 1);
        }
        if full {
            batch(Auto, &[9, 21], 2);
            for length in [0, 16, 300, 1100] {
                batch(Auto, &[length], 1);
            }
            let ragged: Vec<usize> = (0..64).map(|i| i * 37 % 97).collect();
            batch(Auto, &ragged, 1);
            batch(Auto, &ragged, ragged.len());
            // The fewest blocks that chains process in slots on every backend, and on the widest with several keys.
            batch(Auto, &[2100, 2064, 2050, 2001], 1);
            batch(Auto, &[300, 290, 200, 150], 4);
            for schedule in [Comb(7), Refill, Blocks] {
                batch(schedule, &ragged[..20], 1);
            }
        }
    }

    struct Message {
        key: usize,
        nonce: Vec<u8>,
        aad: Vec<u8>,
        data: Vec<u8>,
        bytes: usize,
        tag: Vec<u8>,
    }

    struct Batch {
        algorithm: Algorithm,
        keys: Vec<Key>,
        messages: Vec<Message>,
        name: String,
    }

    impl Batch {
        fn new(
            algorithm: Algorithm,
            backend: Backend,
            secret: &mut Secret,
            lengths: &[usize],
            keys: usize,
        ) -> Self {
            let key_bytes: Vec<_> = (0..keys).map(|_| secret.key(algorithm)).collect();
            let keys: Vec<Key> = traced(&format!("{}: {keys} keys", algorithm.id()), || {
                if keys == 2 && Backend::selected() == Ok(backend) {
                    call!(Key::new_many(algorithm, &key_bytes)).expect("keys of the right length")
                } else {
                    let expand = |key: &Vec<u8>| {
                        call!(KeyOptions::expand(
                            KeyOptions::new().backend(backend).any_nonce_bytes(),
                            algorithm,
                            key
                        ))
                    };
                    key_bytes.iter().map(|key| expand(key).expect("a key of the right length")).collect()
                }
            });
            let messages = lengths.iter().enumerate().map(|(i, &length)| {
                let is_mac = algorithm.kind() == Kind::Mac;
                let bytes = if is_mac { 0 } else { algorithm.padded_bytes(length) };
                let aad_bytes = match algorithm.kind() {
                    Kind::Mac => length,
                    Kind::Cipher if !algorithm.tweaked() => 0,
                    _ => [0, 20, 13][i % 3],
                };
                // GCM hashes IVs of other sizes with its key, so their counters are secret.
                let nonce_bytes =
                    if algorithm.mode_id() == "gcm" && i % 5 == 4 { 16 } else { algorithm.nonce_bytes() };
                let mut data = secret.bytes(bytes);
                data.resize(algorithm.ciphertext_bytes(bytes), 0);
                Message {
                    key: i % keys.len(),
                    nonce: vec![i as u8 + 1; nonce_bytes],
                    aad: secret.bytes(aad_bytes),
                    data,
                    bytes,
                    tag: vec![0; algorithm.tag_bytes()],
                }
            });
            let name = format!("{} bytes, {} keys", sizes(lengths), keys.len());
            Self { algorithm, messages: messages.collect(), keys, name }
        }

        fn run(mut self, schedule: Schedule, secret: &mut Secret) {
            let name = format!("{}, {schedule:?}, {}", self.algorithm.id(), self.name);
            if let [message] = &self.messages[..] {
                alone(&self.keys[0], message, &format!("{name}, alone"));
            }
            if self.keys.len() == 1
                && self.messages.len() > 1
                && !self.algorithm.expands()
                && schedule == Schedule::Auto
            {
                self.burst(&format!("{name}, in a burst"));
            }
            self.seal(schedule, Some(&format!("{name}: seal")));
            let sealed: Vec<_> = self.messages.iter().map(|message| message.data.clone()).collect();
            self.open(schedule, &format!("{name}: open"), false);
            for (message, data) in self.messages.iter_mut().zip(sealed) {
                message.data = data;
            }
            if self.algorithm.kind() != Kind::Cipher {
                self.forge(schedule, secret);
                self.open(schedule, &format!("{name}: open forged ones"), true);
            }
            let keys = self.keys;
            traced(&format!("{name}: drop the keys"), || drop(keys));
        }

        /// Forges every other message: its tag, and with some secrets also its ciphertext. If only the padding
        /// encodes a message's length, every other message first gets a length that depends on the secret.
        fn forge(&mut self, schedule: Schedule, secret: &mut Secret) {
            let algorithm = self.algorithm;
            if algorithm.expands() && !algorithm.needs_message_bytes() {
                for (i, message) in self.messages.iter_mut().enumerate() {
                    if i % 2 == 0 && message.bytes > 16 {
                        message.bytes = message.bytes / 16 * 16 + 1 + 7 * secret.number as usize % 15;
                    }
                    secret.fill(&mut message.data[..message.bytes]);
                }
                self.seal(schedule, None);
            }
            for message in self.messages.iter_mut().step_by(2) {
                message.tag[0] ^= 1;
                if let (1, Some(first)) = (secret.number % 2, message.data.first_mut()) {
                    *first ^= 1;
                }
            }
        }

        fn seal(&mut self, schedule: Schedule, name: Option<&str>) {
            let is_mac = self.algorithm.kind() == Kind::Mac;
            let keys = &self.keys;
            let mut jobs: Vec<_> = self
                .messages
                .iter_mut()
                .map(|Message { key, nonce, aad, data, bytes, tag }| {
                    let key = &keys[*key];
                    if is_mac {
                        call!(SealJob::mac(key, nonce, aad.as_slice(), tag))
                    } else {
                        call!(SealJob::in_buffer(key, nonce, aad.as_slice(), data, *bytes, tag))
                            .expect("room")
                    }
                })
                .collect();
            let mut seal = || {
                if schedule == Schedule::Auto {
                    call!(seal_jobs(&mut jobs))
                } else {
                    call!(seal_jobs_with(schedule, &mut jobs))
                }
            };
            let sealed = match name {
                Some(name) => traced(name, &mut seal),
                None => seal(),
            };
            sealed.expect("sizes that the algorithm takes");
        }

        fn open(&mut self, schedule: Schedule, name: &str, forged: bool) {
            let kind = self.algorithm.kind();
            let keys = &self.keys;
            let mut jobs: Vec<_> = self
                .messages
                .iter_mut()
                .map(|Message { key, nonce, aad, data, bytes, tag }| {
                    let key = &keys[*key];
                    if kind == Kind::Mac {
                        call!(OpenJob::mac(key, nonce, aad.as_slice(), tag))
                    } else {
                        call!(OpenJob::in_buffer(key, nonce, aad.as_slice(), data, *bytes, tag))
                            .expect("room")
                    }
                })
                .collect();
            let opened = traced(name, || {
                if schedule == Schedule::Auto {
                    call!(open_jobs(&mut jobs))
                } else {
                    call!(open_jobs_with(schedule, &mut jobs))
                }
            });
            let _ = opened.expect("sizes that the algorithm takes");
            for (i, job) in jobs.iter().enumerate() {
                let expected = match kind {
                    Kind::Cipher => Verdict::Unauthenticated,
                    _ if forged && i % 2 == 0 => Verdict::Forged,
                    _ => Verdict::Verified,
                };
                assert_eq!(job.verdict(), expected, "{name}, message {i}");
            }
        }
    }

    impl Batch {
        /// Seals the messages as a burst, opens them, and opens them with a forged one among them.
        fn burst(&self, name: &str) {
            let key = &self.keys[0];
            let column = |of: fn(&Message) -> &Vec<u8>| -> Vec<Vec<u8>> {
                self.messages.iter().map(of).cloned().collect()
            };
            let (nonces, aads) = (column(|message| &message.nonce), column(|message| &message.aad));
            let (mut data, mut tags) = (column(|message| &message.data), column(|message| &message.tag));
            let mut verdicts = vec![Verdict::Pending; tags.len()];
            let burst = Burst::new(key, &nonces).aads(&aads);
            let is_mac = self.algorithm.kind() == Kind::Mac;
            let sealed = traced(&format!("{name}: seal"), || {
                if is_mac {
                    call!(Burst::mac(&burst, &mut tags))
                } else {
                    call!(Burst::seal(&burst, &mut data, &mut tags))
                }
            });
            sealed.expect("sizes that the algorithm takes");
            let mut packets: Vec<Vec<u8>> =
                data.iter().zip(&tags).map(|(data, tag)| [&data[..], tag].concat()).collect();
            let sealed = traced(&format!("{name}: seal packets"), || {
                call!(Burst::seal_packets(&burst, PacketLayout::new(), &mut packets))
            });
            sealed.expect("sizes that the algorithm takes");
            for forged in 0..2 {
                if let (1, Some(byte)) = (forged, packets[0].first_mut()) {
                    *byte ^= 1;
                }
                let opened = traced(&format!("{name}: open packets"), || {
                    call!(Burst::open_packets(&burst, PacketLayout::new(), &mut packets, &mut verdicts))
                });
                let _ = opened.expect("sizes that the algorithm takes");
                if forged == 0 {
                    let again = burst.seal_packets(PacketLayout::new(), &mut packets);
                    again.expect("sizes that the algorithm takes");
                }
            }
            for forged in 0..2 {
                if let (1, Some(byte)) = (forged, tags[0].first_mut()) {
                    *byte ^= 1;
                }
                let opened = traced(&format!("{name}: open"), || {
                    if is_mac {
                        call!(Burst::verify(&burst, &tags, &mut verdicts))
                    } else {
                        call!(Burst::open(&burst, &mut data, &tags, &mut verdicts))
                    }
                });
                let _ = opened.expect("sizes that the algorithm takes");
                // Seals the opened messages again for the next round.
                if forged == 0 && !is_mac {
                    burst.seal(&mut data, &mut tags).expect("sizes that the algorithm takes");
                }
            }
        }
    }

    /// Calls the functions for single messages.
    fn alone(key: &Key, message: &Message, name: &str) {
        let Message { nonce, aad, data, bytes, tag, .. } = message;
        let algorithm = key.algorithm();
        let plain = &data[..*bytes];
        let mut sealed = traced(&format!("{name}: seal"), || call!(Key::seal(key, nonce, aad, plain)))
            .expect("sizes that the algorithm takes");
        for forged in 0..2 {
            if let (1, Some(byte)) = (forged, sealed.last_mut()) {
                *byte ^= 1;
            }
            let opened = traced(&format!("{name}: open"), || call!(Key::open(key, nonce, aad, &sealed)));
            let refused = matches!(opened, Err(OpenError::Misuse(_)));
            assert_eq!(refused, key.algorithm().kind() == Kind::Cipher, "{name}");
        }
        if algorithm.expands() {
            return;
        }
        let (mut data, mut tag) = (data.clone(), tag.clone());
        traced(&format!("{name}: seal in place"), || {
            call!(Key::seal_in_place_detached(key, nonce, aad, &mut data, &mut tag))
        })
        .expect("sizes that the algorithm takes");
        for forged in 0..2 {
            let (mut data, mut tag) = (data.clone(), tag.clone());
            if let (1, Some(byte)) = (forged, tag.first_mut()) {
                *byte ^= 1;
            }
            let opened = traced(&format!("{name}: open in place"), || {
                call!(Key::open_in_place_detached(key, nonce, aad, &mut data, &tag))
            });
            let refused = matches!(opened, Err(OpenError::Misuse(_)));
            assert_eq!(refused, key.algorithm().kind() == Kind::Cipher, "{name}");
            let (mut data, tag) = (message.data.clone(), &mut tag);
            traced(&format!("{name}: open unverified"), || {
                call!(Key::open_unverified_in_place_detached(key, nonce, aad, &mut data, tag))
            })
            .expect("sizes that the algorithm takes");
        }
    }

    /// Calls the types with RustCrypto's traits, of which one of each kind suffices, and makes keys for the selected
    /// backend.
    fn types(secret: &mut Secret) {
        let (key, text) = (secret.bytes(16), secret.bytes(37));
        let key: [u8; 16] = key.try_into().expect("16 bytes");
        let gcm = Algorithm::by_id("aes128-gcm").expect("a listed algorithm");
        traced("a key", || call!(Key::new(gcm, &key)).expect("a key of the right length"));
        traced("a key with a short tag", || {
            call!(KeyOptions::expand(KeyOptions::new().tag_bytes(12), gcm, &key)).expect("a tag of GCM's")
        });
        let both = [key, [key[0]; 16]];
        for id in ["aes128-gcm", "aes128-ccm", "aes128-ocb3-t128"] {
            let algorithm = study::by_id(id).expect("a listed algorithm");
            let keys = traced("two keys side by side", || {
                call!(Key::new_many(algorithm, &both)).expect("keys of the right length")
            });
            // Other keys compute their tables in their first batch.
            traced("the tables of a key", || call!(Key::prepare(&keys[0])));
        }
        let nonce = [7; 12].into();
        let cipher: Aes128Gcm = traced("the type of GCM: a key", || call!(KeyInit::new(&key.into())));
        let mut data = text.clone();
        let tag = traced("the type of GCM: seal", || {
            call!(AeadInOut::encrypt_inout_detached(&cipher, &nonce, b"header", data.as_mut_slice().into()))
        })
        .expect("sizes that the algorithm takes");
        for forged in 0..2 {
            let (mut data, mut tag) = (data.clone(), tag);
            tag[0] ^= forged;
            let opened = traced("the type of GCM: open", || {
                call!(AeadInOut::decrypt_inout_detached(
                    &cipher,
                    &nonce,
                    b"header",
                    data.as_mut_slice().into(),
                    &tag
                ))
            });
            assert_eq!(opened.is_ok(), forged == 0);
        }
        let mut again = text.clone();
        let tag = traced("the type of GCM, aead 0.5: seal", || {
            let nonce = &[7; 12].into();
            call!(AeadInPlace::encrypt_in_place_detached(&cipher, nonce, b"header", &mut again))
        })
        .expect("sizes that the algorithm takes");
        traced("the type of GCM, aead 0.5: open", || {
            let nonce = &[7; 12].into();
            call!(AeadInPlace::decrypt_in_place_detached(&cipher, nonce, b"header", &mut data, &tag))
        })
        .expect("a sealed message");
        let siv: Aes128Siv = KeyInit::new((&*both.concat()).try_into().expect("32 bytes"));
        let mut sealed = text.clone();
        sealed.reserve(16);
        traced("the type of SIV, aead 0.5: seal", || {
            call!(AeadInPlace::encrypt_in_place(&siv, &[7; 16].into(), b"header", &mut sealed))
        })
        .expect("sizes that the algorithm takes");
        traced("the type of SIV, aead 0.5: open", || {
            call!(AeadInPlace::decrypt_in_place(&siv, &[7; 16].into(), b"header", &mut sealed))
        })
        .expect("a sealed message");
        for id in ["aes128-gcm", "aes128-gmac", "aes128-ocb3-t128", "aes128-cmac"] {
            in_pieces(study::by_id(id).expect("a listed algorithm"), &key, &text);
        }
        let xts = study::by_id("aes128-xts").expect("a listed algorithm");
        let xts = Key::new(xts, &secret.key(xts)).expect("a key of the right length");
        let sectors = Sectors::new(&xts, 32).expect("a size of XTS");
        let mut run = text.clone();
        run.resize(3 * 32 + 17, 0);
        traced("sectors: seal", || call!(Sectors::encrypt(&sectors, 7, &mut run)))
            .expect("a long last sector");
        traced("sectors: open", || call!(Sectors::decrypt(&sectors, 7, &mut run)))
            .expect("a long last sector");
        traced("the type of CMAC", || {
            let mut mac: Aes128Cmac = call!(KeyInit::new(&key.into()));
            call!(Mac::update(&mut mac, &text[..21]));
            call!(Mac::update(&mut mac, &text[21..]));
            let tag = call!(Mac::finalize_reset(&mut mac));
            call!(Mac::update(&mut mac, &text));
            call!(Mac::reset(&mut mac));
            call!(Mac::update(&mut mac, &text));
            (tag, call!(Mac::finalize(mac)))
        });
    }

    /// Seals a message in pieces, and opens it in pieces with different tags.
    fn in_pieces(algorithm: Algorithm, key: &[u8], text: &[u8]) {
        let key = Key::new(algorithm, key).expect("a key of the right length");
        let nonce = vec![7; algorithm.nonce_bytes()];
        let is_mac = algorithm.kind() == Kind::Mac;
        let (mut data, mut tag) = (if is_mac { Vec::new() } else { text[..32].to_vec() }, [0; 16]);
        let name = format!("{} in pieces", algorithm.id());
        let (first, second) = text.split_at(9);
        let sealed = traced(&format!("{name}: seal"), || {
            drop(call!(SealStream::with_tag_bytes(&key, &nonce, 16))?);
            let mut stream = call!(SealStream::new(&key, &nonce))?;
            call!(SealStream::begin(&mut stream, &nonce))?;
            call!(SealStream::aad(&mut stream, first))?;
            call!(SealStream::aad(&mut stream, second))?;
            data.chunks_mut(16).try_for_each(|piece| call!(SealStream::update(&mut stream, piece)))?;
            let mut fork = call!(SealStream::fork(&stream));
            if !is_mac {
                call!(SealStream::update_to(&mut fork, &text[..5], &mut [0; 5]))?;
            }
            call!(SealStream::finish(&mut fork, &mut [0; 16]))?;
            call!(SealStream::finish(&mut stream, &mut tag))
        });
        sealed.expect("sizes that the algorithm takes");
        let opened = traced(&format!("{name}: open"), || {
            drop(call!(OpenStream::new(&key, &nonce))?);
            let mut stream = call!(OpenStream::with_tag_bytes(&key, &nonce, 16))?;
            call!(OpenStream::begin(&mut stream, &nonce))?;
            call!(OpenStream::aad(&mut stream, first))?;
            call!(OpenStream::aad(&mut stream, second))?;
            data.chunks_mut(16)
                .try_for_each(|piece| call!(OpenStream::update_unverified(&mut stream, piece)))?;
            let mut output = [0; 5];
            if !is_mac {
                call!(OpenStream::update_unverified_to(&mut stream, &text[..5], &mut output))?;
            }
            let mut again = call!(OpenStream::fork(&stream));
            call!(OpenStream::finish_unverified(&mut call!(OpenStream::fork(&stream)), &mut [0; 16]))?;
            Ok::<_, Error>([
                call!(OpenStream::verify(&mut stream, &tag)),
                call!(OpenStream::verify(&mut again, &[0; 16])),
            ])
        });
        // The message followed by other bytes is forged, and so is one with a tag of zeros.
        let verified = opened.expect("sizes that the algorithm takes").map(|verdict| verdict.is_ok());
        assert_eq!(verified, [is_mac, false], "{name}");
    }

    fn sizes(lengths: &[usize]) -> String {
        match lengths {
            [] | [_] | [_, _] | [_, _, _] => {
                lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
            }
            _ => format!("{} messages of up to {}", lengths.len(), lengths.iter().max().unwrap_or(&0)),
        }
    }
}
