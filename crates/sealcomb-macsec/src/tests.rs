//! Known-answer tests from annex C of IEEE 802.1AE-2018, and property tests for arbitrary frames.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::{
    BadTag, Channel, Header, ICV_BYTES, Incoming, Outgoing, Sak, Sci, SciForm, SealError, SecTag, open, seal,
};

/// Two consecutive clauses of IEEE 802.1AE-2018, annex C (C.1 to C.8), which share addresses, keys, SCI and PN.
struct Known {
    addresses: &'static str,
    /// A 16-byte key and a 32-byte key.
    keys: [&'static str; 2],
    sci: &'static str,
    pn: u32,
    form: SciForm,
    /// An integrity-only frame, then an encrypted one.
    frames: [Frame; 2],
}

/// A frame whose user data is 08 00, the bytes from 0f up to `counts_to`, and `end`.
struct Frame {
    an: u8,
    counts_to: u8,
    end: [u8; 2],
    /// For each key: the encrypted user data (if encrypted) and the ICV.
    sealed: [&'static str; 2],
}

const ANNEX_C: [Known; 4] = [
    Known {
        addresses: "d609b1f056637a0d46df998d",
        keys: [
            "ad7a2bd03eac835a6f620fdcb506b345",
            "e3c08a8f06c6e3ad95a70557b23f75483ce33021a9c72b7025666204c69c0b72",
        ],
        sci: "12153524c0895e81",
        pn: 0xb2c2_8465,
        form: SciForm::Explicit,
        frames: [
            Frame {
                an: 2,
                counts_to: 0x34,
                end: [0, 1],
                sealed: ["f09478a9b09007d06f46e9b6a1da25dd", "2f0bc5af409e06d609ea8b7d0fa5ea50"],
            },
            Frame {
                an: 2,
                counts_to: 0x3a,
                end: [0, 2],
                sealed: [
                    "701afa1cc039c0d765128a665dab69243899bf7318ccdc81c9931da17fbe8edd\
                     7d17cb8b4c26fc81e3284f2b7fba713d4f8d55e7d3f06fd5a13c0c29b9d5b880",
                    "e2006eb42f5277022d9b19925bc419d7a592666c925fe2ef718eb4e308efeaa7\
                     c5273b394118860a5be2a97f56ab78365ca597cdbb3edb8d1a1151ea0af7b436",
                ],
            },
        ],
    },
    Known {
        addresses: "e20106d7cd0df0761e8dcd3d",
        keys: [
            "071b113b0ca743fecccf3d051f737382",
            "691d3ee909d7f54167fd1ca0b5d769081f2bde1aee655fdbab80bd5295ae6be7",
        ],
        sci: "f0761e8dcd3d0001",
        pn: 0x76d4_57ed,
        form: SciForm::EndStation,
        frames: [
            Frame {
                an: 0,
                counts_to: 0x3a,
                end: [0, 3],
                sealed: ["0c017bc73b227dfcc9bafa1c41acc353", "35217c774bbc31b63166bcf9d4abed07"],
            },
            Frame {
                an: 0,
                counts_to: 0x34,
                end: [0, 4],
                sealed: [
                    "13b4c72b389dc5018e72a171dd85a5d3752274d3a019fbcaed09a425cd9b2e1c\
                     9b72eee7c9de7d52b3f3d6a5284f4a6d3fe22a5d6c2b960494c3",
                    "c1623f55730c93533097addad25664966125352b43adacbd61c5ef3ac90b5bee\
                     929ce4630ea79f6ce51912af39c2d1fdc2051f8b7b3c9d397ef2",
                ],
            },
        ],
    },
    Known {
        addresses: "84c5d513d2aaf6e5bbd27277",
        keys: [
            "013fe00b5f11be7f866d0cbbc55a7a90",
            "83c093b58de7ffe1c0da926ac43fb3609ac1c80fee1b624497ef942e2f79a823",
        ],
        sci: "7cfde9f9e33724c6",
        pn: 0x8932_d612,
        form: SciForm::Explicit,
        frames: [
            Frame {
                an: 3,
                counts_to: 0x3f,
                end: [0, 5],
                sealed: ["217867e50c2dad74c28c3b50abdf695a", "6ee160e8faeca4b36c86b234920ca975"],
            },
            Frame {
                an: 3,
                counts_to: 0x3b,
                end: [0, 6],
                sealed: [
                    "3a4de6fa32191014dbb303d92ee3a9e8a1b599c14d22fb080096e13811816a3c\
                     9c9bcf7c1b9b96da809204e29d0e2a7642bfd310a4837c816ccfa5ac23ab003988",
                    "110222ff8050cbece66a813ad09a73ed7a9a089c106b959389168ed6e8698ea9\
                     02eb1277dbec2e68e473155a15a7daeed4a10f4e05139c23df00b3aadc71f0596a",
                ],
            },
        ],
    },
    Known {
        addresses: "68f2e77696ce7ae8e2ca4ec5",
        keys: [
            "88ee087fd95da9fbf6725aa9d757b0cd",
            "4c973dbc7364621674f8b5b89e5c15511fced9216490fb1c1a2caa0ffe0407e5",
        ],
        sci: "7ae8e2ca4ec50001",
        pn: 0x2e58_495c,
        form: SciForm::EndStation,
        frames: [
            Frame {
                an: 1,
                counts_to: 0x4d,
                end: [0, 7],
                sealed: ["07922b8ebcf10bb2297588ca4c614523", "00bda1b7e87608bcbf470f12157f4c07"],
            },
            Frame {
                an: 1,
                counts_to: 0x49,
                end: [0, 8],
                sealed: [
                    "c31f53d99e5687f7365119b832d2aae70741d593f1f9e2ab3455779b078eb8fe\
                     acdfec1f8e3e5277f8180b43361f6512adb16d2e38548a2c719dba7228d840\
                     88f8757adb8aa788d8f65ad668be70e7",
                    "ba8ae31bc506486d6873e4fce460e7dc57591ff00611f31c3834fe1c04ad80b6\
                     6803afcf5b27e6333fa67c99da47c2f0ced68d531bd741a943cff7a6713bd0\
                     2611cd7daa01d61c5c886dc1a8170107",
                ],
            },
        ],
    },
];

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).unwrap()
}

