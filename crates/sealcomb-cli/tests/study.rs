//! Tests of `sealcomb study`: screen, tables, JSON and HTML report.
#![allow(missing_docs, unreachable_pub, dead_code)]

mod run;

use run::{entries, file, sealcomb, sealcomb_on};
use sealcomb::study;
use sealcomb::study::ALGORITHMS;
use serde_json::Value;
use std::sync::OnceLock;

/// Runs a study of one mode at two lengths and the mix. Returns its output, its JSON and its report.
fn small_study(backend: &str) -> (String, Value, String) {
    static ON_THE_BEST: OnceLock<(String, Value, String)> = OnceLock::new();
    let study = || study_of("CBC", "64,2048,mix", backend);
    if backend == best() { ON_THE_BEST.get_or_init(study).clone() } else { study() }
}

/// Runs a study of these modes at these lengths. Returns its output, its JSON and its report.
fn study_of(modes: &str, lengths: &str, backend: &str) -> (String, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let (json, report) = (folder.path().join("study.json"), folder.path().join("study.html"));
    let arguments = ["study", "--quick", "--modes", modes, "--lengths", lengths, "--tables", "all"];
    let mut arguments: Vec<&std::ffi::OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    arguments.extend(["--json-file".as_ref(), json.as_os_str(), "--report".as_ref(), report.as_os_str()]);
    let run = sealcomb_on(backend, &arguments);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(entries(folder.path()), 2, "temporary files remain");
    (
        run.stdout,
        serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap(),
        std::fs::read_to_string(report).unwrap(),
    )
}

/// Returns the data embedded in the report.
fn report_data(report: &str) -> Value {
    let (_, data) = report.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

fn best() -> &'static str {
    sealcomb::Backend::best().name()
}

#[test]
fn the_json_has_the_documented_schema() {
    let (_, study, _) = small_study(best());
    assert_eq!(study["schema"], "sealcomb-study/1");
    let machine = &study["machine"];
    assert!(machine["cpu"].is_string());
    assert_eq!(machine["backend"], best());
    assert!(["perf", "calibrated"].contains(&machine["cycles"].as_str().unwrap()));
    assert!(machine["aes_rounds_per_cycle"].as_f64().unwrap() > 0.0);
    assert!(machine["clmul_per_cycle"].as_f64().unwrap() > 0.0);
    let results = study["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let fields: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
        let mut expected = [
            "algorithm",
            "direction",
            "backend",
            "schedule",
            "lengths",
            "batch",
            "lanes",
            "keys",
            "cpb",
            "cpb_q1",
            "cpb_q3",
            "bound_cpb",
            "fraction_of_bound",
        ];
        expected.sort_unstable();
        assert_eq!(fields, expected);
        assert_eq!(result["algorithm"], "aes128-cbc");
        let number = |name: &str| result[name].as_f64().unwrap();
        assert!(
            0.0 < number("cpb_q1") && number("cpb_q1") <= number("cpb") && number("cpb") <= number("cpb_q3")
        );
        let fraction = number("bound_cpb") / number("cpb");
        assert!((fraction - number("fraction_of_bound")).abs() < 1e-9);
    }
}

