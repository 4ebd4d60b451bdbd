"""What limits a run, and how much a change to each domain would help."""

from nic2core.explain.build import largest_window, model
from nic2core.explain.changes import Change, changes
from nic2core.explain.model import LOAD, Model
from nic2core.explain.use import Use, uses, work

__all__ = [
    "LOAD",
    "Change",
    "Model",
    "Use",
    "changes",
    "largest_window",
    "model",
    "uses",
    "work",
]
