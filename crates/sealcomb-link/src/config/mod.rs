//! The configuration file. It is validated completely when the link starts.
//!
//! ```toml
//! role = "master"                       # the master chooses the keys; its peer is the slave
//! local = "192.0.2.1:4500"
//! peer = "192.0.2.2:4500"
//! suite = "aes256-gcm"
//! control-key = "/etc/sealcomb/control.key"     # 32 bytes in hex, the same at both ends
//!
//! [tun]
//! name = "seal0"
//! addresses = ["10.9.0.1/24", "fd09::1/64"]
//!
//! [keys.etsi014]                        # or: [keys] file = "link.key", [keys.skip], [keys.command]
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
//!
//! An end with several peers has a table `[[peer]]` for each of them instead of the fields of its peer, see
//! [`peers`].

mod addresses;
mod dns;
mod fields;
mod listen;
pub mod peers;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use ctutils::CtEq;
use ipnet::IpNet;
use sealcomb_esp::Layout;
use toml::de::DeTable;
use zeroize::Zeroizing;

use crate::keys::from_hex;
use fields::{Errors, Fields};
use peers::{Layers, PeerConfig};

pub use dns::Dns;
pub use listen::ListenTls;
pub use sources::{ClientTls, Program, Requests, Skip};

/// The role of an end in the rekey protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Chooses the keys and the time of each rekey.
    Master,
    /// Fetches and installs the keys that the master offers.
    Slave,
}

impl Role {
    /// Returns `"master"` or `"slave"`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Slave => "slave",
        }
    }

    /// Returns the peer's role.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Master => Self::Slave,
            Self::Slave => Self::Master,
        }
    }
}

/// The key source.
#[derive(Clone)]
pub enum Keys {
    /// A shared secret of at least 32 bytes, from which the keys of all associations are derived.
    File(Zeroizing<Vec<u8>>),
    /// A key management entity.
    Etsi014(Etsi014),
    /// A key provider of the Secure Key Integration Protocol.
    Skip(Skip),
    /// A program that prints keys.
    Command(Program),
}

/// A key management entity of ETSI GS QKD 014, and this end's identity as its client.
#[derive(Clone)]
pub struct Etsi014 {
    /// The base URL, without `/api/v1`.
    pub url: String,
    /// This end's SAE ID.
    pub sae: String,
    /// The peer's SAE ID.
    pub peer_sae: String,
    /// This end's identity.
    pub tls: ClientTls,
    /// What to ask for.
    pub requests: Requests,
}

/// Usage limits of a key. The first limit reached applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum age.
    pub age: Duration,
    /// Maximum number of packets sent in one direction.
    pub packets: u64,
    /// Maximum total size in bytes of the inner packets sent in one direction.
    pub bytes: u64,
}

/// The intervals of keepalives and of dead-peer detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// Time without a sign of life after which the peer is asked for one.
    pub interval: Duration,
    /// Time without a sign of life after which the peer counts as dead.
    pub dead: Duration,
    /// Time without an outbound datagram after which a NAT keepalive is sent (RFC 3948, section 4); `None` to send
    /// none.
    pub nat_keepalive: Option<Duration>,
}

impl Liveness {
    /// The intervals of a configuration without the table `[liveness]`.
    pub const DEFAULT: Self = Self {
        interval: Duration::from_secs(1),
        dead: Duration::from_secs(5),
        nat_keepalive: Some(Duration::from_secs(20)),
    };
}

/// The TUN device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tun {
    /// The interface name.
    pub name: String,
    /// The interface addresses.
    pub addresses: Vec<IpNet>,
    /// The destinations that are routed through the interface.
    pub routes: Vec<IpNet>,
    /// MTU of the routes in bytes; `None` for that of the interface.
    pub route_mtu: Option<u16>,
    /// The routing table of the routes; `None` for the main table.
    pub route_table: Option<u32>,
    /// The name servers to use while the link is up.
    pub dns: Dns,
    /// Shell commands to run once the interface exists.
    pub up: Vec<String>,
    /// Shell commands to run when the link has ended.
    pub down: Vec<String>,
}

