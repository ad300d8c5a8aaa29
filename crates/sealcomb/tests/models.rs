//! The models of AEGIS with tags of 32 bytes, which the catalog does not list, yield the known answers in
//! `testvectors/models`, and agree with another library on random messages.

mod common {
    pub(crate) mod borders;
}

use aegis::aegis128l::Aegis128L;
use aegis::aegis256::Aegis256;
use common::borders;
use proptest::prelude::*;
use proptest::sample::select;
use rand::SeedableRng;
use rand::rngs::StdRng;
use sealcomb::reference;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A message with its ciphertext and tag.
#[derive(Debug, Default)]
struct Answer {
    id: String,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    msg: Vec<u8>,
    ct: Vec<u8>,
    tag: Vec<u8>,
}

impl Answer {
    fn opened(&self) -> Option<Vec<u8>> {
        reference::open(&self.id, &self.key, &self.nonce, &self.aad, &self.ct, &self.tag)
    }

    fn must_hold(mut self) {
        let sealed = reference::seal(&self.id, &self.key, &self.nonce, &self.aad, &self.msg, self.tag.len());
        let (ct, tag) = sealed.unwrap_or_else(|| panic!("the sizes are refused: {self:?}"));
        assert_eq!((hex::encode(ct), hex::encode(tag)), (hex::encode(&self.ct), hex::encode(&self.tag)));
        assert_eq!(self.opened().as_ref(), Some(&self.msg), "{self:?}");
        if let Some(byte) = self.tag.last_mut() {
            *byte ^= 1;
            assert_eq!(self.opened(), None, "{self:?}");
        }
    }
}

/// Returns the answers in a file, whose format `testvectors/README.md` describes.
fn answers(path: &Path) -> Vec<Answer> {
    let text = fs::read_to_string(path).expect("a readable file");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let id = file["algorithm"].as_str().expect("a file names its algorithm");
    let tests = file["tests"].as_array().expect("a file has tests");
    let bytes = |test: &Value, name: &str| match &test[name] {
        Value::Null => Vec::new(),
        hex => hex::decode(hex.as_str().expect("a string")).expect("hex"),
    };
    let answer = |test: &Value| Answer {
        id: id.to_owned(),
        key: bytes(test, "key"),
        nonce: bytes(test, "nonce"),
        aad: bytes(test, "aad"),
        msg: bytes(test, "msg"),
        ct: bytes(test, "ct"),
        tag: bytes(test, "tag"),
    };
    tests.iter().map(answer).collect()
}

#[test]
fn every_file_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testvectors/models");
    let files = fs::read_dir(&folder).expect("the folder testvectors/models");
    let mut count = 0;
    for file in files {
        for answer in answers(&file.expect("an entry of the folder").path()) {
            answer.must_hold();
            count += 1;
        }
    }
    assert_eq!(count, 200);
}

/// Seals a message with a peer. `answer.ct` is the message.
fn seal(answer: &mut Answer) {
    let Answer { id, key, nonce, aad, ct, tag, .. } = answer;
    match (id.as_str(), tag.len()) {
        ("aegis128l", 32) => {
            let peer = Aegis128L::<32>::new(&array(key), &array(nonce));
            tag.copy_from_slice(&peer.encrypt_in_place(ct, aad));
        }
        ("aegis256", 32) => {
            let peer = Aegis256::<32>::new(&array(key), &array(nonce));
            tag.copy_from_slice(&peer.encrypt_in_place(ct, aad));
        }
        sizes => panic!("no peer for {sizes:?}"),
    }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the right length")
}

/// The sizes of an algorithm in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    id: &'static str,
    key: usize,
    nonce: usize,
    tag: usize,
}

const SIZES: [Sizes; 2] = [
    Sizes { id: "aegis128l", key: 16, nonce: 16, tag: 32 },
    Sizes { id: "aegis256", key: 32, nonce: 32, tag: 32 },
];

/// Generates a message that is not sealed yet: `ct` is the message, and `tag` is zero.
fn message() -> impl Strategy<Value = Answer> {
    let length = prop_oneof![0..=300_usize, borders::length()];
    (select(SIZES.to_vec()), length, 0..=100_usize, any::<u64>()).prop_map(|(sizes, long, short, seed)| {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut random = |bytes| borders::bytes(&mut rng, bytes);
        let msg = random(long);
        Answer {
            id: sizes.id.to_owned(),
            key: random(sizes.key),
            nonce: random(sizes.nonce),
            aad: random(short),
            ct: msg.clone(),
            msg,
            tag: vec![0; sizes.tag],
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_messages_are_sealed_as_by_the_peers(mut answer in message()) {
        seal(&mut answer);
        answer.must_hold();
    }
}
