//! The configuration file, which is checked whole when the link starts.
//!
//! ```toml
//! role = "master"                       # the master chooses keys; the other end is the slave
//! local = "192.0.2.1:4500"
//! peer = "192.0.2.2:4500"
//! suite = "aes256-gcm"
//! control-key = "/etc/sealcomb/control.key"     # 32 bytes in hex, the same at both ends
//!
//! [tun]
//! name = "seal0"
//! addresses = ["10.9.0.1/24", "fd09::1/64"]
//!
//! [keys.etsi014]                        # or: [keys] file = "/etc/sealcomb/link.key"
//! url = "https://kme-a.example:8443"
//! sae = "alice"
//! peer-sae = "bob"
//! ca = "ca.pem"
//! cert = "alice.pem"
//! key = "alice.key.pem"
//!
//! [rekey]
//! every = "1s"
//! ```

mod fields;
#[cfg(test)]
mod tests;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ctutils::CtEq;
use ipnet::IpNet;
use sealcomb_esp::{Layout, Transform};
use toml::de::DeTable;
use zeroize::Zeroizing;

use fields::{Fields, Mistakes};

/// Which end of the link this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Chooses keys and when they change.
    Master,
    /// Follows.
    Slave,
}

impl Role {
    /// `master` or `slave`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Slave => "slave",
        }
    }

    /// The other end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Master => Self::Slave,
            Self::Slave => Self::Master,
        }
    }
}

/// Where keys come from.
#[derive(Clone)]
pub enum Keys {
    /// 32 bytes or more, the same at both ends, of which the keys of all associations are derived.
    File(Zeroizing<Vec<u8>>),
    /// A key management entity.
    Etsi014(Etsi014),
}

/// A key management entity of ETSI GS QKD 014 and who we are to it.
#[derive(Clone)]
pub struct Etsi014 {
    /// Up to before `/api/v1`.
    pub url: String,
    /// This end's name.
    pub sae: String,
    /// The other end's name.
    pub peer_sae: String,
    /// Certificates, PEM, of who may sign the entity's.
    pub ca: Vec<u8>,
    /// This end's certificate, PEM.
    pub cert: Vec<u8>,
    /// And its key, PEM.
    pub key: Zeroizing<Vec<u8>>,
    /// Bits of a key.
    pub size: u64,
    /// Keys that the master has ready before it needs them.
    pub ahead: usize,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// What ends the use of a key: whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Its age.
    pub age: Duration,
    /// Packets sent under it in one direction.
    pub packets: u64,
    /// Bytes of inner packets sent under it in one direction.
    pub bytes: u64,
}

/// The TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tun {
    /// Of the interface.
    pub name: String,
    /// Which it gets.
    pub addresses: Vec<IpNet>,
}

/// All that the file says.
#[derive(Clone)]
pub struct Config {
    /// Which end this is.
    pub role: Role,
    /// Where to listen. Worker `i` has the port above it by `i`.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
    /// Algorithms, the same at both ends.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits, the same at both ends.
    pub extended: bool,
    /// Sequence numbers that the receiver looks back on.
    pub window: usize,
    /// Threads that move packets, the same at both ends.
    pub workers: u16,
    /// Bytes of an IP packet that the path between the ends carries.
    pub path_mtu: u16,
    /// Whether the maximum segment size of TCP connections through the link is lowered to what fits.
    pub mss_clamp: bool,
    /// Of whose HMAC control messages are.
    pub control_key: Zeroizing<Vec<u8>>,
    /// The device.
    pub tun: Tun,
    /// Where keys come from.
    pub keys: Keys,
    /// When a key is changed.
    pub rekey: Limits,
    /// When a key must no longer be used.
    pub limits: Limits,
    /// For how long the receiver goes on to accept packets under a key after its successor is in use.
    pub overlap: Duration,
    /// Where metrics and status are to be had.
    pub listen: Option<SocketAddr>,
    /// Whom to become when devices and sockets are open.
    pub user: Option<String>,
}

/// Bytes of the longest inner packet that fits into an outer one of so many bytes, which is of IPv4 or else of IPv6.
pub(crate) fn inner_mtu(layout: Layout, is_v4: bool, path_mtu: u16) -> usize {
    let headers = if is_v4 { 20 + 8 } else { 40 + 8 };
    layout.max_inner_bytes(usize::from(path_mtu).saturating_sub(headers)).unwrap_or(0)
}

/// The last sequence number that there is: of 64 bits, or else of 32.
fn last_number(extended: bool) -> u64 {
    if extended { u64::MAX } else { u32::MAX.into() }
}

