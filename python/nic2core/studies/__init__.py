"""Reproductions: a paper's evaluation as points to simulate, claims to check, and figures.

A study is a module with a `STUDY`, listed in the table below, and a file of claims beside it. The
claims say what is computed and what the paper found; the module says from which points and how.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nic2core.studies.study import Study

PAPERS = {
    "sweeper": "nic2core.studies.sweeper",
    "ddio-bench": "nic2core.studies.ddio_bench",
    "pcie-bench": "nic2core.studies.pcie_bench",
    "host-congestion": "nic2core.studies.host_congestion",
}
"""Every study, by the name of its paper on the command line."""


def load_study(paper: str) -> Study:
    """The study of a paper."""
    study: Study = import_module(PAPERS[paper]).STUDY
    return study
