#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes examples/capture.pcap: a minute in a small network, as tcpdump would have stored it.

Hosts look each other up by ARP and IPv6 neighbour discovery, resolve a name, fetch a page over
TCP, ping, speak mDNS, and someone tries telnet; one link is tagged (VLAN 42). Addresses are the
documentation prefixes (RFC 5737, RFC 3849). The same bytes on every run.
"""
import ipaddress
import struct
import sys

CLIENT = ("02:00:00:00:00:11", "192.0.2.17", "2001:db8::11")
SERVER = ("02:00:00:00:00:80", "192.0.2.80", "2001:db8::80")
RESOLVER = ("02:00:00:00:00:53", "192.0.2.53", "2001:db8::53")
INTRUDER = ("02:00:00:00:00:66", "198.51.100.66", "2001:db8::66")


def mac(text):
    return bytes(int(b, 16) for b in text.split(":"))


def addr(text):
    return ipaddress.ip_address(text).packed


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ether(dst, src, kind, payload, vlan=None):
    tag = struct.pack("!HH", 0x8100, vlan) if vlan else b""
    frame = mac(dst) + mac(src) + tag + struct.pack("!H", kind) + payload
    return frame.ljust(60, b"\0")


IP_ID = [1000]


def ipv4(src, dst, proto, payload, vlan=None):
    IP_ID[0] += 1
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), IP_ID[0], 0x4000, 64, proto, 0,
                       addr(src[1]), addr(dst[1]))
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    return ether(dst[0], src[0], 0x0800, head + payload, vlan)


def pseudo(src, dst, proto, length):
    if len(addr(src)) == 4:
        return addr(src) + addr(dst) + struct.pack("!BBH", 0, proto, length)
    return addr(src) + addr(dst) + struct.pack("!IHBB", length, 0, 0, proto)


def transport(src, dst, proto, segment, at):
    value = checksum(pseudo(src, dst, proto, len(segment)) + segment)
    return segment[:at] + struct.pack("!H", value) + segment[at + 2:]


def udp(src, dst, sport, dport, data, vlan=None):
    segment = struct.pack("!HHHH", sport, dport, 8 + len(data), 0) + data
    return ipv4(src, dst, 17, transport(src[1], dst[1], 17, segment, 6), vlan)


def tcp(src, dst, sport, dport, seq, ack, flags, data=b"", vlan=None):
    bits = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16}
    segment = struct.pack("!HHIIBBHHH", sport, dport, seq, ack, 5 << 4,
                          sum(bits[f] for f in flags), 64240, 0, 0) + data
    return ipv4(src, dst, 6, transport(src[1], dst[1], 6, segment, 16), vlan)


def ping(src, dst, kind, number, vlan=None):
    body = struct.pack("!BBHHH", kind, 0, 0, 0x1234, number) + bytes(range(16, 72))
    body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
    return ipv4(src, dst, 1, body, vlan)


def arp(src, dst, reply):
    to = dst[0] if reply else "ff:ff:ff:ff:ff:ff"
    asked = mac(dst[0]) if reply else bytes(6)
    return ether(to, src[0], 0x0806, struct.pack("!HHBBH", 1, 0x0800, 6, 4, 2 if reply else 1) +
                 mac(src[0]) + addr(src[1]) + asked + addr(dst[1]))


def ipv6(src, dst, proto, segment, at, dst_mac=None, hops=64):
    segment = transport(src[2], dst[2], proto, segment, at)
    head = struct.pack("!IHBB", 6 << 28, len(segment), proto, hops) + addr(src[2]) + addr(dst[2])
    return ether(dst_mac or dst[0], src[0], 0x86dd, head + segment)


def neighbour(src, dst, advert):
    if advert:
        body = struct.pack("!BBHI", 136, 0, 0, 0x60000000) + addr(src[2]) + b"\2\1" + mac(src[0])
        return ipv6(src, dst, 58, body, 2, hops=255)
    body = struct.pack("!BBHI", 135, 0, 0, 0) + addr(dst[2]) + b"\1\1" + mac(src[0])
    group = ("", "", "ff02::1:ff00:" + dst[2].split(":")[-1])
    return ipv6(src, group, 58, body, 2, "33:33:ff:00:00:" + dst[0].split(":")[-1], 255)


def dns(number, name, answer=None):
    labels = b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0"
    head = struct.pack("!HHHHHH", number, 0x8180 if answer else 0x0100, 1, 1 if answer else 0, 0, 0)
    body = head + labels + struct.pack("!HH", 1, 1)
    if answer:
        body += struct.pack("!HHHIH", 0xc00c, 1, 1, 300, 4) + addr(answer)
    return body


def web(sport, seq, size):
    """A page of `size` bytes over TCP: handshake, request, segments, end."""
    request = b"GET /index.html HTTP/1.1\r\nHost: www.example.net\r\nAccept: */*\r\n\r\n"
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + b"packets " * (size // 8)
    theirs = 700000
    yield tcp(CLIENT, SERVER, sport, 80, seq, 0, "S")
    yield tcp(SERVER, CLIENT, 80, sport, theirs, seq + 1, "SA")
    yield tcp(CLIENT, SERVER, sport, 80, seq + 1, theirs + 1, "A")
    yield tcp(CLIENT, SERVER, sport, 80, seq + 1, theirs + 1, "PA", request)
    seq, theirs = seq + 1 + len(request), theirs + 1
    for at in range(0, len(page), 1400):
        part = page[at:at + 1400]
        yield tcp(SERVER, CLIENT, 80, sport, theirs, seq, "PA", part)
        theirs += len(part)
        yield tcp(CLIENT, SERVER, sport, 80, seq, theirs, "A")
    yield tcp(CLIENT, SERVER, sport, 80, seq, theirs, "FA")
    yield tcp(SERVER, CLIENT, 80, sport, theirs, seq + 1, "FA")
    yield tcp(CLIENT, SERVER, sport, 80, seq + 1, theirs + 1, "A")


def packets():
    yield arp(CLIENT, RESOLVER, False)
    yield arp(RESOLVER, CLIENT, True)
    yield udp(CLIENT, RESOLVER, 40001, 53, dns(1, "www.example.net"))
    yield udp(RESOLVER, CLIENT, 53, 40001, dns(1, "www.example.net", SERVER[1]))
    yield arp(CLIENT, SERVER, False)
    yield arp(SERVER, CLIENT, True)
    yield from web(50001, 1000, 6000)
    yield neighbour(CLIENT, SERVER, False)
    yield neighbour(SERVER, CLIENT, True)
    query = dns(0, "_http._tcp.local").ljust(37, b"\0")
    query = struct.pack("!HHHH", 5353, 5353, 8 + len(query), 0) + query
    yield ipv6(CLIENT, ("", "", "ff02::fb"), 17, query, 6, "33:33:00:00:00:fb")
    for number in range(1, 4):
        yield ping(CLIENT, SERVER, 8, number)
        yield ping(SERVER, CLIENT, 0, number)
    for sport in range(60001, 60006):
        yield tcp(INTRUDER, SERVER, sport, 23, 9000, 0, "S")
    yield tcp(CLIENT, SERVER, 50002, 443, 1, 0, "S", vlan=42)
    yield tcp(SERVER, CLIENT, 443, 50002, 1, 2, "SA", vlan=42)
    yield tcp(CLIENT, SERVER, 50002, 443, 2, 2, "A", vlan=42)
    yield ping(CLIENT, SERVER, 8, 9, vlan=42)
    yield from web(50003, 20000, 2500)
    yield ether("01:80:c2:00:00:00", SERVER[0], 0x0027, b"\x42\x42\x03" + bytes(35))


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "examples/capture.pcap"
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for i, frame in enumerate(packets()):
            usec = i * 731003
            out.write(struct.pack("<IIII", 1700000000 + usec // 1000000, usec % 1000000, len(frame),
                                  len(frame)))
            out.write(frame)


main()
