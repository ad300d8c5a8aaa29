//! SA files.

pub(crate) const IPV4: &str = "source = \"203.0.113.1\"\ndestination = \"203.0.113.2\"";
pub(crate) const IPV6: &str = "source = \"2001:db8:1::1\"\ndestination = \"2001:db8:1::2\"";
pub(crate) const HMAC: &str = "auth = \"hmac-sha-256-128\"\n\
    auth-key = \"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf\"";
pub(crate) const CMAC: &str = "auth = \"aes-cmac-96\"\nauth-key = \"c0c1c2c3c4c5c6c7c8c9cacbcccdcecf\"";

/// An SA file with one SA, of SPI 0x1001, for all packets. `rest` contains the lines that depend on the cipher.
pub(crate) fn association(tunnel: &str, cipher: &str, key_bytes: u8, rest: &str) -> String {
    let key: Vec<u8> = (1..=key_bytes).map(|i| i * 7).collect();
    let key = hex::encode(key);
    format!("[[sa]]\nspi = 0x1001\n{tunnel}\ncipher = \"{cipher}\"\nkey = \"{key}\"\n{rest}\n")
}

/// AES-128-GCM through an IPv4 tunnel.
pub(crate) fn gcm() -> String {
    association(IPV4, "aes-gcm", 16, "salt = \"cafebabe\"")
}

/// AES-128-CBC and HMAC through an IPv4 tunnel.
pub(crate) fn cbc() -> String {
    association(IPV4, "aes-cbc", 16, HMAC)
}

/// Like [`gcm`], but only for packets to 192.0.2.1.
pub(crate) fn narrow_gcm() -> String {
    gcm() + "match = \"192.0.2.1/32\""
}