#[test]
fn the_json_contains_the_conditions_of_the_measurement() {
    let (_, study, _) = small_study(best());
    let conditions = &study["conditions"];
    let date = conditions["date"].as_str().unwrap();
    let digits = date.replace(|c: char| c.is_ascii_digit(), "0");
    assert_eq!(digits, "0000-00-00T00:00:00Z", "{date}");
    assert_eq!(conditions["version"], env!("CARGO_PKG_VERSION"));
    assert!(conditions["compiler"].as_str().unwrap().starts_with("rustc "), "{conditions}");
    // A clone of the repository has a commit; an archive has none.
    if let Some(commit) = conditions["commit"].as_str() {
        let hash = commit.strip_suffix("-dirty").unwrap_or(commit);
        assert!(hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{commit}");
    }
    for name in ["kernel", "governor"] {
        assert!(conditions[name].is_null() || conditions[name].is_string(), "{name}: {conditions}");
    }
    assert!(conditions["load"].is_null() || conditions["load"].as_f64().unwrap() >= 0.0, "{conditions}");
}

/// Modes that run another mode's kernels, which the screen leaves out.
const VARIANTS: [&str; 5] = ["ocb3-t64", "ocb3-t96", "otr-s", "elmd-it127", "elmd-vartag"];

fn assert_is_a_screen(text: &str) {
    assert!(text.lines().count() <= 50, "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 118, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn a_study_is_one_screen_with_every_claim_and_every_mode() {
    let run = sealcomb(&["study"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_is_a_screen(&run.stdout);
    let (_, modes) = run.stdout.split_once("\nSealing: cycles per message + cycles per byte").unwrap();
    let words: Vec<&str> = modes.split_whitespace().collect();
    let with_aes128 =
        ALGORITHMS.iter().copied().filter_map(|algorithm| algorithm.id().strip_prefix("aes128-"));
    for mode in with_aes128.chain(["xaes256-gcm"]) {
        assert_eq!(words.contains(&mode), !VARIANTS.contains(&mode), "{mode}: {modes}");
    }
    let claims = ["2014 ", "2015 ", "2018 "].map(|year| {
        run.stdout
            .lines()
            .filter(|line| line.starts_with(&format!("{year}yes")) || line.starts_with(&format!("{year}no ")))
            .count()
    });
    // The VAES paper's claims require more than one block per register.
    let wide = sealcomb::study::blocks(sealcomb::Backend::best()) > 1;
    assert_eq!(claims, [11, 6, if wide { 3 } else { 0 }], "{}", run.stdout);
    for option in ["--full", "--tables", "--report"] {
        assert!(run.stdout.contains(option), "{option}: {}", run.stdout);
    }
}

#[test]
fn chosen_lengths_are_shown_without_a_best_fit_line() {
    let run = sealcomb(&["study", "--quick", "--modes", "cbc,aes256-gcm", "--lengths", "64,mix"]);
    assert_is_a_screen(&run.stdout);
    assert!(run.stdout.contains("\nSealing; at 64 bytes, the mix: "), "{}", run.stdout);
    let row = run.stdout.lines().find(|line| line.starts_with("aes256-gcm ")).unwrap();
    assert_eq!(row.split_whitespace().count(), 1 + 4 + 2, "{row}");
}

#[test]
fn the_screen_compares_at_a_captures_lengths() {
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../captures/mixed.pcap");
    let run = sealcomb(&["study", "--quick", "--modes", "cbc", "--trace", capture]);
    assert_is_a_screen(&run.stdout);
    assert!(run.stdout.contains("; at the capture: "), "{}", run.stdout);
}

#[test]
fn only_the_named_tables_are_printed() {
    let run = sealcomb(&[
        "study",
        "--quick",
        "--modes",
        "cbc",
        "--lengths",
        "2048",
        "--tables",
        "claims,schedules",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    for title in ["Claims of the papers, and whether", "sealed with each schedule"] {
        assert!(run.stdout.contains(title), "{title}: {}", run.stdout);
    }
    assert_eq!(run.stdout.matches('╭').count() + run.stdout.matches('┌').count(), 2, "{}", run.stdout);
}

#[test]
fn a_table_without_figures_reports_what_it_requires() {
    let run =
        sealcomb(&["study", "--quick", "--modes", "gcm", "--lengths", "64", "--tables", "sweep,single"]);
    assert!(run.stdout.contains("no table `sweep`: it requires aes128-cbc"), "{}", run.stdout);
    assert!(run.stdout.contains("by length"), "{}", run.stdout);
}

#[test]
fn an_unknown_table_is_rejected_with_a_suggestion_and_the_names() {
    sealcomb(&["study", "--tables", "clams"])
        .assert_fails(2, &["clams", "'claims'", "papers-single", "units"]);
    let help = sealcomb(&["study", "--help"]).stdout;
    for name in ["claims", "costs", "papers-single", "instructions", "units"] {
        assert!(help.contains(&format!("- {name}:")), "{name}: {help}");
    }
}

#[test]
fn written_files_are_reported_instead_of_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("study.html");
    let arguments = ["study", "--quick", "--modes", "ecb", "--lengths", "64", "--report"];
    let mut arguments: Vec<&std::ffi::OsStr> = arguments.iter().map(AsRef::as_ref).collect();
    arguments.push(report.as_os_str());
    let run = sealcomb(&arguments);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.stdout);
    assert_eq!(lines[0], format!("report: {}", report.display()));
    assert!(lines[1].contains("--tables"), "{}", lines[1]);
}

/// The descriptor comes first: a rename fails there, but would replace `/dev/stdout`.
#[cfg(target_os = "linux")]
#[test]
fn results_are_written_to_a_redirected_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    for stream in ["/proc/self/fd/1", "/dev/stdout"] {
        let path = folder.path().join("stdout");
        let mut stdout = std::fs::File::create(&path).unwrap();
        std::io::Write::write_all(&mut stdout, b"before\n").unwrap();
        let arguments = ["study", "--quick", "--modes", "ecb", "--lengths", "64", "--json-file", stream];
        let run = run::sealcomb_to(stdout.into(), std::process::Stdio::piped(), &arguments);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{stream}");
        let text = std::fs::read_to_string(&path).unwrap();
        let json = text.strip_prefix("before\n").unwrap().split_once("JSON results: ").unwrap().0;
        assert_eq!(serde_json::from_str::<Value>(json).unwrap()["schema"], "sealcomb-study/1");
        assert!(std::fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
    }
    assert_eq!(entries(folder.path()), 1);
}

#[test]
fn json_is_all_that_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("study.html");
    let arguments = ["study", "--quick", "--modes", "ecb", "--lengths", "64", "--json", "--report"];
    let run = sealcomb(&[&arguments[..], &[report.to_str().unwrap()]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["schema"], "sealcomb-study/1");
    assert!(report.exists());
    sealcomb(&["study", "--json", "--tables", "all"]).assert_fails(2, &["--json", "--tables"]);
    sealcomb(&["study", "--json", "study.json"]).assert_fails(2, &["study.json"]);
}

#[test]
fn results_and_report_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study");
    for other in [path.clone(), folder.path().join(".").join("study")] {
        let [json, report] = [&path, &other].map(|path| path.to_str().unwrap());
        let arguments = ["study", "--quick", "--modes", "ecb", "--json-file", json, "--report", report];
        sealcomb(&arguments).assert_fails(2, &["--json-file", "--report", "same file"]);
    }
    assert_eq!(entries(folder.path()), 0);
}

#[test]
fn full_and_quick_exclude_each_other() {
    sealcomb(&["study", "--full", "--quick"]).assert_fails(2, &["--full", "--quick"]);
}

#[test]
fn both_directions_all_lengths_and_all_schedules_are_measured() {
    let (_, study, _) = small_study(best());
    let results = study["results"].as_array().unwrap();
    let has =
        |want: &[(&str, Value)]| results.iter().any(|r| want.iter().all(|(name, value)| r[*name] == *value));
    for lengths in [Value::from(64), Value::from(2048), Value::from("mix")] {
        for direction in ["seal", "open"] {
            for schedule in ["single", "auto"] {
                let want = [
                    ("lengths", lengths.clone()),
                    ("direction", direction.into()),
                    ("schedule", schedule.into()),
                ];
                assert!(has(&want), "{want:?}");
            }
        }
    }
    for schedule in ["comb", "refill", "blocks"] {
        assert!(has(&[("lengths", 2048.into()), ("schedule", schedule.into())]), "{schedule}");
    }
    for keys in [2, 64] {
        assert!(has(&[("keys", keys.into())]));
    }
    let keys = &study["keys"][0];
    let with_message = keys["with_message"].as_array().unwrap();
    let cycles: Vec<f64> = with_message.iter().map(|pair| pair[1].as_f64().unwrap()).collect();
    assert!(0.0 < keys["new"].as_f64().unwrap() && cycles[0] < cycles[1], "{keys}");
    assert!(results.iter().any(|r| { r["backend"].as_str().unwrap().starts_with("peer:rustcrypto-cbc-") }));
    for backend in sealcomb::Backend::available() {
        assert!(has(&[("backend", backend.name().into())]), "{}", backend.name());
    }
}

#[test]
fn no_figure_is_measured_twice() {
    let (_, study, _) = small_study(best());
    let mut ways: Vec<String> = study["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            ["algorithm", "direction", "backend", "schedule", "lengths", "lanes", "keys"]
                .map(|name| r[name].to_string())
                .join(" ")
        })
        .collect();
    let all = ways.len();
    ways.sort_unstable();
    ways.dedup();
    assert_eq!(ways.len(), all);
}

#[test]
fn cbc_is_faster_in_a_batch_than_in_single_messages() {
    let (_, study, _) = small_study(best());
    let cpb = |schedule: &str| {
        let of = |r: &&Value| r["schedule"] == schedule && r["lengths"] == 2048 && r["direction"] == "seal";
        study["results"].as_array().unwrap().iter().find(of).unwrap()["cpb"].as_f64().unwrap()
    };
    assert!(cpb("auto") < cpb("single"), "{} {}", cpb("auto"), cpb("single"));
}

#[test]
fn every_algorithm_has_a_heat_map_over_the_requested_lengths() {
    let (_, study, _) = small_study(best());
    for (list, axis, messages) in
        [("heat", "batch", &[1, 2, 4, 8, 16, 32][..]), ("comb_heat", "parallelism", &[1, 2, 4, 8, 16])]
    {
        let [map] = &study[list].as_array().unwrap()[..] else { panic!("{}", study[list]) };
        assert_eq!(map["axis"], axis);
        assert_eq!((&map["algorithm"], &map["backend"]), (&"aes128-cbc".into(), &best().into()));
        assert_eq!(map["lengths"], serde_json::json!([64, 2048]));
        assert_eq!(map["messages"], serde_json::json!(messages));
        let rows = map["cpb"].as_array().unwrap();
        assert_eq!(rows.len(), messages.len());
        for row in rows {
            let cells = row.as_array().unwrap();
            assert!(cells.len() == 2 && cells.iter().all(|cell| cell.as_f64().unwrap() > 0.0), "{row}");
        }
        // The papers' main result: several chains in flight cost less per byte than one.
        let of_long_messages = |row: usize| rows[row][1].as_f64().unwrap();
        assert!(of_long_messages(3) < 0.8 * of_long_messages(0), "{map}");
    }
}

/// GCM is not chained, but the 2014 paper has a heat map of it.
#[test]
fn chains_and_the_papers_authenticated_modes_have_a_heat_map_over_the_combs_parallelism() {
    let (_, study, _) = study_of("gcm,ctr,ofb", "64", best());
    let drawn = |list: &str| -> Vec<&str> {
        let maps = study[list].as_array().unwrap().iter();
        maps.map(|map| map["algorithm"].as_str().unwrap()).collect()
    };
    assert_eq!(drawn("heat"), ["aes128-gcm", "serpent128-gcm", "aes128-ofb", "aes128-ctr"]);
    assert_eq!(drawn("comb_heat"), ["aes128-gcm", "aes128-ofb"]);
}

#[test]
fn the_key_assistant_is_compared_with_the_papers_figures() {
    let (tables, study, _) = small_study(best());
    let rows: Vec<&str> = tables.lines().filter(|line| line.contains("aeskeygenassist")).collect();
    let measured: Vec<&Value> = study["instructions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|instruction| instruction["operation"] == "aeskeygenassist")
        .collect();
    // Only registers of one block have this instruction, and AES-NI is available on every CPU with wider ones.
    assert_eq!((rows.len(), measured.len()), (1, 1), "{tables}");
    let cells: Vec<&str> = rows[0].split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[cells.len() - 2..], ["10", "8"], "{}", rows[0]);
    let number = |name: &str| measured[0][name].as_f64().unwrap();
    assert!(number("latency") > 0.9 && number("inverse_throughput") > 0.2, "{}", measured[0]);
}

#[test]
fn claims_are_tested_only_with_measured_figures() {
    let (tables, study, _) = small_study(best());
    let headlines = study["headlines"].as_array().unwrap();
    let claims: Vec<&str> = headlines.iter().map(|headline| headline["claim"].as_str().unwrap()).collect();
    assert_eq!(claims, ["CBC gains a factor of 6.8"], "no other algorithm was measured");
    let numbers = headlines[0]["numbers"].as_array().unwrap();
    let cpb = |schedule: &str| {
        let of = |r: &&Value| r["schedule"] == schedule && r["lengths"] == 2048 && r["direction"] == "seal";
        study["results"].as_array().unwrap().iter().find(of).unwrap()["cpb"].as_f64().unwrap()
    };
    let measured: Vec<f64> = numbers.iter().map(|number| number["cpb"].as_f64().unwrap()).collect();
    assert_eq!(measured, [cpb("single"), cpb("auto")]);
    assert_eq!(headlines[0]["holds"], measured[0] / measured[1] >= 6.79);
    let papers: Vec<f64> =
        headlines[0]["papers"].as_array().unwrap().iter().map(|n| n["cpb"].as_f64().unwrap()).collect();
    assert_eq!((headlines[0]["paper"].as_u64(), papers), (Some(2014), vec![4.28, 0.63]));
    assert!(tables.contains("CBC gains a factor of 6.8"), "{tables}");
}

#[test]
fn both_multiplications_are_timed_by_message_length() {
    let (tables, study, _) = small_study(best());
    for chain in study["chains"].as_array().unwrap() {
        let lengths = chain["lengths"].as_array().unwrap();
        let cpb = |name: &str| -> Vec<f64> {
            chain[name].as_array().unwrap().iter().map(|cpb| cpb.as_f64().unwrap()).collect()
        };
        let (single, batched) = (cpb("single_by_length"), cpb("batched_by_length"));
        assert_eq!((single.len(), batched.len()), (lengths.len(), lengths.len()));
        // A longer message spreads the latency of its start and its tag over more bytes.
        assert!(single[0] > single[lengths.len() - 1], "{chain}");
        // With one block per register, COBRA's pairs of blocks keep the multiplier as busy as eight messages do.
        let gain = if chain["backend"] != "aesni" {
            1.2
        } else if chain["mode"] == "McOE-G" {
            1.0
        } else {
            0.8
        };
        assert!(single.iter().zip(&batched).all(|(single, batched)| gain * batched < *single), "{chain}");
    }
    assert!(tables.contains("contradict one another:\n2014: classical for single messages"), "{tables}");
}

/// Prints a note and passes if this process may not trace another.
#[test]
fn instructions_are_counted_one_by_one() {
    let (tables, study, _) = study_of("aes128-ctr", "512", best());
    assert!(tables.contains("9248 / 2338"), "{tables}");
    let counts = study["instruction_counts"].as_array().unwrap();
    let count = |backend: &str, bytes: u64| {
        let of = |c: &&Value| c["backend"] == backend && c["bytes"] == bytes;
        counts.iter().find(of).map(|count| count["instructions"].as_u64().unwrap())
    };
    let [Some(short), Some(long)] = [512, 8192].map(|bytes| count("aesni", bytes)) else {
        println!("skipped: no AES-NI, or this process may not trace another");
        return;
    };
    // At least ten rounds, a load, an XOR and a store per block. Debug assertions add instructions.
    let max = if cfg!(debug_assertions) { 120 } else { 30 };
    let per_480_blocks = long - short;
    assert!((13 * 480..max * 480).contains(&per_480_blocks), "{per_480_blocks}");
    if let Some(wide) = count("vaes512", 8192) {
        assert!(3 * wide < long, "{wide} and {long}");
    }
}

/// Returns the rooflines with counted instructions. Prints a note if there are none.
fn rooflines(study: &Value) -> Vec<&Value> {
    let all = study["rooflines"].as_array().unwrap().iter();
    let counted: Vec<&Value> =
        all.filter(|roofline| !roofline["units"].as_array().unwrap().is_empty()).collect();
    if counted.is_empty() {
        println!("skipped: no AES instructions, or this process may not trace another");
    }
    counted
}

/// Upper limit of a message's AES calls in addition to those for its blocks: for nonces, lengths and tags, and for
/// lanes that are empty because their messages are shorter than others.
const CALLS_BESIDE_BLOCKS: f64 = 8.0;

#[test]
fn a_block_needs_the_rounds_and_products_of_the_catalog() {
    let (_, study, _) = study_of("gcm,gmac,ccm,cbc,ctr,ocb3-t128,cmac,poet-aes4,elmd66", "64", best());
    for roofline in rooflines(&study) {
        let algorithm = study::by_id(roofline["algorithm"].as_str().unwrap()).unwrap();
        let lanes = |unit: &str| {
            let of = |demand: &&Value| demand["unit"] == unit;
            roofline["units"].as_array().unwrap().iter().find(of).unwrap()["lanes"].as_f64().unwrap()
        };
        let [calls, rounds, multiplications] =
            [algorithm.work().calls, algorithm.work().rounds, algorithm.work().multiplications]
                .map(f64::from);
        let call = f64::from(algorithm.rounds());
        // Six inverse rounds begin with `InvMixColumns`, which is one instruction or a forward and an inverse round.
        // The doubling between the layers reduces with a product.
        let (mixed_back, doubled) = match (algorithm.id(), best()) {
            ("aes128-elmd66", "vaes512") => (2.0, 1.0),
            ("aes128-elmd66", _) => (1.0, 1.0),
            _ => (0.0, 0.0),
        };
        let all = calls * call + rounds + mixed_back;
        // The first round of counter blocks can come from a table.
        let min = all - f64::from(algorithm.work().cached);
        let blocks = roofline["bytes"].as_f64().unwrap() / 16.0;
        // The 32 messages take three passes of twelve lanes, of which the last four lanes are empty.
        let empty = if best() == "aesni" { 36.0 / 32.0 } else { 1.0 };
        let max = all * empty + CALLS_BESIDE_BLOCKS * call / blocks;
        assert!((min..=max).contains(&lanes("aes")), "{} {}", algorithm.id(), lanes("aes"));
        // Three products (Karatsuba) or four, and at most two more per multiplication to reduce it separately.
        let products = 3.0 * multiplications + doubled..=6.5 * multiplications + 1.25 * doubled;
        assert!(products.contains(&lanes("products")), "{} {}", algorithm.id(), lanes("products"));
    }
}

#[test]
fn the_bottleneck_is_the_unit_that_needs_the_most_cycles() {
    let (tables, study, report) = small_study(best());
    let Some(roofline) = rooflines(&study).pop() else { return };
    let cycles = |demand: &Value| demand["cycles"].as_f64().unwrap();
    let units = roofline["units"].as_array().unwrap();
    let names: Vec<&str> = units.iter().map(|demand| demand["unit"].as_str().unwrap()).collect();
    assert_eq!(names, ["aes", "products", "shuffles", "vector", "loads", "stores", "front-end"]);
    let bottleneck = units.iter().max_by(|a, b| cycles(a).total_cmp(&cycles(b))).unwrap();
    let (_, table) = tables.split_once("Demand on each unit").unwrap();
    let row = table.lines().find(|line| line.contains("aes128-cbc")).unwrap();
    let cells: Vec<&str> = row.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[8].to_lowercase().replace(' ', "-"), bottleneck["unit"], "{row}");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    let max = cells[1..8].iter().copied().map(number).fold(0.0, f64::max);
    assert!((max - cycles(bottleneck)).abs() < 0.006, "{row}: {bottleneck}");
    let measured = roofline["cycles"].as_f64().unwrap();
    assert!((number(cells[10]) - cycles(bottleneck) / measured).abs() < 0.006, "{row}");
    assert_eq!(
        report_data(&report)["units"]["rows"][0],
        serde_json::json!(cells),
        "the report has the same table"
    );
}

/// Software AES has no AES unit.
#[test]
fn a_backend_without_aes_instructions_has_no_roofline() {
    let (tables, study, _) = study_of("aes128-ctr", "64", "portable");
    assert_eq!(study["rooflines"], serde_json::json!([]));
    assert!(!tables.contains("Demand on each unit"), "{tables}");
}

#[test]
fn tables_fit_a_terminal() {
    let (tables, ..) =
        study_of("poet,elmd-vartag,ccm,gcm,otr-p", "64,128,256,512,1024,2048,4096,8192,mix", best());
    for line in tables.lines() {
        let columns = line.chars().count();
        assert!(columns <= 120, "{columns} columns: {line}");
    }
}

/// Table 1b of the FSE 2015 paper, and both papers' tables of modes.
#[test]
fn the_papers_tables_are_complete() {
    let (tables, ..) = study_of("cbc,ctr,ecb,ofb,cfb,cmac,ccm,julius", "2048,mix", best());
    for figure in ["0.64", "2.08", "0.67", "2.11", "2.07", "2.15"] {
        assert!(tables.contains(figure), "{figure}\n{tables}");
    }
    let (_, modes) = tables.split_once("Authenticated modes").unwrap();
    let row = |name: &str| -> Vec<&str> {
        let row = modes.lines().find(|line| line.contains(name)).unwrap();
        row.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(row("CCM")[..8], ["CCM", "2002", "no", "yes", "no", "2", "0", "no"]);
    assert_eq!(row("Julius")[..8], ["Julius", "2014", "yes (no)", "no", "no", "1", "2", "yes"]);
}

/// The overhead of the measuring loop must not count as part of the instruction.
#[test]
fn independent_rounds_take_less_time_than_their_latency() {
    let (_, study, _) = small_study(best());
    let rounds = study["instructions"].as_array().unwrap().iter().filter(|instruction| {
        let backend = sealcomb::Backend::named(instruction["backend"].as_str().unwrap()).unwrap();
        let name = instruction["operation"].as_str().unwrap();
        !sealcomb::study::needs(backend.name()).is_empty() && ["aesenc", "aesdec"].contains(&name)
    });
    for round in rounds {
        let number = |name: &str| round[name].as_f64().unwrap();
        assert!(number("inverse_throughput") < 0.7 * number("latency"), "{round}");
    }
}

#[test]
fn doubling_methods_that_branch_are_marked() {
    let (tables, study, _) = small_study(best());
    for operation in study["field"].as_array().unwrap() {
        let name = operation["operation"].as_str().unwrap();
        let branches = ["extraction", "test", "mask", "compare"].iter().any(|way| name.ends_with(way));
        assert_eq!(operation["constant_time"], !branches, "{name}");
    }
    assert!(tables.contains("doubling, spread carry"), "{tables}");
}

#[test]
fn both_multiplications_are_timed_in_both_chains() {
    let (_, study, _) = small_study(best());
    for mode in ["McOE-G", "COBRA"] {
        for method in ["classical", "Haswell"] {
            let of = |c: &&Value| {
                (&c["mode"], &c["method"], &c["backend"]) == (&mode.into(), &method.into(), &best().into())
            };
            let chain = study["chains"].as_array().unwrap().iter().find(of).unwrap();
            assert!(chain["batched"].as_f64().unwrap() < chain["single"].as_f64().unwrap(), "{chain}");
        }
    }
}

#[test]
fn the_report_is_self_contained_and_contains_the_results() {
    let (_, study, report) = small_study(best());
    for reference in ["http://", "https://", "src=", "@import", "<link"] {
        assert!(!report.contains(reference), "{reference}");
    }
    assert_eq!(report_data(&report)["study"], study);
}

#[test]
fn the_report_has_the_terminals_tables_of_the_papers() {
    let (text, _, report) = small_study(best());
    let tables = report_data(&report)["tables"].clone();
    let titles: Vec<&str> =
        tables.as_array().unwrap().iter().map(|table| table["title"].as_str().unwrap()).collect();
    for beginning in ["Messages of 2048 bytes (2015", "Realistic mix", "CBC in comb windows", "Instructions"]
    {
        assert!(titles.iter().any(|title| title.starts_with(beginning)), "{beginning}: {titles:?}");
    }
    for title in titles {
        assert!(text.contains(title), "{title}");
    }
}

#[test]
fn no_cost_in_the_json_is_negative() {
    let (_, study, _) = small_study(best());
    let costs = study["costs"].as_array().unwrap();
    assert!(!costs.is_empty());
    for cost in costs {
        for name in ["cycles_per_message", "cycles_per_byte", "off_by"] {
            assert!(cost[name].as_f64().unwrap() >= 0.0, "{cost}");
        }
    }
}

#[test]
fn the_tables_contain_the_papers_figures() {
    let (tables, _, _) = small_study(best());
    for figure in ["4.28", "4.38", "0.65", "4.47", "0.87", "2.65", "16.7", "5.6"] {
        assert!(tables.contains(figure), "{figure}\n{tables}");
    }
}

#[test]
fn a_forced_backend_is_the_one_that_is_studied() {
    let (_, study, _) = small_study("portable");
    assert_eq!(study["machine"]["backend"], "portable");
}

#[test]
fn an_unknown_mode_is_rejected_by_name() {
    sealcomb(&["study", "--modes", "cbc,rot13"]).assert_fails(2, &["rot13"]);
}

#[test]
fn a_misspelled_mode_is_rejected_with_a_suggestion() {
    sealcomb(&["study", "--modes", "gmc"]).assert_fails(2, &["gmc", "did you mean", "\"gcm\""]);
    let (_folder, path) =
        file("vectors.json", r#"{"algorithm": "aes128-gmc", "tests": [{"id": 1, "key": ""}]}"#);
    sealcomb(&["vectors".as_ref(), path.as_os_str()]).assert_fails(1, &["did you mean", "\"aes128-gcm\""]);
}

#[test]
fn an_invalid_length_is_rejected() {
    for length in ["0", "2k", "-5"] {
        sealcomb(&["study", &format!("--lengths={length}")]).assert_fails(2, &[length]);
    }
}

#[test]
fn an_unwritable_output_is_rejected_before_the_measurement() {
    for option in ["--json-file", "--report"] {
        let run = sealcomb(&["study", option, "/no/such/folder/file"]);
        run.assert_fails(3, &["/no/such/folder/file"]);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_capture_with_a_forged_packet_length_is_rejected() {
    let mut capture = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 101].map(u32::to_le_bytes).concat();
    capture.extend([0, 0, 20, 2 << 20].map(u32::to_le_bytes).concat());
    capture.extend([&[0x45][..], &[0; 19]].concat());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("packets.pcap");
    std::fs::write(&path, capture).unwrap();
    let run = sealcomb(&[
        "study".as_ref(),
        "--quick".as_ref(),
        "--modes=ecb".as_ref(),
        "--trace".as_ref(),
        path.as_os_str(),
    ]);
    run.assert_fails(1, &["packets.pcap", "packet 1", "2097152 bytes", "1048576"]);
}

#[test]
fn an_invalid_capture_is_rejected_and_leaves_no_output() {
    let (folder, path) = file("packets.pcap", "this is no capture");
    let json = folder.path().join("study.json");
    let run = sealcomb(&[
        "study".as_ref(),
        "--trace".as_ref(),
        path.as_os_str(),
        "--json-file".as_ref(),
        json.as_os_str(),
    ]);
    run.assert_fails(1, &["packets.pcap"]);
    assert_eq!(entries(folder.path()), 1);
}
