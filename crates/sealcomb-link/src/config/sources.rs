//! The tables of the key sources: `[keys.etsi014]`, `[keys.skip]` and `[keys.command]`.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ctutils::CtEq;
use reqwest::Url;
use zeroize::Zeroizing;

use super::fields::Fields;
use super::{Etsi014, Keys, Reader};

/// A client's identity, and the authorities that it trusts.
#[derive(Clone)]
pub struct ClientTls {
    /// The CA certificates that may sign the server's certificate, in PEM.
    pub ca: Vec<u8>,
    /// The client certificate, in PEM.
    pub cert: Vec<u8>,
    /// The private key of `cert`, in PEM.
    pub key: Zeroizing<Vec<u8>>,
}

impl ClientTls {
    /// Returns whether both are the same identity and trust the same authorities.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let files = (&self.ca, &self.cert) == (&other.ca, &other.cert);
        files && bool::from(self.key[..].ct_eq(&other.key[..]))
    }
}

/// The size and number of the keys that a source is asked for, and its timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Key size in bits.
    pub size: u64,
    /// Number of keys that the master fetches in advance.
    pub ahead: usize,
    /// Timeout of a request.
    pub timeout: Duration,
}

/// A key provider of the Secure Key Integration Protocol (draft-cisco-skip-02).
#[derive(Clone)]
pub struct Skip {
    /// The base URL, without a path.
    pub url: String,
    /// The system ID of this end's key provider.
    pub system: String,
    /// The system ID of the peer's key provider.
    pub peer_system: String,
    /// This end's identity; `None` if the URL is that of a proxy on this machine.
    pub tls: Option<ClientTls>,
    /// What to ask for.
    pub requests: Requests,
}

/// A program that prints keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The absolute path of the program.
    pub path: PathBuf,
    /// The arguments before those of a request.
    pub arguments: Vec<String>,
    /// What to ask for.
    pub requests: Requests,
}

impl Keys {
    /// Returns the number of keys that the master fetches in advance.
    pub fn ahead(&self) -> usize {
        match self {
            Self::File(_) => 1,
            Self::Etsi014(etsi014) => etsi014.requests.ahead,
            Self::Skip(skip) => skip.requests.ahead,
            Self::Command(program) => program.requests.ahead,
        }
    }
}