/// Where the peer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// At this address, until it moves.
    Address(SocketAddr),
    /// At the address of this host name, until it moves. The name is resolved again while the peer is dead.
    Name {
        /// The host name.
        host: String,
        /// The UDP port.
        port: u16,
    },
    /// Unknown until the peer's first authenticated message.
    Absent,
}

impl Peer {
    /// Returns the address if it is configured.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Name { .. } | Self::Absent => None,
        }
    }
}

impl FromStr for Peer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(address) = addresses::parse(text) {
            return Ok(Self::Address(address));
        }
        let (host, port) = text.rsplit_once(':').ok_or(())?;
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        // Something like 192.0.2.300 is a mistyped address.
        let is_name = host.len() <= 253
            && host.split('.').all(is_label)
            && host.bytes().any(|byte| byte.is_ascii_alphabetic());
        if !is_name {
            return Err(());
        }
        Ok(Self::Name { host: host.to_owned(), port: port.parse().map_err(|_| ())? })
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name { host, port } => write!(f, "{host}:{port}"),
            Self::Absent => f.write_str("(any address)"),
        }
    }
}

/// A file that a configuration refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedFile {
    /// The field that names it.
    pub field: &'static str,
    /// The path of the file.
    pub path: PathBuf,
    /// Whether it contains a secret.
    pub is_secret: bool,
}

/// The complete configuration of one end.
#[derive(Clone)]
pub struct Config {
    /// The local UDP address. Worker `i` uses this port + `i`.
    pub local: SocketAddr,
    /// Number of packet threads. Must be equal at both ends.
    pub workers: u16,
    /// MTU in bytes of the path between the ends.
    pub path_mtu: u16,
    /// Whether the MSS of TCP connections through the link is clamped to the link's MTU.
    pub mss_clamp: bool,
    /// The TUN device.
    pub tun: Tun,
    /// The peers: one, unless there are tables `[[peer]]`.
    pub peers: Vec<PeerConfig>,
    /// The address that serves metrics and status.
    pub listen: Option<SocketAddr>,
    /// The token that clients of the status server must present; `None` for no check.
    pub listen_token: Option<Zeroizing<String>>,
    /// The certificate of the status server; `None` for a server without TLS.
    pub listen_tls: Option<ListenTls>,
    /// The user to switch to after opening the device and sockets.
    pub user: Option<String>,
    /// The files that were read.
    pub files: Vec<UsedFile>,
}

/// Returns the size in bytes of the longest datagram that fits into an outer IPv4 or IPv6 packet of `path_mtu` bytes.
pub(crate) fn max_datagram(is_v4: bool, path_mtu: u16) -> usize {
    let headers = if is_v4 { 20 + 8 } else { 40 + 8 };
    usize::from(path_mtu).saturating_sub(headers)
}

/// Returns the size in bytes of the longest inner packet that fits into an outer IPv4 or IPv6 packet of `path_mtu`
/// bytes.
pub(crate) fn inner_mtu(layout: Layout, is_v4: bool, path_mtu: u16) -> usize {
    layout.max_inner_bytes(max_datagram(is_v4, path_mtu)).unwrap_or(0)
}

/// Returns the highest sequence number: of 64 bits if `extended`, of 32 bits otherwise.
fn last_number(extended: bool) -> u64 {
    if extended { u64::MAX } else { u32::MAX.into() }
}

impl Config {
    /// Returns whether the peers are tables `[[peer]]`. They have names then, and may come and go while the link
    /// runs.
    pub fn has_tables(&self) -> bool {
        self.peers.iter().any(|peer| peer.name.is_some())
    }

