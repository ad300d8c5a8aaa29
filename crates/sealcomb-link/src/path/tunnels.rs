//! The tunnels to the peers, as the packet threads and the control task share them.
//!
//! ```text
//! out:  inner destination ─► longest prefix ─► tunnel ─► its sending association
//! in:   SPI ─► tunnel ─► its receiving association ─► inner source must belong to the tunnel too
//! ```

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use ipnet::IpNet;
use sealcomb_esp::Layout;

use super::Activity;
use super::routes::Routes;
use crate::associations::Associations;
use crate::config::peers::{MAX_PEERS, PeerConfig};
use crate::counters::Counters;

/// What a packet thread shares with the control task about a peer.
pub struct Strand {
    /// The thread's counters of this peer.
    pub counters: Counters,
    /// The times of the latest traffic.
    pub activity: Activity,
    /// The address to which the thread sends; `None` while it is unknown, and always if the thread's socket is
    /// connected.
    address: RwLock<Option<SocketAddr>>,
}

impl Strand {
    fn new(now: Instant) -> Self {
        Self { counters: Counters::default(), activity: Activity::new(now), address: RwLock::default() }
    }

    /// Returns the address to which the thread sends.
    pub fn address(&self) -> Option<SocketAddr> {
        *self.address.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the address to which the thread sends, from the next batch on.
    pub fn set_address(&self, address: SocketAddr) {
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }
}

/// The tunnel to a peer.
pub struct Tunnel {
    /// The number of the peer.
    pub slot: usize,
    /// The peer's name and a colon, as a prefix of log lines; empty without tables of peers.
    pub prefix: String,
    /// The sizes of the peer's packets.
    pub layout: Layout,
    /// The associations in use.
    pub associations: Associations,
    /// One strand per packet thread.
    pub strands: Vec<Strand>,
}

impl Tunnel {
    /// Creates the tunnel of a peer that is not connected, with this number of packet threads.
    pub fn new(slot: usize, config: &PeerConfig, threads: usize, now: Instant) -> Self {
        let strands = (0..threads).map(|_| Strand::new(now)).collect();
        let layout = config.transform.layout();
        Self { slot, prefix: config.prefix(), layout, associations: Associations::default(), strands }
    }
}

/// The tunnels at one time.
#[derive(Default)]
pub(crate) struct Table {
    /// The tunnels by the number of the peer.
    slots: Vec<Option<Arc<Tunnel>>>,
    routes: Routes,
}

impl Table {
    /// Returns the tunnel to the peer of this number.
    pub(crate) fn slot(&self, slot: usize) -> Option<&Arc<Tunnel>> {
        self.slots.get(slot)?.as_ref()
    }

    /// Returns the tunnel to the peer with this inner address.
    pub(crate) fn to(&self, address: IpAddr) -> Option<&Arc<Tunnel>> {
        self.slot(self.routes.peer(address)?)
    }

    /// Returns whether a peer may send packets from this inner address.
    pub(crate) fn is_allowed(&self, tunnel: &Tunnel, source: IpAddr) -> bool {
        self.routes.peer(source) == Some(tunnel.slot)
    }

    /// Returns whether all packets belong to one tunnel, whatever their addresses.
    pub(crate) fn only(&self) -> Option<&Arc<Tunnel>> {
        match self.routes {
            Routes::All => self.slot(0),
            Routes::Prefixes(_) => None,
        }
    }

    /// Returns the tunnel whose packets may have this SPI.
    pub(crate) fn with_spi(&self, spi: u32) -> Option<&Arc<Tunnel>> {
        match self.routes {
            Routes::All => self.only(),
            Routes::Prefixes(_) => self.slot(spi as usize % MAX_PEERS),
        }
    }
}

/// The tunnels, at first none. Packet threads take a snapshot per batch; the control task replaces it when peers come
/// and go.
#[derive(Default)]
pub struct Tunnels(RwLock<Arc<Table>>);

impl Tunnels {
    /// Sets the only tunnel of a link without tables of peers.
    pub fn set_only(&self, tunnel: Arc<Tunnel>) {
        self.set(Table { slots: vec![Some(tunnel)], routes: Routes::All });
    }

    /// Replaces the tunnels, from the next batch on. Each has the inner prefixes of its peer.
    pub fn replace<'a>(&self, tunnels: impl Iterator<Item = (&'a Arc<Tunnel>, &'a [IpNet])> + Clone) {
        let mut slots = vec![None; tunnels.clone().map(|(tunnel, _)| tunnel.slot + 1).max().unwrap_or(0)];
        for (tunnel, _) in tunnels.clone() {
            slots[tunnel.slot] = Some(tunnel.clone());
        }
        let routes = Routes::new(tunnels.map(|(tunnel, allowed)| (tunnel.slot, allowed)));
        self.set(Table { slots, routes });
    }

