//! The tables of algorithms in `README.md` and `docs/algorithms.md` are those of the catalog.
//!
//! If a table is out of date, this writes it:
//!
//! ```console
//! $ SEALCOMB_WRITE_DOCS=1 cargo test -p sealcomb --all-features --test algorithms_page
//! ```

use sealcomb::hazmat;
use sealcomb::study::ALGORITHMS;
use sealcomb::{Algorithm, Cipher, Kind, Status};
use std::path::Path;
use std::{env, fs};

/// The algorithms that share a row: one mode with one block cipher, in all key sizes.
struct Row {
    mode: String,
    algorithms: Vec<Algorithm>,
}

impl Row {
    fn first(&self) -> Algorithm {
        self.algorithms[0]
    }

    /// Returns the distinct values of a property, in the catalog's order.
    fn distinct(&self, property: impl Fn(Algorithm) -> String) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for value in self.algorithms.iter().map(|algorithm| property(*algorithm)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// `aes{128,192,256}-gcm`
    fn ids(&self) -> String {
        let cipher = match self.first().cipher() {
            Cipher::Aes => "aes",
            _ => "serpent",
        };
        let first = self.first();
        if !first.id().ends_with(&format!("-{}", first.mode_id())) || !first.id().starts_with(cipher) {
            return self.distinct(|algorithm| format!("`{}`", algorithm.id())).join(", ");
        }
        let bits = self.distinct(|algorithm| (8 * algorithm.cipher_key_bytes()).to_string());
        let modes = self.distinct(|algorithm| algorithm.mode_id().to_owned());
        let (stems, tags): (Vec<_>, Vec<_>) = modes.iter().map(|mode| tag_suffix(mode)).unzip();
        let tags: Vec<String> = tags.into_iter().flatten().collect();
        let mode =
            if tags.is_empty() { modes[0].clone() } else { format!("{}-t{}", stems[0], braces(&tags)) };
        format!("`{cipher}{}-{mode}`", braces(&bits))
    }

    /// `16, 24, 32`
    fn key_bytes(&self) -> String {
        self.distinct(|algorithm| algorithm.key_bytes().to_string()).join(", ")
    }

    /// `at least 1, usually 12`
    fn nonce(&self) -> String {
        let (algorithm, nonce_bytes) = (self.first(), self.first().nonce_bytes());
        match (algorithm.min_nonce_bytes(), algorithm.max_nonce_bytes()) {
            // A nonce of SIV is one more associated string, which may be absent.
            (0, _) if algorithm.strings() => format!("any length or none, usually {nonce_bytes}"),
            (_, 0) => "none".to_owned(),
            (min, max) if min == max => min.to_string(),
            (0, max) if max > 1 << 16 => format!("any length, usually {nonce_bytes}"),
            (min, max) if max > 1 << 16 => format!("at least {min}, usually {nonce_bytes}"),
            (min, max) => format!("{min} to {max}, usually {nonce_bytes}"),
        }
    }

    /// `12 to 16; with hazmat also 4, 8`
    fn tags(&self) -> String {
        if self.distinct(|algorithm| format!("{:?}", algorithm.tag_sizes())).len() > 1 {
            let tags = self.distinct(|algorithm| algorithm.tag_bytes().to_string());
            return format!("{}: one algorithm each", tags.join(", "));
        }
        let usual = self.first().tag_sizes();
        let all = hazmat::tag_sizes(self.first());
        let short: Vec<usize> = all.iter().copied().filter(|tag| !usual.contains(tag)).collect();
        let hazmat =
            if short.is_empty() { String::new() } else { format!("; with `hazmat` also {}", runs(&short)) };
        format!("{}{hazmat}", runs(usual))
    }
}

/// Splits a name into the part before a tag length and the tag length in bits: `ocb3-t128`, `OCB3-T128`.
fn tag_suffix(name: &str) -> (String, Option<String>) {
    let Some((stem, bits)) =
        name.to_lowercase().rsplit_once("-t").map(|(stem, bits)| (stem.len(), bits.to_owned()))
    else {
        return (name.to_owned(), None);
    };
    if bits.parse::<u32>().is_err() {
        return (name.to_owned(), None);
    }
    (name[..stem].to_owned(), Some(bits))
}

fn braces(values: &[String]) -> String {
    if values.len() == 1 { values[0].clone() } else { format!("{{{}}}", values.join(",")) }
}

/// `4, 8, 12 to 16`
fn runs(sizes: &[usize]) -> String {
    let runs: Vec<String> = sizes
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [first, _, .., last] => format!("{first} to {last}"),
            run => run.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
        })
        .collect();
    if runs.is_empty() { "none".to_owned() } else { runs.join(", ") }
}

/// Returns one row per mode and block cipher: standards first, broken algorithms last.
fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for &algorithm in ALGORITHMS {
        let mode = tag_suffix(algorithm.mode()).0;
        let same = |row: &&mut Row| {
            let first = row.first();
            row.mode == mode && first.cipher() == algorithm.cipher() && first.kind() == algorithm.kind()
        };
        match rows.iter_mut().find(same) {
            Some(row) => row.algorithms.push(algorithm),
            None => rows.push(Row { mode, algorithms: vec![algorithm] }),
        }
    }
    rows.sort_by_key(|row| {
        let (status, kind) = (row.first().status(), row.first().kind());
        (status_name(status).0, kind == Kind::Cipher, kind == Kind::Mac)
    });
    rows
}

