"""Warnings about a run whose numbers may mislead: a sentence or two each."""

from nic2core.describe.doubts.told import Doubt, all_doubts, doubts

__all__ = ["Doubt", "all_doubts", "doubts"]
