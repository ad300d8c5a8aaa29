//! Routing by the inner addresses: each address belongs to the peer with the longest prefix that contains it.

use std::net::IpAddr;

use ipnet::IpNet;
use prefix_trie::joint::JointPrefixMap;

/// The prefixes of all peers.
pub(crate) enum Routes {
    /// All addresses belong to the only peer, whose number is 0.
    All,
    /// The number of the peer by prefix.
    Prefixes(Box<JointPrefixMap<IpNet, usize>>),
}

impl Default for Routes {
    fn default() -> Self {
        Self::Prefixes(Box::default())
    }
}

impl Routes {
    /// Returns the routes to the peers of these numbers.
    pub(crate) fn new<'a>(peers: impl Iterator<Item = (usize, &'a [IpNet])>) -> Self {
        let prefixes = peers.flat_map(|(slot, allowed)| allowed.iter().map(move |prefix| (*prefix, slot)));
        Self::Prefixes(Box::new(prefixes.collect()))
    }

    /// Returns the number of the peer that an inner address belongs to.
    pub(crate) fn peer(&self, address: IpAddr) -> Option<usize> {
        match self {
            Self::All => Some(0),
            Self::Prefixes(prefixes) => prefixes.get_lpm(&address.into()).map(|(_, slot)| *slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Prefixes over few distinct bits, so that many contain each other.
    fn prefix() -> impl Strategy<Value = IpNet> {
        let v4 = (any::<[bool; 6]>(), 0_u8..=32).prop_map(|(bits, len)| IpNet::new(v4(bits), len).unwrap());
        let v6 = (any::<[bool; 6]>(), 0_u8..=128).prop_map(|(bits, len)| IpNet::new(v6(bits), len).unwrap());
        prop_oneof![v4, v6].prop_map(|prefix: IpNet| prefix.trunc())
    }

    fn v4(bits: [bool; 6]) -> IpAddr {
        let places = [31, 24, 16, 8, 1, 0];
        let address = places.iter().zip(bits).map(|(place, bit)| u32::from(bit) << place).sum::<u32>();
        IpAddr::V4(address.into())
    }

    fn v6(bits: [bool; 6]) -> IpAddr {
        let places = [127, 96, 64, 63, 1, 0];
        let address = places.iter().zip(bits).map(|(place, bit)| u128::from(bit) << place).sum::<u128>();
        IpAddr::V6(address.into())
    }

    fn address() -> impl Strategy<Value = IpAddr> {
        prop_oneof![any::<[bool; 6]>().prop_map(v4), any::<[bool; 6]>().prop_map(v6)]
    }

    proptest! {
        #[test]
        fn an_address_belongs_to_the_longest_prefix_that_contains_it(
            prefixes in prop::collection::btree_map(prefix(), 0_usize..8, 0..40),
            addresses in prop::collection::vec(address(), 1..40),
        ) {
            let mut allowed: BTreeMap<usize, Vec<IpNet>> = BTreeMap::new();
            for (prefix, slot) in &prefixes {
                allowed.entry(*slot).or_default().push(*prefix);
            }
            let routes = Routes::new(allowed.iter().map(|(slot, prefixes)| (*slot, &prefixes[..])));
            for address in addresses {
                let containing = prefixes.iter().filter(|(prefix, _)| prefix.contains(&address));
                let expected = containing.max_by_key(|(prefix, _)| prefix.prefix_len()).map(|(_, slot)| *slot);
                prop_assert_eq!(routes.peer(address), expected, "{}", address);
            }
        }
    }

    #[test]
    fn every_address_belongs_to_an_only_peer_and_none_to_no_peer() {
        for address in ["0.0.0.0", "255.255.255.255", "::", "fd00::1"] {
            let address = address.parse().unwrap();
            assert_eq!(Routes::All.peer(address), Some(0));
            assert_eq!(Routes::new(std::iter::empty()).peer(address), None);
        }
    }
}
