"""The evaluation of "Sweeper" (Cho and Daglis): one module per figure."""

from __future__ import annotations

from nic2core.studies.study import Study
from nic2core.studies.sweeper import fig1, fig2, fig5, fig6, fig7, fig8, fig9, fig10

_FIGURES = (fig1, fig2, fig5, fig6, fig7, fig8, fig9, fig10)

STUDY = Study(
    paper="sweeper",
    evaluators={
        f"sweeper/{name}": evaluator
        for figure in _FIGURES
        for name, evaluator in figure.CLAIMS.items()
    },
    figures=[figure.FIGURE for figure in _FIGURES],
)
