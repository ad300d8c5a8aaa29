//! Findings about a valid configuration: what would make `run` fail, and what an operator should know.
//!
//! `run` logs the warnings too. Findings never quote the contents of a file.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ctutils::CtEq;
use nix::unistd::{Group, User, getuid};
use sealcomb::Backend;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::pem::Pem;

use crate::config::peers::PeerConfig;
use crate::config::{Config, Etsi014, Keys, Program, Skip, Tun};
use crate::keys::Source;
use crate::trust::changeable_by_others;

/// What was found in a configuration.
#[derive(Default)]
pub(crate) struct Findings {
    /// Reasons why `run` would fail.
    pub errors: Vec<String>,
    /// Conditions under which `run` works, but is insecure or cannot reload.
    pub warnings: Vec<String>,
    /// Reasons why root must not run the commands and programs of the configuration: others can change them.
    pub commands: Vec<String>,
}

impl Findings {
    /// Examines a configuration and the files that it refers to. `path` is the file of the configuration itself.
    pub(crate) fn of(config: &Config, path: &Path) -> Self {
        let mut findings = Self::default();
        // No key could be used with it.
        if let Err(error) = Backend::selected() {
            findings.errors.push(format!("SEALCOMB_BACKEND: {error}"));
        }
        let user = config.user.as_deref().and_then(|name| findings.user(name));
        findings.files(config, path, user.as_ref());
        findings.status_server(config);
        for peer in &config.peers {
            findings.peer(peer, user.as_ref());
        }
        if getuid().is_root() {
            findings.commands = commands_of_others(config, path, &[0]);
        }
        findings
    }

    /// Reads a configuration for a reload. What keeps the link from starting must not become its configuration either.
    ///
    /// # Errors
    /// All errors found, one line each.
    pub(crate) fn none_in(path: &Path) -> Result<Config, Vec<String>> {
        let config = Config::read(path)?;
        let Self { mut errors, mut commands, .. } = Self::of(&config, path);
        errors.append(&mut commands);
        if errors.is_empty() { Ok(config) } else { Err(errors) }
    }