fn sci(digits: &str) -> Sci {
    Sci(bytes(digits).try_into().unwrap())
}

#[test]
fn annex_c() {
    for known in &ANNEX_C {
        for (frame, encrypt) in known.frames.iter().zip([false, true]) {
            for (key, sealed) in known.keys.iter().zip(frame.sealed) {
                let data: Vec<u8> =
                    [8, 0].into_iter().chain(0x0f..=frame.counts_to).chain(frame.end).collect();
                let plain = [bytes(known.addresses), data.clone()].concat();
                let sci = sci(known.sci);
                let header = Header { sci, an: frame.an, form: known.form, encrypt };
                let sak = Sak::new(&bytes(key), sci).unwrap();

                let mut buffer = header.lay_out(&plain).unwrap();
                let pn = known.pn.into();
                seal(&mut [Outgoing { sak: &sak, header: &header, pn, frame: &mut buffer }]).unwrap();
                let expected = [if encrypt { vec![] } else { data }, bytes(sealed)].concat();
                assert_eq!(hex::encode(&buffer[header.data_at()..]), hex::encode(expected));

                let tag = SecTag::parse(&buffer).unwrap();
                assert_eq!((tag.an, tag.pn, tag.channel), (frame.an, known.pn, Channel::Sci(sci)));
                assert!(opens(&sak, pn, &mut buffer));
                assert_eq!(tag.without(&buffer), plain);
            }
        }
    }
}

fn opens(sak: &Sak, pn: u64, frame: &mut [u8]) -> bool {
    let Ok(tag) = SecTag::parse(frame) else { return false };
    let mut incoming = [Incoming::new(sak, &tag, pn, frame)];
    open(&mut incoming).unwrap();
    incoming[0].is_verified()
}

const SCI: Sci = Sci([2, 0, 0, 0, 0, 1, 0, 1]);

fn header(form: SciForm, encrypt: bool) -> Header {
    Header { sci: SCI, an: 1, form, encrypt }
}

fn forms() -> impl Strategy<Value = SciForm> {
    prop_oneof![Just(SciForm::Explicit), Just(SciForm::EndStation), Just(SciForm::Omitted)]
}

