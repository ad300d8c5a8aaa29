//! Headers of Linux cooked captures, versions 1 and 2 (`LINKTYPE_LINUX_SLL`, `LINKTYPE_LINUX_SLL2`).
//!
//! | field | version 1 | version 2 |
//! |---|---|---|
//! | protocol | byte 14 | byte 0 |
//! | zeros | | bytes 2 and 3 |
//! | hardware type (`ARPHRD_`) | byte 2 | byte 8 |
//! | address | bytes 6 to 13 | bytes 12 to 19 |
//! | payload | byte 16 | byte 20 |
//!
//! Capturing programs insert the VLAN tag that the kernel has removed. In version 1, it is before the protocol, as in
//! Ethernet. In version 2, the protocol is at the start, and some insert the tag where it was in version 1: within the
//! address. All that follows is then 4 bytes later, but nothing tells so.

use super::ip::{self, NoPacket};

/// The protocols below the lowest `EtherType` that these headers can have: Novell's frames, those of unknown protocol,
/// LLC, and CAN.
const NUMBERS: [u16; 5] = [1, 3, 4, 0xc, 0xd];
/// Hardware types whose frames are not IP, and have other numbers as protocols: CAN, IEEE 802.11 with a radiotap header,
/// Frame Relay's access devices, and Netlink.
const OTHERS: [u16; 4] = [280, 803, 770, 824];

/// Returns the IP packet after a header of version 1.
pub(super) fn payload(frame: &[u8]) -> Result<&[u8], NoPacket> {
    check_protocol(ip::number(frame, 14)?, ip::number(frame, 2)?)?;
    ip::of_type_at(frame, 14, 16)
}

/// Returns the IP packet after a header of version 2.
pub(super) fn payload_v2(frame: &[u8]) -> Result<&[u8], NoPacket> {
    if ip::number(frame, 2)? != 0 {
        return Err(NoPacket::Malformed);
    }
    check_protocol(ip::number(frame, 0)?, ip::number(frame, 8)?)?;
    let found = ip::of_type_at(frame, 0, 20);
    // An address can contain these bytes, too. Then a packet after it is whole.
    let may_be_tagged = ip::number(frame, 14).is_ok_and(ip::is_vlan_tag);
    match found {
        Ok(packet) if may_be_tagged && !ip::is_whole(packet) => Err(NoPacket::Malformed),
        found => found,
    }
}

/// Refuses a number that is no protocol, such as that of a VLAN.
fn check_protocol(protocol: u16, hardware: u16) -> Result<(), NoPacket> {
    if OTHERS.contains(&hardware) {
        return Err(NoPacket::NotIp);
    }
    if protocol < ip::MIN_TYPE && !NUMBERS.contains(&protocol) { Err(NoPacket::Malformed) } else { Ok(()) }
}
