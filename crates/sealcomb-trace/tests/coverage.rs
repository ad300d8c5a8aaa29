//! Every public function that takes or returns a secret is called in the harnesses that check the handling of
//! secrets, or is exempt here with a reason. The functions are found in the Rust sources, the C header and the
//! Python stubs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{File, ImplItem, Item, ItemImpl, ItemMacro, Type, UseTree, Visibility};

/// Rust functions that no harness needs to call: a prefix of their names, and the reason.
const NO_SECRETS_IN_RUST: &[(&str, &str)] = &[
    ("Algorithm::", "an entry of the catalog"),
    ("hazmat::", "entries of the catalog"),
    ("research::", "entries of the catalog"),
    ("study::", "entries of the catalog"),
    ("Backend::", "the name of a backend"),
    ("probe::", "measures instructions, on constants"),
    ("reference::", "models for tests, which branch on secrets; see SECURITY.md"),
    ("Aad::", "additional data is public; the harnesses call functions that borrow it"),
    ("Burst::new", "only borrows; `Burst::seal` and `Burst::open` are in the harnesses"),
    ("Burst::aad", "only borrows; `Burst::seal` and `Burst::open` are in the harnesses"),
    ("PacketLayout::", "takes public sizes"),
    ("SealJob::packet", "only borrows; `Burst::seal_packets` splits packets alike"),
    ("OpenJob::packet", "only borrows; `Burst::open_packets` splits packets alike"),
    ("SealJob::aad", "only borrows additional data"),
    ("OpenJob::aad", "only borrows additional data"),
    ("KeyOptions::short_tag_bytes", "takes no secret"),
    ("Sectors::new", "only borrows; `Sectors::encrypt` and `Sectors::decrypt` are in the harnesses"),
    ("Sectors::step", "takes a public number"),
    ("SealJob::check", "checks sizes, which `seal_jobs` also does"),
    ("OpenJob::check", "checks sizes, which `open_jobs` also does"),
    ("OpenJob::verdict", "returns a verdict"),
    ("OpenJob::message_bytes", "returns a length"),
    ("Opened::", "numbers of verdicts"),
    ("Verdict::", "a verdict"),
    ("Key::algorithm", "returns no secret"),
    ("Key::backend", "returns no secret"),
    ("Key::tag_bytes", "returns no secret"),
    ("Key::nonce_bytes", "returns no secret"),
    ("Key::check", "checks sizes, which every call also does"),
    ("KeyOptions::new", "takes no secret"),
    ("KeyOptions::backend", "takes no secret"),
    ("KeyOptions::tag_bytes", "takes no secret"),
    ("KeyOptions::nonce_bytes", "takes no secret"),
    ("KeyOptions::any_nonce_bytes", "takes no secret"),
    ("SealStream::tag_bytes", "returns no secret"),
    ("OpenStream::tag_bytes", "returns no secret"),
    (
        "Debug::fmt",
        "prints an algorithm and a backend; tests of the CLI and of Python search all output for keys",
    ),
    ("Error::source", "an error of numbers and names"),
    ("FromStr::from_str", "the name of a backend"),
    ("PartialEq::eq", "the id of an algorithm"),
    ("BatchError::", "an error of numbers and names"),
    ("Display::fmt", "error messages of numbers and names"),
    ("AsRef::as_ref", "borrows the key"),
    ("From::from", "borrows additional data, or converts an error"),
];

/// Rust functions that only the tracer does not call: a prefix of their names, and the reason.
const NOT_TRACED: &[(&str, &str)] = &[
    ("KeyOptions::expand_many", "`Key::new_many` calls it"),
    ("SealJob::new", "only borrows; `seal_jobs` with `SealJob::in_buffer` is traced"),
    ("SealJob::in_place", "only borrows; `seal_jobs` with `SealJob::in_buffer` is traced"),
    ("OpenJob::new", "only borrows; `open_jobs` with `OpenJob::in_buffer` is traced"),
    ("OpenJob::in_place", "only borrows; `open_jobs` with `OpenJob::in_buffer` is traced"),
    ("Update::update", "`Mac::update` calls it"),
    ("Reset::reset", "`Mac::reset` calls it"),
    ("FixedOutput::finalize_into", "`Mac::finalize` calls it"),
    ("FixedOutputReset::finalize_into_reset", "`Mac::finalize_reset` calls it"),
];

