//! Parser for the files in `testvectors/`, whose README describes the format.

use super::known_answer::KnownAnswer;
use sealcomb::Kind;
use sealcomb::study;
use serde_json::Value;

/// Returns the answers in the text of a file. `name` is for error messages.
///
/// # Panics
/// If the text is not in the format, or has no answers, as the file of a new mode.
pub(crate) fn parse(name: &str, text: &str) -> Vec<KnownAnswer> {
    let file: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let id = file["algorithm"].as_str().expect("a file names its algorithm");
    let tests = file["tests"].as_array().expect("a file has tests");
    assert!(
        !tests.is_empty(),
        "testvectors: {name} has no known answers; add some that the specification publishes or that another \
        implementation computed, and name their origin in `source` (docs/adding-a-mode.md)"
    );
    tests.iter().map(|test| answer(name, id, test)).collect()
}

fn answer(name: &str, id: &str, test: &Value) -> KnownAnswer {
    let bytes = |field: &str| match &test[field] {
        Value::Null => Vec::new(),
        hex => hex::decode(hex.as_str().expect("a string")).expect("hex"),
    };
    // A bare block cipher is tested as ECB; the id depends on the key's length.
    let is_block = test.get("pt").is_some();
    let id = if is_block { format!("{id}{}-ecb", 8 * bytes("key").len()) } else { id.to_owned() };
    let algorithm = study::by_id(&id).unwrap_or_else(|error| panic!("{name}: {id}: {error}"));
    let (aad, msg) = match algorithm.kind() {
        _ if is_block => (Vec::new(), bytes("pt")),
        Kind::Mac => (bytes("msg"), Vec::new()),
        _ if algorithm.tweaked() => (bytes("tweak"), bytes("msg")),
        _ => (bytes("aad"), bytes("msg")),
    };
    KnownAnswer {
        origin: format!("{name} #{}", test["id"]),
        algorithm,
        key: bytes("key"),
        nonce: bytes("nonce"),
        aad,
        msg,
        ct: bytes("ct"),
        tag: bytes("tag"),
    }
}