    fn peer(&mut self, peer: &PeerConfig, user: Option<&User>) {
        let prefix = peer.prefix();
        let mut own = Self::default();
        own.secrets(peer);
        if let Err(error) = Source::new(&peer.keys) {
            own.errors.push(format!("[keys]: {error:#}"));
        }
        match &peer.keys {
            Keys::File(_) => {}
            Keys::Etsi014(etsi014) => own.saes(etsi014),
            Keys::Skip(skip) => own.systems(skip),
            Keys::Command(program) => own.program(program, user),
        }
        self.errors.extend(own.errors.iter().map(|text| format!("{prefix}{text}")));
        self.warnings.extend(own.warnings.iter().map(|text| format!("{prefix}{text}")));
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    fn user(&mut self, name: &str) -> Option<User> {
        let user = User::from_name(name).ok().flatten();
        let Some(user) = user else {
            self.errors.push(format!("`user`: there is no user {name}; create it, or name another"));
            return None;
        };
        if Group::from_gid(user.gid).ok().flatten().is_none() {
            self.errors.push(format!("`user`: the primary group of {name} does not exist"));
        }
        Some(user)
    }

    /// Checks the permissions of all files.
    fn files(&mut self, config: &Config, path: &Path, user: Option<&User>) {
        let own = [("the configuration", path.to_owned(), false)];
        let used = config.files.iter().map(|file| (file.field, file.path.clone(), file.is_secret));
        for (field, path, is_secret) in own.into_iter().chain(used) {
            let Ok(metadata) = fs::metadata(&path) else { continue };
            let (shown, mode) = (path.display(), metadata.permissions().mode());
            if is_secret && mode & 0o004 != 0 {
                self.warn(format!("`{field}`: every user can read {shown}; run: chmod 600 {shown}"));
            }
            if mode & 0o022 != 0 {
                self.warn(format!(
                    "{field}: users other than its owner can write {shown}; run: chmod go-w {shown}"
                ));
            }
            let Some(user) = user else { continue };
            if let Some(blocked) = blocked_at(&path, user, 0o4) {
                self.warn(format!(
                    "{field}: the user {} cannot read {}, so SIGHUP cannot reload it; change its owner or mode",
                    user.name,
                    blocked.display()
                ));
            }
        }
    }

    /// Compares the secrets with each other and with obvious placeholders.
    fn secrets(&mut self, config: &PeerConfig) {
        let is_constant = |secret: &[u8]| secret.iter().all(|byte| *byte == secret[0]);
        if is_constant(&config.control_key) {
            self.warn("`control-key`: all bytes are equal; create a key with `sealcomb-link keygen`".into());
        }
        let Keys::File(link_key) = &config.keys else { return };
        if is_constant(link_key) {
            self.warn("[keys] `file`: all bytes are equal; create a key with `sealcomb-link keygen`".into());
        }
        if bool::from(link_key[..].ct_eq(&config.control_key[..])) {
            self.errors.push(
                "[keys] `file` and `control-key` contain the same key; create another with `sealcomb-link keygen`"
                    .into(),
            );
        }
    }

    /// Compares the SAE IDs with each other and with the client certificate, and checks its validity period.
    fn saes(&mut self, config: &Etsi014) {
        let Etsi014 { sae, peer_sae, .. } = config;
        if sae == peer_sae {
            self.errors
                .push(format!("[keys.etsi014]: `sae` and `peer-sae` are both {sae}; they must differ"));
        }
        let Some(pem) = first_certificate(&config.tls.cert) else { return };
        let Ok(certificate) = pem.parse_x509() else { return };
        let names = names(&certificate);
        if !names.contains(sae) {
            self.warn(format!(
                "[keys.etsi014]: `cert` is for {}, but `sae` is {sae}; the KME may refuse it",
                if names.is_empty() { "no name".into() } else { names.join(", ") }
            ));
        }
        self.validity("[keys.etsi014]: `cert`", &certificate);
    }

    /// Compares the system IDs with each other, and checks how the key provider is reached.
    fn systems(&mut self, config: &Skip) {
        let Skip { system, peer_system, tls, .. } = config;
        if system == peer_system {
            self.errors
                .push(format!("[keys.skip]: `system` and `peer-system` are both {system}; they must differ"));
        }
        let Some(tls) = tls else {
            // The URL may contain a password.
            self.warn(
                "[keys.skip]: every user of this machine can request keys at `url`, as it has no TLS; use https:// \
                 unless a proxy adds TLS and other users cannot log in"
                    .into(),
            );
            return;
        };
        let Some(pem) = first_certificate(&tls.cert) else { return };
        if let Ok(certificate) = pem.parse_x509() {
            self.validity("[keys.skip]: `cert`", &certificate);
        }
    }

    /// Checks that the link can run the program, also inside the shipped unit.
    fn program(&mut self, config: &Program, user: Option<&User>) {
        let shown = config.path.display();
        let Ok(metadata) = fs::metadata(&config.path) else {
            self.errors.push(format!("[keys.command] `program`: cannot find the file {shown}"));
            return;
        };
        let mode = metadata.mode();
        if !metadata.is_file() || mode & 0o111 == 0 {
            self.errors.push(format!("[keys.command] `program`: {shown} is not an executable file"));
            return;
        }
        if mode & 0o022 != 0 {
            self.warn(format!(
                "[keys.command] `program`: users other than its owner can write {shown}; run: chmod go-w {shown}"
            ));
        }
        if mode & 0o6000 != 0 {
            self.warn(format!(
                "[keys.command] `program`: {shown} runs as another user, which the shipped unit prevents \
                 (NoNewPrivileges)"
            ));
        }
        if let Some(folder) = folder_hidden_by_unit(&config.path) {
            self.warn(format!(
                "[keys.command] `program`: the shipped unit hides the files in {folder}; install {shown} elsewhere, \
                 such as in /usr/local/lib"
            ));
        }
        let Some(user) = user else { return };
        // The interpreter of a script reads it.
        let access = if is_script(&config.path) { 0o5 } else { 0o1 };
        if let Some(blocked) = blocked_at(&config.path, user, access) {
            self.errors.push(format!(
                "[keys.command] `program`: the user {} cannot run {shown}; change the owner or mode of {}",
                user.name,
                blocked.display()
            ));
        }
    }

    /// Checks the certificate of the status server, and whether its token needs one.
    fn status_server(&mut self, config: &Config) {
        let is_remote = config.listen.is_some_and(|listen| !listen.ip().is_loopback());
        let Some(tls) = &config.listen_tls else {
            if is_remote {
                self.warn(
                    "`listen`: the token and the status cross the network in clear; set `listen-cert` and `listen-key`"
                        .into(),
                );
            }
            return;
        };
        if let Err(error) = tls.server() {
            self.errors.push(format!("{error:#}"));
            return;
        }
        let Some(pem) = first_certificate(&tls.cert) else { return };
        if let Ok(certificate) = pem.parse_x509() {
            self.validity("`listen-cert`", &certificate);
        }
    }

    /// Checks the validity period of a certificate. `field` names it.
    fn validity(&mut self, field: &str, certificate: &X509Certificate<'_>) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let now = since.cast_signed();
        let validity = certificate.validity();
        if now > validity.not_after.timestamp() {
            self.warn(format!("{field} expired at {}; replace it, or check the clock", validity.not_after));
        }
        if now < validity.not_before.timestamp() {
            self.warn(format!("{field} is not valid before {}; check the clock", validity.not_before));
        }
    }
}

/// Returns how other users than these can change the commands and programs that the link runs.
fn commands_of_others(config: &Config, path: &Path, trusted: &[u32]) -> Vec<String> {
    let Tun { up, down, .. } = &config.tun;
    let programs = config.peers.iter().filter_map(|peer| match &peer.keys {
        Keys::Command(Program { path, arguments, .. }) => {
            let scripts = arguments.iter().flat_map(|argument| programs_in(argument));
            Some(std::iter::once(path.clone()).chain(scripts))
        }
        _ => None,
    });
    let programs = programs.flatten().map(|program| ("[keys.command] `program`", program));
    let hooks = [("`up` in [tun]", up), ("`down` in [tun]", down)];
    let hooks = hooks.into_iter().flat_map(|(field, commands)| {
        let programs = commands.iter().flat_map(|command| programs_in(command));
        programs.map(move |program| (field, program))
    });
    let named: Vec<(&str, PathBuf)> = programs.chain(hooks).collect();
    if named.is_empty() && up.is_empty() && down.is_empty() {
        return Vec::new();
    }
    let files = std::iter::once(("the configuration", path.to_owned())).chain(named);
    let mut found: Vec<String> = files
        .filter_map(|(field, path)| {
            let how = match changeable_by_others(&path, trusted) {
                Ok(how) => how?,
                Err(error) => format!("cannot examine {}: {error}", path.display()),
            };
            Some(format!("{field}: root runs no commands that another user can change: {how}"))
        })
        .collect();
    found.dedup();
    found
}

/// Returns the programs and scripts that a shell command names by absolute paths.
fn programs_in(command: &str) -> Vec<PathBuf> {
    let is_end = |character: char| character.is_whitespace() || "\"'`;&|()<>=$:,{}".contains(character);
    let words = command.split(is_end).filter(|word| word.starts_with('/')).map(PathBuf::from);
    let is_run = |path: &PathBuf| {
        let is_program = |metadata: Metadata| metadata.is_file() && metadata.mode() & 0o111 != 0;
        fs::metadata(path).is_ok_and(is_program) || is_script(path)
    };
    words.filter(is_run).collect()
}

/// Returns whether a file begins with the name of an interpreter.
fn is_script(path: &Path) -> bool {
    // Opening a FIFO would wait for a writer.
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|mut file| {
            let mut head = [0; 2];
            file.read_exact(&mut head).is_ok() && head == *b"#!"
        })
}

