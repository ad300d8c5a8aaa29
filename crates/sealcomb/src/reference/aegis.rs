//! AEGIS-128L and AEGIS-256 (RFC 10032).
//!
//! ```text
//! Encrypt(msg, ad, key, nonce):            Decrypt(ct, tag, ad, key, nonce):
//!     Init(key, nonce)                         Init(key, nonce)
//!     for each block ai of ad: Update(ai)      for each block ai of ad: Update(ai)
//!     for each block xi of msg:                for each block ci of ct:
//!         ci = xi ^ z                              xi = ci ^ z
//!         Update(xi)                               Update(xi)
//!     tag = Finalize(|ad|, |msg|)              return msg if tag = Finalize(|ad|, |msg|)
//! ```
//!
//! `z` depends on the state only. Partial blocks are zero-padded before they update the state.

use super::aes_rounds::round as aes_round;
use super::{Block, pad, xor};
use alloc::vec::Vec;

/// An initialized state, whose input blocks consist of `R` AES blocks.
pub trait Aegis<const R: usize> {
    /// Updates the state with an input block (`Update`, sections 3.3 and 4.3).
    fn update(&mut self, m: [Block; R]);

    /// Returns `z`, the keystream of the next input block (`Enc`, sections 3.6 and 4.6).
    #[must_use]
    fn z(&self) -> [Block; R];

    /// Returns a tag of 16 or 32 bytes (`Finalize`, sections 3.9 and 4.9), given the block with both lengths.
    ///
    /// # Panics
    ///
    /// If `tag_bytes` is another size.
    #[must_use]
    fn finalize(self, lengths: Block, tag_bytes: usize) -> Vec<u8>;
}

/// Returns the ciphertext and the tag (`Encrypt`, sections 3.1 and 4.1).
///
/// # Panics
///
/// If `tag_bytes` is neither 16 nor 32.
#[must_use]
pub fn seal<const R: usize>(
    mut state: impl Aegis<R>,
    ad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    ad.chunks(16 * R).for_each(|ai| state.update(input(ai)));
    let mut ct = Vec::new();
    for xi in msg.chunks(16 * R) {
        ct.extend(xor_z(xi, state.z()));
        state.update(input(xi));
    }
    (ct, state.finalize(lengths(ad, msg), tag_bytes))
}

/// Returns the message, or `None` if the tag is wrong (`Decrypt`, sections 3.2 and 4.2).
///
/// # Panics
///
/// If the tag is neither 16 nor 32 bytes.
#[must_use]
pub fn open<const R: usize>(mut state: impl Aegis<R>, ad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    ad.chunks(16 * R).for_each(|ai| state.update(input(ai)));
    let mut msg = Vec::new();
    for ci in ct.chunks(16 * R) {
        let xi = xor_z(ci, state.z());
        state.update(input(&xi));
        msg.extend(xi);
    }
    (state.finalize(lengths(ad, &msg), tag.len()) == tag).then_some(msg)
}

/// The state of AEGIS-128L: `S0` to `S7`.
#[derive(Debug)]
pub struct Aegis128L([Block; 8]);

impl Aegis128L {
    /// Returns the initial state (`Init`, section 3.4).
    #[must_use]
    pub fn new(key: Block, nonce: Block) -> Self {
        let mut state =
            Self([xor(key, nonce), C1, C0, C1, xor(key, nonce), xor(key, C0), xor(key, C1), xor(key, C0)]);
        for _ in 0..10 {
            state.update([nonce, key]);
        }
        state
    }
}

impl Aegis<2> for Aegis128L {
    fn update(&mut self, [m0, m1]: [Block; 2]) {
        let s = self.0;
        self.0 = [
            aes_round(s[7], xor(s[0], m0)),
            aes_round(s[0], s[1]),
            aes_round(s[1], s[2]),
            aes_round(s[2], s[3]),
            aes_round(s[3], xor(s[4], m1)),
            aes_round(s[4], s[5]),
            aes_round(s[5], s[6]),
            aes_round(s[6], s[7]),
        ];
    }

    fn z(&self) -> [Block; 2] {
        let s = self.0;
        [sum(&[s[1], s[6], and(s[2], s[3])]), sum(&[s[2], s[5], and(s[6], s[7])])]
    }

    fn finalize(mut self, lengths: Block, tag_bytes: usize) -> Vec<u8> {
        let t = xor(self.0[2], lengths);
        for _ in 0..7 {
            self.update([t, t]);
        }
        let s = &self.0;
        match tag_bytes {
            16 => sum(&s[..7]).to_vec(),
            32 => [sum(&s[..4]), sum(&s[4..])].concat(),
            _ => panic!("a tag has 16 or 32 bytes"),
        }
    }
}

/// The state of AEGIS-256: `S0` to `S5`.
#[derive(Debug)]
pub struct Aegis256([Block; 6]);

