"""The queues of a core, as a scenario has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def room_to_send(queues: Mapping[str, Any]) -> int:
    """Packets of a core that can wait to be sent: in the transmit ring, and in software."""
    return int(queues["tx_descriptors"]) + int(queues.get("tx_backlog", 0))
