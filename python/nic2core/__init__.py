"""nic2core: what happens to a packet between the NIC and the core."""

from nic2core._core import ModelError, UserError, __version__

__all__ = ["ModelError", "UserError", "__version__"]