impl Aegis256 {
    /// Returns the initial state (`Init`, section 4.4).
    #[must_use]
    pub fn new(key: [u8; 32], nonce: [u8; 32]) -> Self {
        let [k0, k1] = split(key);
        let [n0, n1] = split(nonce);
        let mut state = Self([xor(k0, n0), xor(k1, n1), C1, C0, xor(k0, C0), xor(k1, C1)]);
        for _ in 0..4 {
            state.update([k0]);
            state.update([k1]);
            state.update([xor(k0, n0)]);
            state.update([xor(k1, n1)]);
        }
        state
    }
}

impl Aegis<1> for Aegis256 {
    fn update(&mut self, [m]: [Block; 1]) {
        let s = self.0;
        self.0 = [
            aes_round(s[5], xor(s[0], m)),
            aes_round(s[0], s[1]),
            aes_round(s[1], s[2]),
            aes_round(s[2], s[3]),
            aes_round(s[3], s[4]),
            aes_round(s[4], s[5]),
        ];
    }

    fn z(&self) -> [Block; 1] {
        let s = self.0;
        [sum(&[s[1], s[4], s[5], and(s[2], s[3])])]
    }

    fn finalize(mut self, lengths: Block, tag_bytes: usize) -> Vec<u8> {
        let t = xor(self.0[3], lengths);
        for _ in 0..7 {
            self.update([t]);
        }
        let s = &self.0;
        match tag_bytes {
            16 => sum(s).to_vec(),
            32 => [sum(&s[..3]), sum(&s[3..])].concat(),
            _ => panic!("a tag has 16 or 32 bytes"),
        }
    }
}

/// The first Fibonacci numbers modulo 256 (section 2).
const C0: Block = 0x0001_0102_0305_080d_1522_3759_90e9_7962_u128.to_be_bytes();
const C1: Block = 0xdb3d_1855_6dc2_2ff1_2011_3142_73b5_28dd_u128.to_be_bytes();

/// Returns an input block, zero-padded.
fn input<const R: usize>(bytes: &[u8]) -> [Block; R] {
    core::array::from_fn(|i| pad(bytes.chunks(16).nth(i).unwrap_or_default()))
}

/// Returns the XOR of an input or output block and the keystream.
fn xor_z<const R: usize>(bytes: &[u8], z: [Block; R]) -> Vec<u8> {
    bytes.iter().zip(z.as_flattened()).map(|(byte, z)| byte ^ z).collect()
}

/// Returns `LE64(|ad|) || LE64(|msg|)`, the lengths in bits.
fn lengths(ad: &[u8], msg: &[u8]) -> Block {
    let bits = |string: &[u8]| 8 * string.len() as u128;
    (bits(msg) << 64 | bits(ad)).to_le_bytes()
}

/// Returns the two AES blocks of a key or a nonce.
fn split(string: [u8; 32]) -> [Block; 2] {
    [pad(&string[..16]), pad(&string[16..])]
}

fn and(x: Block, y: Block) -> Block {
    core::array::from_fn(|i| x[i] & y[i])
}

/// Returns the XOR of some blocks.
fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold([0; 16], |sum, &block| xor(sum, block))
}

