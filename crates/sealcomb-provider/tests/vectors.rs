//! Runs `evp.c` with the messages of `testvectors/sealed` whose modes OpenSSL has. EVP returns the tag apart, so each is
//! split where its specification puts the tag. `./dev capi` runs it with OpenSSL's own vectors.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns a message in the format of OpenSSL's `evp_test`; `None` if OpenSSL does not have the mode.
fn in_their_format(row: &Value) -> Option<String> {
    let hex = |field: &str| row[field].as_str().expect("hex");
    let (aes, mode) = row["algorithm"].as_str()?.split_once('-')?;
    let bits = aes.strip_prefix("aes")?;
    let (theirs, tag_digits) = match mode {
        "gcm" | "ccm" | "siv" | "gcm-siv" => (mode, 32),
        "ocb3-t64" => ("ocb", 16),
        "ocb3-t96" => ("ocb", 24),
        "ocb3-t128" => ("ocb", 32),
        _ => return None,
    };
    let sealed = hex("sealed");
    let (ciphertext, tag) = if mode == "siv" {
        let (tag, ciphertext) = sealed.split_at(tag_digits);
        (ciphertext, tag)
    } else {
        sealed.split_at(sealed.len() - tag_digits)
    };
    let mut text = format!("Cipher = aes-{bits}-{theirs}\nKey = {}\nAAD = {}\n", hex("key"), hex("aad"));
    match (mode, hex("nonce")) {
        ("siv", "") => {}
        // The nonce of SIV is the last associated string.
        ("siv", nonce) => writeln!(text, "AAD = {nonce}").expect("memory"),
        (_, nonce) => writeln!(text, "IV = {nonce}").expect("memory"),
    }
    writeln!(text, "Tag = {tag}\nPlaintext = {}\nCiphertext = {ciphertext}", hex("msg")).expect("memory");
    Some(text)
}

#[test]
fn sealed_messages_hold_with_openssls_calls() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(here.join("../../testvectors/sealed/messages.json")).expect("messages");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let messages: Vec<_> =
        file["tests"].as_array().expect("tests").iter().filter_map(in_their_format).collect();

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("provider-vectors");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let (program, vectors) = (folder.join("evp"), folder.join("messages.txt"));
    fs::write(&vectors, messages.join("\n")).expect("a file for the vectors");
    // target/PROFILE/deps
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    fs::copy(deps.join("libsealcomb_provider.so"), folder.join("sealcomb.so"))
        .expect("the library of this build");
    let compiled = Command::new("gcc")
        .args(["-O1", "-g", "-Wall", "-Wextra", "-Werror"])
        .arg(here.join("tests/evp.c"))
        .args(["-lcrypto", "-o"])
        .arg(&program)
        .status();
    assert!(compiled.expect("gcc is required").success());

    let count = messages.len().to_string();
    let output = Command::new(&program).args([&count]).arg(&vectors).env("OPENSSL_MODULES", &folder).output();
    let output = output.expect("the program");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
