"""Figures as one self-contained interactive page."""

from __future__ import annotations

import html
from itertools import count
from typing import TYPE_CHECKING

from nic2core.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plotly.graph_objects import Figure

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
.panels { display: grid; gap: 1rem; }
@media (max-width: 60rem) { .panels { grid-template-columns: 1fr !important; } }
"""


def write_page(
    title: str,
    sections: Sequence[tuple[str, Sequence[Figure], int]],
    file: Path,
) -> Path:
    """Write figures (heading, figures, columns) one below the other."""
    parts: list[str] = []
    number = count()
    for heading, figures, columns in sections:
        boxes = "".join(f"<div>{_drawn(figure, next(number))}</div>" for figure in figures)
        grid = f"grid-template-columns: repeat({columns}, minmax(0, 1fr))"
        if heading:
            parts.append(f"<h2>{html.escape(heading)}</h2>")
        parts.append(f'<div class="panels" style="{grid}">{boxes}</div>')
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><h1>{html.escape(title)}</h1>{''.join(parts)}</body></html>"
    )
    write_whole(file, page)
    return file


def _drawn(figure: Figure, number: int) -> str:
    """A figure as HTML; the first one of a page brings Plotly's script with it."""
    return str(
        figure.to_html(
            full_html=False,
            include_plotlyjs=number == 0,
            config={"displayModeBar": False},
            # Plotly would draw one at random, and the page would differ from one run to the next.
            div_id=f"panel-{number}",
        )
    )