/// Returns the folder of this file that the shipped unit hides: by `ProtectHome` or `PrivateTmp`.
fn folder_hidden_by_unit(path: &Path) -> Option<&'static str> {
    // A symbolic link that the unit shows may lead to a file that it hides.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    ["/home", "/root", "/run/user", "/tmp", "/var/tmp"]
        .into_iter()
        .find(|folder| path.starts_with(folder) || target.starts_with(folder))
}

/// Returns the first block of a PEM file.
fn first_certificate(pem: &[u8]) -> Option<Pem> {
    Pem::iter_from_buffer(pem).find_map(Result::ok)
}

/// Returns the common names and DNS names of a certificate.
fn names(certificate: &X509Certificate<'_>) -> Vec<String> {
    let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let alternative = alternative.iter().flat_map(|extension| &extension.value.general_names);
    let dns = alternative.filter_map(|name| match name {
        GeneralName::DNSName(name) => Some(*name),
        _ => None,
    });
    common.chain(dns).map(str::to_owned).collect()
}

/// Returns the file, or the first folder on the way to it, that denies the user this access: the sum of 4 to read and 1 to
/// run.
fn blocked_at(path: &Path, user: &User, access: u32) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
    folders.reverse();
    for folder in folders {
        if !may(&fs::metadata(folder).ok()?, user, 0o1) {
            return Some(folder.to_owned());
        }
    }
    (!may(&fs::metadata(&path).ok()?, user, access)).then_some(path)
}

