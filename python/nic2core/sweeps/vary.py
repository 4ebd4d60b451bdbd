"""A sweep: every combination of the values of some keys."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nic2core import api, sources
from nic2core._core import UserError
from nic2core.describe.labels import name_cases
from nic2core.scenario.toml_text import not_null, plain, toml_value
from nic2core.sweeps.points import run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nic2core.progress import Progress
    from nic2core.sweeps.swept import Sweep

Settings = dict[str, Any]


def sweep(
    source: sources.Source,
    vary: Mapping[str, Iterable[Any]],
    *,
    jobs: int = 1,
    overrides: Mapping[str, Any] | None = None,
    peak: bool = False,
    progress: Progress | None = None,
    skip_refused: bool = False,
    out: str | Path | None = None,
) -> Sweep:
    """Run every combination of `vary`, e.g. `{"placement.io_ways": [2, 4, 6]}`, `jobs` at a time.

    Values may be any list, array or range; `overrides` apply to all runs, as in `run`.

    The results are in the order of the values and bit-identical for any number of jobs. With
    `peak`, each point is a search for its highest rate. Ctrl-C stops the sweep and returns the
    points that are finished. Without a `progress` of your own, progress bars are shown on a
    terminal. A scenario that is wrong ends the sweep before anything runs. A point that the engine
    refuses when it runs ends it too; with `skip_refused` it is left out.

    With `out`, every point is saved in that directory as soon as it has finished, so that it is
    not lost whatever becomes of the others; `Sweep.load` reads what is there. Points that the same
    engine has saved there before are not run again. What cannot be saved is warned of (`NotSaved`);
    `Sweep.save` of what is returned can save it elsewhere.
    """
    sources.keep_source(source, out)
    values = _values(vary)
    fixed = sources.keyed("overrides", overrides, "4")
    both = sorted(values.keys() & fixed.keys())
    if both:
        raise UserError(
            f"{', '.join(both)}: a key cannot be varied and be set for all runs; give it once."
        )
    settings = cases(values)
    # All points are checked before the first one runs, so a mistake in the last shows at once.
    prepared = [sources.prepare(source, _tables_first({**fixed, **s}), peak=peak) for s in settings]
    api.warn_of_keys_without_effect(prepared, peak=peak)
    names = name_cases([p.scenario for p in prepared], settings)
    done = run_all(
        prepared,
        names,
        jobs=jobs,
        peak=peak,
        progress=progress,
        skip_refused=skip_refused,
        out=None if out is None else Path(out),
    )
    # Ctrl-C ends the sweep, which has ended: what has run is not lost for it.
    with suppress(KeyboardInterrupt):
        api.warn_of_doubts(done.results)
    if done.not_saved is not None:
        warnings.warn(f"Not all runs are saved: {done.not_saved}", NotSaved, stacklevel=2)
    return done


class NotSaved(UserWarning):
    """Results of a sweep could not be saved; what is returned has them."""


def cases(vary: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Every combination of the values, the last key varying fastest."""
    return [dict(zip(vary, point, strict=True)) for point in itertools.product(*vary.values())]


def _values(vary: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """The values of every key, as lists of JSON values."""
    found: dict[str, list[Any]] = {}
    for key, given in sources.keyed("vary", vary, "[2, 4]").items():
        values: list[Any] = []
        # Text and tables can be iterated, but their characters and keys are no values.
        if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
            values = [not_null(value) for value in plain({key: list(given)})[key]]
        if not values:
            raise UserError(
                f"vary: {key} = {given!r} is not a list of values; expected one or more, such as "
                "[2, 4]."
            )
        # Compared as a scenario would read them: 2 and "2" are the same.
        written = [toml_value(value) for value in values]
        twice = [value for at, value in enumerate(written) if value in written[:at]]
        if twice:
            raise UserError(f"vary: {key} has {twice[0]} twice; give each value once.")
        found[key] = values
    if not found:
        raise UserError(
            'vary is empty; expected keys and their values, such as {"placement.io_ways": [2, 4]}.'
        )
    return found


def _tables_first(keys: Settings) -> Settings:
    """The same keys, a table that contains others of them before those."""
    tables = [key for key in keys if any(other.startswith(f"{key}.") for other in keys)]
    # A table in another one has a longer name.
    tables.sort(key=len)
    return {**{key: keys[key] for key in tables}, **keys}
