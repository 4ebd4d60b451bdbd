"""The evaluation of "Understanding Host Interconnect Congestion": one module per figure."""

from __future__ import annotations

from nic2core.studies.host_congestion import fig3, fig4, fig5, fig6
from nic2core.studies.study import Study

_FIGURES = (fig3, fig4, fig5, fig6)

STUDY = Study(
    paper="host-congestion",
    evaluators={
        f"host-congestion/{name}": evaluator
        for figure in _FIGURES
        for name, evaluator in figure.CLAIMS.items()
    },
    figures=[figure.FIGURE for figure in _FIGURES],
)
