//! Reusable packet buffers.

use tun_rs::ExpandBuffer;

/// A buffer whose first `len` bytes are in use. It grows when packets are coalesced into it, and never shrinks.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes: vec![0; bytes], len: bytes }
    }

    /// Sets the length to the full size of the buffer.
    pub(crate) fn restore(&mut self) {
        self.len = self.bytes.len();
    }

    pub(crate) fn set_len(&mut self, len: usize) {
        self.grow(len);
        self.len = len;
    }

    fn grow(&mut self, len: usize) {
        if len > self.bytes.len() {
            self.bytes.resize(len, 0);
        }
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

impl ExpandBuffer for Buffer {
    /// Returns how many bytes packets may be coalesced to, which is no more than an IP packet can have: this is the
    /// only limit, and the length fields of a longer packet would be wrong. The buffer itself may be larger.
    fn buf_capacity(&self) -> usize {
        1 << 16
    }

    fn buf_resize(&mut self, new_len: usize, value: u8) {
        let old = self.len;
        self.set_len(new_len);
        if new_len > old {
            self.bytes[old..new_len].fill(value);
        }
    }

    fn buf_extend_from_slice(&mut self, src: &[u8]) {
        let old = self.len;
        self.set_len(old + src.len());
        self.bytes[old..self.len].copy_from_slice(src);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_coalesced_to_an_ip_packets_size_at_most_however_large_the_buffer_is() {
        let mut buffer = Buffer::new(2048);
        for len in [2048, 40_000, 66_000, 100] {
            buffer.set_len(len);
            assert_eq!((buffer.as_ref().len(), buffer.buf_capacity()), (len, 1 << 16));
        }
    }
}
