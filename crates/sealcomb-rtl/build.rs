//! Builds Verilator models of the tops in `tops.list` and `variants.list`, and links them into the crate.
//!
//! A model is rebuilt only if its sources, its parameters or Verilator have changed. The build requires Verilator and
//! a C++ compiler. It does not use Verilator's makefile, which differs between distributions.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

/// Compiler flags, with the macros that Verilator's makefile would define.
const CXX_FLAGS: &[&str] = &[
    "-std=gnu++20",
    "-w",
    "-DVL_TIME_CONTEXT",
    "-DVERILATOR=1",
    "-DVM_TRACE=0",
    "-DVM_COVERAGE=0",
    "-DVM_SC=0",
    "-DVM_TIMING=0",
];

/// The default optimization level of code that runs in every clock. `SEALCOMB_RTL_OPTIMIZE` overrides it, because a
/// short run including its build is faster without optimization.
const OPTIMIZED: &str = "-O1";

/// The optimization level of code that Verilator calls slow. It runs once, and is half of the code.
const NOT_OPTIMIZED: &str = "-O0";

/// Unknown values are random, to reveal registers without a reset. An assertion of the hardware that fails ends the
/// process, with its message. The output is split into few files, because each
/// reads all headers.
const VERILATOR_FLAGS: &[&str] =
    &["--cc", "-O3", "--assert", "--x-assign", "unique", "--x-initial", "unique", "--output-split", "200000"];

/// Verilator's runtime, compiled once for all models.
const RUNTIME: &[&str] = &["verilated.cpp", "verilated_threads.cpp"];

/// A line of `tops.list` or `variants.list`: `NAME FILELIST MODULE [PARAMETER=VALUE ...]`.
#[derive(Clone)]
struct Top {
    /// Whether the line is in `variants.list`.
    variant: bool,
    name: String,
    module: String,
    parameters: Vec<String>,
    sources: Vec<PathBuf>,
}

/// A port of a model, as Verilator's header declares it.
struct Port {
    name: String,
    bits: usize,
    bytes: usize,
    input: bool,
}

/// The external programs, their settings, and the output folder.
struct Tools {
    verilator: String,
    root: PathBuf,
    cxx: String,
    /// The optimization level of code that runs in every clock.
    level: String,
    identity: String,
    out: PathBuf,
}

fn main() {
    let variables = [
        "SEALCOMB_VERILATOR",
        "SEALCOMB_RTL_TOPS",
        "SEALCOMB_RTL_VARIANTS",
        "SEALCOMB_RTL_OPTIMIZE",
        "VERILATOR_ROOT",
        "CXX",
    ];
    for variable in variables {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let tools = Tools::find();
    let known = listed_tops();
    let tops = selected(known.clone());
    mark_built(&known, &tops);
    tools.build_runtime();
    let next = AtomicUsize::new(0);
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1_usize);
    thread::scope(|scope| {
        for _ in 0..jobs.min(tops.len()) {
            scope.spawn(|| {
                while let Some(top) = tops.get(next.fetch_add(1, Ordering::Relaxed)) {
                    tools.build(top);
                }
            });
        }
    });

    let mut table = String::from("/// The models of this build.\npub(crate) static TOPS: &[Top] = &[\n");
    let mut declared = String::new();
    println!("cargo::rustc-link-search=native={}", tools.out.display());
    for top in &tops {
        println!("cargo::rustc-link-lib=static=model_{}", top.name);
        describe(top, &tools.ports(top), &mut table, &mut declared);
    }
    println!("cargo::rustc-link-lib=static=verilated_runtime");
    println!("cargo::rustc-link-lib=dylib=stdc++");
    let code = format!("{table}];\n\nunsafe extern \"C\" {{\n{declared}}}\n");
    let table = PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join("tops.rs");
    fs::write(table, code).expect("a writable OUT_DIR");
}

/// Reports an error to cargo, line by line, and ends the build.
fn give_up(message: &str) -> ! {
    for line in message.lines() {
        println!("cargo::error={line}");
    }
    std::process::exit(1)
}

