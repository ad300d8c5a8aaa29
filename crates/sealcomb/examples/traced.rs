//! What `sealcomb-trace` executes an instruction at a time, with one secret beside others: what the library does with
//! each algorithm, between two marks. Keys, messages and additional data are the secret's. The sizes, the nonces and
//! the verdicts are the same for all.
//!
//! usage: traced BACKEND SECRET quick|full [ID...]
//!
//! On Arm it is `tools/check_branches.py` that executes it.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn main() {
    traced::main();
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() {
    println!("skipped: there is a tracer for x86-64 and Arm only");
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod traced {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use sealcomb::{
        ALGORITHMS, Algorithm, Backend, Error, Key, Kind, OpenJob, Schedule, SealJob, Verdict,
        open_batch_with, seal_batch_with,
    };
    use std::env;
    use std::hint::black_box;
    use std::io::Read;

    pub(super) fn main() {
        let words: Vec<String> = env::args().skip(1).collect();
        let [backend, secret, extent, ids @ ..] = words.as_slice() else {
            panic!("usage: traced BACKEND SECRET quick|full [ID|PREFIX-...]");
        };
        // A byte of input says that the tracer is there.
        std::io::stdin().read_exact(&mut [0]).expect("the tracer writes a byte");
        let backend = match Backend::named(backend) {
            Ok(backend) => backend,
            Err(Error::BackendUnavailable { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut secret = Secret::new(secret.parse().expect("a secret is a number"));
        let full = extent == "full";

        controls(&mut secret);
        for algorithm in ALGORITHMS {
            if ids.is_empty() || ids.iter().any(|id| names(id, algorithm)) {
                operations(algorithm, backend, &mut secret, full);
            }
        }
    }

    /// Whether a word is the algorithm's id, or the part of it up to a hyphen: `aes256-` names all with such keys.
    fn names(word: &str, algorithm: &Algorithm) -> bool {
        word == algorithm.id || (word.ends_with('-') && algorithm.id.starts_with(word))
    }

    /// Tells the tracer that an operation begins, by its name, or ends, by none.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    fn mark(name: &str) {
        // SAFETY: it stops the program for the tracer, without which there is no way here, and changes nothing.
        unsafe { core::arch::asm!("int3", in("rdi") name.as_ptr(), in("rsi") name.len()) };
    }

    /// The same where the tracer looks for this function, and takes the names from the output.
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

    /// Bytes that must not show. The first two secrets are extremes, with which rare cases come up, and every fourth
    /// ends in zeros.
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

    /// What the tracer must catch, or it sees nothing at all.
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

    fn operations(algorithm: &'static Algorithm, backend: Backend, secret: &mut Secret, full: bool) {
        use Schedule::{Auto, Blocks, Comb, Refill};
        let mut batch = |schedule, lengths: &[usize], keys| {
            Batch::new(algorithm, backend, secret, lengths, keys).run(schedule, secret);
        };
        batch(Auto, &[37], 1);
        batch(Auto, &[5, 49, 100], 1);
        if full {
            for length in [0, 16, 300, 1100] {
                batch(Auto, &[length], 1);
            }
            let ragged: Vec<usize> = (0..64).map(|i| i * 37 % 97).collect();
            batch(Auto, &ragged, 1);
            batch(Auto, &ragged, ragged.len());
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
        algorithm: &'static Algorithm,
        keys: Vec<Key>,
        messages: Vec<Message>,
        name: String,
    }

    impl Batch {
        fn new(
            algorithm: &'static Algorithm,
            backend: Backend,
            secret: &mut Secret,
            lengths: &[usize],
            keys: usize,
        ) -> Self {
            let key_bytes: Vec<_> = (0..keys).map(|_| secret.bytes(algorithm.key_bytes)).collect();
            let keys: Vec<_> = traced(&format!("{}: {keys} keys", algorithm.id), || {
                key_bytes.iter().map(|key| Key::with_backend(algorithm, key, backend)).collect()
            });
            let keys: Vec<Key> = keys.into_iter().map(|key| key.expect("the key has its length")).collect();
            let messages = lengths.iter().enumerate().map(|(i, &length)| {
                let is_mac = algorithm.kind == Kind::Mac;
                let bytes = if is_mac { 0 } else { algorithm.padded_bytes(length) };
                let aad_bytes = match algorithm.kind {
                    Kind::Mac => length,
                    Kind::Cipher if !algorithm.tweaked => 0,
                    _ => [0, 20, 13][i % 3],
                };
                let mut data = secret.bytes(bytes);
                data.resize(algorithm.ciphertext_bytes(bytes), 0);
                Message {
                    key: i % keys.len(),
                    nonce: vec![i as u8 + 1; algorithm.nonce_bytes],
                    aad: secret.bytes(aad_bytes),
                    data,
                    bytes,
                    tag: vec![0; algorithm.tag_bytes],
                }
            });
            let name = format!("{} bytes, {} keys", sizes(lengths), keys.len());
            Self { algorithm, messages: messages.collect(), keys, name }
        }

        fn run(mut self, schedule: Schedule, secret: &mut Secret) {
            let name = format!("{}, {schedule:?}, {}", self.algorithm.id, self.name);
            self.seal(schedule, Some(&format!("{name}: seal")));
            let sealed: Vec<_> = self.messages.iter().map(|message| message.data.clone()).collect();
            self.open(schedule, &format!("{name}: open"), false);
            for (message, data) in self.messages.iter_mut().zip(sealed) {
                message.data = data;
            }
            if self.algorithm.kind != Kind::Cipher {
                self.forge(schedule, secret);
                self.open(schedule, &format!("{name}: open forged ones"), true);
            }
            let keys = self.keys;
            traced(&format!("{name}: drop the keys"), || drop(keys));
        }

        /// Spoils every other message: its tag, and with some secrets its ciphertext too. How long it was is not known
        /// where nothing tells it but what was decrypted; the padding of one in four fills a byte.
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
            let is_mac = self.algorithm.kind == Kind::Mac;
            let keys = &self.keys;
            let mut jobs: Vec<_> = self
                .messages
                .iter_mut()
                .map(|Message { key, nonce, aad, data, bytes, tag }| {
                    let key = &keys[*key];
                    if is_mac {
                        SealJob::mac(key, nonce, aad.as_slice(), tag)
                    } else {
                        SealJob::in_buffer(key, nonce, aad.as_slice(), data, *bytes, tag).expect("room")
                    }
                })
                .collect();
            let sealed = match name {
                Some(name) => traced(name, || seal_batch_with(schedule, &mut jobs)),
                None => seal_batch_with(schedule, &mut jobs),
            };
            sealed.expect("sizes that the algorithm takes");
        }

        fn open(&mut self, schedule: Schedule, name: &str, forged: bool) {
            let kind = self.algorithm.kind;
            let keys = &self.keys;
            let mut jobs: Vec<_> = self
                .messages
                .iter_mut()
                .map(|Message { key, nonce, aad, data, bytes, tag }| {
                    let key = &keys[*key];
                    if kind == Kind::Mac {
                        OpenJob::mac(key, nonce, aad.as_slice(), tag)
                    } else {
                        OpenJob::in_buffer(key, nonce, aad.as_slice(), data, *bytes, tag).expect("room")
                    }
                })
                .collect();
            traced(name, || open_batch_with(schedule, &mut jobs)).expect("sizes that the algorithm takes");
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

    fn sizes(lengths: &[usize]) -> String {
        match lengths {
            [] | [_] | [_, _] | [_, _, _] => {
                lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
            }
            _ => format!("{} messages of up to {}", lengths.len(), lengths.iter().max().unwrap_or(&0)),
        }
    }
}