/// Returns whether a file's mode grants a user this access: 4 to read, 1 to search or run. The link drops
/// supplementary groups, so only the primary group counts.
fn may(metadata: &Metadata, user: &User, access: u32) -> bool {
    let mode = metadata.mode();
    if user.uid.is_root() {
        return true;
    }
    let granted = if metadata.uid() == user.uid.as_raw() {
        mode >> 6
    } else if metadata.gid() == user.gid.as_raw() {
        mode >> 3
    } else {
        mode
    };
    granted & access == access
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use tempfile::TempDir;

    use super::*;
    use crate::config::parse;
    use sealcomb_kme::certificates::Request;

    /// Examines a valid configuration in a folder, after changes to its text.
    fn findings(folder: &TempDir, change: impl Fn(String) -> String) -> Findings {
        let at = |name: &str| folder.path().join(name);
        let text = change(
            r#"
            role = "master"
            local = "192.0.2.1:4500"
            peer = "192.0.2.2:4500"
            suite = "aes256-gcm"
            control-key = "control.key"
            [tun]
            name = "seal0"
            [keys]
            file = "link.key"
            "#
            .to_owned(),
        );
        let is_new = !at("link.toml").exists();
        fs::write(at("link.toml"), &text).unwrap();
        if is_new {
            with_mode(folder, "link.toml", 0o644);
        }
        let config = parse("link.toml", &text, folder.path()).unwrap_or_else(|errors| panic!("{errors:?}"));
        Findings::of(&config, &at("link.toml"))
    }

    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        // Whatever the umask is.
        with_mode(&folder, "", 0o755);
        crate::keygen::create(&["control.key", "link.key"].map(|name| folder.path().join(name)), None)
            .unwrap();
        folder
    }

    fn with_mode(folder: &TempDir, name: &str, mode: u32) {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_good_configuration_has_no_findings() {
        let found = findings(&folder(), |text| text);
        assert_eq!((found.errors, found.warnings), (vec![], vec![]));
    }

    #[test]
    fn a_missing_user_is_an_error() {
        let found = findings(&folder(), |text| format!("user = \"no-such-user\"\n{text}"));
        assert!(found.errors.len() == 1 && found.errors[0].contains("no-such-user"), "{:?}", found.errors);
    }

    #[test]
    fn permissions_of_secrets_are_warned_of() {
        for (name, mode, expected) in [
            ("control.key", 0o640, 0),
            ("control.key", 0o644, 1),
            ("link.key", 0o604, 1),
            ("link.key", 0o620, 1),
            ("link.key", 0o666, 2),
            ("link.toml", 0o644, 0),
            ("link.toml", 0o664, 1),
        ] {
            let folder = folder();
            findings(&folder, |text| text);
            with_mode(&folder, name, mode);
            let found = findings(&folder, |text| text);
            assert_eq!(found.warnings.len(), expected, "{name} {mode:o}: {:?}", found.warnings);
            assert!(found.warnings.iter().all(|text| text.contains(name)), "{:?}", found.warnings);
            assert!(found.errors.is_empty());
        }
    }

    #[test]
    fn identical_and_constant_keys_are_found() {
        let folder = folder();
        fs::copy(folder.path().join("control.key"), folder.path().join("link.key")).unwrap();
        let found = findings(&folder, |text| text);
        assert!(found.errors.len() == 1 && found.errors[0].contains("the same key"), "{:?}", found.errors);
        fs::write(folder.path().join("link.key"), "00".repeat(32)).unwrap();
        let found = findings(&folder, |text| text);
        assert!(found.errors.is_empty() && found.warnings[0].contains("all bytes are equal"));
    }

    #[test]
    fn sae_names_that_are_equal_or_not_in_the_certificate_are_found() {
        let folder = folder();
        let saes = ["alice", "bob"].map(str::to_owned);
        sealcomb_kme::certificates::write(folder.path(), &Request { saes: &saes, ..Request::default() })
            .unwrap();
        let kme = |sae: &str, peer: &str, key: &str| {
            let table = format!(
                "[keys.etsi014]\nurl = \"https://kme.example\"\nsae = \"{sae}\"\npeer-sae = \"{peer}\"\n\
                 ca = \"ca.pem\"\ncert = \"alice.pem\"\nkey = \"{key}\"\n"
            );
            with_keys(&folder, &table)
        };
        let good = kme("alice", "bob", "alice.key.pem");
        assert_eq!((good.errors, good.warnings), (vec![], vec![]));
        let same = kme("alice", "alice", "alice.key.pem");
        assert!(same.errors.len() == 1 && same.errors[0].contains("both alice"), "{:?}", same.errors);
        let other = kme("carol", "bob", "alice.key.pem");
        assert!(
            other.warnings.len() == 1 && other.warnings[0].contains("is for alice"),
            "{:?}",
            other.warnings
        );
        let no_key = kme("alice", "bob", "ca.pem");
        assert!(!no_key.errors.is_empty(), "`run` would fail");
        fs::write(folder.path().join("ca.pem"), "no certificate").unwrap();
        let no_authority = kme("alice", "bob", "alice.key.pem").errors;
        assert!(
            no_authority.len() == 1 && no_authority[0].contains("`ca`: the file has no certificate"),
            "{no_authority:?}"
        );
    }

    /// Examines a configuration with this table of keys.
    fn with_keys(folder: &TempDir, table: &str) -> Findings {
        findings(folder, |text| text.replace("[keys]\n            file = \"link.key\"\n", table))
    }

    #[test]
    fn key_providers_need_different_names_and_a_valid_certificate() {
        let folder = folder();
        let saes = ["alice".to_owned()];
        sealcomb_kme::certificates::write(folder.path(), &Request { saes: &saes, ..Request::default() })
            .unwrap();
        let provider = |url: &str, peer: &str, more: &str| {
            let names = format!("system = \"KP_A\"\npeer-system = \"{peer}\"");
            with_keys(&folder, &format!("[keys.skip]\nurl = \"{url}\"\n{names}\n{more}"))
        };
        let files = "ca = \"ca.pem\"\ncert = \"alice.pem\"\nkey = \"alice.key.pem\"\n";
        let good = provider("https://kp.example", "KP_B", files);
        assert_eq!((good.errors, good.warnings), (vec![], vec![]));
        let same = provider("https://kp.example", "KP_A", files);
        assert!(same.errors.len() == 1 && same.errors[0].contains("both KP_A"), "{:?}", same.errors);
        let plain = provider("http://user:hunter2@127.0.0.1:9090", "KP_B", "");
        assert!(
            plain.errors.is_empty() && plain.warnings[0].contains("it has no TLS"),
            "{:?}",
            plain.warnings
        );
        assert!(!plain.warnings[0].contains("hunter2"), "a password in the log");
        let swapped = provider("https://kp.example", "KP_B", &files.replace("alice.key.pem", "ca.pem"));
        assert!(!swapped.errors.is_empty(), "`run` would fail");
    }

    #[test]
    fn the_certificate_of_the_status_server_is_examined() {
        let folder = folder();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let made = |until: i32| {
            let mut params = rcgen::CertificateParams::new(vec!["link.example".into()]).unwrap();
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(until, 1, 1);
            let key = rcgen::KeyPair::generate().unwrap();
            (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
        };
        let (good, old) = (made(4000), made(2001));
        let token = "t".repeat(32);
        let found = |listen: &str, cert: &str, key: &str| {
            write("cert.pem", cert);
            with_mode(&folder, "cert.pem", 0o644);
            write("key.pem", key);
            with_mode(&folder, "key.pem", 0o600);
            write("token", &token);
            with_mode(&folder, "token", 0o600);
            let lines = "listen-token = \"token\"\nlisten-cert = \"cert.pem\"\nlisten-key = \"key.pem\"\n";
            findings(&folder, |text| format!("listen = \"{listen}\"\n{lines}{text}"))
        };
        let fine = found("192.0.2.1:9469", &good.0, &good.1);
        assert_eq!((fine.errors, fine.warnings), (vec![], vec![]));
        let expired = found("192.0.2.1:9469", &old.0, &old.1);
        assert!(expired.errors.is_empty() && expired.warnings[0].contains("`listen-cert` expired at"));
        let mixed = found("192.0.2.1:9469", &good.0, &old.1);
        assert!(
            mixed.errors.len() == 1 && mixed.errors[0].contains("do not belong together"),
            "{:?}",
            mixed.errors
        );
        let plain = findings(&folder, |text| {
            format!("listen = \"192.0.2.1:9469\"\nlisten-token = \"token\"\n{text}")
        });
        assert!(plain.errors.is_empty() && plain.warnings[0].contains("in clear"), "{:?}", plain.warnings);
    }

    #[test]
    fn a_program_that_the_link_cannot_run_is_found() {
        let folder = folder();
        let path = folder.path().join("keys");
        let command = |path: &Path| {
            with_keys(&folder, &format!("[keys.command]\nprogram = [\"{}\"]\n", path.display()))
        };
        let found = |mode: u32| {
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            command(&path)
        };
        for (mode, error, warning) in [
            (0o755, None, None),
            (0o644, Some("not an executable file"), None),
            (0o757, None, Some("users other than its owner can write")),
            (0o4755, None, Some("NoNewPrivileges")),
        ] {
            let Findings { errors, mut warnings, .. } = found(mode);
            // The folder for temporary files may be one of those that the unit hides.
            warnings.retain(|text| !text.contains("the shipped unit hides"));
            let is_one = |lines: &[String], expected: Option<&str>| match expected {
                Some(text) => lines.len() == 1 && lines[0].contains(text),
                None => lines.is_empty(),
            };
            assert!(
                is_one(&errors, error) && is_one(&warnings, warning),
                "{mode:o}: {errors:?} {warnings:?}"
            );
        }
        let missing = command(Path::new("/no/such/program"));
        assert!(missing.errors[0].contains("cannot find the file"), "{:?}", missing.errors);
    }

    #[test]
    fn a_program_that_the_shipped_unit_hides_is_warned_of() {
        for (path, hidden) in [
            ("/home/alice/sealcomb/keys", Some("/home")),
            ("/root/keys", Some("/root")),
            ("/run/user/1000/keys", Some("/run/user")),
            ("/tmp/keys", Some("/tmp")),
            ("/var/tmp/keys", Some("/var/tmp")),
            ("/homes/keys", None),
            ("/usr/local/lib/keys", None),
            ("/opt/tmp/keys", None),
            ("/run/keys", None),
            ("/var/lib/keys", None),
        ] {
            assert_eq!(folder_hidden_by_unit(Path::new(path)), hidden, "{path}");
        }
        let folder = folder();
        let warnings = |path: &Path| {
            with_keys(&folder, &format!("[keys.command]\nprogram = [\"{}\"]\n", path.display())).warnings
        };
        assert_eq!(warnings(Path::new("/bin/sh")), [""; 0]);
        let hidden = tempfile::tempdir_in("/tmp").unwrap();
        let hidden = hidden.path().join("keys");
        fs::write(&hidden, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&hidden, fs::Permissions::from_mode(0o755)).unwrap();
        let link = Path::new("/proc/self/root").join(hidden.strip_prefix("/").unwrap());
        for path in [&hidden, &link] {
            let warnings = warnings(path);
            assert!(
                warnings.len() == 1 && warnings[0].contains("the shipped unit hides the files in /tmp"),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn commands_that_others_can_change_are_found_only_if_there_are_commands() {
        type Change<'a> = &'a dyn Fn(String) -> String;
        let folder = folder();
        // Root, and the user of this test, to whom the folders belong.
        let trusted = [0, fs::metadata(folder.path()).unwrap().uid()];
        let script = folder.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let path = script.display();
        let found = |change: &dyn Fn(String) -> String| {
            findings(&folder, change);
            let config = Config::read(&folder.path().join("link.toml")).unwrap();
            commands_of_others(&config, &folder.path().join("link.toml"), &trusted)
        };
        let hook = |field: &str, command: &str| {
            let line = format!("[tun]\n{field} = [\"{command}\"]\n");
            move |text: String| text.replace("[tun]\n", &line)
        };
        let keys = |program: &str| {
            let table = format!("[keys.command]\nprogram = [{program}]\n");
            move |text: String| text.replace("[keys]\n            file = \"link.key\"\n", &table)
        };
        let commands: [(&str, Change<'_>, bool); 6] = [
            ("none", &|text| text, false),
            ("built-in", &hook("up", "true"), false),
            ("up", &hook("up", &format!("test -e /dev/null && {path} up; true")), true),
            ("down", &hook("down", &format!("sh '{path}'>>/dev/null")), true),
            ("keys", &keys(&format!("\"{path}\"")), true),
            ("keys by a shell", &keys(&format!("\"/bin/sh\", \"{path}\"")), true),
        ];
        for (name, change, has_script) in commands {
            with_mode(&folder, "script", 0o755);
            assert_eq!(found(change), [""; 0], "{name}");
            for mode in [0o775, 0o757] {
                with_mode(&folder, "script", mode);
                let lines = found(change);
                assert_eq!(lines.len(), usize::from(has_script), "{name}: {lines:?}");
                assert!(
                    lines.iter().all(|line| line.contains("go-w") && line.contains("script")),
                    "{lines:?}"
                );
            }
            with_mode(&folder, "script", 0o755);
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
            let lines = found(change);
            assert_eq!(lines.is_empty(), name == "none", "{name}: {lines:?}");
            assert!(lines.iter().all(|line| line.contains("root runs no commands")), "{lines:?}");
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn programs_in_shell_commands_are_those_with_absolute_paths() {
        let folder = folder();
        let path = |name: &str| folder.path().join(name);
        for (name, mode, text) in
            [("program", 0o755, ""), ("script", 0o644, "#!/bin/sh"), ("log", 0o644, "text")]
        {
            fs::write(path(name), text).unwrap();
            with_mode(&folder, name, mode);
        }
        let shown = |name: &str| path(name).display().to_string();
        for command in [
            "NAME",
            "NAME -v",
            "exec NAME;true",
            "a=$(NAME)",
            "a|\"NAME\"",
            "x >/dev/null&&NAME",
            "sh 'NAME'",
        ] {
            for (name, is_program) in
                [("program", true), ("script", true), ("log", false), ("missing", false)]
            {
                let expected: Vec<PathBuf> = is_program.then(|| path(name)).into_iter().collect();
                assert_eq!(programs_in(&command.replace("NAME", &shown(name))), expected, "{command} {name}");
            }
        }
        assert!(programs_in("true").is_empty());
        assert!(programs_in(&format!("cat {}", folder.path().display())).is_empty());
    }

    mod as_root {
        use super::*;

        #[test]
        fn the_configuration_of_another_user_is_no_source_of_commands() {
            if !getuid().is_root() {
                println!("skipped: only root can give files away");
                return;
            }
            let folder = folder();
            let up = |text: String| text.replace("[tun]\n", "[tun]\nup = [\"true\"]\n");
            with_mode(&folder, "control.key", 0o600);
            assert_eq!(findings(&folder, up).commands, [""; 0]);
            for name in ["", "link.toml"] {
                let give =
                    |owner| std::os::unix::fs::chown(folder.path().join(name), Some(owner), None).unwrap();
                give(12_345);
                assert_eq!(findings(&folder, |text| text).commands, [""; 0], "{name}: no commands");
                let Findings { errors, commands, .. } = findings(&folder, up);
                assert_eq!((errors.len(), commands.len()), (0, 1), "{commands:?}");
                assert!(commands[0].contains("belongs to user 12345"), "{commands:?}");
                Findings::none_in(&folder.path().join("link.toml")).err().expect("it must not be reloaded");
                give(0);
            }
        }
    }

    #[test]
    fn access_follows_the_class_of_the_user() {
        let folder = folder();
        let path = folder.path().join("control.key");
        let metadata = fs::metadata(&path).unwrap();
        let user = |uid: u32, gid: u32| User {
            name: "test".into(),
            passwd: CString::default(),
            uid: uid.into(),
            gid: gid.into(),
            gecos: CString::default(),
            dir: PathBuf::new(),
            shell: PathBuf::new(),
        };
        let (uid, gid) = (metadata.uid(), metadata.gid());
        let root = user(0, 0);
        for (mode, owner, group, others) in [
            (0o600, true, false, false),
            (0o640, true, true, false),
            (0o604, true, false, true),
            (0o044, false, true, true),
        ] {
            with_mode(&folder, "control.key", mode);
            let metadata = fs::metadata(&path).unwrap();
            let may = |user: User| may(&metadata, &user, 0o4);
            // Root's own files are always readable by root.
            assert_eq!(may(user(uid, gid)), owner || uid == 0, "{mode:o}");
            assert_eq!(may(user(uid + 1, gid)), group, "{mode:o}");
            assert_eq!(may(user(uid + 1, gid + 1)), others, "{mode:o}");
            assert!(super::may(&metadata, &root, 0o4));
        }
        with_mode(&folder, "control.key", 0o644);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(blocked_at(&path, &user(uid + 1, gid + 1), 0o4), fs::canonicalize(folder.path()).ok());
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(blocked_at(&path, &user(uid + 1, gid + 1), 0o4), None);
    }
}
