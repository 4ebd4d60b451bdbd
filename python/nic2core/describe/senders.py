"""What closed-loop senders see and do, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nic2core.names import DELAYS
from nic2core.results.models import TransportResults
from nic2core.scenario import closed_loop
from nic2core.scenario.closed_loop import controls
from nic2core.scenario.quantity import nanoseconds, size_bytes
from nic2core.scenario.toml_text import toml_value
from nic2core.words import NOTHING, percent, three, time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nic2core.results.models import Distribution, Results, SendersResults
    from nic2core.run_record import Record
    from nic2core.scenario.closed_loop import Group

TITLE = "What closed-loop senders see"
"""Title of the table of delays."""

RIVALS = "Rivals and other senders"
"""Title of the table of the groups."""

HOST, PATH, ROUND_TRIP, MARKS, LOSSES = "the host", "the path", "the round trip", "marks", "losses"
"""What `cuts` calls causes; the round trip is that of a control without a window for the server."""

MOSTLY = 0.5
"""Share of losses, and of the cuts of windows, from which their cause explains the others too."""

GROUPS = ("others", "rivals")
"""The groups of senders, in the order of the results."""


def delays(data: Results) -> dict[str, Distribution]:
    """The delays that senders see, by name; without those that never ended, such as a long read."""
    if data.transport is None:
        return {}
    spreads = {name: getattr(data.transport, delay) for delay, name in DELAYS.items()}
    return {name: spread for name, spread in spreads.items() if spread and spread.count}


def p99_ns(data: Results, delay: str) -> float | None:
    """The 99th percentile of a delay, given its key in `DELAYS`, in ns; `None` if there is none."""
    spread = delays(data).get(DELAYS[delay])
    return None if spread is None else spread.percentile(99.0)


def mean_ns(data: Results, delay: str) -> float | None:
    """The mean of a delay, given its key in `DELAYS`, in ns; `None` if there is none."""
    spread = delays(data).get(DELAYS[delay])
    return None if spread is None else spread.mean_ns


def done(result: Record) -> str:
    """What happened to the packets that senders sent, how they recovered, and what rivals got."""
    transport = result.data.transport
    assert transport is not None  # noqa: S101 - only of closed-loop senders
    again = percent(sent_again(transport))
    recovered = _count(transport.fast_recoveries, "fast recovery", "fast recoveries")
    timeouts = _count(transport.timeouts, "timeout", "timeouts")
    wrongly = taken_for_lost(transport)
    arrived = f" ({wrongly:,} declared lost had arrived)" if wrongly else ""
    fair = (
        f" Jain's fairness over {len(transport.connections):,} connections is "
        f"{three(transport.fairness)}."
        if asked_alike(result) and transport.fairness is not None
        else ""
    )
    return (
        f"Of {transport.sent:,} packets sent, {again} were retransmissions{_marked(transport)}; "
        f"{recovered}, {timeouts}{arrived}.{fair}{_rivals(result)}"
    )


def _marked(transport: TransportResults) -> str:
    """How many packets were marked; empty if none was and nobody would have heard it."""
    marked, by_nic = marked_share(transport), transport.marked_server
    if not marked and transport.hears_marks is False:
        return ""
    whose = f", {percent(share(by_nic, transport))} by the server's NIC" if by_nic else ""
    return f" and {percent(marked)} were marked (ECN{whose})"


def asked_alike(result: Record) -> bool:
    """Whether all senders are asked for the same, so that what they get can be compared."""
    return all(g.asked_the_same for g in closed_loop.groups(result.scenario["traffic"]))


def _rivals(result: Record) -> str:
    """How much more a rival gets, as a sentence; empty if there are none to compare."""
    times = advantage(result)
    return f" A rival gets {three(times)} times as much as another sender." if times else ""


def groups(result: Record) -> list[tuple[str, list[str]]]:
    """`GROUPS` side by side: rows of a name and what each group has; empty without rivals."""
    transport = result.data.transport
    if transport is None or not transport.by_group:
        return []
    traffic, found = result.scenario["traffic"], transport.by_group
    tables, asked = controls(traffic), closed_loop.groups(traffic)
    who = [
        f"{of.count:,}, {tables[of.control]['kind']}{_different(traffic, group)}"
        for of, group in zip(found, asked, strict=True)
    ]
    rows: list[tuple[str, list[str]]] = [
        ("senders", who),
        ("goodput, Gbit/s", [three(of.goodput_gbps) for of in found]),
        *_wanted(found),
        ("of a sender, Gbit/s", [three(of.goodput_gbps / of.count) for of in found]),
        ("mean window, packets", [three(of.mean_window) for of in found]),
        ("sent again", [percent(sent_again(of)) for of in found]),
        ("timeouts", [f"{of.timeouts:,}" for of in found]),
        ("windows are cut by", [_shares(cuts(of)) for of in found]),
        ("cut in all, packets per ms", [three(cut_per_ms(of, result.data)) for of in found]),
        (
            "fairness among them",
            [NOTHING if of.fairness is None else three(of.fairness) for of in found],
        ),
    ]
    for delay in ("read_latency", "block_latency"):
        spreads: list[Distribution | None] = [getattr(of, delay) for of in found]
        if any(spread and spread.count for spread in spreads):
            rows += [
                (f"{DELAYS[delay]}, p{p:g}", [_within(spread, p) for spread in spreads])
                for p in (50.0, 99.0, 99.9)
            ]
    return rows


def _wanted(found: Sequence[SendersResults]) -> list[tuple[str, list[str]]]:
    """What is wanted of each group, as a row, if a load is wanted of any."""
    wanted = [of.wanted_gbps for of in found]
    if all(gbps is None for gbps in wanted):
        return []
    return [("wanted, Gbit/s", [NOTHING if gbps is None else three(gbps) for gbps in wanted])]


def _different(traffic: Mapping[str, Any], group: Group) -> str:
    """In what rivals differ from the others, besides their control."""
    values = ((key, toml_value(traffic["rivals"][key]).strip('"')) for key in group.differs)
    return "".join(f", {key} {value}" for key, value in values)


def _shares(of: Mapping[str, float]) -> str:
    """Shares in words, the largest first."""
    largest = sorted(of.items(), key=lambda share: -share[1])
    return ", ".join(f"{what} {percent(share)}" for what, share in largest if share) or NOTHING


def _within(spread: Distribution | None, percentile: float) -> str:
    return time(spread.percentile(percentile)) if spread and spread.count else NOTHING


def with_controls(
    result: Record,
) -> list[tuple[dict[str, Any], TransportResults | SendersResults]]:
    """The groups of senders, each with the table of its congestion control."""
    transport = result.data.transport
    if transport is None:
        return []
    tables = controls(result.scenario["traffic"])
    if not transport.by_group:
        return [(tables["traffic.control"], transport)]
    return [(tables[group.control], group) for group in transport.by_group]


def cut_packets(of: TransportResults | SendersResults) -> dict[str, float]:
    """Packets that windows were cut by, all together, by cause.

    Only causes that the congestion control knows: without a window for the server's delay, all
    that acknowledgements cut is of the round trip, or of marks for a control that hears them.
    """
    packets = {_told_by_acknowledgements(of): of.cut_by_path, LOSSES: of.cut_by_losses}
    return packets if of.cut_by_host is None else {HOST: of.cut_by_host} | packets


def cuts(of: TransportResults | SendersResults) -> dict[str, float]:
    """Shares of all that windows were cut by, 0 to 1, by cause; empty if nothing cut them."""
    packets = cut_packets(of)
    whole = sum(packets.values())
    return {cause: cut / whole for cause, cut in packets.items()} if whole else {}


def _told_by_acknowledgements(of: TransportResults | SendersResults) -> str:
    """What acknowledgements cut windows for, besides the server's delay."""
    apart = of.by_group if isinstance(of, TransportResults) else []
    alike: Sequence[TransportResults | SendersResults] = apart or [of]
    said = {_heard(group) for group in alike}
    return " or ".join(cause for cause in (PATH, ROUND_TRIP, MARKS) if cause in said)


