//! Short messages under one key, which GCM, GCM-SIV, CCM, EAX, SIV, CMAC, CTR, CBC, CFB and OFB process in groups: their
//! results must be those of single messages, whatever their lengths, their order, and the backend.

use sealcomb::study;
use sealcomb::{Backend, Burst, Error, Key, KeyOptions, Opened, Verdict};

/// A burst of messages of these lengths, and additional data of these lengths, cycled.
struct Messages {
    nonces: Vec<Vec<u8>>,
    aads: Vec<Vec<u8>>,
    plain: Vec<Vec<u8>>,
}

impl Messages {
    fn new(lens: &[usize], aad_lens: &[usize], nonce_bytes: usize) -> Self {
        let bytes = |seed: usize, len: usize| (0..len).map(|i| (seed * 31 + i * 7 + i / 256) as u8).collect();
        let count = lens.len();
        Self {
            nonces: (0..count).map(|i| bytes(i * 5 + 1, nonce_bytes)).collect(),
            aads: (0..count).map(|i| bytes(i + 2, aad_lens[i % aad_lens.len()])).collect(),
            plain: (0..count).map(|i| bytes(i + 3, lens[i])).collect(),
        }
    }

    /// Seals and opens all messages as one burst, and compares them with single messages.
    fn check(&self, key: &Key, what: &str) {
        let count = self.plain.len();
        let mut data = self.plain.clone();
        let mut tags = vec![[0; 16]; count];
        let burst = Burst::new(key, &self.nonces).aads(&self.aads);
        burst.seal(&mut data, &mut tags).unwrap();
        for i in 0..count {
            let (mut alone, mut tag) = (self.plain[i].clone(), [0; 16]);
            key.seal_in_place_detached(&self.nonces[i], &self.aads[i], &mut alone, &mut tag).unwrap();
            assert!(alone == data[i], "{what}: ciphertext of message {i} of {count}");
            assert_eq!(tag, tags[i], "{what}: tag of message {i} of {count}");
        }
        // Every third message is forged: its tag, its ciphertext or its nonce.
        let mut nonces = self.nonces.clone();
        let forged: Vec<usize> = (1..count).step_by(3).collect();
        for &i in &forged {
            match i % 3 {
                0 => tags[i][i % 16] ^= 1,
                1 => *nonces[i].last_mut().unwrap() ^= 0x80,
                _ if data[i].is_empty() => tags[i][15] ^= 1,
                _ => *data[i].last_mut().unwrap() ^= 4,
            }
        }
        let mut verdicts = vec![Verdict::Pending; count];
        let burst = Burst::new(key, &nonces).aads(&self.aads);
        assert_eq!(
            burst.open(&mut data, &tags, &mut verdicts).map(Opened::forged),
            Ok(forged.len()),
            "{what}"
        );
        for i in 0..count {
            if forged.contains(&i) {
                assert_eq!(verdicts[i], Verdict::Forged, "{what}: message {i} of {count}");
                assert!(data[i].iter().all(|&byte| byte == 0), "{what}: message {i} of {count}");
            } else {
                assert_eq!(verdicts[i], Verdict::Verified, "{what}: message {i} of {count}");
                assert!(data[i] == self.plain[i], "{what}: message {i} of {count}");
            }
        }
    }
}

/// Encrypts messages of these lengths with CTR as one burst, and compares them with single messages. `last` is the last
/// byte of the first counter block of the first message; the messages count down from it.
fn check_ctr(key: &Key, lens: &[usize], last: u8, what: &str) {
    let mut messages = Messages::new(lens, &[0], 16);
    for (i, nonce) in messages.nonces.iter_mut().enumerate() {
        nonce[8..15].fill(0xff);
        nonce[15] = last.wrapping_sub(i as u8);
    }
    check_cipher(key, &messages, what);
}

/// Encrypts and decrypts messages without tags as one burst, and compares them with single messages.
fn check_cipher(key: &Key, messages: &Messages, what: &str) {
    let count = messages.plain.len();
    let mut data = messages.plain.clone();
    let mut tags = vec![[]; count];
    Burst::new(key, &messages.nonces).seal(&mut data, &mut tags).unwrap();
    for i in 0..count {
        let mut alone = messages.plain[i].clone();
        key.seal_in_place_detached(&messages.nonces[i], b"", &mut alone, &mut []).unwrap();
        assert!(alone == data[i], "{what}: message {i} of {count}");
    }
    let mut verdicts = vec![Verdict::Pending; count];
    assert!(Burst::new(key, &messages.nonces).open(&mut data, &tags, &mut verdicts).is_ok());
    assert!(data == messages.plain, "{what}");
}