/// C functions that take no secret: a prefix of their names, and the reason. The others are called in
/// `crates/sealcomb-capi/tests/secrets.rs`, which checks freed memory and guard pages. The poison check and the
/// tracer do not cover C: a C function converts pointers and lengths to jobs, and calls Rust functions that they do
/// cover.
const NO_SECRETS_IN_C: &[(&str, &str)] = &[
    ("sealcomb_version", "takes no arguments"),
    ("sealcomb_algorithm_", "an entry of the catalog"),
    ("sealcomb_hazmat_algorithm_", "an entry of the catalog"),
    ("sealcomb_backend_", "the name of a backend"),
    ("sealcomb_status_text", "a constant text"),
    ("sealcomb_key_algorithm", "returns no secret"),
    ("sealcomb_key_backend", "returns no secret"),
    ("sealcomb_key_tag_bytes", "returns no secret"),
    ("sealcomb_key_nonce_bytes", "returns no secret"),
    ("sealcomb_key_share", "counts a reference"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Parses all Rust sources below a folder, by their path relative to it.
fn sources(folder: &Path, below: &str, found: &mut BTreeMap<String, syn::File>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = format!("{below}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            sources(&path, &format!("{name}/"), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("a source");
            found.insert(
                name.clone(),
                syn::parse_file(&text).unwrap_or_else(|error| panic!("{name}: {error}")),
            );
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Collects the names that a `use` declaration imports.
fn names_of(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => names_of(&path.tree, names),
        UseTree::Group(group) => group.items.iter().for_each(|tree| names_of(tree, names)),
        UseTree::Name(name) => {
            names.insert(name.ident.to_string());
        }
        UseTree::Rename(rename) => {
            names.insert(rename.ident.to_string());
        }
        UseTree::Glob(_) => panic!("lib.rs must not re-export with a glob: list the names"),
    }
}

fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) => {
            path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
        }
        Type::Reference(reference) => type_name(&reference.elem),
        _ => String::new(),
    }
}

fn functions_of(block: &ItemImpl, private_traits: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    let owner = match &block.trait_ {
        Some((path, _)) => path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default(),
        None => type_name(&block.self_ty),
    };
    if block.trait_.is_some() && private_traits.contains(&owner) {
        return;
    }
    for item in &block.items {
        if let ImplItem::Fn(function) = item
            && (block.trait_.is_some() || is_public(&function.vis))
        {
            found.insert(format!("{owner}::{}", function.sig.ident));
        }
    }
}

