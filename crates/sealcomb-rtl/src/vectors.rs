//! Files of known answers, in the format of `testvectors/README.md`.

use crate::Mode;
use sealcomb::Kind;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A known answer in the form of the ports: the padding flag is separate from the ciphertext.
pub(crate) struct KnownAnswer {
    pub(crate) origin: String,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) ad: Vec<u8>,
    pub(crate) message: Vec<u8>,
    pub(crate) output: Vec<u8>,
    pub(crate) padded: bool,
    pub(crate) tag: [u8; 16],
}

/// Returns all known answers that the mode supports.
pub(crate) fn fitting(mode: &Mode) -> Vec<KnownAnswer> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testvectors")];
    if let Ok(more) = env::var("SEALCOMB_RTL_VECTORS") {
        folders.extend(more.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from));
    }
    let mut paths: Vec<_> = folders.iter().flat_map(|folder| files(folder)).collect();
    paths.sort();
    paths.iter().flat_map(|path| of_file(path, mode)).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of a folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect()
}

fn of_file(path: &Path, mode: &Mode) -> Vec<KnownAnswer> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if file["algorithm"] != mode.algorithm.id() {
        return Vec::new();
    }
    let tests = file["tests"].as_array().expect("a file has tests");
    tests.iter().filter_map(|test| answer(path, test, mode)).collect()
}

fn answer(path: &Path, test: &Value, mode: &Mode) -> Option<KnownAnswer> {
    let bytes = |field: &str| match &test[field] {
        Value::Null => Vec::new(),
        hex => hex::decode(hex.as_str().expect("a string")).expect("hex"),
    };
    let authenticated = mode.algorithm.kind() == Kind::Aead;
    let ad = if mode.algorithm.tweaked() { bytes("tweak") } else { bytes("aad") };
    let (key, nonce, message, tag) = (bytes("key"), bytes("nonce"), bytes("msg"), bytes("tag"));
    let fits = key.len() == mode.algorithm.key_bytes()
        && nonce.len() == mode.nonce_bytes
        && tag.len() == if authenticated { 16 } else { 0 }
        && message.len() <= mode.max_bytes
        && ad.len() <= mode.max_bytes;
    if !fits {
        return None;
    }
    let mut output = bytes("ct");
    let padded = mode.is_flagged() && output.pop() == Some(1);
    let mut whole_tag = [0; 16];
    whole_tag[..tag.len()].copy_from_slice(&tag);
    let origin = format!("{} #{}", path.display(), test["id"]);
    Some(KnownAnswer { origin, key, nonce, ad, message, output, padded, tag: whole_tag })
}