    /// Returns the size in bytes of the longest inner packet that fits into the configured path MTU with every peer.
    pub fn inner_mtu(&self) -> usize {
        let mtu = |peer: &PeerConfig| self.inner_mtu_to(peer);
        self.peers.iter().map(mtu).min().unwrap_or(0)
    }

    /// Returns the size in bytes of the longest inner packet to this peer that fits into the configured path MTU.
    pub fn inner_mtu_to(&self, peer: &PeerConfig) -> usize {
        inner_mtu(peer.transform.layout(), self.local.is_ipv4(), self.path_mtu)
    }

    /// Returns the names of the fields that differ from `new` and that take effect only at the next start. Those of
    /// the tables `[[peer]]` are not among them.
    pub fn fields_fixed_until_restart(&self, new: &Self) -> Vec<&'static str> {
        let is_same_token = match (&self.listen_token, &new.listen_token) {
            (Some(ours), Some(theirs)) => ours.as_bytes().ct_eq(theirs.as_bytes()).into(),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        };
        let mut same = vec![
            ("local", self.local == new.local),
            ("workers", self.workers == new.workers),
            ("path-mtu", self.path_mtu == new.path_mtu),
            ("mss-clamp", self.mss_clamp == new.mss_clamp),
            ("[tun]", self.tun == new.tun),
            ("listen", self.listen == new.listen),
            ("listen-token", is_same_token),
            ("listen-cert", self.listen_tls.is_some() == new.listen_tls.is_some()),
            ("user", self.user == new.user),
        ];
        match (self.has_tables(), new.has_tables()) {
            (true, true) => {}
            (false, false) => same.extend(self.peers[0].fixed_fields(&new.peers[0])),
            _ => same.push(("[[peer]]", false)),
        }
        same.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }

    /// Reads the file at `path` and the files that it refers to.
    ///
    /// # Errors
    /// All errors found, one line each. They never quote the files.
    pub fn read(path: &Path) -> Result<Self, Vec<String>> {
        let text = fs::read_to_string(path).map_err(|error| vec![format!("{}: {error}", path.display())])?;
        Self::of(path, &text)
    }

    /// Parses the text of the file at `path`, and reads the files that it refers to.
    ///
    /// # Errors
    /// All errors found, one line each. They never quote the files.
    pub fn of(path: &Path, text: &str) -> Result<Self, Vec<String>> {
        parse(&path.display().to_string(), text, path.parent().unwrap_or(Path::new(".")))
    }
}

/// Parses a configuration. Relative paths in it are resolved against `folder`; `name` is the file name in error
/// messages.
///
/// # Errors
/// All errors found, one line each. They never quote the text.
pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Config, Vec<String>> {
    let mut errors = Errors::default();
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            // The parser's other messages may quote the text.
            let what = if error.message().starts_with("duplicate key") {
                "the file has this field or table already"
            } else {
                "invalid TOML; expected `name = value`, one per line, with strings in double quotes"
            };
            errors.add(error.span().map_or(0, |span| span.start), what);
            return Err(errors.lines(name, text));
        }
    };
    let mut reader = Reader { errors: &mut errors, folder, files: Vec::new() };
    let config = reader.config(Fields::root(document.get_ref()));
    match config {
        Some(config) if errors.is_empty() => Ok(config),
        _ => Err(errors.lines(name, text)),
    }
}

struct Reader<'a> {
    errors: &'a mut Errors,
    folder: &'a Path,
    files: Vec<UsedFile>,
}

const ADDRESS: &str = "an address with a port, like \"192.0.2.1:4500\" or \"[2001:db8::1]:4500\"";
const PEER: &str = "an address or host name with a port, like \"192.0.2.1:4500\" or \"link.example:4500\"";
const DURATION: &str = "a duration of at most ten years, like \"100ms\", \"1s\" or \"2h\"";
/// Minimum rekey interval.
const MIN_EVERY: Duration = Duration::from_millis(50);