impl Config {
    /// Bytes of the longest inner packet that fits into the path, if that carries what this says.
    pub fn inner_mtu(&self) -> usize {
        inner_mtu(self.transform.layout(), self.peer.is_ipv4(), self.path_mtu)
    }

    /// The fields that this and another file differ in, and that a running link does not take over.
    pub fn kept(&self, new: &Self) -> Vec<&'static str> {
        let same = [
            ("role", self.role == new.role),
            ("local", self.local == new.local),
            ("peer", self.peer == new.peer),
            ("suite", self.transform.id == new.transform.id),
            ("esn", self.extended == new.extended),
            ("window", self.window == new.window),
            ("workers", self.workers == new.workers),
            ("path-mtu", self.path_mtu == new.path_mtu),
            ("mss-clamp", self.mss_clamp == new.mss_clamp),
            ("control-key", self.control_key[..].ct_eq(&new.control_key[..]).into()),
            ("[tun]", self.tun == new.tun),
            ("listen", self.listen == new.listen),
            ("user", self.user == new.user),
        ];
        same.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }

    /// The last sequence number under a key.
    pub fn last_number(&self) -> u64 {
        last_number(self.extended).min(self.limits.packets)
    }

    /// Reads the file at `path` and the files that it names.
    ///
    /// # Errors
    /// All that is wrong with it, a line for each mistake, without anything of what the files say.
    pub fn read(path: &Path) -> Result<Self, Vec<String>> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| vec![format!("{name}: {error}")])?;
        let folder = path.parent().unwrap_or(Path::new("."));
        parse(&name, &text, folder)
    }
}

/// Reads the text of a configuration; relative paths in it begin at `folder`.
///
/// # Errors
/// As [`Config::read`].
pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Config, Vec<String>> {
    let mut mistakes = Mistakes::default();
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            mistakes.add(
                error.span().map_or(0, |span| span.start),
                "this is not TOML: a field is `name = value` on a line of its own, and texts stand in double quotes",
            );
            return Err(mistakes.lines(name, text));
        }
    };
    let mut reader = Reader { mistakes: &mut mistakes, folder };
    let config = reader.config(Fields::root(document.get_ref()));
    match config {
        Some(config) if mistakes.is_empty() => Ok(config),
        _ => Err(mistakes.lines(name, text)),
    }
}

struct Reader<'a> {
    mistakes: &'a mut Mistakes,
    folder: &'a Path,
}

const ADDRESS: &str = "an address with a port, like \"192.0.2.1:4500\" or \"[2001:db8::1]:4500\"";
const DURATION: &str = "a duration of at most ten years, like \"100ms\", \"1s\" or \"2h\"";

