//! A peer that is measured must do the same work: every library gives the bytes that sealcomb gives.

use sealcomb::{ALGORITHMS, Key, Kind};

const LENGTHS: [usize; 6] = [0, 16, 64, 256, 2048, 16384];

#[test]
fn every_peer_gives_the_bytes_that_sealcomb_gives() {
    let mut compared = 0;
    for algorithm in ALGORITHMS {
        let key: Vec<u8> = (0..algorithm.key_bytes as u8).collect();
        let ours = Key::new(algorithm, &key).unwrap();
        for peer in sealcomb_peers::peers(algorithm.id, &key) {
            for length in LENGTHS {
                let nonce: Vec<u8> = (1..=algorithm.nonce_bytes as u8).collect();
                let message: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let (mut our_tag, mut peer_tag) =
                    (vec![0; algorithm.tag_bytes], vec![0; algorithm.tag_bytes]);
                let (mut sealed, mut peer_sealed) = (message.clone(), message.clone());
                if algorithm.kind == Kind::Mac {
                    ours.seal_in_place(&nonce, &message, &mut [], &mut our_tag).unwrap();
                } else {
                    ours.seal_in_place(&nonce, &[], &mut sealed, &mut our_tag).unwrap();
                }
                peer.seal(&nonce, &mut peer_sealed, &mut peer_tag);
                assert_eq!(
                    (peer_sealed, peer_tag),
                    (sealed, our_tag),
                    "{} by {}, {length} bytes",
                    algorithm.id,
                    peer.library()
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 20 * LENGTHS.len(), "only {compared} comparisons");
}
