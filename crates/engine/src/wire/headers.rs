//! From the first bytes of a captured packet to its flow: link layer, VLAN tags, IP, ports.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::flow::{FiveTuple, Flow};

/// Link-layer types that captures of IP traffic use, by their number at
/// <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LinkType {
    /// 1: Ethernet without FCS.
    Ethernet,
    /// 101, 228, 229: an IP packet with nothing before it.
    RawIp,
    /// 0, 108: the BSD loopback interface; a 4-byte address family, in a byte order that depends on
    /// the machine. It is skipped, since the IP version says the same.
    Loopback,
    /// 113: the "any" interface of Linux.
    LinuxCooked,
    /// 276: the same, version 2.
    LinuxCooked2,
}

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// 802.1Q, 802.1ad, and the value used for stacked tags before 802.1ad.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Below this the EtherType field is the length of an IEEE 802.3 frame.
const ETHERTYPE_MIN: u16 = 0x0600;

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;

impl LinkType {
    /// The link type with this number; `None` if it is not supported.
    pub(super) fn numbered(number: u32) -> Option<LinkType> {
        match number {
            0 | 108 => Some(LinkType::Loopback),
            1 => Some(LinkType::Ethernet),
            101 | 228 | 229 => Some(LinkType::RawIp),
            113 => Some(LinkType::LinuxCooked),
            276 => Some(LinkType::LinuxCooked2),
            _ => None,
        }
    }

    /// Bytes before the payload.
    pub(super) fn header_bytes(self) -> u32 {
        match self {
            LinkType::Ethernet => 14,
            LinkType::RawIp => 0,
            LinkType::Loopback => 4,
            LinkType::LinuxCooked => 16,
            LinkType::LinuxCooked2 => 20,
        }
    }
}

/// Why a header cannot be read.
enum Missing {
    /// The capture truncated the packet; this many bytes were needed.
    Cut(usize),
    /// The packet itself is too short or contradicts itself.
    Malformed,
}

/// The captured bytes of a packet, and whether there were more on the wire.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    data: &'a [u8],
    cut: bool,
}

impl<'a> Bytes<'a> {
    fn get<const N: usize>(self, at: usize) -> Result<&'a [u8; N], Missing> {
        let end = at + N;
        match self.data.get(at..end).and_then(|slice| slice.try_into().ok()) {
            Some(array) => Ok(array),
            None if self.cut => Err(Missing::Cut(end)),
            None => Err(Missing::Malformed),
        }
    }

    fn u16(self, at: usize) -> Result<u16, Missing> {
        self.get(at).map(|b| u16::from_be_bytes(*b))
    }
}

/// The flow of a packet of `original` bytes, of which `data` was captured. A packet that is
/// malformed on the wire belongs to the flow given by what could be read of it.
///
/// # Errors
/// If the capture truncated the headers: how many bytes would have been needed.
pub(super) fn flow(link: LinkType, data: &[u8], original: u32) -> Result<Flow, usize> {
    let bytes = Bytes { data, cut: data.len() < original as usize };
    let (frame, network) = match frame(link, bytes) {
        Ok(found) => found,
        Err(Missing::Cut(needed)) => return Err(needed),
        Err(Missing::Malformed) => {
            return Ok(Flow::Frame { dst: [0; 6], src: [0; 6], ethertype: 0 });
        }
    };
    let Flow::Frame { ethertype, .. } = frame else { return Ok(frame) };
    let tuple = match ethertype {
        ETHERTYPE_IPV4 => ipv4(bytes, network),
        ETHERTYPE_IPV6 => ipv6(bytes, network),
        _ => return Ok(frame),
    };
    match tuple {
        Ok(tuple) => Ok(Flow::Ip(tuple)),
        Err(Missing::Cut(needed)) => Err(needed),
        Err(Missing::Malformed) => Ok(frame),
    }
}

/// Whether VLAN tags precede the network header.
pub(super) fn is_tagged(link: LinkType, data: &[u8]) -> bool {
    let found = frame(link, Bytes { data, cut: false });
    found.is_ok_and(|(_, network)| network > link.header_bytes() as usize)
}

/// The MAC addresses, the EtherType after all VLAN tags, and the offset of the network header.
fn frame(link: LinkType, bytes: Bytes<'_>) -> Result<(Flow, usize), Missing> {
    const UNKNOWN: [u8; 6] = [0; 6];
    let (dst, src, mut ethertype) = match link {
        LinkType::Ethernet => (*bytes.get(0)?, *bytes.get(6)?, bytes.u16(12)?),
        // Field offsets: https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html and ..._SLL2.html
        LinkType::LinuxCooked => (UNKNOWN, *bytes.get(6)?, bytes.u16(14)?),
        LinkType::LinuxCooked2 => {
            let ethertype = bytes.u16(0)?;
            (UNKNOWN, *bytes.get(12)?, ethertype)
        }
        LinkType::RawIp | LinkType::Loopback => {
            let [first] = bytes.get(link.header_bytes() as usize)?;
            let ethertype = match first >> 4 {
                4 => ETHERTYPE_IPV4,
                6 => ETHERTYPE_IPV6,
                _ => 0,
            };
            (UNKNOWN, UNKNOWN, ethertype)
        }
    };
    let mut network = link.header_bytes() as usize;
    while ETHERTYPES_VLAN.contains(&ethertype) {
        ethertype = bytes.u16(network + 2)?;
        network += 4;
    }
    if ethertype < ETHERTYPE_MIN {
        ethertype = 0;
    }
    Ok((Flow::Frame { dst, src, ethertype }, network))
}

