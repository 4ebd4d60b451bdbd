#!/usr/bin/env bash
# Makes memcached.pcap: the packets a real memcached receives from a real
# client (memaslap of libmemcached) across two network namespaces.
#
#   client namespace                          server namespace
#   16 x memaslap, one address each  == veth ==  memcached, tcpdump -Q in
#
#   sudo captures/make-memcached.sh           capture, check, then replace the file
#   captures/make-memcached.sh summary [FILE] describe an existing capture
#
# Nothing leaves the machine. The namespaces, the processes and the temporary
# directory are removed on every exit that a script can catch; after SIGKILL the
# next run removes the namespaces and their processes. A run takes about half a
# minute; every wait has a timeout, about one minute in all.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$here/memcached.pcap

# 96 bytes hold the longest Ethernet + IPv4 + TCP header: 14 + 20 + 60 = 94.
snaplen=96
# Each record is at most 16 + 96 bytes, so 17 500 of them stay below 2 MB.
packets=17500
clients=16
connections=32            # per client: 16 x 32 = 512 flows
min_flows=256
load_seconds=60           # upper bound; the load ends with the capture
settle_seconds=5          # after the last client has started: every connection is in use by then
attempts=3
attempt_seconds=10        # a capture takes well below one second
server_threads=4          # memcached's default
port=11211

server_ns=n2c-server
client_ns=n2c-client
server_ip=10.77.0.1
first_uid=61001           # unused ids: one per client, to choose its address

die() { echo "make-memcached: $*" >&2; exit 1; }

need() { # need COMMAND DEBIAN-PACKAGE
    command -v "$1" >/dev/null || die "'$1' not found; try: apt-get install $2"
}

# Reads a capture with tcpdump and prints counts; fails on what a replay
# could not use (frames above the MTU, times that run backwards).
summary() {
    [[ -r $1 ]] || die "cannot read $1"
    # -e prints the original frame length even for truncated records.
    tcpdump -r "$1" --time-stamp-precision=nano -e -nn -tt -q 2>/dev/null |
        awk -v min_flows="$min_flows" '
        {
            # Seconds and nanoseconds separately: a double cannot hold both.
            split($1, t, "."); if (NR == 1) s0 = t[1]
            now = (t[1] - s0) * 1e9 + t[2]
            if (NR == 1) { first = last = now }
            if (now < last) backwards++
            if (now == last && NR > 1) ties++
            last = now

            match($0, /length [0-9]+:/)
            len = substr($0, RSTART + 7, RLENGTH - 8) + 0
            total += len
            if (NR == 1 || len < min) min = len
            if (len > max) max = len
            bin[len < 128 ? 0 : len < 512 ? 1 : len < 768 ? 2 : len < 1024 ? 3 : len < 1514 ? 4 : 5]++

            match($0, /: [0-9.]+ > /)
            src = substr($0, RSTART + 2, RLENGTH - 5)
            flow[src]++
            sub(/\.[0-9]+$/, "", src); addr[src]++
        }
        END {
            if (!NR) { print "no packets"; exit 1 }
            for (f in flow) {
                flows++
                if (!lo || flow[f] < lo) lo = flow[f]
                if (flow[f] > hi) hi = flow[f]
            }
            for (a in addr) addrs++
            span = (last - first) / 1e9
            printf "packets        %d\n", NR
            printf "flows          %d from %d addresses, %d to %d packets each\n", flows, addrs, lo, hi
            printf "duration       %.6f s\n", span
            printf "mean rate      %.0f packets/s, %.3f Gbit/s\n", NR / span, total * 8 / span / 1e9
            printf "frame size     mean %.1f B, min %d, max %d (without FCS)\n", total / NR, min, max
            split("< 128,128-511,512-767,768-1023,1024-1513,1514", name, ",")
            for (i = 0; i < 6; i++) printf "  %-12s %6d  %5.1f %%\n", name[i + 1], bin[i], 100 * bin[i] / NR
            printf "equal times    %d\n", ties
            printf "backward times %d\n", backwards
            if (max > 1514) { print "a frame is larger than MTU 1500 allows"; exit 1 }
            if (backwards) { print "times run backwards"; exit 1 }
            if (flows < min_flows) { print "too few flows"; exit 1 }
        }'
}

if [[ ${1:-} == summary ]]; then
    need tcpdump tcpdump
    summary "${2:-$out}"
    exit