/// Collects the trait functions that a macro implements for the types it declares.
fn functions_of_types(declared: &ItemMacro, found: &mut BTreeSet<String>) {
    let text = declared.mac.tokens.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for block in text.split("impl ").skip(1) {
        let Some((of, body)) = block.split_once(" for ") else { continue };
        if !body.trim_start().starts_with('$') {
            continue;
        }
        let owner =
            of.rsplit("::").next().unwrap_or_default().trim().split(['<', ' ']).next().unwrap_or_default();
        for function in body.split("fn ").skip(1) {
            found.insert(format!("{owner}::{}", first_word(function)));
        }
    }
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Returns the public methods that a macro of the same file implements for the type it is used with.
fn methods_by(used: &ItemMacro, file: &File) -> Vec<String> {
    let text = file.items.iter().find_map(|item| match item {
        Item::Macro(declared) if used.mac.path.get_ident() == declared.ident.as_ref() => {
            Some(declared.mac.tokens.to_string())
        }
        _ => None,
    });
    text.unwrap_or_default().split("pub fn ").skip(1).map(first_word).collect()
}

/// Returns the public functions of the library, as `Type::name` or `Trait::name`.
fn functions_in_rust() -> BTreeSet<String> {
    let mut files = BTreeMap::new();
    sources(&repository().join("crates/sealcomb/src"), "", &mut files);
    let face = &files["lib.rs"];
    let (mut names, mut modules) = (BTreeSet::new(), BTreeSet::new());
    for item in &face.items {
        match item {
            Item::Use(import) if is_public(&import.vis) => names_of(&import.tree, &mut names),
            Item::Mod(module) if is_public(&module.vis) => {
                modules.insert(module.ident.to_string());
            }
            _ => {}
        }
    }
    // The modules of features re-export types and functions.
    for module in &modules {
        let items = files.get(&format!("{module}.rs")).into_iter().flat_map(|file| &file.items);
        for item in items {
            if let Item::Use(import) = item
                && is_public(&import.vis)
            {
                names_of(&import.tree, &mut names);
            }
        }
    }
    let items = files.values().flat_map(|file| &file.items);
    let private_traits = items.filter_map(|item| match item {
        Item::Trait(declared) if !is_public(&declared.vis) => Some(declared.ident.to_string()),
        _ => None,
    });
    let private_traits: BTreeSet<_> = private_traits.collect();
    let mut functions = BTreeSet::new();
    for (path, file) in &files {
        let module = path.split(['/', '.']).next().unwrap_or_default();
        let public = modules.contains(module);
        let mut here = BTreeSet::new();
        for item in &file.items {
            match item {
                Item::Impl(block) if public || names.contains(&type_name(&block.self_ty)) => {
                    functions_of(block, &private_traits, &mut here);
                }
                Item::Fn(function) if is_public(&function.vis) => {
                    let name = function.sig.ident.to_string();
                    if public || names.contains(&name) {
                        here.insert(name);
                    }
                }
                Item::Macro(declared) if public && declared.mac.path.is_ident("macro_rules") => {
                    functions_of_types(declared, &mut here);
                }
                Item::Macro(used) => {
                    let name = first_word(&used.mac.tokens.to_string());
                    if names.contains(&name) {
                        here.extend(methods_by(used, file).iter().map(|method| format!("{name}::{method}")));
                    }
                }
                _ => {}
            }
        }
        let has_own_names = matches!(module, "probe" | "reference" | "hazmat" | "research" | "study");
        let prefix = if has_own_names { format!("{module}::") } else { String::new() };
        functions.extend(here.into_iter().map(|name| format!("{prefix}{name}")));
    }
    functions
}

/// Returns the functions that harnesses call with the macro `call!`.
fn called_in(paths: &[&str]) -> BTreeSet<String> {
    let mut called = BTreeSet::new();
    for path in paths {
        let text = read(path);
        let calls = text.split("call!(").skip(1).filter_map(|call| call.split_once('('));
        called.extend(calls.map(|(path, _)| path.trim().to_owned()));
    }
    called
}

/// Returns the functions that are neither called nor exempt, and the exemptions that are not needed.
fn complaints(
    functions: &BTreeSet<String>,
    called: &BTreeSet<String>,
    reasons: &[(&str, &str)],
) -> Vec<String> {
    let excused = |name: &str| reasons.iter().any(|(beginning, _)| name.starts_with(beginning));
    let missing = functions.iter().filter(|name| !called.contains(*name) && !excused(name));
    let idle = reasons.iter().filter(|(beginning, _)| {
        !functions.iter().any(|name| name.starts_with(beginning) && !called.contains(name))
    });
    missing
        .map(|name| format!("{name} is called in no harness"))
        .chain(idle.map(|(beginning, _)| format!("exemption of {beginning} is not needed: remove it")))
        .collect()
}

#[test]
fn every_rust_function_with_secrets_is_in_the_harnesses_of_memory() {
    let files = ["lib.rs", "sectors.rs", "stream.rs", "typed.rs"]
        .map(|name| format!("crates/sealcomb-checks/src/{name}"));
    let called = called_in(&files.each_ref().map(String::as_str));
    let found = complaints(&functions_in_rust(), &called, NO_SECRETS_IN_RUST);
    assert!(found.is_empty(), "harnesses in crates/sealcomb-checks: {found:#?}");
}

#[test]
fn every_rust_function_with_secrets_is_traced() {
    let called = called_in(&["crates/sealcomb/examples/traced.rs"]);
    let found = complaints(&functions_in_rust(), &called, &[NO_SECRETS_IN_RUST, NOT_TRACED].concat());
    assert!(found.is_empty(), "tracer, in crates/sealcomb/examples/traced.rs: {found:#?}");
}

#[test]
fn the_functions_of_the_library_are_found() {
    let functions = functions_in_rust();
    for name in [
        "Key::new",
        "Key::new_many",
        "Key::open_unverified_in_place_detached",
        "seal_jobs_with",
        "Burst::verify",
        "OpenStream::fork",
        "Sectors::encrypt",
        "hazmat::by_id",
        "AeadInOut::decrypt_inout_detached",
        "FixedOutputReset::finalize_into_reset",
        "KeyInit::new",
        "SealJob::mac",
    ] {
        assert!(functions.contains(name), "{name} is not among {functions:#?}");
    }
    assert!(
        !functions.contains("Key::material") && !functions.contains("fly"),
        "a private function was found"
    );
}

#[test]
fn functions_in_no_harness_and_needless_exemptions_are_found() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let functions = set(&["Key::new", "Stream::update", "Algorithm::by_id"]);
    let reasons = [("Algorithm::", "no secret")];
    assert_eq!(complaints(&functions, &set(&["Key::new", "Stream::update"]), &reasons), [""; 0]);
    assert_eq!(complaints(&functions, &set(&["Key::new"]), &reasons).len(), 1);
    assert_eq!(
        complaints(&functions, &set(&["Key::new", "Stream::update", "Algorithm::by_id"]), &reasons).len(),
        1
    );
}

