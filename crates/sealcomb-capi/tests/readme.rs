//! The C programs in the README and the manual compile without warnings, run, and do what they say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const README: &str = include_str!("../../../README.md");
#[cfg(feature = "hazmat")]
const MANUAL: &str = include_str!("../../../docs/c.md");

/// Calls the functions of the manual, after its quick start. Prints encrypted sectors.
#[cfg(feature = "hazmat")]
const CALLS: &str = r#"
int main(void) {
    static const char texts[2][8] = {"message", "another"};
    static uint8_t secret[64], packets[2][13 + 8 + 16] = {"first header", "other header"}, sealed[2][8 + 16], message[8];
    static const uint8_t nonces[2][12] = {{1}, {2}};
    static uint8_t sectors[3][4096];
    uint8_t *pointers[2] = {packets[0], packets[1]};
    size_t sizes[2] = {13 + 8, 13 + 8};
    sealcomb_key *key = NULL;
    for (int i = 0; i < 64; i++) secret[i] = (uint8_t)i;
    if (quick_start() != 0) return 1;
    if (sealcomb_key_new(sealcomb_algorithm_by_id("aes128-gcm"), secret, 16, &key) != SEALCOMB_OK) return 2;
    for (int i = 0; i < 2; i++) {
        memcpy(packets[i] + 13, texts[i], 8);
        if (seal_message(key, nonces[i], packets[i] + 13, 8, sealed[i]) != 24) return 3;
        if (!open_message(key, nonces[i], sealed[i], 24, message) || memcmp(message, texts[i], 8) != 0) return 4;
    }
    if (seal_packets(key, 2, pointers, sizes, nonces) != SEALCOMB_OK) return 5;
    for (int i = 0; i < 2; i++) {
        if (sealcomb_open(key, nonces[i], 12, packets[i], 13, packets[i] + 13, 24, message, 8, NULL) != SEALCOMB_OK) return 6;
        if (memcmp(message, texts[i], 8) != 0 || memcmp(packets[i] + 13, sealed[i], 8) != 0) return 6;
    }
    sealed[0][23] ^= 1;
    if (open_message(key, nonces[0], sealed[0], 24, message) || message[0] != 0) return 7;
    if (open_message(key, nonces[0], sealed[0], 15, message)) return 8;
    sealcomb_key_free(key);
    if (sealcomb_key_new(sealcomb_hazmat_algorithm_by_id("aes256-xts"), secret, 64, &key) != SEALCOMB_OK) return 9;
    if (encrypt_sectors(key, 70000, 3, sectors) != SEALCOMB_OK) return 10;
    sealcomb_key_free(key);
    return fwrite(sectors, sizeof sectors[0], 3, stdout) != 3;
}
"#;

/// Returns a page's blocks of C.
fn blocks(page: &'static str) -> Vec<&'static str> {
    page.split("```c\n").skip(1).filter_map(|block| block.split("```").next()).collect()
}

/// Returns the folder of the tests, where cargo puts the shared library.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("this program");
    let folder = test.parent().expect("the tests' folder").to_owned();
    assert!(folder.join("libsealcomb_capi.so").exists(), "no library in {}", folder.display());
    folder
}

/// Compiles and runs a program, and returns what it prints.
fn printed(name: &str, program: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, result) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&source, program).expect("a file for the program");
    let libraries = libraries();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"])
        .arg(format!("-I{}", include.display()))
        .arg(&source)
        .arg(format!("-L{}", libraries.display()))
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .args(["-lsealcomb_capi", "-o"])
        .arg(&result)
        .status()
        .expect("a C compiler");
    assert!(compiled.success(), "{name} does not compile");
    let Output { status, stdout, stderr } = Command::new(&result).output().expect(name);
    assert!(status.success(), "{name}: {status}: {}", String::from_utf8_lossy(&stderr));
    stdout
}

#[test]
fn the_readmes_program_seals_and_opens() {
    let blocks = blocks(README);
    assert_eq!(blocks.len(), 1, "more than one block of C in the README, or none");
    assert!(printed("readme", blocks[0]).ends_with(b": another\n"));
}

#[test]
#[cfg(feature = "hazmat")]
fn the_manuals_functions_seal_and_open_and_encrypt_sectors_as_rust_does() {
    let main = "int main(void) {";
    let blocks = blocks(MANUAL).concat();
    assert_eq!(blocks.matches(main).count(), 1, "the manual has one program");
    let program = blocks.replace(main, "static int quick_start(void) {") + CALLS;

    let xts = sealcomb::hazmat::by_id("aes256-xts").expect("XTS");
    let secret: Vec<u8> = (0..64).collect();
    let key = sealcomb::Key::new(xts, &secret).expect("a key");
    let mut sectors = vec![0; 3 * 4096];
    sealcomb::hazmat::Sectors::new(&key, 4096)
        .expect("sectors")
        .encrypt(70_000, &mut sectors)
        .expect("a run");
    let printed = printed("manual", &program);
    let (start, theirs) = printed.split_at(printed.len().saturating_sub(sectors.len()));
    assert!(start.ends_with(b": third\n"), "{}", String::from_utf8_lossy(start));
    assert!(theirs == sectors, "the sectors differ from those of Rust");
}
