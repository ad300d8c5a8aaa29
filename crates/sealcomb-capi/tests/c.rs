//! Compiles the programs in `c/` as C99 and as C++17 with each installed compiler, and runs them. `./dev capi` also
//! runs them against the installed library, under sanitizers and valgrind.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAMS: [&str; 7] =
    ["known_answers", "batches", "bursts", "streams", "misuse", "threads", "allocations"];
const LANGUAGES: [(&str, &str, &str); 4] = [
    ("gcc", "c", "-std=c99"),
    ("g++", "c++", "-std=c++17"),
    ("clang", "c", "-std=c99"),
    ("clang++", "c++", "-std=c++17"),
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder in which Cargo puts the shared library, next to the test executables.
fn libraries() -> PathBuf {
    let test = env::current_exe().expect("path of this executable");
    let folder = test.parent().expect("the tests' folder").to_owned();
    assert!(folder.join("libsealcomb_capi.so").exists(), "{}: no libsealcomb_capi.so", folder.display());
    folder
}

fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    let [stdout, stderr] = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(status.success(), "{command:?}: {status}\n{stdout}\n{stderr}");
    stdout
}

fn exists(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok()
}

/// Compiles a test program under a name unique to the test, since tests run concurrently.
fn compile(test: &str, compiler: &str, language: &str, standard: &str, program: &str) -> PathBuf {
    compile_source(test, compiler, language, standard, &format!("tests/c/{program}.c"))
}

fn compile_source(test: &str, compiler: &str, language: &str, standard: &str, source: &str) -> PathBuf {
    let program = Path::new(source).file_stem().expect("a file").display();
    let libraries = libraries();
    let result = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{program}-{compiler}"));
    succeed(
        Command::new(compiler)
            .args([standard, "-D_POSIX_C_SOURCE=200809L", "-O1", "-g", "-Wall", "-Wextra", "-Wshadow"])
            .args(["-pedantic", "-Werror", "-x", language])
            .arg(here().join(source))
            .args(["-x", "none", "-lpthread", "-lsealcomb_capi"])
            .arg(format!("-I{}", here().join("include").display()))
            .arg(format!("-L{}", libraries.display()))
            .arg(format!("-Wl,-rpath,{}", libraries.display()))
            .arg("-o")
            .arg(&result),
    );
    result
}

fn answers() -> Vec<PathBuf> {
    let folder = here().join("../../testvectors");
    let files = folder.read_dir().expect("known answers");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.push(folder.join("sealed/messages.json"));
    files.sort();
    files
}

#[test]
fn programs_in_c_get_what_the_header_promises() {
    let languages = LANGUAGES.into_iter().filter(|(compiler, ..)| exists(compiler));
    let mut tried = 0;
    for (compiler, language, standard) in languages {
        tried += 1;
        for program in PROGRAMS {
            let program_file = compile("languages", compiler, language, standard, program);
            let files = if program == "known_answers" { answers() } else { Vec::new() };
            print!("{compiler} {standard}: {}", succeed(Command::new(program_file).args(files)));
        }
    }
    assert!(tried > 0, "no C compiler found: install gcc or clang");
}

#[test]
fn every_backend_gives_the_same() {
    let program = compile("backends", "gcc", "c", "-std=c99", "known_answers");
    for backend in sealcomb::Backend::available() {
        print!(
            "{}: {}",
            backend.name(),
            succeed(Command::new(&program).args(answers()).env("SEALCOMB_BACKEND", backend.name()))
        );
    }
}

#[test]
fn the_example_of_a_data_plane_drops_only_forged_packets() {
    let program = compile_source("examples", "gcc", "c", "-std=c99", "examples/esp-ring.c");
    for backend in sealcomb::Backend::available() {
        let mut command = Command::new(&program);
        let printed = succeed(command.arg("10007").env("SEALCOMB_BACKEND", backend.name()));
        assert_eq!(printed, "10007 packets under 100 associations, 10 dropped, 0 wrong\n");
    }
}

#[test]
#[cfg(feature = "hazmat")]
fn the_example_of_a_disk_image_seals_sectors_as_the_library_does() {
    const SECTOR: usize = 4096;
    let program = compile_source("examples", "gcc", "c", "-std=c99", "examples/xts-image.c");
    let folder = tempfile::tempdir().expect("a folder");
    let [key_file, image_file] = ["key", "image"].map(|name| folder.path().join(name));
    let secret: Vec<u8> = (0..64).collect();
    std::fs::write(&key_file, &secret).expect("writing the key");
    let key =
        sealcomb::Key::new(sealcomb::hazmat::by_id("aes256-xts").expect("XTS"), &secret).expect("a key");
    // None, one, a burst, and bursts that are not all full.
    for sectors in [0, 1, 32, 33, 100] {
        let image: Vec<u8> = (0..sectors * SECTOR).map(|i| (i / 7) as u8).collect();
        std::fs::write(&image_file, &image).expect("writing the image");
        let run = |task: &str| succeed(Command::new(&program).arg(task).arg(&key_file).arg(&image_file));
        assert_eq!(run("seal"), format!("{sectors} sectors\n"));
        let mut expected = image.clone();
        sealcomb::hazmat::Sectors::new(&key, SECTOR)
            .expect("sectors")
            .encrypt(0, &mut expected)
            .expect("whole sectors");
        assert!(std::fs::read(&image_file).expect("reading the image") == expected);
        run("open");
        assert!(std::fs::read(&image_file).expect("reading the image") == image);
    }
    std::fs::write(&image_file, [0; SECTOR + 1]).expect("writing the image");
    let refused =
        Command::new(&program).arg("seal").arg(&key_file).arg(&image_file).output().expect("running");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("not a multiple of 4096"));
}
