//! Packet buffers: reusable ones, and packets for the device in the buffers where they were received.

use tun_rs::ExpandBuffer;

/// A buffer whose first `len` bytes are in use. It grows if needed, and never shrinks.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    pub(super) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], len: bytes }
    }

    /// Sets the length to the full size of the buffer.
    pub(super) fn restore(&mut self) {
        self.len = self.bytes.len();
    }

    pub(super) fn set_len(&mut self, len: usize) {
        if len > self.bytes.len() {
            self.bytes.resize(len, 0);
        }
        self.len = len;
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.len]
    }
}

/// A packet for the device. It stays where it was received, unless others are coalesced with it.
pub(super) struct ForDevice<'a> {
    packet: &'a mut [u8],
    /// The packet and those that were coalesced with it; empty if there are none.
    coalesced: &'a mut Vec<u8>,
}

impl<'a> ForDevice<'a> {
    /// Describes a packet that follows the room for the virtio header. `spare` is used if packets are coalesced with
    /// this one. Its contents do not matter.
    pub(super) fn new(packet: &'a mut [u8], spare: &'a mut Vec<u8>) -> Self {
        spare.clear();
        Self { packet, coalesced: spare }
    }

    /// Returns the buffer for packets that are coalesced with this one, which it begins with.
    fn coalesced(&mut self) -> &mut Vec<u8> {
        if self.coalesced.is_empty() {
            self.coalesced.extend_from_slice(self.packet);
        }
        self.coalesced
    }
}

impl AsRef<[u8]> for ForDevice<'_> {
    fn as_ref(&self) -> &[u8] {
        if self.coalesced.is_empty() { self.packet } else { self.coalesced }
    }
}

impl AsMut<[u8]> for ForDevice<'_> {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.coalesced.is_empty() { self.packet } else { self.coalesced }
    }
}

impl ExpandBuffer for ForDevice<'_> {
    /// Returns how many bytes packets may be coalesced to, which is no more than an IP packet can have: this is the
    /// only limit, and the length fields of a longer packet would be wrong.
    fn buf_capacity(&self) -> usize {
        1 << 16
    }

    fn buf_resize(&mut self, new_len: usize, value: u8) {
        self.coalesced().resize(new_len, value);
    }

    fn buf_extend_from_slice(&mut self, src: &[u8]) {
        self.coalesced().extend_from_slice(src);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_coalesced_outside_the_buffer_where_they_were_received() {
        let mut received = *b"headerfirst.second.third.";
        let mut spare = b"leftovers".to_vec();
        let (first, others) = received.split_at_mut(12);
        let mut packet = ForDevice::new(first, &mut spare);
        packet.as_mut()[..6].copy_from_slice(b"virtio");
        assert_eq!(packet.as_ref(), b"virtiofirst.");
        packet.buf_extend_from_slice(&others[..7]);
        packet.buf_resize(25, b'x');
        assert_eq!(packet.as_mut(), b"virtiofirst.second.xxxxxx");
        packet.as_mut()[19..].copy_from_slice(&others[7..]);
        assert_eq!(packet.as_ref(), b"virtiofirst.second.third.");
        assert_eq!(received, *b"virtiofirst.second.third.");
    }

    #[test]
    fn packets_are_coalesced_to_an_ip_packets_size_at_most_however_large_the_buffer_is() {
        let mut spare = Vec::with_capacity(1 << 17);
        let mut packet = [0; 40];
        let mut packet = ForDevice::new(&mut packet, &mut spare);
        for len in [2048, 40_000, 66_000, 100] {
            packet.buf_resize(len, 0);
            assert_eq!((packet.as_ref().len(), packet.buf_capacity()), (len, 1 << 16));
        }
    }
}