impl Reader<'_> {
    fn config(&mut self, mut root: Fields<'_>) -> Option<Config> {
        let local = self.address_of(&mut root, "local", ADDRESS, addresses::parse);
        let local = root.require("local", local, self.errors);
        let workers = root.number("workers", 1, 64, self.errors).unwrap_or(1) as u16;
        if let Some(local) = local {
            self.check_port(&root, "local", local.port(), workers);
            self.check_host(&root, "local", local.ip());
            self.check_zone(&root, "local", local);
        }
        let path_mtu = root.number("path-mtu", 576, 65_535, self.errors).unwrap_or(1500) as u16;
        let mss_clamp = root.flag("mss-clamp", self.errors).unwrap_or(true);
        let listen = self.address_of(&mut root, "listen", ADDRESS, addresses::parse);
        if let Some(listen) = listen {
            self.check_zone(&root, "listen", listen);
        }
        let listen_token = self.token_file(&mut root, "listen-token");
        let listen_tls = self.listen_tls(&mut root);
        if listen.is_some_and(|listen| listen.port() == 0) {
            self.errors.add(root.place("listen"), "`listen` must have a nonzero port");
        }
        if listen.is_some_and(|listen| !listen.ip().is_loopback()) && !root.has("listen-token") {
            self.errors.add(
                root.place("listen"),
                "`listen` must be a loopback address, or `listen-token` must name a file with a token",
            );
        }
        let user = root.text("user", self.errors).map(|(name, _)| name.to_owned());
        let tun = root.table("tun", self.errors);
        let tun = root.require("tun", tun, self.errors).and_then(|fields| self.tun(fields));
        let peers = if root.has_tables("peer") {
            self.peer_tables(&mut root, local, workers)
        } else {
            self.peer(&mut Layers::only(&mut root), None, local, workers).into_iter().collect()
        };
        root.finish(self.errors);
        let config = Config {
            local: local?,
            workers,
            path_mtu,
            mss_clamp,
            tun: tun?,
            peers,
            listen,
            listen_token,
            listen_tls,
            user,
            files: std::mem::take(&mut self.files),
        };
        self.check_mtu(&root, &config);
        (!config.peers.is_empty()).then_some(config)
    }

    fn check_port(&mut self, root: &Fields<'_>, name: &str, port: u16, workers: u16) {
        if port == 0 || port.checked_add(workers - 1).is_none() {
            self.errors.add(
                root.place(name),
                format_args!(
                    "`{name}`: the port must be from 1 to 65536 - `workers`, since worker i uses port + i"
                ),
            );
        }
    }

    fn check_mtu(&mut self, root: &Fields<'_>, config: &Config) {
        /// Minimum IPv6 MTU (RFC 8200, section 5).
        const MIN_V6: usize = 1280;
        if config.peers.is_empty() {
            return;
        }
        let bytes = config.inner_mtu();
        let Tun { addresses, routes, route_mtu, .. } = &config.tun;
        if bytes < MIN_V6 && addresses.iter().chain(routes).any(|net| matches!(net, IpNet::V6(_))) {
            self.errors.add(
                root.place("path-mtu"),
                format_args!(
                    "`path-mtu` leaves {bytes} bytes for inner packets; an IPv6 address or route in [tun] requires \
                     {MIN_V6}"
                ),
            );
        }
        for peer in &config.peers {
            let longest = config.inner_mtu_to(peer) as u64;
            if peer.limits.bytes < longest {
                let (at, prefix) = (root.place("limits"), peer.prefix());
                self.errors.add(
                    at,
                    format_args!(
                        "{prefix}[limits]: `bytes` must be at least {longest}, the longest inner packet"
                    ),
                );
            }
        }
        if route_mtu.is_some_and(|mtu| usize::from(mtu) > bytes) {
            self.errors.add(
                root.place("tun"),
                format_args!("[tun]: `route-mtu` must be at most {bytes}, the MTU of the interface"),
            );
        }
    }

    fn duration(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Duration> {
        /// Ten years of 365.25 days, as in a duration. Keeps sums of instants and durations from overflowing.
        const MAX: Duration = Duration::from_secs(10 * 31_557_600);
        fields.read(name, DURATION, self.errors, |text| {
            humantime::parse_duration(text).ok().filter(|duration| *duration <= MAX)
        })
    }

    fn limits(&mut self, layers: &mut Layers<'_, '_>, extended: bool) -> (Limits, Limits) {
        const HOUR: Duration = Duration::from_secs(3600);
        // The hard limit of 64 GiB is 2^32 blocks, where the birthday bound of CBC is 2^-64.
        let mut rekey = Limits { age: HOUR, packets: 1 << 31, bytes: 1 << 35 };
        if let Some(mut fields) = layers.holder("rekey").table("rekey", self.errors) {
            rekey.age = self.duration(&mut fields, "every").unwrap_or(rekey.age);
            rekey.packets = fields.number("packets", 1, 1 << 40, self.errors).unwrap_or(rekey.packets);
            rekey.bytes = fields.number("bytes", 1, 1 << 40, self.errors).unwrap_or(rekey.bytes);
            if rekey.age < MIN_EVERY {
                self.errors.add(fields.at(), "`every` must be at least 50 ms");
            }
            fields.finish(self.errors);
        }
        // The default hard limit tolerates a slow or failed key source for ten intervals, and at least ten seconds.
        let mut limits = Limits {
            age: (rekey.age * 10).max(Duration::from_secs(10)),
            packets: (1 << 32) - 1,
            bytes: 1 << 36,
        };
        if let Some(mut fields) = layers.holder("limits").table("limits", self.errors) {
            limits.age = self.duration(&mut fields, "age").unwrap_or(limits.age);
            limits.packets = fields.number("packets", 1, 1 << 40, self.errors).unwrap_or(limits.packets);
            limits.bytes = fields.number("bytes", 1, 1 << 40, self.errors).unwrap_or(limits.bytes);
            fields.finish(self.errors);
        }
        let numbers = limits.packets.min(last_number(extended));
        for (name, is_short) in [
            ("age", limits.age <= rekey.age),
            ("packets", numbers <= rekey.packets),
            ("bytes", limits.bytes <= rekey.bytes),
        ] {
            if is_short {
                let table = if layers.holder("limits").has("limits") { "limits" } else { "rekey" };
                self.errors.add(
                    layers.holder(table).place(table),
                    format_args!("[limits]: `{name}` must be greater than its soft limit in [rekey]"),
                );
            }
        }
        (rekey, limits)
    }

    fn liveness(&mut self, layers: &mut Layers<'_, '_>) -> Liveness {
        const MIN_INTERVAL: Duration = Duration::from_millis(100);
        let mut liveness = Liveness::DEFAULT;
        let Some(mut fields) = layers.holder("liveness").table("liveness", self.errors) else {
            return liveness;
        };
        liveness.interval = self.duration(&mut fields, "interval").unwrap_or(liveness.interval);
        liveness.dead = self.duration(&mut fields, "dead").unwrap_or(liveness.interval * 5);
        if let Some(interval) = self.duration(&mut fields, "nat-keepalive") {
            liveness.nat_keepalive = (!interval.is_zero()).then_some(interval);
        }
        if liveness.interval < MIN_INTERVAL {
            self.errors.add(fields.place("interval"), "`interval` must be at least 100 ms");
        }
        // A challenge and its first retransmissions may be lost.
        if liveness.dead < liveness.interval * 2 {
            self.errors.add(fields.place("dead"), "`dead` must be at least twice `interval`");
        }
        if liveness.nat_keepalive.is_some_and(|interval| interval < MIN_INTERVAL) {
            self.errors.add(
                fields.place("nat-keepalive"),
                "`nat-keepalive` must be at least 100 ms, or \"0s\" to send no NAT keepalives",
            );
        }
        fields.finish(self.errors);
        liveness
    }

    fn tun(&mut self, mut fields: Fields<'_>) -> Option<Tun> {
        /// `IFNAMSIZ`, less the terminating zero.
        const MAX_BYTES: usize = 15;
        const WHAT: &str = "an interface name of 1 to 15 characters without `/`, `:` and `%`";
        let name = fields.read("name", WHAT, self.errors, |text| {
            // The kernel replaces `%d` with a number.
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"/:%".contains(&byte);
            let is_name = (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(is_plain);
            (is_name && text != "." && text != "..").then(|| text.to_owned())
        });
        let name = fields.require("name", name, self.errors);
        let addresses = fields.list::<IpNet>(
            "addresses",
            "an address with a prefix length, like \"10.9.0.1/24\"",
            self.errors,
        );
        let mut seen = HashSet::new();
        let is_host = |ip: IpAddr| !ip.is_unspecified() && !ip.is_multicast();
        if !addresses.iter().all(|net| is_host(net.addr()) && seen.insert(net.addr())) {
            self.errors.add(
                fields.place("addresses"),
                "`addresses`: each entry must be the address of a single host, and a different one",
            );
        }
        let routes = fields.list::<IpNet>(
            "routes",
            "a destination with a prefix length, like \"10.10.0.0/16\"",
            self.errors,
        );
        for name in ["route-mtu", "route-table"] {
            fields.require_other(name, "routes", self.errors);
        }
        let route_mtu = fields.number("route-mtu", 576, 65_535, self.errors).map(|mtu| mtu as u16);
        let route_table = fields.number("route-table", 1, u32::MAX.into(), self.errors).map(|id| id as u32);
        let dns = self.dns(&mut fields);
        let [up, down] =
            ["up", "down"].map(|name| fields.list::<String>(name, "a shell command", self.errors));
        fields.finish(self.errors);
        Some(Tun { name: name?, addresses, routes, route_mtu, route_table, dns, up, down })
    }

    /// Reads the file whose path is a field's value.
    fn file(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Zeroizing<Vec<u8>>> {
        let (path, at) = fields.text(name, self.errors)?;
        let path: PathBuf = self.folder.join(path);
        match fs::read(&path) {
            Ok(contents) => {
                let is_secret = ["control-key", "file", "key", "listen-key", "listen-token"].contains(&name);
                self.files.push(UsedFile { field: name, path, is_secret });
                Some(Zeroizing::new(contents))
            }
            Err(error) => {
                self.errors.add(at, format_args!("`{name}`: cannot read the file: {}", error.kind()));
                None
            }
        }
    }

    /// Reads a token from the file whose path is a field's value.
    fn token_file(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Zeroizing<String>> {
        const MIN_CHARS: usize = 32;
        let at = fields.place(name);
        let contents = self.file(fields, name)?;
        let token = std::str::from_utf8(contents.trim_ascii()).ok();
        let is_token =
            |token: &&str| token.len() >= MIN_CHARS && token.bytes().all(|byte| byte.is_ascii_graphic());
        let token = token.filter(is_token).map(|token| Zeroizing::new(token.to_owned()));
        if token.is_none() {
            self.errors.add(
                at,
                format_args!(
                    "`{name}`: the file must contain at least {MIN_CHARS} printable ASCII characters without spaces; \
                     create it with `sealcomb-link keygen`"
                ),
            );
        }
        token
    }

    /// Reads a hex-encoded secret of at least 32 bytes from the file whose path is a field's value.
    fn secret_file(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Zeroizing<Vec<u8>>> {
        const MIN_BYTES: usize = 32;
        let at = fields.at();
        let text = self.file(fields, name)?;
        let secret = from_hex(text.trim_ascii()).filter(|secret| secret.len() >= MIN_BYTES);
        if secret.is_none() {
            self.errors.add(
                at,
                format_args!(
                    "`{name}`: the file must contain at least {MIN_BYTES} bytes in hex, and nothing else"
                ),
            );
        }
        secret
    }
}