def _heard(of: TransportResults | SendersResults) -> str:
    """What a control hears of by acknowledgements, besides the server's delay if that is apart."""
    if of.hears_marks:
        return MARKS
    return ROUND_TRIP if of.cut_by_host is None else PATH


def lost_unheard(result: Record) -> str:
    """Why a control that heeds the server's delay hears of a full NIC by losses alone, if it does.

    A full buffer delays packets by its size over the rate at which it empties.
    """
    transport, packets = result.data.transport, result.data.packets
    if transport is None or packets.completed_gbps <= 0:
        return ""
    lost = transport.dropped_server + transport.dropped_switch + taken_for_lost(transport)
    if packets.dropped_sram == 0 or packets.dropped_sram < MOSTLY * lost:
        return ""
    tables = [*controls(result.scenario["traffic"]).values()]
    target = tables[0].get("endpoint_target") if len(tables) == 1 else None
    losses = cuts(transport).get(LOSSES, 0.0)
    sram = result.scenario["machine"]["nic"]["sram"]
    full_ns = size_bytes(sram) * 8 / packets.completed_gbps
    if target is None or losses < MOSTLY or full_ns >= nanoseconds(target):
        return ""
    waited = next((s.distribution for s in result.data.latency if s.stage == "nic"), None)
    if waited is None or waited.percentile(99.9) < MOSTLY * full_ns:
        # It has no room for a second packet, or empties faster than the mean rate when it is full.
        return ""
    return (
        f" When full, the NIC's input SRAM ({sram}) delays packets by {time(full_ns)} at this "
        f"rate, less than the target for the server's delay ({target}): windows are cut for losses "
        f"({percent(losses)} of all cuts)."
    )