fn ipv4(bytes: Bytes<'_>, at: usize) -> Result<FiveTuple, Missing> {
    let header: &[u8; 20] = bytes.get(at)?;
    let header_bytes = usize::from(header[0] & 0x0f) * 4;
    if header[0] >> 4 != 4 || header_bytes < header.len() {
        return Err(Missing::Malformed);
    }
    let word = |i: usize| <[u8; 4]>::try_from(&header[i..i + 4]).map_err(|_| Missing::Malformed);
    let protocol = header[9];
    // "More fragments" or an offset (RFC 791).
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    Ok(FiveTuple {
        src: IpAddr::V4(Ipv4Addr::from(word(12)?)),
        dst: IpAddr::V4(Ipv4Addr::from(word(16)?)),
        protocol,
        ports: if fragment { None } else { ports(bytes, at + header_bytes, protocol)? },
    })
}

fn ipv6(bytes: Bytes<'_>, at: usize) -> Result<FiveTuple, Missing> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let header: &[u8; 8] = bytes.get(at)?;
    if header[0] >> 4 != 6 {
        return Err(Missing::Malformed);
    }
    let mut protocol = header[6];
    let src: &[u8; 16] = bytes.get(at + 8)?;
    let dst: &[u8; 16] = bytes.get(at + 24)?;
    let mut next = at + 40;
    // Extension headers (RFC 8200 section 4); each takes at least 8 bytes, so this ends.
    let mut broken_or_fragment = false;
    while let HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION = protocol {
        let [following, length, of_fragment @ ..]: [u8; 4] = match bytes.get(next) {
            Ok(header) => *header,
            Err(Missing::Malformed) => {
                broken_or_fragment = true;
                break;
            }
            Err(cut) => return Err(cut),
        };
        let is_fragment = protocol == FRAGMENT;
        protocol = following;
        // The offset, two reserved bits, and whether more follow: a whole packet has neither (RFC 6946).
        if is_fragment && u16::from_be_bytes(of_fragment) & 0xfff9 != 0 {
            broken_or_fragment = true;
            break;
        }
        // The second byte of this header is reserved.
        next += if is_fragment { 8 } else { (usize::from(length) + 1) * 8 };
    }
    Ok(FiveTuple {
        src: IpAddr::V6(Ipv6Addr::from(*src)),
        dst: IpAddr::V6(Ipv6Addr::from(*dst)),
        protocol,
        ports: if broken_or_fragment { None } else { ports(bytes, next, protocol)? },
    })
}

