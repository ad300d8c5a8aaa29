//! Explicit congestion notification (ECN) at the tunnel's egress: RFC 6040, section 4.2, figure 4.

/// The error for a packet whose outer header has a congestion mark although its sender does not support ECN. The
/// packet must be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnAlarm;

const NOT_ECT: u8 = 0;
const ECT_1: u8 = 1;
const ECT_0: u8 = 2;
const CE: u8 = 3;
const FIELD: u8 = 3;

/// Copies the outer header's congestion mark to the inner packet, as RFC 6040 prescribes. `outer` is the outer
/// header's TOS or traffic class, of which only the low two bits are used. Leaves `inner` unchanged unless it starts
/// with an IPv4 or IPv6 header.
///
/// # Errors
/// [`EcnAlarm`] if the outer header reports congestion and the inner packet's sender does not support ECN. Drop the
/// packet; `inner` is unchanged.
pub fn decapsulate_ecn(outer: u8, inner: &mut [u8]) -> Result<(), EcnAlarm> {
    let Some(class) = traffic_class(inner) else { return Ok(()) };
    let marked = match (class & FIELD, outer & FIELD) {
        (NOT_ECT, CE) => return Err(EcnAlarm),
        (ECT_0 | ECT_1, CE) => CE,
        (ECT_0, ECT_1) => ECT_1,
        _ => return Ok(()),
    };
    set_ecn(inner, class & !FIELD | marked);
    Ok(())
}

fn traffic_class(packet: &[u8]) -> Option<u8> {
    match packet.first()? >> 4 {
        4 if packet.len() >= 20 => Some(packet[1]),
        6 if packet.len() >= 40 => Some(packet[0] << 4 | packet[1] >> 4),
        _ => None,
    }
}

fn set_ecn(packet: &mut [u8], class: u8) {
    if packet[0] >> 4 == 6 {
        packet[1] = class << 4 | packet[1] & 0x0f;
        return;
    }
    // RFC 1624: updates the checksum from its old value and the 16 bits that change.
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] = class;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6Header, Ipv6HeaderSlice};

    use super::*;

    /// RFC 6040, figure 4: each inner ECN field and its new value for outer fields 0 to 3. `None`: the packet is
    /// dropped.
    const FIGURE_4: [(u8, [Option<u8>; 4]); 4] = [
        (NOT_ECT, [Some(NOT_ECT), Some(NOT_ECT), Some(NOT_ECT), None]),
        (ECT_1, [Some(ECT_1), Some(ECT_1), Some(ECT_1), Some(CE)]),
        (ECT_0, [Some(ECT_0), Some(ECT_1), Some(ECT_0), Some(CE)]),
        (CE, [Some(CE), Some(CE), Some(CE), Some(CE)]),
    ];

    #[test]
    fn the_inner_field_matches_figure_4() {
        for (inner, outcomes) in FIGURE_4 {
            for (outer, expected) in outcomes.into_iter().enumerate() {
                let outer = outer as u8 | 0xb8; // the outer DSCP is ignored
                let mut v4 = Ipv4Header { total_len: 20, protocol: IpNumber::UDP, ..Ipv4Header::default() };
                v4.dscp = 10.try_into().unwrap();
                v4.ecn = IpEcn::try_new(inner).unwrap();
                v4.header_checksum = v4.calc_header_checksum();
                let mut packet = v4.to_bytes().to_vec();
                let got = decapsulate_ecn(outer, &mut packet);
                assert_eq!(got.is_err(), expected.is_none());
                let header = Ipv4HeaderSlice::from_slice(&packet).unwrap();
                assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
                assert_eq!((header.ecn().value(), header.dcp().value()), (expected.unwrap_or(inner), 10));

                let v6 = Ipv6Header { traffic_class: 0x28 | inner, ..Ipv6Header::default() };
                let mut packet = v6.to_bytes().to_vec();
                assert_eq!(decapsulate_ecn(outer, &mut packet).is_err(), expected.is_none());
                let header = Ipv6HeaderSlice::from_slice(&packet).unwrap();
                assert_eq!(header.traffic_class(), 0x28 | expected.unwrap_or(inner));
            }
        }
    }

    #[test]
    fn anything_but_an_ip_packet_is_left_unchanged() {
        for packet in [&[][..], &[0x45], &[0x60; 39], &[0x75; 60]] {
            let mut copy = packet.to_vec();
            assert_eq!(decapsulate_ecn(CE, &mut copy), Ok(()));
            assert_eq!(copy, packet);
        }
    }
}
