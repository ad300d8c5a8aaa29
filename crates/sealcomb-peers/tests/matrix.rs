//! The benchmark's batches and memory layouts are what its documentation promises.

#[path = "../benches/matrix/batches.rs"]
mod batches;
#[path = "../benches/matrix/buffers.rs"]
mod buffers;
#[path = "../benches/matrix/lengths.rs"]
mod lengths;

use std::collections::HashSet;

use batches::{BATCHES, Batches};
use buffers::{Layout, Messages};
use lengths::Lengths;
use sealcomb::study;
use sealcomb::{Burst, Key, Opened, Verdict};

fn batches(id: &str, lengths: Lengths, batch: usize, layout: Layout) -> Batches {
    Batches::new(study::by_id(id).unwrap(), lengths, batch, layout, BATCHES)
}

/// Returns the lengths of each batch's messages, and their nonces.
fn contents(batches: &Batches) -> Vec<(Vec<usize>, Vec<Vec<u8>>)> {
    let mut contents = vec![];
    batches.process(&mut batches.buffers(), |messages| {
        contents.push(messages.each().map(|(nonce, data, _)| (data.len(), nonce.to_vec())).unzip());
    });
    contents
}

#[test]
fn no_two_batches_of_a_mix_have_equal_lengths_or_nonces() {
    let contents = contents(&batches("aes128-gcm", Lengths::Mix, 64, Layout::Packed));
    assert_eq!(contents.len(), 256);
    let sequences: HashSet<_> = contents.iter().map(|(lengths, _)| lengths).collect();
    let sorted: HashSet<_> = contents
        .iter()
        .map(|(lengths, _)| {
            let mut lengths = lengths.clone();
            lengths.sort_unstable();
            lengths
        })
        .collect();
    let nonces: HashSet<_> = contents.iter().map(|(_, nonce)| nonce).collect();
    assert_eq!([sequences.len(), sorted.len(), nonces.len()], [256; 3]);
}

#[test]
fn a_mix_has_its_mean_length_in_batches_of_every_size() {
    for batch in [1, 4, 64, 256] {
        let contents = contents(&batches("aes128-cbc", Lengths::Mix, batch, Layout::Packed));
        let lengths: Vec<usize> = contents.into_iter().flat_map(|(lengths, _)| lengths).collect();
        let mean = lengths.iter().sum::<usize>() / lengths.len();
        assert!(mean.abs_diff(Lengths::Mix.mean()) < 40, "batches of {batch}: {mean} bytes");
        assert!(lengths.iter().all(|bytes| bytes % 16 == 0 && *bytes <= 1504));
    }
}

#[test]
fn large_batches_are_fewer() {
    let count =
        |bytes, batch| contents(&batches("aes128-gcm", Lengths::All(bytes), batch, Layout::Packed)).len();
    assert_eq!([count(64, 64), count(64, 256), count(8192, 1), count(8192, 256)], [256, 64, 256, 8]);
    assert_eq!(count(1 << 26, 4), 1);
}

/// Returns the addresses of the messages of the first batch.
fn addresses(lengths: Lengths, layout: Layout) -> Vec<usize> {
    let batches = batches("aes128-gcm", lengths, 4, layout);
    let mut addresses = vec![];
    batches.process(&mut batches.buffers(), |messages| {
        addresses.extend(messages.data.map(|data| data.as_ptr() as usize));
    });
    addresses.truncate(4);
    addresses
}

#[test]
fn messages_have_the_distances_of_their_layout() {
    for (bytes, layout, distance) in [
        (64, Layout::Packed, 64),
        (64, Layout::Page, 8192),
        (8192, Layout::Page, 8192),
        (8193, Layout::Page, 16384),
        (64, Layout::Offset, 8208),
        (20000, Layout::Offset, 32784),
    ] {
        let addresses = addresses(Lengths::All(bytes), layout);
        assert_eq!(addresses[0] % 8192, 0);
        assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] == distance), "{bytes} bytes, {layout}");
    }
    let addresses = addresses(Lengths::Mix, Layout::Page);
    assert!(addresses.windows(2).all(|pair| pair[1] - pair[0] == 8192));
}

#[test]
fn every_sealed_batch_opens_twice() {
    for id in ["aes128-gcm", "aes128-ccm", "aes128-eax", "aes128-siv", "aes128-gcm-siv", "aes128-ocb3-t128"] {
        for layout in [Layout::Packed, Layout::Page, Layout::Offset] {
            let mut batches = batches(id, Lengths::Mix, 16, layout);
            let algorithm = study::by_id(id).unwrap();
            let key = Key::new(algorithm, &vec![7; algorithm.key_bytes()]).unwrap();
            batches.seal_with(|Messages { nonces, data, tags }| {
                Burst::new(&key, nonces).seal(&mut data.collect::<Vec<_>>(), tags).unwrap();
            });
            let mut opened = 0;
            let mut buffers = batches.buffers();
            for _ in 0..2 {
                batches.process(&mut buffers, |Messages { nonces, data, tags }| {
                    let mut verdicts = vec![Verdict::Pending; nonces.len()];
                    let mut data: Vec<_> = data.collect();
                    assert_eq!(
                        Burst::new(&key, nonces).open(&mut data, tags, &mut verdicts).map(Opened::forged),
                        Ok(0),
                        "{id}"
                    );
                    opened += data.len();
                });
            }
            assert_eq!(opened, 2 * batches.messages());
        }
    }
}