impl Reader<'_> {
    fn config(&mut self, mut root: Fields<'_>) -> Option<Config> {
        let role = root.read("role", "\"master\" or \"slave\"", self.mistakes, |text| match text {
            "master" => Some(Role::Master),
            "slave" => Some(Role::Slave),
            _ => None,
        });
        let role = root.require("role", role, self.mistakes);
        let local = root.parsed::<SocketAddr>("local", ADDRESS, self.mistakes);
        let local = root.require("local", local, self.mistakes);
        let peer = root.parsed::<SocketAddr>("peer", ADDRESS, self.mistakes);
        let peer = root.require("peer", peer, self.mistakes);
        let names = Transform::ALL.map(|transform| transform.id).join(", ");
        let transform = root.read("suite", &format!("one of {names}"), self.mistakes, Transform::by_id);
        let transform = root.require("suite", transform, self.mistakes);
        let extended = root.flag("esn", self.mistakes).unwrap_or(true);
        let window = root.number("window", 64, 1 << 20, self.mistakes).unwrap_or(8192) as usize;
        let workers = root.number("workers", 1, 64, self.mistakes).unwrap_or(1) as u16;
        self.check_ends(&root, local, peer, workers);
        let path_mtu = root.number("path-mtu", 576, 65_535, self.mistakes).unwrap_or(1500) as u16;
        let mss_clamp = root.flag("mss-clamp", self.mistakes).unwrap_or(true);
        let control_key = self.secret_file(&mut root, "control-key");
        let control_key = root.require("control-key", control_key, self.mistakes);
        let overlap = self.duration(&mut root, "overlap").unwrap_or(Duration::from_secs(2));
        let listen = root.parsed::<SocketAddr>("listen", ADDRESS, self.mistakes);
        if listen.is_some_and(|listen| !listen.ip().is_loopback() || listen.port() == 0) {
            self.mistakes.add(
                root.place("listen"),
                "`listen`: it must be an address of this machine's loopback, with a port that is not 0",
            );
        }
        let user = root.text("user", self.mistakes).map(|(name, _)| name.to_owned());
        let tun = root.table("tun", self.mistakes);
        let tun = root.require("tun", tun, self.mistakes).and_then(|fields| self.tun(fields));
        let keys = root.table("keys", self.mistakes);
        let keys = root.require("keys", keys, self.mistakes).and_then(|fields| self.keys(fields));
        let (rekey, limits) = self.limits(&mut root, extended);
        root.finish(self.mistakes);
        let config = Config {
            role: role?,
            local: local?,
            peer: peer?,
            transform: transform?,
            extended,
            window,
            workers,
            path_mtu,
            mss_clamp,
            control_key: control_key?,
            tun: tun?,
            keys: keys?,
            rekey,
            limits,
            overlap,
            listen,
            user,
        };
        self.check_mtu(&root, &config);
        Some(config)
    }

    /// What can be wrong with the addresses of both ends, though they are addresses.
    fn check_ends(
        &mut self,
        root: &Fields<'_>,
        local: Option<SocketAddr>,
        peer: Option<SocketAddr>,
        workers: u16,
    ) {
        for (name, address) in [("local", local), ("peer", peer)] {
            let Some(address) = address else { continue };
            if address.port() == 0 || address.port().checked_add(workers - 1).is_none() {
                self.mistakes.add(
                    root.place(name),
                    format_args!(
                        "`{name}`: there must be ports from this one on for each of `workers`, and none is 0"
                    ),
                );
            }
            let ip = address.ip();
            let is_nobody = name == "peer" && ip.is_unspecified();
            let is_many = ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST);
            if is_nobody || is_many {
                self.mistakes
                    .add(root.place(name), format_args!("`{name}`: this is not the address of one host"));
            }
        }
        let (Some(local), Some(peer)) = (local, peer) else { return };
        if local.is_ipv4() != peer.is_ipv4() {
            self.mistakes.add(root.place("peer"), "`local` and `peer` are of different IP versions");
        }
        if local == peer {
            self.mistakes.add(root.place("peer"), "`peer`: this is the address of this end itself");
        }
    }

    fn check_mtu(&mut self, root: &Fields<'_>, config: &Config) {
        /// RFC 8200, section 5.
        const MIN_V6: usize = 1280;
        let bytes = config.inner_mtu();
        if bytes < MIN_V6 && config.tun.addresses.iter().any(|net| matches!(net, IpNet::V6(_))) {
            self.mistakes.add(
                root.place("path-mtu"),
                format_args!(
                    "`path-mtu`: an IPv6 address in [tun] takes inner packets of {MIN_V6} bytes, and there is room for {bytes}"
                ),
            );
        }
    }

    fn duration(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Duration> {
        /// So that sums of times fit their types.
        const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
        fields.read(name, DURATION, self.mistakes, |text| {
            humantime::parse_duration(text).ok().filter(|duration| *duration <= LONGEST)
        })
    }

    fn limits(&mut self, root: &mut Fields<'_>, extended: bool) -> (Limits, Limits) {
        const HOUR: Duration = Duration::from_secs(3600);
        // 64 GiB are 2^32 blocks: for CBC, the cipher's birthday bound leaves 2^-64 there.
        let mut rekey = Limits { age: HOUR, packets: 1 << 31, bytes: 1 << 35 };
        if let Some(mut fields) = root.table("rekey", self.mistakes) {
            rekey.age = self.duration(&mut fields, "every").unwrap_or(rekey.age);
            rekey.packets = fields.number("packets", 1, 1 << 40, self.mistakes).unwrap_or(rekey.packets);
            rekey.bytes = fields.number("bytes", 1, 1 << 40, self.mistakes).unwrap_or(rekey.bytes);
            if rekey.age < Duration::from_millis(50) {
                self.mistakes.add(fields.at(), "`every`: it must be 50 ms or more");
            }
            fields.finish(self.mistakes);
        }
        // Ten times the interval and never under ten seconds: what a slow or dead source of keys is forgiven.
        let mut limits = Limits {
            age: (rekey.age * 10).max(Duration::from_secs(10)),
            packets: (1 << 32) - 1,
            bytes: 1 << 36,
        };
        if let Some(mut fields) = root.table("limits", self.mistakes) {
            limits.age = self.duration(&mut fields, "age").unwrap_or(limits.age);
            limits.packets = fields.number("packets", 1, 1 << 40, self.mistakes).unwrap_or(limits.packets);
            limits.bytes = fields.number("bytes", 1, 1 << 40, self.mistakes).unwrap_or(limits.bytes);
            fields.finish(self.mistakes);
        }
        let numbers = limits.packets.min(last_number(extended));
        for (name, is_short) in [
            ("age", limits.age <= rekey.age),
            ("packets", numbers <= rekey.packets),
            ("bytes", limits.bytes <= rekey.bytes),
        ] {
            if is_short {
                self.mistakes.add(
                    root.place(if root.has("limits") { "limits" } else { "rekey" }),
                    format_args!(
                        "[limits]: `{name}` ends a key before [rekey] changes it; it must be more than what that has"
                    ),
                );
            }
        }
        (rekey, limits)
    }

    fn tun(&mut self, mut fields: Fields<'_>) -> Option<Tun> {
        /// `IFNAMSIZ` counts the zero at the end.
        const LONGEST: usize = 15;
        let name = fields.read("name", "a name of 1 to 15 characters", self.mistakes, |text| {
            let is_name = (1..=LONGEST).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
            is_name.then(|| text.to_owned())
        });
        let name = fields.require("name", name, self.mistakes);
        let addresses = fields.list::<IpNet>(
            "addresses",
            "an address with a prefix length, like \"10.9.0.1/24\"",
            self.mistakes,
        );
        fields.finish(self.mistakes);
        Some(Tun { name: name?, addresses })
    }

    fn keys(&mut self, mut fields: Fields<'_>) -> Option<Keys> {
        let file = self.secret_file(&mut fields, "file");
        let etsi014 = fields.table("etsi014", self.mistakes).map(|fields| self.etsi014(fields));
        let at = fields.at();
        fields.finish(self.mistakes);
        match (file, etsi014) {
            (Some(secret), None) => Some(Keys::File(secret)),
            (None, Some(etsi014)) => Some(Keys::Etsi014(etsi014?)),
            (Some(_), Some(_)) => {
                self.mistakes.add(at, "[keys] has both `file` and [keys.etsi014]; it takes one");
                None
            }
            (None, None) => {
                if self.mistakes.is_empty() {
                    self.mistakes.add(at, "[keys] has neither `file` nor [keys.etsi014]");
                }
                None
            }
        }
    }

    fn etsi014(&mut self, mut fields: Fields<'_>) -> Option<Etsi014> {
        let url = fields.read("url", "an address that begins with https://", self.mistakes, |text| {
            let is_https = text.starts_with("https://") && reqwest::Url::parse(text).is_ok();
            is_https.then(|| text.trim_end_matches('/').to_owned())
        });
        let url = fields.require("url", url, self.mistakes);
        let [sae, peer_sae] = ["sae", "peer-sae"].map(|name| {
            let sae =
                fields.read(name, "a name of letters, digits, `-`, `_` and `.`", self.mistakes, |text| {
                    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
                    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_owned())
                });
            fields.require(name, sae, self.mistakes)
        });
        let [ca, cert, key] = ["ca", "cert", "key"].map(|name| {
            let file = self.file(&mut fields, name);
            fields.require(name, file, self.mistakes)
        });
        let size = fields.number("size", 128, 4096, self.mistakes).unwrap_or(256);
        if !size.is_multiple_of(8) {
            self.mistakes.add(fields.at(), "`size`: keys have whole bytes");
        }
        let ahead = fields.number("ahead", 1, 64, self.mistakes).unwrap_or(4) as usize;
        let timeout = self.duration(&mut fields, "timeout").unwrap_or(Duration::from_secs(3));
        if timeout.is_zero() {
            self.mistakes.add(fields.place("timeout"), "`timeout`: in no time there is no answer");
        }
        fields.finish(self.mistakes);
        Some(Etsi014 {
            url: url?,
            sae: sae?,
            peer_sae: peer_sae?,
            ca: ca?.to_vec(),
            cert: cert?.to_vec(),
            key: key?,
            size,
            ahead,
            timeout,
        })
    }

    /// The contents of the file that a field names.
    fn file(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Zeroizing<Vec<u8>>> {
        let (path, at) = fields.text(name, self.mistakes)?;
        let path: PathBuf = self.folder.join(path);
        match fs::read(&path) {
            Ok(contents) => Some(Zeroizing::new(contents)),
            Err(error) => {
                self.mistakes.add(at, format_args!("`{name}`: the file cannot be read: {}", error.kind()));
                None
            }
        }
    }

    /// A secret in hex in the file that a field names: 32 bytes or more.
    fn secret_file(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Zeroizing<Vec<u8>>> {
        const LEAST: usize = 32;
        let at = fields.at();
        let text = self.file(fields, name)?;
        let secret = hex::decode(text.trim_ascii()).ok().map(Zeroizing::new);
        let secret = secret.filter(|secret| secret.len() >= LEAST);
        if secret.is_none() {
            self.mistakes.add(
                at,
                format_args!(
                    "`{name}`: the file must hold {LEAST} bytes or more in hex digits, and nothing else"
                ),
            );
        }
        secret
    }
}