/// The ports, if the protocol has any; `None` if the packet ends before them.
fn ports(bytes: Bytes<'_>, at: usize, protocol: u8) -> Result<Option<(u16, u16)>, Missing> {
    if !matches!(protocol, TCP | UDP | SCTP) {
        return Ok(None);
    }
    match bytes.get(at) {
        Ok([a, b, c, d]) => Ok(Some((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])))),
        Err(Missing::Malformed) => Ok(None),
        Err(cut) => Err(cut),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Destination and source MAC address.
    const ETHERNET: [u8; 12] = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
    /// Version 4, header of 20 bytes, UDP, 10.0.0.1 to 10.0.0.2.
    const IPV4_UDP: [u8; 20] =
        [0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    /// Port 4096 to 53, and the rest of the header.
    const UDP_HEADER: [u8; 8] = [0x10, 0, 0, 53, 0, 8, 0, 0];

    fn frame(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    fn whole(data: &[u8]) -> Flow {
        flow(LinkType::Ethernet, data, data.len() as u32).expect("nothing was cut off")
    }

    fn udp(ports: Option<(u16, u16)>) -> Flow {
        let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into());
        Flow::Ip(FiveTuple { src, dst, protocol: UDP, ports })
    }

    #[test]
    fn vlan_tags_are_skipped() {
        let plain = frame(&[&ETHERNET, &[8, 0], &IPV4_UDP, &UDP_HEADER]);
        let tagged =
            frame(&[&ETHERNET, &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 8, 0], &IPV4_UDP, &UDP_HEADER]);
        assert_eq!(whole(&plain), udp(Some((4096, 53))));
        assert_eq!(whole(&tagged), udp(Some((4096, 53))));
    }

    #[test]
    fn all_fragments_belong_to_one_flow() {
        for offset_field in [[0x20, 0], [0x20, 1], [0, 1]] {
            let mut header = IPV4_UDP;
            header[6..8].copy_from_slice(&offset_field);
            assert_eq!(whole(&frame(&[&ETHERNET, &[8, 0], &header, &UDP_HEADER])), udp(None));
        }
    }

    #[test]
    fn ip_options_and_extension_headers_are_skipped() {
        let mut options = IPV4_UDP.to_vec();
        options[0] = 0x46;
        options.extend([1, 1, 1, 0]);
        let data = frame(&[&ETHERNET, &[8, 0], &options, &UDP_HEADER]);
        assert_eq!(whole(&data), udp(Some((4096, 53))));

        let mut v6 = vec![0x60, 0, 0, 0, 0, 16, 0, 64];
        v6.extend([0xfe; 32]);
        let hop_by_hop = [60, 0, 0, 0, 0, 0, 0, 0];
        let destination = [17, 0, 0, 0, 0, 0, 0, 0];
        let data = frame(&[&ETHERNET, &[0x86, 0xdd], &v6, &hop_by_hop, &destination, &UDP_HEADER]);
        let Flow::Ip(tuple) = whole(&data) else { panic!("expected IPv6") };
        assert_eq!((tuple.protocol, tuple.ports), (17, Some((4096, 53))));

        // Offset 0 with more to follow, the last fragment, and a packet that is whole (its second byte means nothing).
        v6[6] = 44;
        for (fragment, ports) in [
            ([17, 0, 0, 1, 0, 0, 0, 9], None),
            ([17, 0, 1, 0, 0, 0, 0, 9], None),
            ([17, 255, 0, 6, 0, 0, 0, 9], Some((4096, 53))),
        ] {
            let data = frame(&[&ETHERNET, &[0x86, 0xdd], &v6, &fragment, &UDP_HEADER]);
            let Flow::Ip(tuple) = whole(&data) else { panic!("expected IPv6") };
            assert_eq!((tuple.protocol, tuple.ports), (17, ports));
        }
    }

    #[test]
    fn what_is_not_ip_is_told_apart_by_stations_and_ethertype() {
        let arp = whole(&frame(&[&ETHERNET, &[8, 6], &[0; 28]]));
        let stations = ([1; 6], [2; 6]);
        assert_eq!(arp, Flow::Frame { dst: stations.0, src: stations.1, ethertype: 0x0806 });
        // IEEE 802.3 frames carry a length, which differs between frames of one flow.
        for length in [38, 39] {
            let stp = whole(&frame(&[&ETHERNET, &[0, length], &[0; 46]]));
            assert_eq!(stp, Flow::Frame { dst: stations.0, src: stations.1, ethertype: 0 });
        }
    }

    #[test]
    fn a_broken_packet_keeps_what_could_be_read() {
        let bad_version = frame(&[&ETHERNET, &[8, 0], &[0x55; 40]]);
        assert!(matches!(whole(&bad_version), Flow::Frame { ethertype: 0x0800, .. }));
        let no_ports = frame(&[&ETHERNET, &[8, 0], &IPV4_UDP, &[1]]);
        assert_eq!(whole(&no_ports), udp(None));
        // The packet ends where an extension header should begin.
        let mut v6 = vec![0x60, 0, 0, 0, 0, 0, 60, 64];
        v6.extend([0xfe; 32]);
        let Flow::Ip(tuple) = whole(&frame(&[&ETHERNET, &[0x86, 0xdd], &v6])) else {
            panic!("the addresses are there")
        };
        assert_eq!((tuple.protocol, tuple.ports), (60, None));
        assert_eq!(whole(&[1, 2, 3]), Flow::Frame { dst: [0; 6], src: [0; 6], ethertype: 0 });
    }

    #[test]
    fn a_cut_packet_says_how_much_was_needed() {
        let data = frame(&[&ETHERNET, &[8, 0], &IPV4_UDP, &UDP_HEADER]);
        for (captured, needed) in [(3, 6), (13, 14), (20, 34), (34, 38), (37, 38)] {
            let result = flow(LinkType::Ethernet, &data[..captured], data.len() as u32);
            assert_eq!(result, Err(needed), "{captured} bytes captured");
        }
        assert_eq!(flow(LinkType::Ethernet, &data[..38], 42), Ok(udp(Some((4096, 53)))));
    }

    #[test]
    fn every_link_type_finds_the_same_flow() {
        let packet = frame(&[&IPV4_UDP, &UDP_HEADER]);
        let cooked = [0, 0, 3, 4, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0];
        let cooked2 = [8, 0, 0, 0, 0, 0, 0, 1, 3, 4, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0];
        let cases: [(u32, &[u8]); 7] = [
            (0, &[2, 0, 0, 0]),
            (108, &[0, 0, 0, 2]),
            (101, &[]),
            (228, &[]),
            (113, &cooked),
            (276, &cooked2),
            (1, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0]),
        ];
        for (number, header) in cases {
            let link = LinkType::numbered(number).unwrap();
            assert_eq!(link.header_bytes() as usize, header.len());
            let data = frame(&[header, &packet]);
            assert_eq!(flow(link, &data, data.len() as u32), Ok(udp(Some((4096, 53)))), "{number}");
        }
    }
}
