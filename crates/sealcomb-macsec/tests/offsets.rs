//! Confidentiality offsets: what is encrypted, and what is only authenticated.

use sealcomb::{Algorithm, Key};
use sealcomb_macsec::{
    ConfidentialityOffset, Header, Incoming, Outgoing, Sak, Sci, SciForm, SecTag, open, seal,
};

const SCI: Sci = Sci([2, 0, 0, 0, 0, 1, 0, 1]);
const KEY: [u8; 16] = [1; 16];
const PN: u32 = 9;
const OFFSETS: [(ConfidentialityOffset, usize); 3] = [
    (ConfidentialityOffset::Zero, 0),
    (ConfidentialityOffset::Thirty, 30),
    (ConfidentialityOffset::Fifty, 50),
];

fn sealed(sak: &Sak, header: &Header, plain: &[u8]) -> Vec<u8> {
    let mut sealed = header.lay_out(plain).unwrap();
    seal(&mut [Outgoing { sak, header, pn: PN.into(), frame: &mut sealed }]).unwrap();
    sealed
}

fn opened(sak: &Sak, mut frame: Vec<u8>) -> Option<Vec<u8>> {
    let tag = SecTag::parse(&frame).ok()?;
    let mut incoming = [Incoming::new(sak, &tag, PN.into(), &mut frame)];
    open(&mut incoming).unwrap();
    incoming[0].is_verified().then(|| tag.without(&frame))
}

/// User data shorter than the offset, as long, and longer.
#[test]
fn user_data_of_the_offset_is_authenticated_but_not_encrypted() {
    let gcm = Key::new(Algorithm::by_id("aes128-gcm").unwrap(), &KEY).unwrap();
    let nonce = [&SCI.0[..], &PN.to_be_bytes()].concat();
    for (offset, bytes) in OFFSETS {
        let sak = Sak::new(&KEY, SCI).unwrap().with_offset(offset);
        for data_bytes in [2, 29, 30, 31, 49, 50, 51, 100] {
            let data: Vec<u8> = (0..data_bytes).collect();
            let plain = [&[0xff; 6], &SCI.address()[..], &data].concat();
            for form in [SciForm::Explicit, SciForm::Omitted] {
                let header = Header { sci: SCI, an: 1, form, encrypt: true };
                let sealed = sealed(&sak, &header, &plain);
                let covered = header.data_at() + bytes.min(data.len());
                let (clear, encrypted) = data.split_at(covered - header.data_at());
                assert_eq!(sealed[header.data_at()..covered], *clear);
                assert_eq!(sealed[covered..], gcm.seal(&nonce, &sealed[..covered], encrypted).unwrap());
                for at in [0, header.data_at(), covered - 1, sealed.len() - 1] {
                    let mut forged = sealed.clone();
                    forged[at] ^= 1;
                    assert_eq!(opened(&sak, forged), None, "{offset:?}, {data_bytes} bytes, changed at {at}");
                }
                assert_eq!(opened(&sak, sealed), Some(plain.clone()));
            }
        }
    }
}

#[test]
fn frames_without_encryption_have_no_offset() {
    let header = Header { sci: SCI, an: 1, form: SciForm::Explicit, encrypt: false };
    let plain = [&[0xff; 12][..], &[8; 100]].concat();
    let [without, thirty, fifty] =
        OFFSETS.map(|(offset, _)| sealed(&Sak::new(&KEY, SCI).unwrap().with_offset(offset), &header, &plain));
    assert!(without == thirty && without == fifty);
}

#[test]
fn both_ends_need_the_same_offset() {
    let header = Header { sci: SCI, an: 1, form: SciForm::Explicit, encrypt: true };
    let plain = [&[0xff; 12][..], &[8; 100]].concat();
    for (offset, _) in OFFSETS {
        let sak = Sak::new(&KEY, SCI).unwrap().with_offset(offset);
        let sealed = sealed(&sak.with_key(&KEY).unwrap(), &header, &plain);
        for (other, _) in OFFSETS {
            let peer = Sak::new(&KEY, SCI).unwrap().with_offset(other);
            assert_eq!(opened(&peer, sealed.clone()).is_some(), other == offset);
        }
    }
}