/// Returns the place in the order, and the name.
fn status_name(status: Status) -> (usize, &'static str) {
    match status {
        Status::Standard => (0, "standard"),
        Status::Portfolio => (1, "portfolio"),
        Status::Research => (2, "research"),
        _ => (3, "broken"),
    }
}

fn kind_name(row: &Row) -> &'static str {
    match row.first().kind() {
        Kind::Aead => "AEAD",
        Kind::Mac => "MAC",
        Kind::Cipher if row.first().tweaked() => "cipher with tweak",
        _ => "cipher",
    }
}

/// Returns the name of a row, with the block cipher unless it is AES.
fn row_name(row: &Row) -> String {
    match row.first().cipher() {
        Cipher::Aes => row.mode.clone(),
        _ => format!("{} with Serpent", row.mode),
    }
}

fn table<const N: usize>(head: [&str; N], cells: impl Iterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut table = line(&head.map(str::to_owned)) + &format!("|{}\n", "---|".repeat(N));
    table.extend(cells.map(|cells| line(&cells)));
    table
}

/// The README's table: standard AEADs and MACs.
fn standard_modes() -> String {
    let rows = rows();
    let standard = rows
        .iter()
        .filter(|row| row.first().status() == Status::Standard && row.first().kind() != Kind::Cipher);
    table(
        ["mode", "id", "key, bytes", "nonce, bytes", "tag, bytes", "specification"],
        standard.map(|row| {
            [
                row_name(row),
                row.ids(),
                row.key_bytes(),
                row.nonce(),
                row.tags(),
                row.first().spec().to_owned(),
            ]
        }),
    )
}

/// All algorithms with their sizes.
fn all_modes() -> String {
    table(
        [
            "mode",
            "id",
            "kind",
            "key, bytes",
            "nonce, bytes",
            "tag, bytes",
            "specification",
            "status",
            "feature",
        ],
        rows().iter().map(|row| {
            let (spec, status) = (row.first().spec(), row.first().status());
            let features: Vec<_> =
                row.first().features().iter().map(|feature| format!("`{feature}`")).collect();
            let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
            [
                row_name(row),
                row.ids(),
                kind_name(row).to_owned(),
                row.key_bytes(),
                row.nonce(),
                row.tags(),
                spec.to_owned(),
                status_name(status).1.to_owned(),
                features,
            ]
        }),
    )
}

/// All algorithms with their rules and the reasons for their status.
fn rules() -> String {
    table(
        ["mode", "nonces and limits", "status", "reason"],
        rows().iter().map(|row| {
            let (note, status, reason) = (row.first().note(), row.first().status(), row.first().reason());
            [row_name(row), note.to_owned(), status_name(status).1.to_owned(), reason.to_owned()]
        }),
    )
}

/// Compares a table between its markers with the catalog, or writes it.
fn must_be_in(file: &str, name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = fs::read_to_string(&path).expect("a document");
    let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{file}: no {begin}"));
    let (written, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{file}: no {end}"));
    if written == table {
        return;
    }
    assert!(
        env::var_os("SEALCOMB_WRITE_DOCS").is_some(),
        "{file}: the table `{name}` is not that of the catalog. This writes it:\n    \
        SEALCOMB_WRITE_DOCS=1 cargo test -p sealcomb --all-features --test algorithms_page\nexpected:\n{table}"
    );
    fs::write(path, format!("{before}{begin}{table}{end}{after}")).expect("a document that can be written");
}

#[test]
fn the_tables_in_the_documents_are_those_of_the_catalog() {
    must_be_in("README.md", "modes", &standard_modes());
    must_be_in("docs/algorithms.md", "algorithms", &all_modes());
    must_be_in("docs/algorithms.md", "rules", &rules());
}

/// The first column has a mode's whole name, or one that several modes share: `OTR` of `OTR-P`, `ELmD` of `ELmD(6,6)`.
#[test]
fn security_has_the_limits_of_every_mode() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md");
    let text = fs::read_to_string(path).expect("a document");
    let (_, section) = text.split_once("\n### Rules and limits for each algorithm\n").expect("its heading");
    let cells = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let names: Vec<&str> = cells.flat_map(|cell| cell.split(", ")).collect();
    for &algorithm in ALGORITHMS {
        let has_rule = names.iter().any(|name| {
            let rest = algorithm.mode().strip_prefix(*name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '(', ' ']))
        });
        assert!(has_rule, "SECURITY.md has no limits of {}", algorithm.mode());
    }
}

#[test]
fn every_algorithm_is_in_one_row() {
    let rows = rows();
    for &algorithm in ALGORITHMS {
        let found = rows.iter().filter(|row| row.algorithms.iter().any(|other| other.id() == algorithm.id()));
        assert_eq!(found.count(), 1, "{}", algorithm.id());
    }
    for row in &rows {
        let properties = |a: Algorithm| {
            (
                a.spec(),
                a.status(),
                a.reason(),
                a.note(),
                a.min_nonce_bytes(),
                a.max_nonce_bytes(),
                a.features(),
            )
        };
        assert!(row.algorithms.iter().all(|a| properties(*a) == properties(row.first())), "{}", row.ids());
    }
}

#[test]
fn tag_lengths_are_split_from_names() {
    assert_eq!(tag_suffix("OCB3-T128"), ("OCB3".to_owned(), Some("128".to_owned())));
    assert_eq!(tag_suffix("elmd-it127"), ("elmd-it127".to_owned(), None));
    assert_eq!(tag_suffix("GCM"), ("GCM".to_owned(), None));
}
