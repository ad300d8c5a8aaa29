//! Runs of sectors equal their sectors one by one, and mistakes are refused before anything is written.

mod common {
    pub(crate) mod backends;
}

use common::backends;
use sealcomb::hazmat::Sectors;
use sealcomb::study::{self, ALGORITHMS};
use sealcomb::{Backend, Error, Key, KeyOptions};

fn key(id: &str, backend: Backend) -> Key {
    let algorithm = study::by_id(id).expect("a listed algorithm");
    let bytes: Vec<u8> = (0..algorithm.key_bytes() as u8).collect();
    KeyOptions::new().backend(backend).expand(algorithm, &bytes).expect("a key of the right length")
}

/// Seals the sectors of a run one by one.
fn one_by_one(key: &Key, (bytes, step): (usize, u64), first: u64, run: &mut [u8]) {
    for (sector, number) in run.chunks_mut(bytes).zip(0..) {
        let tweak = u128::from(first) + u128::from(step) * number;
        key.seal_in_place_detached(&tweak.to_le_bytes(), &[], sector, &mut []).expect("the right sizes");
    }
}

#[test]
fn runs_equal_their_sectors_one_by_one() {
    for backend in backends::available() {
        for id in ["aes128-xts", "aes256-xts"] {
            let key = key(id, backend);
            for (bytes, run_bytes) in [
                (16, 16 * 129),
                (17, 17 * 64),
                (512, 0),
                (512, 100),
                (512, 512),
                (512, 65 * 512),
                (512, 9 * 512 + 16),
                (520, 3 * 520 + 519),
                (4096, 2 * 4096 + 33),
            ] {
                for (first, step) in [(0, 1), (800, 8), (u64::MAX - 1, 1), (7, u64::MAX), (1, 0)] {
                    let run: Vec<u8> = (0..run_bytes).map(|i: usize| (i % 251) as u8).collect();
                    let mut expected = run.clone();
                    one_by_one(&key, (bytes, step), first, &mut expected);
                    let sectors = Sectors::new(&key, bytes).expect("a size of XTS").step(step);
                    let mut sealed = run.clone();
                    sectors.encrypt(first, &mut sealed).expect("whole sectors");
                    assert!(sealed == expected, "{id} {backend:?} {bytes} {run_bytes} {first} {step}");
                    sectors.decrypt(first, &mut sealed).expect("whole sectors");
                    assert!(sealed == run, "{id} {backend:?} {bytes} {run_bytes} {first} {step}");
                }
            }
        }
    }
}

#[test]
fn the_numbers_of_a_long_run_go_on_counting() {
    let key = key("aes128-xts", Backend::best());
    let sectors = Sectors::new(&key, 16).expect("a size of XTS").step(3);
    let mut run = vec![7; 16 * ((1 << 16) + 100)];
    sectors.encrypt(5, &mut run).expect("whole sectors");
    // Around every power of two, where a number could begin again.
    for n in (4..=16).flat_map(|power| (1_u64 << power) - 2..(1 << power) + 66) {
        let sector = &mut run[16 * n as usize..][..16];
        sectors.decrypt(5 + 3 * n, sector).expect("a whole sector");
        assert_eq!(sector, [7; 16], "sector {n}");
        sectors.encrypt(5 + 3 * n, sector).expect("a whole sector");
    }
}

#[test]
fn a_last_sector_of_less_than_a_block_is_refused() {
    let key = key("aes128-xts", Backend::best());
    let sectors = Sectors::new(&key, 512).expect("a size of XTS");
    for got in 1..16 {
        let mut run = vec![7; 3 * 512 + got];
        let refused = Err(Error::MessageTooShort { min: 16, got });
        assert_eq!(sectors.encrypt(1, &mut run), refused);
        assert_eq!(sectors.decrypt(1, &mut run), refused);
        assert!(run.iter().all(|&byte| byte == 7));
    }
}

#[test]
fn sectors_of_impossible_sizes_are_refused() {
    let key = key("aes256-xts", Backend::best());
    for got in [0, 15] {
        let refused = Sectors::new(&key, got).err();
        assert_eq!(refused, Some(Error::MessageTooShort { min: 16, got }));
    }
    let limit = 1 << 24;
    let refused = Sectors::new(&key, limit + 1).err();
    assert_eq!(refused, Some(Error::MessageTooLong { limit: limit as u64, got: limit as u64 + 1 }));
    assert!(Sectors::new(&key, limit).is_ok());
}

#[test]
fn only_xts_has_sectors() {
    for algorithm in ALGORITHMS.iter().copied().filter(|algorithm| algorithm.mode_id() != "xts") {
        let refused = Sectors::new(&key(algorithm.id(), Backend::best()), 512).err();
        assert_eq!(refused, Some(Error::NoSectors { algorithm: algorithm.id() }));
    }
}
