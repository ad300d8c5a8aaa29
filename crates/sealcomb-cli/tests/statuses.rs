//! The exit statuses of every subcommand. `docs/commands.md` describes them.
#![allow(missing_docs, unreachable_pub, dead_code)]

mod run;

use run::sealcomb;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with good and bad inputs.
fn inputs() -> TempDir {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (from, to) in [
        ("captures/sa.toml", "esp.toml"),
        ("captures/macsec.toml", "macsec.toml"),
        ("testvectors/aes128-cmac.json", "good.json"),
    ] {
        fs::copy(repository.join(from), at(to)).unwrap();
    }
    let mixed = fs::read(repository.join("captures/mixed.pcap")).unwrap();
    fs::write(at("truncated.pcap"), &mixed[..mixed.len() / 2]).unwrap();
    fs::write(at("damaged"), "neither a capture, nor JSON, nor TOML").unwrap();
    let wrong = fs::read_to_string(at("good.json")).unwrap().replacen("\"tag\": \"", "\"tag\": \"00", 1);
    fs::write(at("wrong.json"), wrong).unwrap();
    for (command, number, capture) in
        [("esp", "--start-sequence", "mixed.pcap"), ("macsec", "--start-pn", "mixed.pcap")]
    {
        let input = repository.join("captures").join(capture);
        let [sealed, sa] = [format!("{command}.pcap"), format!("{command}.toml")].map(|name| at(&name));
        let [input, sealed, sa] = [&input, &sealed, &sa].map(|path| path.to_str().unwrap());
        let run = sealcomb(&[command, "seal", input, sealed, "--sa", sa, number, "1"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        // The last packet is forged.
        let mut forged = fs::read(sealed).unwrap();
        fs::write(at(&format!("{command}-cut.pcap")), &forged[..forged.len() - 1]).unwrap();
        *forged.last_mut().unwrap() ^= 1;
        fs::write(at(&format!("{command}-forged.pcap")), forged).unwrap();
    }
    folder
}

/// Runs a command whose words that begin with `@` name files in the folder.
#[track_caller]
fn check(folder: &Path, status: i32, command: &str) {
    let words: Vec<String> = command
        .split_whitespace()
        .map(|word| match word.strip_prefix('@') {
            Some(name) => folder.join(name).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        })
        .collect();
    let run = sealcomb(&words);
    assert_eq!(run.status, status, "{command}: {}{}", run.stdout, run.stderr);
}

#[test]
fn every_subcommand_has_the_documented_statuses() {
    let folder = inputs();
    let check = |status, command: &str| check(folder.path(), status, command);
    let study = "study --quick --modes ecb --lengths 64";
    check(0, study);
    check(1, "study --quick --trace @damaged");
    check(2, "study --quick --modes rot13");
    check(3, "study --quick --trace @missing");
    check(3, &format!("{study} --json-file @missing/study.json"));
    check(0, "list");
    check(2, "list --csv");
    check(0, "vectors @good.json");
    check(1, "vectors @wrong.json");
    check(1, "vectors @damaged");
    check(2, "vectors");
    check(3, "vectors @good.json @missing");
    for command in ["esp", "macsec"] {
        let open = |input: &str, sa: &str| format!("{command} open {input} @out.pcap --sa {sa}");
        let sa = &format!("@{command}.toml");
        check(0, &open(&format!("@{command}.pcap"), sa));
        check(1, &open(&format!("@{command}-forged.pcap"), sa));
        check(1, &open("@damaged", sa));
        check(2, &open(&format!("@{command}.pcap"), "@damaged"));
        check(2, &(open(&format!("@{command}.pcap"), sa) + " --burst 0"));
        check(3, &open("@missing", sa));
        check(3, &open(&format!("@{command}.pcap"), "@missing"));
        check(4, &open(&format!("@{command}-cut.pcap"), sa));
    }
    let seal = |input: &str| format!("esp seal {input} @out.pcap --sa @esp.toml --start-sequence 1");
    check(1, &seal("@damaged"));
    check(4, &seal("@truncated.pcap"));
    check(3, &seal("@truncated.pcap").replace("@out.pcap", "@missing/out.pcap"));
}
