//! The peers of an end: one, described by the fields of the file itself, or several in tables `[[peer]]`.
//!
//! ```toml
//! role = "master"                       # for each peer whose table has no `role` of its own
//! local = "192.0.2.1:4500"
//! suite = "aes256-gcm"
//!
//! [tun]
//! name = "seal0"
//! addresses = ["10.9.0.1/16"]
//!
//! [[peer]]
//! name = "berlin"
//! address = "192.0.2.2:4500"            # optional, like `peer` in a file without tables
//! control-key = "berlin.control.key"
//! allowed = ["10.9.1.0/24"]
//! [peer.keys]
//! file = "berlin.link.key"
//!
//! [[peer]]
//! name = "madrid"
//! control-key = "madrid.control.key"
//! allowed = ["10.9.2.0/24"]
//! keys = { file = "madrid.link.key" }
//! ```

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use ctutils::CtEq;
use ipnet::IpNet;
use sealcomb_esp::{Fingerprint, Transform};
use zeroize::Zeroizing;

use super::fields::{Errors, Fields};
use super::{Keys, Limits, Liveness, MIN_EVERY, PEER, Peer, Reader, Role, last_number};

/// Maximum number of peers. A peer's number is part of the SPIs that it sends under, see
/// [`Settings::slot`](crate::control::Settings::slot).
pub const MAX_PEERS: usize = 1 << 12;

/// Maximum number of replaced keys under which packets in flight are still accepted.
pub const MAX_OVERLAPPING: u32 = 256;

/// The configuration of a peer.
#[derive(Clone)]
pub struct PeerConfig {
    /// The name of its table; `None` for the only peer of a file without tables.
    pub name: Option<String>,
    /// The prefixes of the inner addresses behind the peer. Without a table, all addresses are.
    pub allowed: Vec<IpNet>,
    /// This end's role.
    pub role: Role,
    /// The peer's UDP address. Worker `i` uses this port + `i`.
    pub address: Peer,
    /// The cipher suite. Must be equal at both ends.
    pub transform: Transform,
    /// Whether sequence numbers have 64 bits (ESN). Must be equal at both ends.
    pub extended: bool,
    /// Size of the anti-replay window in packets.
    pub window: usize,
    /// The key that authenticates control messages.
    pub control_key: Zeroizing<Vec<u8>>,
    /// The key source.
    pub keys: Keys,
    /// The soft limits of a key: the link rekeys when one is reached.
    pub rekey: Limits,
    /// The hard limits of a key: beyond them it is never used.
    pub limits: Limits,
    /// How long the receiver accepts packets under a key after its successor came into use.
    pub overlap: Duration,
    /// Intervals of keepalives and of dead-peer detection.
    pub liveness: Liveness,
}

impl PeerConfig {
    /// Returns the last sequence number that may be used under a key.
    pub fn last_number(&self) -> u64 {
        last_number(self.extended).min(self.limits.packets)
    }

    /// Returns the peer's name and a colon, as a prefix of texts about it; nothing for the only peer of a file
    /// without tables.
    pub fn prefix(&self) -> String {
        self.name.as_ref().map_or(String::new(), |name| format!("{name}: "))
    }

    /// Returns the names of the fields that the exchange with the peer depends on, and whether each is the same in
    /// `new`.
    pub(super) fn fixed_fields(&self, new: &Self) -> [(&'static str, bool); 6] {
        [
            ("role", self.role == new.role),
            ("peer", self.address == new.address),
            ("suite", self.transform.id == new.transform.id),
            ("esn", self.extended == new.extended),
            ("window", self.window == new.window),
            ("control-key", self.control_key[..].ct_eq(&new.control_key[..]).into()),
        ]
    }

    /// Returns whether `new` can replace this configuration while keys are in use.
    pub(crate) fn can_become(&self, new: &Self) -> bool {
        self.keys.is_single_use() == new.keys.is_single_use()
            && self.fixed_fields(new).iter().all(|(_, is_same)| *is_same)
    }

    /// Returns whether `new` is the same configuration.
    pub(crate) fn is_same(&self, new: &Self) -> bool {
        self.can_become(new)
            && self.keys.is_same(&new.keys)
            && (&self.allowed, self.rekey, self.limits) == (&new.allowed, new.rekey, new.limits)
            && (self.overlap, self.liveness) == (new.overlap, new.liveness)
    }
}

impl Keys {
    /// Returns whether the source must deliver each key only once.
    fn is_single_use(&self) -> bool {
        !matches!(self, Self::File(_))
    }