fn saks() -> [Sak; 4] {
    let salt = *b"twelve bytes";
    [
        Sak::new(&[1; 16], SCI).unwrap(),
        Sak::new(&[2; 32], SCI).unwrap(),
        Sak::extended(&[1; 16], 7, salt).unwrap(),
        Sak::extended(&[2; 32], 7, salt).unwrap(),
    ]
}

fn frame(data: &[u8]) -> Vec<u8> {
    [&[0xff; 6], &SCI.address()[..], data].concat()
}

#[test]
fn an_extended_nonce_is_ssci_and_packet_number_xor_salt() {
    let salt = [0xe6, 0x30, 0xe8, 0x1a, 0x48, 0xde, 0x86, 0xa2, 0x1c, 0x66, 0xfa, 0x6d];
    let sak = Sak::extended(&[1; 16], 0x7a30_c118, salt).unwrap();
    let expected = [0x9c, 0, 0x29, 2, 0xf8, 1, 0xc3, 0x3e, 0xa8, 0xa4, 0x7e, 0x08];
    assert_eq!(sak.nonce(0xb0df_459c_b4c2_8465), expected);
}

#[test]
fn a_wrong_key_length_is_refused() {
    assert!(Sak::new(&[0; 24], SCI).is_err());
    assert!(Sak::extended(&[0; 15], 1, [0; 12]).is_err());
}

#[test]
fn another_key_of_the_same_length_has_the_same_nonces() {
    for sak in saks() {
        let other = sak.with_key(&vec![0x55; sak.key_bytes()]).unwrap();
        assert_eq!((other.nonce(7), other.key_bytes()), (sak.nonce(7), sak.key_bytes()));
        assert!(sak.with_key(&[0x55; 24]).is_err());
    }
}

#[test]
fn packet_numbers_outside_the_suites_range_are_refused() {
    let header = header(SciForm::Explicit, true);
    let [short, _, extended, _] = saks();
    let plain = frame(&[8; 60]);
    for (sak, pn, is_good) in [
        (&short, 0, false),
        (&short, u32::MAX.into(), true),
        (&short, 1 << 32, false),
        (&extended, 0, false),
        (&extended, 1 << 32, true),
    ] {
        let mut buffer = header.lay_out(&plain).unwrap();
        let sealed = seal(&mut [Outgoing { sak, header: &header, pn, frame: &mut buffer }]);
        assert!(if is_good { sealed.is_ok() } else { matches!(sealed, Err(SealError::Number)) });
    }
}

#[test]
fn an_end_station_seals_only_its_own_frames() {
    let header = header(SciForm::EndStation, true);
    let mut other = frame(&[8; 60]);
    assert!(header.lay_out(&other).is_some());
    other[11] ^= 1;
    assert!(header.lay_out(&other).is_none());
}

#[test]
fn contradictory_sectags_are_invalid() {
    let [sak, ..] = saks();
    let header = header(SciForm::Explicit, true);
    let mut good = header.lay_out(&frame(&[8; 60])).unwrap();
    seal(&mut [Outgoing { sak: &sak, header: &header, pn: 1, frame: &mut good }]).unwrap();
    let with = |at: usize, byte: u8| {
        let mut frame = good.clone();
        frame[at] = byte;
        SecTag::parse(&frame)
    };
    let tci = good[14];
    for (name, wrong) in [
        ("version", with(14, tci | 0x80)),
        ("both ES and SC", with(14, tci | 0x40)),
        ("both SCB and SC", with(14, tci | 0x10)),
        ("C without E", with(14, tci & !0x08)),
        ("E without C", with(14, tci & !0x04)),
        ("48 short bytes", with(15, 48)),
        ("reserved bits of SL", with(15, 0x40)),
        ("SL of a long frame", with(15, 20)),
    ] {
        assert_eq!(wrong, Err(BadTag::Invalid), "{name}");
    }
    assert_eq!(with(13, 0xe6), Err(BadTag::Untagged));
    // SL = 0 requires at least 48 bytes of user data.
    let end = header.data_at() + 48 + ICV_BYTES;
    assert!(SecTag::parse(&good[..end]).is_ok());
    assert_eq!(SecTag::parse(&good[..end - 1]), Err(BadTag::Invalid));
}