fn keys(id: &str) -> Vec<Key> {
    let algorithm = study::by_id(id).unwrap();
    let bytes: Vec<u8> = (0..algorithm.key_bytes()).map(|i| 3 * i as u8).collect();
    Backend::available()
        .map(|backend| {
            KeyOptions::new().any_nonce_bytes().backend(backend).expand(algorithm, &bytes).unwrap()
        })
        .collect()
}

/// Numbers of bytes around the ends of blocks and of registers of every width, up to more than a group takes.
fn borders() -> Vec<usize> {
    let mut lens: Vec<usize> =
        (0..=34).flat_map(|n| [(16usize * n).saturating_sub(1), 16 * n, 16 * n + 1]).collect();
    lens.dedup();
    lens
}

#[test]
fn equal_lengths_give_the_results_of_single_messages() {
    for id in [
        "aes128-gcm",
        "aes192-gcm",
        "aes256-gcm",
        "aes128-gcm-siv",
        "aes256-gcm-siv",
        "aes128-ccm",
        "aes128-eax",
        "aes128-siv",
    ] {
        for key in keys(id) {
            for len in borders() {
                for count in [4, 5, 11, 27] {
                    let what = format!("{id} on {:?}, {len} bytes", key.backend());
                    Messages::new(&vec![len; count], &[13], 12).check(&key, &what);
                }
            }
        }
    }
}

#[test]
fn additional_data_of_every_length_gives_the_results_of_single_messages() {
    for key in
        ["aes128-gcm", "aes128-gcm-siv", "aes128-ccm", "aes128-eax", "aes256-siv"].into_iter().flat_map(keys)
    {
        for aad in [
            &[0][..],
            &[1],
            &[0, 1, 13, 14],
            &[14, 15],
            &[15, 16, 17],
            &[31, 32, 33, 0],
            &[63, 64],
            &[65],
            &[0, 200],
        ] {
            for len in [1, 16, 63, 64, 65, 192, 320] {
                let (id, backend) = (key.algorithm().id(), key.backend());
                let what = format!("{id} on {backend:?}, {len} bytes, additional data of {aad:?}");
                Messages::new(&[len; 21], aad, 12).check(&key, &what);
            }
        }
    }
}

#[test]
fn mixed_lengths_in_any_order_give_the_results_of_single_messages() {
    for key in
        ["aes128-gcm", "aes128-gcm-siv", "aes128-ccm", "aes256-eax", "aes128-siv"].into_iter().flat_map(keys)
    {
        for count in [4, 16, 47, 48, 63, 64, 65, 130] {
            for step in [1, 37, 101] {
                let lens: Vec<usize> = (0..count).map(|i| i * step * 13 % 700).collect();
                let (id, backend) = (key.algorithm().id(), key.backend());
                let what = format!("{id} on {backend:?}, {count} messages, step {step}");
                Messages::new(&lens, &[0, 5, 14, 16, 70], 12).check(&key, &what);
            }
        }
    }
}

#[test]
fn nonces_of_other_lengths_give_the_results_of_single_messages() {
    for key in keys("aes256-gcm") {
        for nonce_bytes in [8, 11, 13, 16, 60] {
            let what = format!("{:?}, nonces of {nonce_bytes} bytes", key.backend());
            Messages::new(&[64; 8], &[20], nonce_bytes).check(&key, &what);
        }
    }
}

#[test]
fn short_strings_of_every_length_give_the_results_of_single_messages() {
    for key in ["aes128-eax", "aes128-siv"].into_iter().flat_map(keys) {
        // Mixed lengths around those of one block, below which SIV processes the last bytes in another way.
        for step in [1, 3, 7] {
            let lens: Vec<usize> = (0..64).map(|i| 1 + i * step % 64).collect();
            for nonce_bytes in [1, 12, 15, 16, 17] {
                let what = format!("{:?}, nonces of {nonce_bytes} bytes, step {step}", key.backend());
                Messages::new(&lens, &[0, 3, 16, 40], nonce_bytes).check(&key, &what);
            }
        }
    }
}

