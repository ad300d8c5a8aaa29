//! `aegis`: C code with intrinsics, by the authors of the specification.

use crate::{Peer, versions::with_version};
use aegis::aegis128l::Aegis128L;
use aegis::aegis256::Aegis256;

pub(crate) fn peer(algorithm: &str, key: &[u8]) -> Option<Peer> {
    /// Creates a peer. There is no expanded key: a state takes a key and a nonce.
    macro_rules! peer {
        ($State:ty) => {
            Peer::new(
                with_version("aegis"),
                key,
                |key| key.try_into().expect("a key of the algorithm's length"),
                |key, nonce, message, tag| {
                    tag.copy_from_slice(&<$State>::new(key, sized(nonce)).encrypt_in_place(message, b""));
                },
                |key, nonce, message, tag| {
                    <$State>::new(key, sized(nonce)).decrypt_in_place(message, sized(tag), b"").is_ok()
                },
            )
        };
    }
    match algorithm {
        "aegis128l" => Some(peer!(Aegis128L<16>)),
        "aegis256" => Some(peer!(Aegis256<16>)),
        _ => None,
    }
}

fn sized<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.try_into().expect("the algorithm's length")
}
