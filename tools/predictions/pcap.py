"""Captures as files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def pcap(frames: Iterable[tuple[int, int, int]]) -> bytes:
    """A pcap of frames of IPv4 and UDP, of which the headers are stored: ns, bytes and flow."""
    header = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    return header + b"".join(_record(*frame) for frame in frames)


def _record(at_ns: int, size: int, flow: int) -> bytes:
    ethernet = bytes(12) + b"\x08\x00"
    addresses = struct.pack(">II", 0x0A000001 + flow, 0x0A010001)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size - 14, 0, 0, 64, 17, 0) + addresses
    udp = struct.pack(">HHHH", 1024 + flow, 53, size - 34, 0)
    stored = ethernet + ip + udp
    seconds, nanoseconds = divmod(at_ns, 10**9)
    return struct.pack("<IIII", seconds, nanoseconds, len(stored), size) + stored