/// The examples of RFC 10032, appendix A.
#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: u128) -> Block {
        number.to_be_bytes()
    }

    fn bytes(text: &str) -> Vec<u8> {
        hex::decode(text).expect("hex")
    }

    /// Returns `text` followed by zeros.
    fn padded<const N: usize>(text: &str) -> [u8; N] {
        let mut string = bytes(text);
        string.resize(N, 0);
        string.try_into().expect("N bytes")
    }

    #[test]
    fn an_aes_round_is_that_of_the_example() {
        let out = aes_round(
            block(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f),
            block(0x1011_1213_1415_1617_1819_1a1b_1c1d_1e1f),
        );
        assert_eq!(out, block(0x7a7b_4e56_3878_2546_a8c0_477a_3b81_3f43));
    }

    #[test]
    fn an_update_of_aegis_128l_is_that_of_the_example() {
        let mut state = Aegis128L([
            block(0x9b7e_60b2_4cc8_73ea_894e_cc07_9110_49a3),
            block(0x330b_e08f_3530_0faa_2ebf_9a7b_0d27_4658),
            block(0x7bbd_5bd2_b049_f7b9_b515_cf26_fbe7_756c),
            block(0xc35a_00f5_5ea8_6c38_86ec_5e92_8f87_db18),
            block(0x9ebc_cafc_e87c_ab44_6396_c433_4592_c91f),
            block(0x58d8_3e31_f256_371e_60fc_6bb2_5711_4601),
            block(0x1639_b56e_a322_c885_68a1_7658_5bc9_15de),
            block(0x6408_18ff_b57d_c0fb_c2e7_2ae9_3457_e39a),
        ]);
        state.update([
            block(0x033e_6975_b948_1687_9e42_9176_5095_5aa0),
            block(0xfcc1_968a_46b7_e978_61bd_6e89_af6a_a55f),
        ]);
        let expected = [
            block(0x596a_b773_e443_3ca0_127c_73f6_0536_769d),
            block(0x7903_9404_1a3d_26ab_697b_de86_5014_652d),
            block(0x38cf_49e4_b652_48ac_d533_041b_64dd_0611),
            block(0x16d8_e587_48f4_37bf_ff17_97f7_8033_7cee),
            block(0x9689_ecdf_0822_8c74_d7e3_360c_ca53_d0a5),
            block(0xa217_46bb_193a_569e_331e_1aa9_85d0_d729),
            block(0x09d7_14e6_fcf9_177a_8ed1_cde7_e3d2_59a6),
            block(0x6127_9ba7_3167_f0ab_76f0_a11b_f203_bdff),
        ];
        assert_eq!(state.0, expected);
    }

    #[test]
    fn an_update_of_aegis_256_is_that_of_the_example() {
        let mut state = Aegis256([
            block(0x1fa1_207e_d76c_86f2_c4bb_40e8_b395_b43e),
            block(0xb44c_375e_6c1e_1978_db64_bcd1_2e9e_332f),
            block(0x0dab_84bf_a9f0_2264_32ff_630f_233d_4e5b),
            block(0xd7ef_65c9_b93e_8ee6_0c75_1614_07b0_66e7),
            block(0xa760_bb3d_a073_fbd9_2bdc_2473_4b1f_56fb),
            block(0xa828_a18d_6a96_4497_ac6e_7e53_c5f5_5c73),
        ]);
        state.update([block(0xb165_617e_d04a_b738_afb2_612c_6d18_a1ec)]);
        let expected = [
            block(0xe6bc_643b_ae82_dfa3_d991_b1b3_2383_9dcd),
            block(0x6485_7823_2ba0_f2f0_a367_7f61_7dc0_52c3),
            block(0xea78_8e0e_5720_44a4_6059_212d_d007_a789),
            block(0x2f14_98ae_19b8_0da1_3fba_698f_088a_8590),
            block(0xa54c_2ee9_5e8c_2a2c_3dae_2ec7_43ae_6b86),
            block(0xa324_0fce_b68e_32d5_d114_df1b_5363_ab67),
        ];
        assert_eq!(state.0, expected);
    }

    /// Opens test vector 4, of both algorithms and tag sizes, and refuses it with the key and the nonce exchanged, or
    /// with a changed last byte of the additional data, the ciphertext or the tag, as in test vectors 6 to 9.
    fn must_refuse_changes(open: impl Fn([&str; 3], &[u8], &[u8]) -> Option<Vec<u8>>, ct: &str, tag: &str) {
        let (ct, tag) = (bytes(ct), bytes(tag));
        let changed = |string: &[u8]| {
            let mut changed = string.to_vec();
            *changed.last_mut().expect("not empty") += 1;
            changed
        };
        let inputs = ["1001", "100002", "0001020304050607"];
        let msg = bytes("000102030405060708090a0b0c0d");
        assert_eq!(open(inputs, &ct, &tag), Some(msg));
        assert_eq!(open(["100002", "1001", inputs[2]], &ct, &tag), None);
        assert_eq!(open([inputs[0], inputs[1], "0001020304050608"], &ct, &tag), None);
        assert_eq!(open(inputs, &changed(&ct), &tag), None);
        assert_eq!(open(inputs, &ct, &changed(&tag)), None);
    }

    #[test]
    fn changes_to_a_message_of_aegis_128l_are_refused() {
        for tag in [
            "5c04b3dba849b2701effbe32c7f0fab7",
            "86f1b80bfb463aba711d15405d094baf4a55a15dbfec81a76f35ed0b9c8b04ac",
        ] {
            let open = |[key, nonce, ad]: [&str; 3], ct: &[u8], tag: &[u8]| {
                open(Aegis128L::new(padded(key), padded(nonce)), &bytes(ad), ct, tag)
            };
            must_refuse_changes(open, "79d94593d8c2119d7e8fd9b8fc77", tag);
        }
    }

    #[test]
    fn changes_to_a_message_of_aegis_256_are_refused() {
        for tag in [
            "c60b9c2d33ceb058f96e6dd03c215652",
            "8c1cc703c81281bee3f6d9966e14948b4a175b2efbdc31e61a98b4465235c2d9",
        ] {
            let open = |[key, nonce, ad]: [&str; 3], ct: &[u8], tag: &[u8]| {
                open(Aegis256::new(padded(key), padded(nonce)), &bytes(ad), ct, tag)
            };
            must_refuse_changes(open, "f373079ed84b2709faee37358458", tag);
        }
    }
}