def advantage(result: Record) -> float | None:
    """Goodput of a rival over that of another sender; `None` unless both are asked for the same.

    `None` also if what they get is what is wanted of them.
    """
    transport = result.data.transport
    if transport is None or not transport.by_group or not asked_alike(result):
        return None
    if transport.wanted_gbps is not None:
        # They get what is wanted of them.
        return None
    others, them = (group.goodput_gbps / group.count for group in transport.by_group)
    return them / others if others else None


def share(packets: int, of: TransportResults | SendersResults) -> float:
    """A number of packets as a share of those sent, 0 to 1; 0 if none were sent.

    Of packets sent before the measured time, some may count in it.
    """
    return min(1.0, packets / of.sent) if of.sent else 0.0


def sent_again(of: TransportResults | SendersResults) -> float:
    """Share of the packets sent that were retransmissions, 0 to 1."""
    return share(of.sent_again, of)


def taken_for_lost(transport: TransportResults) -> int:
    """Packets that were declared lost but had arrived."""
    return transport.not_lost + transport.duplicates


def marked_share(transport: TransportResults) -> float:
    """Share of the packets sent that the switch or the NIC marked, 0 to 1."""
    return share(transport.marked + transport.marked_server, transport)


def timeouts_per_ms(transport: TransportResults, data: Results) -> float:
    """Retransmission timeouts of all senders, per millisecond."""
    return transport.timeouts / (data.measured_ns / 1e6)


def cut_per_ms(of: TransportResults | SendersResults, data: Results) -> float:
    """Packets that windows were cut by, all together, per millisecond."""
    return sum(cut_packets(of).values()) / (data.measured_ns / 1e6)


def in_flight(data: Results) -> float:
    """Mean number of packets, or their acknowledgements, in flight, by Little's law."""
    assert data.transport is not None  # noqa: S101 - only of closed-loop senders
    return data.transport.acknowledged / data.measured_ns * data.transport.rtt.mean_ns


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
