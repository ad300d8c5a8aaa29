//! pcap and pcapng files.

pub(crate) const ETHERNET: u32 = 1;
pub(crate) const RAW: u32 = 101;

/// A frame of a capture.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
    /// The original length in bytes.
    pub(crate) original: usize,
    pub(crate) seconds: u32,
}

impl Frame {
    pub(crate) fn whole(bytes: Vec<u8>) -> Self {
        Self { original: bytes.len(), bytes, seconds: 1_700_000_000 }
    }

    /// The first `len` bytes of a frame.
    pub(crate) fn clipped(bytes: &[u8], len: usize) -> Self {
        Self { original: bytes.len(), ..Self::whole(bytes[..len].to_vec()) }
    }
}

/// A byte order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    pub(crate) fn u16(self, number: u16) -> [u8; 2] {
        if self == Self::Little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    pub(crate) fn u32(self, number: u32) -> [u8; 4] {
        if self == Self::Little { number.to_le_bytes() } else { number.to_be_bytes() }
    }

    fn all(self, numbers: &[u32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| self.u32(*number)).collect()
    }
}

/// A pcap file. `link` is the whole field of the file's header, including the FCS bits.
pub(crate) fn pcap(link: u32, frames: &[Frame]) -> Vec<u8> {
    pcap_in(Order::Little, false, link, frames)
}

pub(crate) fn pcap_in(order: Order, nanoseconds: bool, link: u32, frames: &[Frame]) -> Vec<u8> {
    let magic = if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = order.u32(magic).to_vec();
    file.extend([order.u16(2), order.u16(4)].concat());
    file.extend(order.all(&[0, 0, 262_144, link]));
    for Frame { bytes, original, seconds } in frames {
        file.extend(order.all(&[*seconds, 5, bytes.len() as u32, *original as u32]));
        file.extend(bytes);
    }
    file
}

/// An option of a pcapng block, padded.
pub(crate) fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = [order.u16(code), order.u16(value.len() as u16)].concat();
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

pub(crate) const END: [u8; 4] = [0; 4];

pub(crate) fn block(order: Order, kind: u32, content: &[u8]) -> Vec<u8> {
    let len = 12 + content.len().next_multiple_of(4);
    let mut block = order.all(&[kind, len as u32]);
    block.extend(content);
    block.resize(len - 4, 0);
    block.extend(order.u32(len as u32));
    block
}

pub(crate) fn section(order: Order, options: &[u8]) -> Vec<u8> {
    let content = [&order.u32(0x1a2b_3c4d)[..], &order.u16(1), &order.u16(0), &[0xff; 8], options].concat();
    block(order, 0x0a0d_0d0a, &content)
}

pub(crate) fn interface(order: Order, link: u16, snap_bytes: u32, options: &[u8]) -> Vec<u8> {
    let content = [&order.u16(link)[..], &[0; 2], &order.u32(snap_bytes), options].concat();
    block(order, 1, &content)
}

/// An enhanced packet block.
pub(crate) fn enhanced(order: Order, interface: u32, frame: &Frame, options: &[u8]) -> Vec<u8> {
    let Frame { bytes, original, .. } = frame;
    let mut content = order.all(&[interface, 0x0005_f5e1, 0, bytes.len() as u32, *original as u32]);
    content.extend(bytes);
    content.resize(content.len().next_multiple_of(4), 0);
    content.extend(options);
    block(order, 6, &content)
}

/// The obsolete packet block.
pub(crate) fn obsolete(order: Order, interface: u16, frame: &Frame) -> Vec<u8> {
    let Frame { bytes, original, .. } = frame;
    let mut content = [order.u16(interface), order.u16(9)].concat();
    content.extend(order.all(&[0x0005_f5e1, 0, bytes.len() as u32, *original as u32]));
    content.extend(bytes);
    block(order, 2, &content)
}

pub(crate) fn simple(order: Order, frame: &Frame) -> Vec<u8> {
    block(order, 3, &[&order.u32(frame.original as u32), &frame.bytes[..]].concat())
}