/// A source's table in `[keys]`, and the function that reads it.
type Table<'a, 'r> = (&'static str, fn(&mut Reader<'r>, Fields<'a>) -> Option<Keys>);

impl<'r> Reader<'r> {
    pub(super) fn keys<'a>(&mut self, mut fields: Fields<'a>) -> Option<Keys> {
        const ONE: &str = "expected one of `file`, [keys.etsi014], [keys.skip] and [keys.command]";
        let tables: [Table<'a, 'r>; 3] = [
            ("etsi014", |reader, fields| reader.etsi014(fields).map(Keys::Etsi014)),
            ("skip", |reader, fields| reader.skip(fields).map(Keys::Skip)),
            ("command", |reader, fields| reader.program(fields).map(Keys::Command)),
        ];
        let count =
            tables.iter().filter(|(name, _)| fields.has(name)).count() + usize::from(fields.has("file"));
        let mut keys = self.secret_file(&mut fields, "file").map(Keys::File);
        for (name, read) in tables {
            if let Some(table) = fields.table(name, self.errors) {
                keys = read(self, table).or(keys);
            }
        }
        fields.finish(self.errors);
        if count == 1 {
            return keys;
        }
        if count > 1 || self.errors.is_empty() {
            let found = if count == 0 { "no key source" } else { "several key sources" };
            self.errors.add(fields.at(), format_args!("[keys] has {found}; {ONE}"));
        }
        None
    }

    fn etsi014(&mut self, mut fields: Fields<'_>) -> Option<Etsi014> {
        const WHAT: &str = "a URL that begins with https://, without a query";
        let url = fields.read("url", WHAT, self.errors, |text| {
            let url = Url::parse(text).ok()?;
            let is_plain = url.scheme() == "https" && url.query().is_none() && url.fragment().is_none();
            is_plain.then(|| url.as_str().trim_end_matches('/').to_owned())
        });
        let url = fields.require("url", url, self.errors);
        let [sae, peer_sae] = ["sae", "peer-sae"].map(|name| {
            let sae =
                fields.read(name, "an SAE ID of letters, digits, `-`, `_` and `.`", self.errors, |text| {
                    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
                    // In a URL, `.` and `..` stand for other paths.
                    let is_sae = !["", ".", ".."].contains(&text) && text.chars().all(is_plain);
                    is_sae.then(|| text.to_owned())
                });
            fields.require(name, sae, self.errors)
        });
        let tls = self.client_tls(&mut fields);
        let requests = self.requests(&mut fields);
        fields.finish(self.errors);
        Some(Etsi014 { url: url?, sae: sae?, peer_sae: peer_sae?, tls: tls?, requests })
    }

    fn skip(&mut self, mut fields: Fields<'_>) -> Option<Skip> {
        const WHAT: &str =
            "a URL without a path that begins with https://, or with http:// and a loopback address";
        let url = fields.read("url", WHAT, self.errors, skip_url);
        let url = fields.require("url", url, self.errors);
        let [system, peer_system] = ["system", "peer-system"].map(|name| {
            let system =
                fields.read(name, "a system ID of printable ASCII characters", self.errors, |text| {
                    let is_printable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
                    is_printable.then(|| text.to_owned())
                });
            fields.require(name, system, self.errors)
        });
        let is_proxied = url.as_ref().is_some_and(|url| url.starts_with("http://"));
        let tls = if is_proxied { None } else { self.client_tls(&mut fields) };
        if is_proxied && ["ca", "cert", "key"].iter().any(|name| fields.has(name)) {
            self.errors.add(
                fields.place("url"),
                "`url` must begin with https://, since there are `ca`, `cert` or `key`",
            );
        }
        let requests = self.requests(&mut fields);
        fields.finish(self.errors);
        let is_complete = is_proxied || tls.is_some();
        is_complete.then_some(())?;
        Some(Skip { url: url?, system: system?, peer_system: peer_system?, tls, requests })
    }

    fn program(&mut self, mut fields: Fields<'_>) -> Option<Program> {
        let at = fields.place("program");
        let mut words = fields.list::<String>("program", "the path of a program or an argument", self.errors);
        let requests = self.requests(&mut fields);
        if !fields.has("program") {
            fields.require("program", None::<()>, self.errors);
        } else if words.first().is_none_or(String::is_empty) {
            self.errors.add(at, "`program` must have at least one entry, the path of the program");
        }
        fields.finish(self.errors);
        if words.is_empty() || words[0].is_empty() {
            return None;
        }
        let path = absolute(self.folder, &words.remove(0));
        Some(Program { path, arguments: words, requests })
    }

    /// Reads the files of a client's identity.
    fn client_tls(&mut self, fields: &mut Fields<'_>) -> Option<ClientTls> {
        let [ca, cert, key] = ["ca", "cert", "key"].map(|name| {
            let file = self.file(fields, name);
            fields.require(name, file, self.errors)
        });
        Some(ClientTls { ca: ca?.to_vec(), cert: cert?.to_vec(), key: key? })
    }

    fn requests(&mut self, fields: &mut Fields<'_>) -> Requests {
        let size = fields.number("size", 128, 4096, self.errors).unwrap_or(256);
        if !size.is_multiple_of(8) {
            self.errors.add(fields.at(), "`size` must be a multiple of 8 bits");
        }
        let ahead = fields.number("ahead", 1, 64, self.errors).unwrap_or(4) as usize;
        let timeout = self.duration(fields, "timeout").unwrap_or(Duration::from_secs(3));
        if timeout.is_zero() {
            self.errors.add(fields.place("timeout"), "`timeout` must be greater than 0");
        }
        Requests { size, ahead, timeout }
    }
}

/// Returns the URL of a key provider without a slash at its end, if it is valid. Without TLS, it must be on this
/// machine, like a proxy that adds TLS.
fn skip_url(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']);
    let is_local = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    let is_plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_allowed = url.scheme() == "https" || url.scheme() == "http" && is_local;
    (is_plain && is_allowed).then(|| url.as_str().trim_end_matches('/').to_owned())
}