    /// Returns whether both describe the same source with the same credentials. A source that is not known to be the
    /// same counts as another one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(ours), Self::File(theirs)) => ours[..].ct_eq(&theirs[..]).into(),
            (Self::Etsi014(ours), Self::Etsi014(theirs)) => {
                let fields =
                    [&ours.url, &ours.sae, &ours.peer_sae] == [&theirs.url, &theirs.sae, &theirs.peer_sae];
                fields && ours.tls.is_same(&theirs.tls) && ours.requests == theirs.requests
            }
            (Self::Skip(ours), Self::Skip(theirs)) => {
                let fields = [&ours.url, &ours.system, &ours.peer_system]
                    == [&theirs.url, &theirs.system, &theirs.peer_system];
                let is_same_tls = match (&ours.tls, &theirs.tls) {
                    (Some(ours), Some(theirs)) => ours.is_same(theirs),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                };
                fields && is_same_tls && ours.requests == theirs.requests
            }
            (Self::Command(ours), Self::Command(theirs)) => ours == theirs,
            _ => false,
        }
    }
}

/// The table of a peer, and the file for fields that the table leaves out.
pub(super) struct Layers<'r, 'a> {
    table: &'r mut Fields<'a>,
    file: Option<&'r mut Fields<'a>>,
}

impl<'r, 'a> Layers<'r, 'a> {
    /// Returns the fields of the only peer.
    pub(super) fn only(file: &'r mut Fields<'a>) -> Self {
        Self { table: file, file: None }
    }

    /// Returns the table that holds a field: that of the peer, or else the file.
    pub(super) fn holder(&mut self, name: &'static str) -> &mut Fields<'a> {
        self.table.know(name);
        match &mut self.file {
            Some(file) if !self.table.has(name) => file,
            _ => self.table,
        }
    }
}

/// A valid name of a peer.
const NAME: &str = "a name of 1 to 64 letters, digits, `-`, `_` and `.`";

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain)
}