/// Returns the tops of both lists.
fn listed_tops() -> Vec<Top> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut tops = listed("tops.list", false);
    tops.extend(listed("variants.list", true));
    tops
}

/// Sets the configuration value `top = "NAME"` for each top of this build. The tests of other tops are marked as
/// ignored, so that no test passes that did not run.
fn mark_built(known: &[Top], built: &[Top]) {
    let names: Vec<_> = known.iter().map(|top| format!("\"{}\"", top.name)).collect();
    println!("cargo::rustc-check-cfg=cfg(top, values({}))", names.join(", "));
    for top in built {
        println!("cargo::rustc-cfg=top=\"{}\"", top.name);
    }
}

/// Returns the tops selected by `SEALCOMB_RTL_TOPS` and `SEALCOMB_RTL_VARIANTS`.
fn selected(mut tops: Vec<Top>) -> Vec<Top> {
    if env::var("SEALCOMB_RTL_VARIANTS").as_deref() == Ok("0") {
        tops.retain(|top| !top.variant);
    }
    if let Ok(names) = env::var("SEALCOMB_RTL_TOPS") {
        let names: Vec<&str> = names.split(',').collect();
        if let Some(name) = names.iter().find(|&name| tops.iter().all(|top| top.name != *name)) {
            give_up(&format!("SEALCOMB_RTL_TOPS: unknown top `{name}`; see tops.list and variants.list"));
        }
        tops.retain(|top| names.contains(&top.name.as_str()));
    }
    for source in tops.iter().flat_map(|top| &top.sources) {
        println!("cargo::rerun-if-changed={}", source.display());
    }
    tops
}

/// Reads the tops of a list file.
fn listed(list: &str, variant: bool) -> Vec<Top> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-changed={list}");
    let text = fs::read_to_string(here.join(list)).expect("a list of tops");
    let top = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let (Some(name), Some(files), Some(module)) = (words.next(), words.next(), words.next()) else {
            give_up(&format!(
                "{list}: invalid line `{line}`; expected NAME FILELIST MODULE [PARAMETER=VALUE ...]"
            ));
        };
        let rtl = here.join("../../rtl");
        let filelist = rtl.join("filelists").join(&files);
        println!("cargo::rerun-if-changed={}", filelist.display());
        let Ok(text) = fs::read_to_string(&filelist) else {
            give_up(&format!("{list}: {name}: cannot read rtl/filelists/{files}"));
        };
        let sources = lines(&text).map(|line| rtl.join(line)).collect();
        Top { variant, name, module, parameters: words.collect(), sources }
    };
    lines(&text).map(top).collect()
}

/// Returns the lines that are neither empty nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"))
}

impl Tools {
    fn find() -> Self {
        let verilator = env::var("SEALCOMB_VERILATOR").unwrap_or_else(|_| "verilator".to_owned());
        let ask = |arguments: &[&str]| match Command::new(&verilator).args(arguments).output() {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
            outcome => give_up(&format!(
                "{verilator} {arguments:?} failed ({}).\nThe hardware models require Verilator 5.006 or newer: \
                 install the package `verilator`, or set SEALCOMB_VERILATOR to its command.",
                outcome.map_or_else(|error| error.to_string(), |output| output.status.to_string())
            )),
        };
        let version = ask(&["--version"]);
        let root = PathBuf::from(ask(&["--getenv", "VERILATOR_ROOT"]));
        let cxx = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let level = env::var("SEALCOMB_RTL_OPTIMIZE").unwrap_or_else(|_| OPTIMIZED.to_owned());
        let flags = (CXX_FLAGS, &level, NOT_OPTIMIZED, VERILATOR_FLAGS);
        let identity = format!("{version} {} {cxx} {flags:?}", root.display());
        // Each Verilator version has its own folder, so switching between versions rebuilds nothing.
        let out =
            PathBuf::from(env::var("OUT_DIR").expect("set by cargo")).join(format!("{:x}", hash(&identity)));
        fs::create_dir_all(&out).expect("a writable OUT_DIR");
        Self { verilator, root, cxx, level, identity, out }
    }