fi
[[ $# -eq 0 ]] || die "unknown argument '$1'; use none, or: summary [FILE]"

need ip iproute2
need ethtool ethtool
need tcpdump tcpdump
need memcached memcached
need setpriv util-linux
need timeout coreutils
# Debian renamed memaslap to memcaslap.
memaslap=$(command -v memaslap || command -v memcaslap) ||
    die "no memaslap or memcaslap; try: apt-get install libmemcached-tools"
[[ $EUID -eq 0 ]] || die "network namespaces need root; run with sudo"

work=$(mktemp -d)
chmod 755 "$work"         # the clients read their configuration as other users
pids=()

# Ends whatever runs in this script's own namespaces, then deletes them. Also
# used at the start: a run killed by SIGKILL may have left them behind.
remove_namespaces() {
    local ns pid
    for ns in "$client_ns" "$server_ns"; do
        [[ -e /run/netns/$ns ]] || continue
        for pid in $(ip netns pids "$ns"); do kill "$pid" 2>/dev/null || true; done
        ip netns del "$ns"
    done
}
cleanup() {
    remove_namespaces
    wait                  # a process that is gone holds no namespace
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

remove_namespaces
ip netns add "$server_ns"
ip netns add "$client_ns"
ip -n "$server_ns" link add eth0 type veth peer name eth0 netns "$client_ns"
for ns in "$server_ns" "$client_ns"; do
    ip -n "$ns" link set lo up
    ip -n "$ns" link set eth0 mtu 1500 up
    # Frames as on the wire: no 64 KB super-segments, and with valid checksums.
    ip netns exec "$ns" ethtool -K eth0 tso off gso off gro off tx off >/dev/null ||
        die "cannot switch segmentation offloads off on veth"
done
ip -n "$server_ns" addr add "$server_ip/24" dev eth0
# memaslap cannot bind a source address; a route chosen by user id does.
for ((i = 0; i < clients; i++)); do
    ip -n "$client_ns" addr add "10.77.0.$((11 + i))/24" dev eth0
    ip -n "$client_ns" rule add uidrange "$((first_uid + i))-$((first_uid + i))" table "$((101 + i))"
    ip -n "$client_ns" route add "$server_ip/32" dev eth0 src "10.77.0.$((11 + i))" table "$((101 + i))"
done

# Ranges of lengths in bytes with their share; command 0 is SET, 1 is GET.
cat >"$work/load.cfg" <<'CONFIG'
key
16 32 1
value
64 512 0.05
512 1024 0.9
1024 2048 0.05
cmd
0 0.8
1 0.2
CONFIG

ip netns exec "$server_ns" timeout -k 5 "$((load_seconds + 10))" memcached -u nobody -l "$server_ip" -p "$port" -U 0 \
    -t "$server_threads" -m 512 -c 2048 &
pids+=($!)
for ((try = 0; ; try++)); do
    ip netns exec "$client_ns" bash -c "exec 3<>/dev/tcp/$server_ip/$port" 2>/dev/null && break
    ((try < 50)) || die "memcached does not answer on $server_ip:$port after 5 s"
    sleep 0.1
done

# memaslap draws one table of sizes per process, seeded with the time in whole
# seconds, and each of its tasks (-c) walks that table from the start. Several
# tasks, or two processes started in the same second, would send the same sizes
# in lockstep. So each client is one task that cycles through its sockets (-n),
# and no two clients start in the same second.
for ((i = 0; i < clients; i++)); do
    uid=$((first_uid + i))
    ip netns exec "$client_ns" setpriv --reuid="$uid" --regid="$uid" --clear-groups \
        timeout -k 5 "$((load_seconds + 10))" "$memaslap" -s "$server_ip:$port" \
        -F "$work/load.cfg" -T 1 -c 1 -n "$connections" -t "${load_seconds}s" \
        >"$work/client$i.log" 2>&1 &
    pids+=($!)
    sleep 1.05
done
sleep "$settle_seconds"
for pid in "${pids[@]}"; do
    kill -0 "$pid" 2>/dev/null || { cat "$work"/client*.log >&2; die "server or a client ended early"; }
done

# -Q in: only what the server receives. -w -: the shell owns the file, since
# tcpdump gives up root before it opens one.
capture() {
    timeout "$attempt_seconds" ip netns exec "$server_ns" tcpdump -i eth0 -Q in -nn \
        -s "$snaplen" -c "$packets" -B 16384 --time-stamp-precision=nano \
        -w - "tcp and dst host $server_ip and dst port $port" \
        >"$work/memcached.pcap" 2>"$work/tcpdump.log" ||
        { cat "$work/tcpdump.log" >&2; echo "too few packets in $attempt_seconds s" >&2; return 1; }
    grep -q '^0 packets dropped by kernel' "$work/tcpdump.log" ||
        { cat "$work/tcpdump.log" >&2; return 1; }
    summary "$work/memcached.pcap"
}

# Two CPUs can timestamp two frames in one order and queue them in the other; such
# a capture is rejected, and the next one is usually in order.
for ((try = 1; ; try++)); do
    capture && break
    ((try < attempts)) || die "no capture fit for replay in $attempts attempts; $out is left as it was"
done
# Written in place to keep the owner and mode of an existing file.
cat "$work/memcached.pcap" >"$out"
echo "wrote $out, $(stat -c %s "$out") bytes"