#[test]
fn every_c_function_with_secrets_is_in_a_harness() {
    let header = read("crates/sealcomb-capi/include/sealcomb.h");
    let code: String =
        header.lines().filter(|line| !line.trim_start().starts_with(['*', '/', '#'])).collect();
    let functions: BTreeSet<String> = code
        .split('(')
        .filter_map(|before| before.rsplit([' ', '*', ';', '\n']).next())
        .filter(|name| name.starts_with("sealcomb_"))
        .map(str::to_owned)
        .collect();
    assert!(functions.len() > 25, "{functions:?}");
    let harness = read("crates/sealcomb-capi/tests/secrets.rs");
    let called = functions.iter().filter(|name| harness.contains(&format!("{name}("))).cloned().collect();
    let found = complaints(&functions, &called, NO_SECRETS_IN_C);
    assert!(found.is_empty(), "{found:#?}");
}

/// Python copies `bytes` and does not zeroize them, so no harness checks its memory (see SECURITY.md). Instead,
/// every function must have tests, which include those of output, exceptions and pickles.
#[test]
fn every_python_function_is_tried_by_a_test() {
    let stubs = read("python/sealcomb/_sealcomb.pyi");
    let functions = stubs.lines().filter_map(|line| line.trim_start().strip_prefix("def "));
    let functions: BTreeSet<_> = functions.filter_map(|line| line.split('(').next()).collect();
    // Private to the command. It takes an encrypted keyset and returns it as bytes.
    let is_ours = |name: &&str| !name.starts_with("__") && *name != "encrypted_keyset";
    let functions: Vec<_> = functions.into_iter().filter(is_ours).collect();
    assert!(functions.len() > 15, "{functions:?}");
    let folder = repository().join("python/tests");
    let tests: String = fs::read_dir(folder)
        .expect("the tests of Python")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .map(|path| fs::read_to_string(path).expect("a test"))
        .collect();
    let is_left_out =
        |name: &&&str| !tests.contains(&format!("{name}(")) && !tests.contains(&format!(".{name}"));
    let missing: Vec<_> = functions.iter().filter(is_left_out).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