/// Resolves a path against `folder`, and a relative folder against the current one: the link runs programs elsewhere.
fn absolute(folder: &Path, path: &str) -> PathBuf {
    let path = folder.join(path);
    std::path::absolute(&path).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::parse;

    /// Parses a configuration with this table of keys.
    fn read(table: &str) -> Result<Keys, Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ca.pem", "cert.pem", "key.pem"] {
            fs::write(folder.path().join(name), "PEM").unwrap();
        }
        for name in ["control.key", "link.key"] {
            fs::write(folder.path().join(name), "ab".repeat(32)).unwrap();
        }
        let text = format!(
            "role = \"master\"\nlocal = \"192.0.2.1:4500\"\nsuite = \"aes256-gcm\"\ncontrol-key = \"control.key\"\n\
             [tun]\nname = \"seal0\"\n{table}"
        );
        parse("link.toml", &text, folder.path()).map(|mut config| config.peers.remove(0).keys)
    }

    const FILES: &str = "ca = \"ca.pem\"\ncert = \"cert.pem\"\nkey = \"key.pem\"\n";

    fn skip(url: &str, more: &str) -> Result<Skip, Vec<String>> {
        let table =
            format!("[keys.skip]\nurl = \"{url}\"\nsystem = \"KP_A\"\npeer-system = \"KP_B\"\n{more}");
        match read(&table)? {
            Keys::Skip(skip) => Ok(skip),
            _ => panic!("another source"),
        }
    }

    #[test]
    fn a_key_provider_needs_tls_unless_it_is_on_this_machine() {
        let provider = skip("https://kp.example:8443/", FILES).ok().unwrap();
        assert_eq!((provider.url.as_str(), provider.tls.is_some()), ("https://kp.example:8443", true));
        let proxied = skip("http://127.0.0.1:9090", "size = 512\nahead = 2\ntimeout = \"1s\"").ok().unwrap();
        assert!(proxied.tls.is_none());
        let requests = Requests { size: 512, ahead: 2, timeout: Duration::from_secs(1) };
        assert_eq!(proxied.requests, requests);
        assert!(skip("http://[::1]:9090", "").is_ok());
        // What parsers of URLs accept, the link accepts.
        for url in [" http://127.0.0.1:9090 ", "HTTP://127.0.0.1:9090/"] {
            assert_eq!(skip(url, "").ok().map(|skip| skip.url).as_deref(), Some("http://127.0.0.1:9090"));
        }
        for (url, more, expected) in [
            ("https://kp.example", "", "lacks the required field `ca`"),
            ("http://192.0.2.1", "", "loopback"),
            ("http://localhost", "", "loopback"),
            ("https://kp.example/path", FILES, "without a path"),
            ("https://kp.example/?a=b", FILES, "without a path"),
            ("ftp://127.0.0.1", "", "begins with https://"),
            ("http://127.0.0.1", FILES, "must begin with https://"),
            ("https://kp.example", "ca = \"nowhere\"\n", "cannot read the file"),
        ] {
            let errors = skip(url, more).err().unwrap_or_default();
            assert!(errors.iter().any(|line| line.contains(expected)), "{url}: {errors:?}");
        }
    }

    #[test]
    fn a_kme_has_a_url_to_which_paths_can_be_added_and_saes_that_are_part_of_them() {
        let keys = |url: &str, sae: &str| {
            let names = format!("url = \"{url}\"\nsae = \"alice\"\npeer-sae = \"{sae}\"\n");
            read(&format!("[keys.etsi014]\n{names}{FILES}"))
        };
        for url in ["https://kme.example:8443", "https://kme.example:8443/", " HTTPS://KME.example:8443 "] {
            let Ok(Keys::Etsi014(kme)) = keys(url, "bob") else { panic!("{url}") };
            assert_eq!(kme.url, "https://kme.example:8443");
        }
        let kme = |url: &str, sae: &str| keys(url, sae).err().unwrap_or_default();
        for (url, sae) in [("https://kme.example:8443/", "bob"), ("https://kme.example/path", "b.o-b_..7")] {
            assert_eq!(kme(url, sae), [""; 0], "{url} {sae}");
        }
        for url in ["http://kme.example", "https://", "https://kme.example?a=b", "https://kme.example/#a"] {
            let errors = kme(url, "bob");
            assert!(errors.len() == 1 && errors[0].contains("`url` must be"), "{url}: {errors:?}");
        }
        for sae in ["", ".", "..", "a/b", "a b", "b\u{f6}b"] {
            let errors = kme("https://kme.example", sae);
            assert!(errors.len() == 1 && errors[0].contains("`peer-sae` must be"), "{sae}: {errors:?}");
        }
    }

    #[test]
    fn a_program_has_an_absolute_path_and_arguments() {
        let Ok(Keys::Command(program)) =
            read("[keys.command]\nprogram = [\"bin/keys\", \"--from\", \"a b\"]\n")
        else {
            panic!()
        };
        assert!(program.path.is_absolute() && program.path.ends_with("bin/keys"), "{:?}", program.path);
        assert_eq!(program.arguments, ["--from", "a b"]);
        for (table, expected) in [
            ("[keys.command]\n", "lacks the required field `program`"),
            ("[keys.command]\nprogram = []\n", "at least one entry"),
            ("[keys.command]\nprogram = [\"\"]\n", "at least one entry"),
            ("[keys.command]\nprogram = \"keys\"\n", "must be an array"),
            ("[keys.command]\nprogram = [\"keys\"]\nshell = true\n", "unknown field"),
            ("[keys.command]\nprogram = [\"keys\"]\nsize = 129\n", "multiple of 8"),
            ("[keys.command]\nprogram = [\"keys\"]\ntimeout = \"0s\"\n", "`timeout` must be greater than 0"),
        ] {
            let errors = read(table).err().unwrap_or_default();
            assert!(errors.iter().any(|line| line.contains(expected)), "{table}: {errors:?}");
        }
    }

    #[test]
    fn there_is_exactly_one_source() {
        let command = "[keys.command]\nprogram = [\"keys\"]\n";
        for (table, expected) in [
            ("[keys]\n".to_owned(), "no key source"),
            (format!("[keys]\nfile = \"link.key\"\n{command}"), "several key sources"),
            (
                format!(
                    "[keys.skip]\nurl = \"http://127.0.0.1\"\nsystem = \"a\"\npeer-system = \"b\"\n{command}"
                ),
                "several key sources",
            ),
        ] {
            let errors = read(&table).err().unwrap_or_default();
            assert!(errors.len() == 1 && errors[0].contains(expected), "{table}: {errors:?}");
        }
        assert!(read(command).is_ok());
    }
}
