//! Every peer produces the same bytes as sealcomb, so that comparisons measure the same work.

use sealcomb::study::ALGORITHMS;
use sealcomb::{Key, Kind};
use sealcomb_peers::Message;

const LENGTHS: [usize; 7] = [0, 16, 64, 100, 256, 2048, 16384];

#[test]
fn every_peer_produces_the_bytes_of_sealcomb() {
    let mut compared = 0;
    for &algorithm in ALGORITHMS {
        let key: Vec<u8> = (0..algorithm.key_bytes() as u8).collect();
        let ours = Key::new(algorithm, &key).unwrap();
        let other: Vec<u8> = key.iter().map(|byte| byte ^ 1).collect();
        let mut rekeyed = sealcomb_peers::peers(algorithm.id(), &other);
        for peer in &mut rekeyed {
            peer.rekey(&key);
        }
        for peer in sealcomb_peers::peers(algorithm.id(), &key).iter().chain(&rekeyed) {
            for length in LENGTHS.map(|length| algorithm.padded_bytes(length)) {
                let nonce: Vec<u8> = (1..=algorithm.nonce_bytes() as u8).collect();
                if !peer.takes(&nonce, length) {
                    continue;
                }
                let message: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let (mut our_tag, mut peer_tag) =
                    (vec![0; algorithm.tag_bytes()], vec![0; algorithm.tag_bytes()]);
                let (mut sealed, mut peer_sealed) = (message.clone(), message.clone());
                if algorithm.kind() == Kind::Mac {
                    ours.seal_in_place_detached(&nonce, &message, &mut [], &mut our_tag).unwrap();
                } else {
                    ours.seal_in_place_detached(&nonce, &[], &mut sealed, &mut our_tag).unwrap();
                }
                let (sealed_by_us, tag_by_us) = (sealed.clone(), our_tag.clone());
                peer.seal(&nonce, &mut peer_sealed, &mut peer_tag);
                assert_eq!(
                    (peer_sealed, peer_tag),
                    (sealed, our_tag),
                    "{} by {}, {length} bytes",
                    algorithm.id(),
                    peer.library()
                );
                let mut opened = sealed_by_us;
                assert!(
                    peer.open(&nonce, &mut opened, &mut tag_by_us.clone()),
                    "{} rejects it",
                    peer.library()
                );
                assert_eq!(opened, message, "{} by {}, {length} bytes", algorithm.id(), peer.library());
                compared += 1;
            }
        }
    }
    assert!(compared >= 20 * LENGTHS.len(), "only {compared} comparisons");
}

#[test]
fn a_peer_processes_many_messages_like_single_ones() {
    let mut compared = 0;
    for &algorithm in ALGORITHMS {
        let key: Vec<u8> = (0..algorithm.key_bytes() as u8).collect();
        for peer in sealcomb_peers::peers(algorithm.id(), &key).iter().filter(|peer| peer.takes_many()) {
            let nonces: Vec<Vec<u8>> = (0..150).map(|i| vec![i; algorithm.nonce_bytes()]).collect();
            let mut alone: Vec<(Vec<u8>, Vec<u8>)> = (0..150)
                .map(|i| (vec![i; 16 * (1 + usize::from(i % 9))], vec![0; algorithm.tag_bytes()]))
                .collect();
            let plain = alone.clone();
            let mut together = alone.clone();
            for ((data, tag), nonce) in alone.iter_mut().zip(&nonces) {
                peer.seal(nonce, data, tag);
            }
            let messages = |jobs: &mut [(Vec<u8>, Vec<u8>)], opens: bool| {
                let mut messages: Vec<Message<'_>> = jobs
                    .iter_mut()
                    .zip(&nonces)
                    .map(|((data, tag), nonce)| Message { nonce, data, tag })
                    .collect();
                if opens {
                    peer.open_many(&mut messages)
                } else {
                    peer.seal_many(&mut messages);
                    true
                }
            };
            messages(&mut together, false);
            assert_eq!(alone, together, "{} by {}", algorithm.id(), peer.library());
            assert!(messages(&mut together, true));
            assert!(together.iter().zip(&plain).all(|(opened, plain)| opened.0 == plain.0));
            compared += 1;
        }
    }
    assert!(cfg!(not(target_arch = "x86_64")) || compared >= 6, "only {compared} algorithms");
}