#[test]
fn siv_without_nonces_gives_the_results_of_single_messages() {
    for key in keys("aes128-siv") {
        for len in borders() {
            let messages = Messages::new(&[len; 17], &[13, 0, 20], 0);
            let (mut data, mut tags) = (messages.plain.clone(), [[0; 16]; 17]);
            Burst::new(&key, &messages.nonces).aads(&messages.aads).seal(&mut data, &mut tags).unwrap();
            for i in 0..17 {
                let (mut alone, mut tag) = (messages.plain[i].clone(), [0; 16]);
                key.seal_in_place_detached(b"", &messages.aads[i], &mut alone, &mut tag).unwrap();
                assert!(alone == data[i] && tag == tags[i], "{:?}, {len} bytes", key.backend());
            }
            let mut verdicts = [Verdict::Pending; 17];
            let burst = Burst::new(&key, &messages.nonces).aads(&messages.aads);
            assert_eq!(burst.open(&mut data, &tags, &mut verdicts).map(Opened::forged), Ok(0), "{len} bytes");
            assert!(data == messages.plain);
        }
    }
}

#[test]
fn an_error_in_a_group_leaves_all_messages_untouched() {
    for key in keys("aes128-gcm").into_iter().chain(keys("aes256-gcm-siv")) {
        let messages = Messages::new(&[64; 8], &[0], 12);
        let mut nonces = messages.nonces.clone();
        nonces[6].clear();
        let mut data = messages.plain.clone();
        let mut tags = vec![[7; 16]; 8];
        let error = Burst::new(&key, &nonces).seal(&mut data, &mut tags).unwrap_err();
        assert!(error.index() == 6 && matches!(error.error(), Error::NonceLength { .. }), "{error:?}");
        assert!(data == messages.plain && tags == [[7; 16]; 8]);
    }
}

#[test]
fn ctr_gives_the_results_of_single_messages_wherever_its_counter_overflows() {
    for id in ["aes128-ctr", "aes192-ctr", "aes256-ctr"] {
        for key in keys(id) {
            for len in borders() {
                for last in [0, 7, 240, 250, 255] {
                    let what = format!("{id} on {:?}, {len} bytes, last byte {last}", key.backend());
                    check_ctr(&key, &[len; 13], last, &what);
                }
            }
        }
    }
}

#[test]
fn ctr_with_mixed_lengths_gives_the_results_of_single_messages() {
    for key in keys("aes128-ctr") {
        for count in [7, 8, 47, 48, 64, 65, 130] {
            for step in [1, 37, 101] {
                let lens: Vec<usize> = (0..count).map(|i| i * step * 13 % 300).collect();
                let what = format!("{:?}, {count} messages, step {step}", key.backend());
                check_ctr(&key, &lens, 200, &what);
            }
        }
    }
}

#[test]
fn chains_give_the_results_of_single_messages() {
    for id in ["aes128-cbc", "aes256-cbc", "aes128-cfb128", "aes192-ofb"] {
        for key in keys(id) {
            // CBC takes whole blocks.
            let whole = if id.ends_with("cbc") { 16 } else { 1 };
            for len in borders().into_iter().filter(|len| len % whole == 0) {
                for count in [7, 8, 13, 16, 21] {
                    let what = format!("{id} on {:?}, {len} bytes", key.backend());
                    check_cipher(&key, &Messages::new(&vec![len; count], &[0], 16), &what);
                }
            }
            for count in [8, 47, 48, 63, 64, 65, 130] {
                for most in [1, 17, 128, 129, 700] {
                    let lens: Vec<usize> = (0..count).map(|i| i * 37 % most / whole * whole).collect();
                    let what = format!("{id} on {:?}, {count} messages of up to {most} bytes", key.backend());
                    check_cipher(&key, &Messages::new(&lens, &[0], 16), &what);
                }
            }
        }
    }
}

#[test]
fn macs_of_a_burst_are_those_of_single_messages() {
    for key in ["aes128-cmac", "aes256-cmac"].into_iter().flat_map(keys) {
        let equal = borders().into_iter().flat_map(|len| [7, 8, 21].map(|count| vec![len; count]));
        let mixed = [8usize, 47, 48, 64, 65, 130].into_iter().flat_map(|count| {
            [1, 16, 17, 64, 256, 257, 700]
                .map(|most| (0..count).map(|i| (i * 37 + count) % (most + 1)).collect::<Vec<usize>>())
        });
        for lens in equal.chain(mixed) {
            let strings = Messages::new(&lens, &[0], 0).plain;
            let mut tags = vec![[0; 16]; lens.len()];
            Burst::new(&key, &vec![[0u8; 0]; lens.len()]).aads(&strings).mac(&mut tags).unwrap();
            for (i, string) in strings.iter().enumerate() {
                let mut alone = [0; 16];
                key.seal_in_place_detached(b"", string, &mut [], &mut alone).unwrap();
                assert_eq!(alone, tags[i], "{:?}: message {i} of {lens:?}", key.backend());
            }
        }
    }
}
