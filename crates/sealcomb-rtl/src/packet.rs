//! A packet on the wire: a command, its beats, and what must come of it.

use rand::rngs::StdRng;
use rand::{Rng, RngExt};

/// A packet, as a top of the contract in `rtl/README.md` reads it.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Open, or seal.
    pub open: bool,
    /// The slot of its key.
    pub slot: u8,
    /// What `s_cmd_nonce` carries.
    pub nonce: Vec<u8>,
    /// The additional data.
    pub ad: Vec<u8>,
    /// What comes in as the message part.
    pub message: Vec<u8>,
    /// `s_cmd_padded`.
    pub padded: bool,
    /// The tag, if it is to be opened and has one.
    pub tag: Option<[u8; 16]>,
    /// The tag comes on `s_tag`, and not as a beat.
    pub tag_beside: bool,
    /// What is wrong with its beats.
    pub fault: Option<Fault>,
    /// What must come of it.
    pub expected: Expected,
}

/// What must come of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It is right.
    Sound {
        /// What goes out as the message part.
        output: Vec<u8>,
        /// `m_tag_tdata`.
        tag: [u8; 16],
        /// Bit 2 of `m_tag_tuser`.
        padded: bool,
    },
    /// It does not verify.
    Forged {
        /// How many bytes go out all the same, if that is certain.
        output_bytes: Option<usize>,
    },
    /// The core must report an error, and go on with the next packet.
    Error,
}

/// What may be wrong with a packet's beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// `tlast` comes before the last beat.
    Early,
    /// More beats follow.
    Late,
    /// A beat is of another part than the command says.
    Kind,
    /// A beat has other bytes than the command says.
    Keep,
}

/// One transfer on `s_axis`.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) data: Vec<u8>,
    pub(crate) keep: u64,
    pub(crate) last: bool,
    pub(crate) kind: u8,
}

const MESSAGE: u8 = 0;
const AD: u8 = 1;
const TAG: u8 = 2;

/// The lowest bits.
pub(crate) fn ones(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn part(bytes: &[u8], kind: u8, width: usize) -> impl Iterator<Item = Beat> {
    bytes.chunks(width).map(move |data| Beat {
        data: data.to_vec(),
        keep: ones(data.len()),
        last: false,
        kind,
    })
}

impl Packet {
    /// Its beats on a stream of `width` bytes, with its fault; the dice choose where.
    pub(crate) fn beats(&self, width: usize, random: &mut StdRng) -> Vec<Beat> {
        let mut beats: Vec<_> =
            part(&self.ad, AD, width).chain(part(&self.message, MESSAGE, width)).collect();
        beats.extend(self.tag_beat().into_iter().flat_map(|tag| part(tag, TAG, width)));
        match self.fault {
            None => {}
            Some(Fault::Early) => beats.truncate(random.random_range(1..beats.len())),
            Some(Fault::Late) => {
                let mut more = vec![0; random.random_range(1..=5 * width)];
                random.fill_bytes(&mut more);
                beats.extend(part(&more, random.random_range(0..3), width));
            }
            Some(Fault::Kind) => {
                let at = random.random_range(0..beats.len());
                beats[at].kind = (beats[at].kind + random.random_range(1..4)) % 4;
            }
            Some(Fault::Keep) => {
                let at = random.random_range(0..beats.len());
                beats[at].keep ^= 1 << random.random_range(0..width);
            }
        }
        if let Some(last) = beats.last_mut() {
            last.last = true;
        }
        beats
    }

    fn tag_beat(&self) -> Option<&[u8; 16]> {
        self.tag.as_ref().filter(|_| !self.tag_beside)
    }

    /// Whether its beats can have this fault.
    pub fn can_have(&self, fault: Fault, width: usize) -> bool {
        let parts = [self.ad.len(), self.message.len(), self.tag_beat().map_or(0, |tag| tag.len())];
        let beats: usize = parts.map(|bytes| bytes.div_ceil(width)).iter().sum();
        match fault {
            Fault::Early => beats > 1,
            Fault::Late | Fault::Kind | Fault::Keep => beats > 0,
        }
    }

    /// Whether something may come out on `m_axis` or may not, as the core likes.
    pub(crate) fn is_uncertain(&self) -> bool {
        matches!(self.expected, Expected::Error | Expected::Forged { output_bytes: None })
    }

    /// Bytes that go out, as far as that is certain.
    pub(crate) fn output_bytes(&self) -> usize {
        match &self.expected {
            Expected::Sound { output, .. } => output.len(),
            Expected::Forged { output_bytes } => output_bytes.unwrap_or(0),
            Expected::Error => 0,
        }
    }
}