impl Reader<'_> {
    /// Reads the tables `[[peer]]` and compares them with each other.
    pub(super) fn peer_tables(
        &mut self,
        root: &mut Fields<'_>,
        local: Option<SocketAddr>,
        workers: u16,
    ) -> Vec<PeerConfig> {
        let mut tables = root.tables("peer", self.errors);
        if tables.is_empty() || tables.len() > MAX_PEERS {
            self.errors
                .add(root.place("peer"), format_args!("there must be 1 to {MAX_PEERS} tables [[peer]]"));
        }
        // The fields of a single peer are defaults. They must be known even if each table has its own.
        for name in ["role", "suite", "esn", "window", "overlap", "rekey", "limits", "liveness"] {
            root.know(name);
        }
        let (mut peers, mut seen) = (Vec::new(), Seen::default());
        for table in &mut tables {
            let at = table.at();
            let name = table.read("name", NAME, self.errors, |text| is_name(text).then(|| text.to_owned()));
            let name = table.require("name", name, self.errors);
            let mut layers = Layers { table: &mut *table, file: Some(&mut *root) };
            let peer = self.peer(&mut layers, name.clone(), local, workers);
            table.finish(self.errors);
            // Without a name, the error is reported already.
            let Some(peer) = peer.filter(|_| name.is_some()) else { continue };
            seen.check(&peer, at, self.errors);
            peers.push(peer);
        }
        peers
    }

    /// Reads a peer. Only tables have names and `allowed` prefixes.
    pub(super) fn peer(
        &mut self,
        layers: &mut Layers<'_, '_>,
        name: Option<String>,
        local: Option<SocketAddr>,
        workers: u16,
    ) -> Option<PeerConfig> {
        let is_table = layers.file.is_some();
        let holder = layers.holder("role");
        let role = holder.read("role", "\"master\" or \"slave\"", self.errors, |text| match text {
            "master" => Some(Role::Master),
            "slave" => Some(Role::Slave),
            _ => None,
        });
        let role = holder.require("role", role, self.errors);
        let address = self.address(layers.table, if is_table { "address" } else { "peer" }, local, workers);
        let holder = layers.holder("suite");
        let names = Transform::ALL.map(|transform| transform.id).join(", ");
        let transform = holder.read("suite", &format!("one of {names}"), self.errors, Transform::by_id);
        let transform = holder.require("suite", transform, self.errors);
        let extended = layers.holder("esn").flag("esn", self.errors).unwrap_or(true);
        let window =
            layers.holder("window").number("window", 64, 1 << 20, self.errors).unwrap_or(8192) as usize;
        let control_key = self.secret_file(layers.table, "control-key");
        let control_key = layers.table.require("control-key", control_key, self.errors);
        let overlap = self.duration(layers.holder("overlap"), "overlap").unwrap_or(Duration::from_secs(2));
        let keys = layers.table.table("keys", self.errors);
        let keys = layers.table.require("keys", keys, self.errors).and_then(|fields| self.keys(fields));
        let (rekey, limits) = self.limits(layers, extended);
        if overlap > rekey.age.max(MIN_EVERY) * MAX_OVERLAPPING {
            self.errors.add(
                layers.holder("overlap").place("overlap"),
                format_args!(
                    "`overlap` must be at most {MAX_OVERLAPPING} times `every` in [rekey], which is {}",
                    humantime::format_duration(rekey.age)
                ),
            );
        }
        let liveness = self.liveness(layers);
        let allowed = if is_table { self.allowed(layers.table) } else { Vec::new() };
        Some(PeerConfig {
            name,
            allowed,
            role: role?,
            address: address?,
            transform: transform?,
            extended,
            window,
            control_key: control_key?,
            keys: keys?,
            rekey,
            limits,
            overlap,
            liveness,
        })
    }

    fn allowed(&mut self, table: &mut Fields<'_>) -> Vec<IpNet> {
        let what = "an inner prefix behind the peer, like \"10.9.1.0/24\"";
        let allowed = table.list::<IpNet>("allowed", what, self.errors);
        table.require("allowed", (!allowed.is_empty()).then_some(()), self.errors);
        if table.has("allowed") && allowed.is_empty() && self.errors.is_empty() {
            self.errors.add(table.place("allowed"), "`allowed` must name a prefix; no packet could pass");
        }
        allowed.iter().map(IpNet::trunc).collect()
    }

    /// Reads the address of a peer, and checks that it denotes a single host and fits `local`.
    fn address(
        &mut self,
        table: &mut Fields<'_>,
        name: &'static str,
        local: Option<SocketAddr>,
        workers: u16,
    ) -> Option<Peer> {
        table.know(name);
        if !table.has(name) {
            if workers > 1 {
                self.errors.add(
                    table.place("workers"),
                    format_args!(
                        "`workers` must be 1 without `{name}`: each worker has its own port, which only `{name}` tells"
                    ),
                );
            }
            return Some(Peer::Absent);
        }
        let peer = self.address_of(table, name, PEER, |text| text.parse::<Peer>().ok())?;
        match &peer {
            Peer::Address(address) => {
                self.check_port(table, name, address.port(), workers);
                self.check_host(table, name, address.ip());
                self.check_zone(table, name, *address);
            }
            Peer::Name { port, .. } => self.check_port(table, name, *port, workers),
            Peer::Absent => {}
        }
        if let (Some(local), Some(address)) = (local, peer.address()) {
            if local.is_ipv4() != address.is_ipv4() {
                let at = table.place(name);
                self.errors.add(at, format_args!("`local` and `{name}` must be of the same IP version"));
            }
            if let (SocketAddr::V6(here), SocketAddr::V6(there)) = (local, address)
                && ![0, there.scope_id()].contains(&here.scope_id())
                && there.scope_id() != 0
            {
                let at = table.place(name);
                self.errors.add(at, format_args!("`{name}` must have the interface of `local`"));
            }
            if local == address {
                self.errors.add(table.place(name), format_args!("`{name}` must differ from `local`"));
            }
        }
        Some(peer)
    }

    /// Checks that an address denotes a single host. That of this end may be unspecified.
    pub(super) fn check_host(&mut self, table: &Fields<'_>, name: &str, ip: IpAddr) {
        let is_unspecified = name != "local" && ip.is_unspecified();
        let is_group = ip.is_multicast() || ip == IpAddr::V4(Ipv4Addr::BROADCAST);
        if is_unspecified || is_group {
            self.errors.add(table.place(name), format_args!("`{name}` must be the address of a single host"));
        }
    }
}

/// What must differ between the peers of an end.
#[derive(Default)]
struct Seen {
    names: HashSet<String>,
    control_keys: HashSet<Fingerprint>,
    prefixes: HashSet<IpNet>,
}

impl Seen {
    /// Reports what another peer has too.
    fn check(&mut self, peer: &PeerConfig, at: usize, errors: &mut Errors) {
        if let Some(name) = &peer.name
            && !self.names.insert(name.clone())
        {
            errors.add(at, "another [[peer]] has the same `name`");
        }
        if !self.control_keys.insert(Fingerprint::of(&peer.control_key)) {
            errors.add(
                at,
                "another [[peer]] has the same `control-key`, so their messages cannot be told apart; create one with \
                 `sealcomb-link keygen`",
            );
        }
        for prefix in &peer.allowed {
            if !self.prefixes.insert(*prefix) {
                errors.add(at, format_args!("`allowed`: another [[peer]] has the prefix {prefix} too"));
            }
        }
    }
}