    fn set(&self, table: Table) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(table);
    }

    /// Returns the tunnels at this time.
    pub(crate) fn table(&self) -> Arc<Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use sealcomb_esp::Transform;
    use zeroize::Zeroizing;

    use super::*;
    use crate::config::{Keys, Limits, Liveness, Peer, Role};

    fn tunnel(slot: usize) -> Arc<Tunnel> {
        let none = Limits { age: std::time::Duration::ZERO, packets: 0, bytes: 0 };
        let config = PeerConfig {
            name: Some(format!("peer-{slot}")),
            allowed: Vec::new(),
            role: Role::Master,
            address: Peer::Absent,
            transform: Transform::by_id("aes256-gcm").unwrap(),
            extended: true,
            window: 64,
            control_key: Zeroizing::default(),
            keys: Keys::File(Zeroizing::default()),
            rekey: none,
            limits: none,
            overlap: std::time::Duration::ZERO,
            liveness: Liveness::DEFAULT,
        };
        Arc::new(Tunnel::new(slot, &config, 1, Instant::now()))
    }

    fn table(peers: &[(&Arc<Tunnel>, &[IpNet])]) -> Arc<Table> {
        let tunnels = Tunnels::default();
        tunnels.replace(peers.iter().copied());
        tunnels.table()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_peer_may_send_only_from_addresses_that_belong_to_it() {
        let (wide, narrow) = (tunnel(0), tunnel(5));
        let prefixes = ["10.9.0.0/16", "10.9.7.0/24", "fd09::/64"].map(|text| text.parse().unwrap());
        let table = table(&[(&wide, &prefixes[..1]), (&narrow, &prefixes[1..])]);
        for (address, owner) in [
            ("10.9.0.1", Some(&wide)),
            ("10.9.7.1", Some(&narrow)),
            ("10.9.8.0", Some(&wide)),
            ("fd09::1", Some(&narrow)),
            ("fd09:0:0:1::", None),
            ("10.10.0.1", None),
        ] {
            let address = ip(address);
            for tunnel in [&wide, &narrow] {
                let is_owner = owner.is_some_and(|owner| owner.slot == tunnel.slot);
                assert_eq!(table.is_allowed(tunnel, address), is_owner, "{address}");
            }
            assert_eq!(
                table.to(address).map(|tunnel| tunnel.slot),
                owner.map(|owner| owner.slot),
                "{address}"
            );
        }
    }

    #[test]
    fn the_low_bits_of_an_spi_name_the_peer() {
        let (first, fifth) = (tunnel(0), tunnel(5));
        let table = table(&[(&first, &[]), (&fifth, &[])]);
        let slot = |spi| table.with_spi(spi).map(|tunnel| tunnel.slot);
        assert_eq!(
            (slot(7 << 12), slot((7 << 12) | 5), slot(u32::MAX / 4096 * 4096 + 5)),
            (Some(0), Some(5), Some(5))
        );
        assert_eq!((slot((7 << 12) | 1), slot((7 << 12) | 6), slot(u32::MAX)), (None, None, None));
    }

    #[test]
    fn an_only_peer_owns_all_addresses_and_spis() {
        let tunnels = Tunnels::default();
        assert!(tunnels.table().only().is_none() && tunnels.table().with_spi(300).is_none());
        let tunnel = tunnel(0);
        tunnels.set_only(tunnel.clone());
        let table = tunnels.table();
        assert!(table.only().is_some() && table.is_allowed(&tunnel, ip("192.0.2.1")));
        assert!(table.with_spi(u32::MAX).is_some() && table.to(ip("fd00::1")).is_some());
    }

    #[test]
    fn a_removed_peer_owns_nothing() {
        let (first, second) = (tunnel(0), tunnel(1));
        let prefix: IpNet = "10.9.0.0/16".parse().unwrap();
        let tunnels = Tunnels::default();
        tunnels.replace([(&first, &[prefix][..]), (&second, &[])].into_iter());
        tunnels.replace([(&second, &[][..])].into_iter());
        let table = tunnels.table();
        assert!(table.to(ip("10.9.0.1")).is_none() && table.with_spi(4096).is_none());
        assert!(table.with_spi(4097).is_some());
    }
}