    /// Builds what all models share: the runtime, and a precompiled header, which every file includes.
    fn build_runtime(&self) {
        let stamp = hash(&self.identity);
        let library = self.out.join("libverilated_runtime.a");
        if is_fresh(&library, stamp) {
            return;
        }
        let folder = self.out.join("runtime");
        let header = self.header();
        let compiled = header.with_extension("h.gch");
        fs::create_dir_all(&compiled).expect("a writable OUT_DIR");
        fs::write(&header, "#include \"verilated.h\"\n").expect("a writable OUT_DIR");
        for level in [&self.level, NOT_OPTIMIZED] {
            let mut command = self.compiler(level);
            command.args(["-x", "c++-header"]).arg(&header).arg("-o").arg(compiled.join(level));
            run(&mut command, "the C++ compiler");
        }
        let include = self.root.join("include");
        let sources: Vec<_> = RUNTIME.iter().map(|name| include.join(name)).collect();
        self.compile(&folder, &sources, &library);
        make_fresh(&library, stamp);
    }

    /// Builds the model of a top, unless it is up to date.
    fn build(&self, top: &Top) {
        let mut hasher = DefaultHasher::new();
        (&self.identity, &top.module, &top.parameters, shim(top, &[])).hash(&mut hasher);
        for source in &top.sources {
            let Ok(text) = fs::read(source) else {
                give_up(&format!("{}: cannot read {}", top.name, source.display()));
            };
            text.hash(&mut hasher);
        }
        let stamp = hasher.finish();
        let library = self.out.join(format!("libmodel_{}.a", top.name));
        if is_fresh(&library, stamp) {
            return;
        }
        let folder = self.folder(top);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a writable OUT_DIR");
        let mut command = Command::new(&self.verilator);
        command.args(VERILATOR_FLAGS).arg("--top-module").arg(&top.module);
        command.arg("--prefix").arg(format!("V{}", top.name)).arg("-Mdir").arg(&folder);
        command.args(top.parameters.iter().map(|parameter| format!("-G{parameter}"))).args(&top.sources);
        run(&mut command, &top.name);
        let shim_file = folder.join("shim.cpp");
        fs::write(&shim_file, shim(top, &self.ports(top))).expect("a writable OUT_DIR");
        let mut sources: Vec<_> = fs::read_dir(&folder)
            .expect("Verilator's output")
            .map(|entry| entry.expect("Verilator's output").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
            .collect();
        sources.sort();
        self.compile(&folder, &sources, &library);
        make_fresh(&library, stamp);
    }

    fn folder(&self, top: &Top) -> PathBuf {
        self.out.join(&top.name)
    }

    /// Reads the ports from declarations in the model's header, such as `VL_INW(&s_axis_tdata,127,0,4);`.
    fn ports(&self, top: &Top) -> Vec<Port> {
        let header = self.folder(top).join(format!("V{}.h", top.name));
        let text = fs::read_to_string(&header).expect("Verilator's header");
        text.lines().filter_map(|line| port(line.trim())).collect()
    }

    /// The path of the precompiled header.
    fn header(&self) -> PathBuf {
        self.out.join("runtime/models.h")
    }

    /// Returns the C++ compiler with the flags of all files.
    fn compiler(&self, level: &str) -> Command {
        let mut command = Command::new(&self.cxx);
        command.args(CXX_FLAGS).arg(level);
        command.arg("-I").arg(self.root.join("include")).arg("-I").arg(self.root.join("include/vltstd"));
        command
    }

    /// Compiles the sources into a static library.
    fn compile(&self, folder: &Path, sources: &[PathBuf], library: &Path) {
        let mut objects = Vec::new();
        for source in sources {
            let object = folder.join(source.file_stem().expect("a file")).with_extension("o");
            let slow = source.to_string_lossy().ends_with("__Slow.cpp");
            let mut command = self.compiler(if slow { NOT_OPTIMIZED } else { &self.level });
            command
                .arg("-include")
                .arg(self.header())
                .arg("-I")
                .arg(folder)
                .arg("-c")
                .arg(source)
                .arg("-o")
                .arg(&object);
            run(&mut command, "the C++ compiler");
            objects.push(object);
        }
        let _ = fs::remove_file(library);
        run(Command::new("ar").arg("crs").arg(library).args(&objects), "ar");
    }
}

/// Parses the declaration of a port.
fn port(line: &str) -> Option<Port> {
    let (kind, rest) = line.strip_suffix(");")?.split_once("(&")?;
    let (input, size) = match kind.strip_prefix("VL_IN") {
        Some(size) => (true, size),
        None => (false, kind.strip_prefix("VL_OUT")?),
    };
    let mut fields = rest.split(',');
    let name = fields.next()?.to_owned();
    let (high, low): (usize, usize) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let bytes = match size {
        "8" => 1,
        "16" => 2,
        "" => 4,
        "64" => 8,
        "W" => 4 * fields.next()?.parse::<usize>().ok()?,
        _ => return None,
    };
    Some(Port { name, bits: high - low + 1, bytes, input })
}

/// Generates the C++ functions through which Rust accesses a model.
fn shim(top: &Top, ports: &[Port]) -> String {
    let name = &top.name;
    let mut cases = String::new();
    for (i, port) in ports.iter().enumerate() {
        let _ = writeln!(cases, "    case {i}: return &model->top.{};", port.name);
    }
    format!(
        r#"#include "V{name}.h"
#include "verilated.h"

// Every model defines this type, so it is local to the file.
namespace {{
struct Model {{
    VerilatedContext context;
    V{name} top;
    explicit Model(int seed) : top((context.randReset(2), context.randSeed(seed), &context)) {{}}
}};
}}

extern "C" void *{name}_create(int seed) {{ return new Model(seed); }}
extern "C" void {name}_destroy(void *model) {{
    static_cast<Model *>(model)->top.final();
    delete static_cast<Model *>(model);
}}
extern "C" void {name}_eval(void *model) {{ static_cast<Model *>(model)->top.eval(); }}
extern "C" void *{name}_port(void *pointer, unsigned index) {{
    Model *model = static_cast<Model *>(pointer);
    switch (index) {{
{cases}    }}
    return nullptr;
}}
"#
    )
}

/// Generates the Rust declarations of the shim's functions and ports.
fn describe(top: &Top, ports: &[Port], table: &mut String, declared: &mut String) {
    let name = &top.name;
    let _ = writeln!(table, "    Top {{\n        name: \"{name}\",");
    for function in ["create", "destroy", "eval", "port"] {
        let _ = writeln!(table, "        {function}: {name}_{function},");
    }
    let _ = writeln!(table, "        ports: &[");
    for Port { name, bits, bytes, input } in ports {
        let _ = writeln!(
            table,
            "            PortShape {{ name: \"{name}\", bits: {bits}, bytes: {bytes}, input: {input} }},"
        );
    }
    let _ = writeln!(table, "        ],\n    }},");
    let _ = writeln!(
        declared,
        "    fn {name}_create(seed: c_int) -> *mut c_void;\n    fn {name}_destroy(model: *mut c_void);\n    \
         fn {name}_eval(model: *mut c_void);\n    fn {name}_port(model: *mut c_void, index: c_uint) -> *mut c_void;"
    );
}

/// Runs a command, and ends the build with its output if it fails.
fn run(command: &mut Command, what: &str) {
    match command.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => give_up(&format!(
            "{what} failed: {command:?}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
        Err(error) => give_up(&format!("{what}: cannot start {command:?}: {error}")),
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn is_fresh(library: &Path, stamp: u64) -> bool {
    library.exists()
        && fs::read_to_string(library.with_extension("stamp")).is_ok_and(|text| text == stamp.to_string())
}

fn make_fresh(library: &Path, stamp: u64) {
    fs::write(library.with_extension("stamp"), stamp.to_string()).expect("a writable OUT_DIR");
}
