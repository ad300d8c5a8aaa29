//! The iterated test of RFC 7253, appendix A, with messages and additional data of up to 127 bytes.

mod common {
    pub(crate) mod backends;
}

use common::backends;
use sealcomb::{Algorithm, Key, KeyOptions};

/// Key bits, tag bits, and the expected tag.
type Expected = (usize, usize, &'static str);

const AES: [Expected; 9] = [
    (128, 128, "67E944D23256C5E0B6C61FA22FDF1EA2"),
    (192, 128, "F673F2C3E7174AAE7BAE986CA9F29E17"),
    (256, 128, "D90EB8E9C977C88B79DD793D7FFA161C"),
    (128, 96, "77A3D8E73589158D25D01209"),
    (192, 96, "05D56EAD2752C86BE6932C5E"),
    (256, 96, "5458359AC23B0CBA9E6330DD"),
    (128, 64, "192C9B7BD90BA06A"),
    (192, 64, "0066BC6E0EF34E24"),
    (256, 64, "7D4EA5D445501CBE"),
];

/// The results with Serpent, from libgcrypt 1.10.1.
#[cfg(feature = "research")]
const SERPENT: [Expected; 3] = [
    (128, 128, "36D3BF694FEDEE5E20E35745D9F647E9"),
    (192, 128, "924C5B38D6DF87DAB11042E56BB0434E"),
    (256, 128, "5B8E3684BDE5C8B28BB87796AAF95B17"),
];

#[test]
fn the_iterated_test_gives_the_rfcs_tags() {
    iterated_gives(&AES, |key_bits, tag_bits| {
        Algorithm::by_id(&format!("aes{key_bits}-ocb3-t{tag_bits}")).expect("a listed algorithm")
    });
}

#[cfg(feature = "research")]
#[test]
fn the_iterated_test_with_serpent_gives_the_tags_of_libgcrypt() {
    iterated_gives(&SERPENT, |key_bits, _| {
        sealcomb::research::by_id(&format!("serpent{key_bits}-ocb3")).expect("a listed algorithm")
    });
}

fn iterated_gives(expected: &[Expected], algorithm: impl Fn(usize, usize) -> Algorithm) {
    for backend in backends::available() {
        for &(key_bits, tag_bits, expected) in expected {
            let algorithm = algorithm(key_bits, tag_bits);
            let mut key = vec![0; key_bits / 8];
            *key.last_mut().expect("a key has bytes") = tag_bits as u8;
            let key = KeyOptions::new()
                .backend(backend)
                .expand(algorithm, &key)
                .expect("the key's length is right");
            let output = iterated(&key, tag_bits / 8);
            assert_eq!(hex::encode_upper(output), expected, "{} {algorithm}", backend.name());
        }
    }
}

fn iterated(key: &Key, tag_bytes: usize) -> Vec<u8> {
    let mut c = Vec::new();
    for i in 0..128 {
        let s = vec![0; i];
        let n = 3 * i as u32;
        c.extend(encrypt(key, n + 1, &s, &s, tag_bytes));
        c.extend(encrypt(key, n + 2, &[], &s, tag_bytes));
        c.extend(encrypt(key, n + 3, &s, &[], tag_bytes));
    }
    encrypt(key, 385, &c, &[], tag_bytes)
}

/// Returns `OCB-ENCRYPT(K, N, A, P)`: the ciphertext followed by the tag.
fn encrypt(key: &Key, n: u32, a: &[u8], p: &[u8], tag_bytes: usize) -> Vec<u8> {
    let mut nonce = [0; 12];
    nonce[8..].copy_from_slice(&n.to_be_bytes());
    let (mut c, mut tag) = (p.to_vec(), vec![0; tag_bytes]);
    key.seal_in_place_detached(&nonce, a, &mut c, &mut tag).expect("sizes that OCB takes");
    c.extend(tag);
    c
}