#[test]
fn only_frames_up_to_the_ethernet_minimum_may_be_padded() {
    let [sak, ..] = saks();
    let header = header(SciForm::Explicit, true);
    let plain = frame(&[8, 0, 1]);
    let mut sealed = header.lay_out(&plain).unwrap();
    seal(&mut [Outgoing { sak: &sak, header: &header, pn: 1, frame: &mut sealed }]).unwrap();
    assert_eq!(sealed[15], 3);
    sealed.resize(60, 0);
    let mut longer = sealed.clone();
    longer.push(0);
    assert_eq!(SecTag::parse(&longer), Err(BadTag::Invalid));
    let tag = SecTag::parse(&sealed).unwrap();
    assert!(opens(&sak, 1, &mut sealed));
    assert_eq!(tag.without(&sealed), plain);
}

#[test]
fn single_copy_broadcast_has_port_0() {
    let mut sealed = frame(&[0x88, 0xe5, 0x50, 0, 0, 0, 0, 1]);
    sealed.resize(12 + 8 + 48 + ICV_BYTES, 0);
    assert_eq!(SecTag::parse(&sealed).unwrap().channel, Channel::Sci(Sci::new(SCI.address(), 0)));
}

proptest! {
    #[test]
    fn sealed_frames_of_any_batch_open_and_modified_ones_do_not(
        frames in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 2..200), forms(), any::<bool>(), 0_usize..4, 1..=u32::MAX, any::<bool>()),
            1..200,
        ),
        flips in prop::collection::vec((any::<Index>(), 0_u8..8), 200),
    ) {
        let saks = saks();
        let headers: Vec<Header> = frames.iter().map(|(_, form, encrypt, ..)| header(*form, *encrypt)).collect();
        let pns: Vec<u64> = frames.iter().map(|(.., sak, pn, _)| u64::from(*pn) + if *sak > 1 { 5 << 32 } else { 0 }).collect();
        let plain: Vec<Vec<u8>> = frames.iter().map(|(data, ..)| frame(data)).collect();
        let mut sealed: Vec<Vec<u8>> =
            headers.iter().zip(&plain).map(|(header, plain)| header.lay_out(plain).unwrap()).collect();
        let mut outgoing: Vec<Outgoing<'_>> = sealed.iter_mut().zip(&frames).zip(headers.iter().zip(&pns))
            .map(|((frame, (.., sak, _, _)), (header, pn))| Outgoing { sak: &saks[*sak], header, pn: *pn, frame })
            .collect();
        seal(&mut outgoing).unwrap();

        // A frame with a flipped bit must not open: it fails verification or no longer has a valid SecTAG.
        for ((frame, (.., is_flipped)), (index, bit)) in sealed.iter_mut().zip(&frames).zip(&flips) {
            if *is_flipped {
                let at = index.index(frame.len());
                frame[at] ^= 1 << bit;
            }
        }
        for (((frame, (.., sak, _, is_flipped)), pn), plain) in sealed.iter_mut().zip(&frames).zip(&pns).zip(&plain) {
            let tag = SecTag::parse(frame);
            let is_opened = opens(&saks[*sak], *pn, frame);
            prop_assert_eq!(is_opened, !is_flipped);
            if is_opened {
                prop_assert_eq!(&tag.unwrap().without(frame), plain);
            }
        }
    }

    #[test]
    fn the_parser_never_panics(mut bytes in prop::collection::vec(any::<u8>(), 0..100), is_tagged in any::<bool>()) {
        if is_tagged && bytes.len() > 14 {
            bytes[12..14].copy_from_slice(&[0x88, 0xe5]);
        }
        if let Ok(tag) = SecTag::parse(&bytes) {
            prop_assert!(tag.data().end + ICV_BYTES <= bytes.len());
            prop_assert!(tag.without(&bytes).len() < bytes.len());
        }
    }

    #[test]
    fn an_extended_packet_number_is_recovered_from_the_lowest(lowest in 1..u64::MAX, distance in 0_u64..1 << 31) {
        let [.., sak] = saks();
        if let Some(pn) = lowest.checked_add(distance) {
            prop_assert_eq!(sak.pn(pn as u32, lowest), Some(pn));
        }
        // A slightly late frame is recovered as the number it has, below `lowest`.
        if let Some(late) = lowest.checked_sub(1 + distance % 1000) && (lowest as u32) >= (1 << 31) + 1000 {
            prop_assert_eq!(sak.pn(late as u32, lowest), Some(late));
        }
    }
}
