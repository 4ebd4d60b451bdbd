"""The record of a run: its scenario and measurements, what limits it, and its files on disk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from nic2core._core import UserError, __version__
from nic2core.explain.build import build_model
from nic2core.explain.bursts import Overflow, overflow
from nic2core.explain.changes import possible_changes
from nic2core.explain.gains import gains, loses_at_times
from nic2core.explain.limit import Limit, Run
from nic2core.explain.settings import setting_changes
from nic2core.explain.stages import Stage, stages
from nic2core.explain.use import work
from nic2core.files import write_parquet, write_whole
from nic2core.listing import forget_listing, listed_runs
from nic2core.results.saved import Saved, mismatch
from nic2core.scenario.capture import capture_digest, capture_file, is_capture
from nic2core.shipped import scenario_named
from nic2core.tables import Tables

if TYPE_CHECKING:
    from typing import Self

    from nic2core.explain.help import Helps
    from nic2core.explain.model import Model
    from nic2core.results.models import Distribution, Peak, Results

RESULT_FILE = "result.json"
"""The file in a result directory that holds everything; the Parquet files beside it are views."""
A_RESULT = (
    f"A result is a directory that `nic2core run ... --out DIR` wrote, or the {RESULT_FILE} in it."
)
"""The hint in errors about anything that is not a result."""

LISTED = 8
"""The most runs of a comparison that an error message names."""


@dataclass(frozen=True)
class Record:
    """One finished run: what was asked (`scenario`) and what was measured (`data`)."""

    scenario: dict[str, Any]
    """The complete scenario that ran, machine included. Running it again (for a peak, searching
    again) gives bit-identical results. It is not to be edited: `run(result, overrides)` runs
    another."""
    data: Results
    """What the engine measured."""
    label: str = "run"
    """What the run is called in tables and reports."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The keys that were changed for this run, by overrides or a sweep, with their values."""
    peak: Peak | None = None
    """The search that found this rate, if the run is the peak of one."""
    capture: str | None = None
    """SHA-256 of the capture that was replayed, if any: the file may have changed since."""
    scenario_name: str = ""
    """Name of the scenario file without its extension; empty if it was made in Python."""
    engine: str = ""
    """The build that simulated it (`engine.version`); empty if that is not known."""

    def __getstate__(self) -> dict[str, Any]:
        """Its fields: what was derived from them holds functions, which cannot be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def tables(self) -> Tables:
        """The numbers as Polars tables."""
        return Tables(self.data, self.stages)

    @property
    def mpps(self) -> float:
        """Requests completed, in millions per second."""
        return self.data.packets.completed_mpps

    @property
    def rate_mps(self) -> float:
        """Work done, in whatever unit the run counts, or the peak found; millions per second."""
        return work(self.data)[0] if self.peak is None else self.peak.peak_mpps

    @property
    def gbps(self) -> float:
        """Bytes of completed packets, as received, Gbit/s."""
        return self.data.packets.completed_gbps

    @property
    def goodput_gbps(self) -> float | None:
        """Payload that reached its application, each byte counted once, Gbit/s.

        `None` for traffic without closed-loop senders.
        """
        transport = self.data.transport
        return None if transport is None else transport.goodput_gbps

    @property
    def drop_share(self) -> float:
        """Share of the offered packets that were dropped, 0 to 1."""
        return self.data.packets.drop_share

    @property
    def p50_ns(self) -> float | None:
        """The median of the latency from arrival to the end of the request, ns."""
        return self.latency_ns(50.0)

    @property
    def p99_ns(self) -> float | None:
        """The 99th percentile of the latency from arrival to the end of the request, ns."""
        return self.latency_ns(99.0)

    @property
    def p999_ns(self) -> float | None:
        """The 99.9th percentile of the latency from arrival to the end of the request, ns."""
        return self.latency_ns(99.9)

    @property
    def p50_rtt_ns(self) -> float | None:
        """The median of the round trip that closed-loop senders see, ns."""
        return self.rtt_ns(50.0)

    @property
    def p99_rtt_ns(self) -> float | None:
        """The 99th percentile of the round trip that closed-loop senders see, ns."""
        return self.rtt_ns(99.0)

    @property
    def p999_rtt_ns(self) -> float | None:
        """The 99.9th percentile of the round trip that closed-loop senders see, ns."""
        return self.rtt_ns(99.9)

    def latency_ns(self, percent: float) -> float | None:
        """A percentile of the latency from arrival to the end of the request, ns."""
        return None if self.total_latency is None else self.total_latency.percentile(percent)

    def rtt_ns(self, percent: float) -> float | None:
        """A percentile of the time from sending a packet to the arrival of its acknowledgement, ns.

        `None` without closed-loop senders, or if they received no acknowledgement.
        """
        transport = self.data.transport
        if transport is None or transport.rtt.count == 0:
            return None
        return transport.rtt.percentile(percent)

    @property
    def total_latency(self) -> Distribution | None:
        """Latency from arrival to the end of the request; absent in a run without packets."""
        return next((s.distribution for s in self.data.latency if s.stage == "total"), None)

    @cached_property
    def model(self) -> Model:
        """The rate that each domain of the path allows."""
        return build_model(self.data, self.scenario)

    @cached_property
    def limit(self) -> Limit:
        """What sets the rate of the run."""
        return self._run.limit

    @property
    def _run(self) -> Run:
        """The run as `explain` asks about it."""
        return Run(self.data, self.scenario, self.model, self.peak is not None)

    @cached_property
    def overflow(self) -> Overflow | None:
        """What overflows where packets are dropped at times, if that is known."""
        if not loses_at_times(self._run):
            return None
        if self.capture is not None and capture_digest(self.scenario) != self.capture:
            return None
        return overflow(self.data, self.scenario, self.model)

    @property
    def limited(self) -> bool:
        """Whether a stage of the path limits the run: it allows less than what is offered."""
        return self.limit is Limit.STAGE

    @cached_property
    def stages(self) -> list[Stage]:
        """The load of every stage of the path, in path order."""
        return stages(self.data, self.scenario, self.model.used)

    @property
    def limiting_stage(self) -> Stage:
        """The stage of the path that limits throughput, or would be the first to."""
        return next(s for s in self.stages if s.stage == self.model.cause)

    @cached_property
    def helps(self) -> Helps:
        """By how much changing each domain would help, according to the model; see `gains`."""
        return gains(self._run, self.peak, self.overflow, possible_changes)

    @cached_property
    def setting_helps(self) -> Helps:
        """The same of changes that only take a setting, and of more of these to try."""
        return gains(self._run, self.peak, self.overflow, setting_changes)

    def check_capture(self) -> None:
        """Refuse to run this again if the capture is missing or has changed."""
        found = capture_digest(self.scenario)
        if self.capture is None or found == self.capture:
            return
        file = capture_file(self.scenario)
        if found is None:
            problem = f"{file}, the capture that this result replayed, cannot be read."
        else:
            problem = (
                f"{file} is not the capture that this result replayed: its SHA-256 is {found} and "
                f"was {self.capture}."
            )
        raise UserError(
            f"{problem} Put that capture back, or make the result again with "
            "`nic2core run ... --out DIR`."
        )

    def to_json(self) -> dict[str, Any]:
        """The whole record as JSON values."""
        return {
            "nic2core": __version__,
            "engine": self.engine,
            "label": self.label,
            "settings": self.settings,
            "scenario_name": self.scenario_name,
            "scenario": self.scenario,
            "capture": self.capture,
            "results": self.data.model_dump(mode="json"),
            "peak": None
            if self.peak is None
            else self.peak.model_dump(mode="json", exclude={"results"}),
        }

    @classmethod
    def from_json(cls, value: Any, where: str = "the result") -> Self:
        """Read what `to_json` returned, or the text of a `result.json`."""
        if isinstance(value, str | bytes):
            try:
                value = json.loads(value, parse_constant=_no_number)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{where} is not JSON ({error}). {A_RESULT}") from error
        if not isinstance(value, dict):
            raise _no_result(where, "it holds no keys and values")
        if isinstance(value.get("peak"), dict) and "results" in value:
            value = {**value, "peak": {**value["peak"], "results": value["results"]}}
        try:
            saved = Saved.model_validate(value)
        except ValidationError as error:
            raise _no_result(where, mismatch(error)) from error
        return cls(
            scenario=saved.scenario,
            data=saved.results,
            label=saved.label,
            settings=saved.settings,
            peak=saved.peak,
            capture=saved.capture,
            scenario_name=saved.scenario_name,
            engine=saved.engine,
        )

    def save(self, directory: str | Path) -> Path:
        """Write `result.json` and one Parquet file per table; return the directory.

        A comparison saved there before can no longer be loaded by the directory's name; its runs
        stay.
        """
        directory = Path(directory)
        write_whole(directory / RESULT_FILE, self._text())
        forget_listing(directory)
        for name, table in self.tables.all().items():
            write_parquet(directory / f"{name}.parquet", table)
        return directory

    def is_saved_in(self, directory: Path) -> bool:
        """Whether the `result.json` of a directory is that of this result."""
        return (directory / RESULT_FILE).read_bytes() == self._text().encode()

    def _text(self) -> str:
        return json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a result from its directory or its `result.json`."""
        file = Path(path)
        if file.is_dir():
            runs = listed_runs(file)
            if runs:
                named = ", ".join(f"{run} ({cls.load(run).label})" for run in runs[:LISTED])
                them = "them" if len(runs) <= LISTED else "them, such as"
                raise UserError(
                    f"{path} is a comparison of {len(runs)} runs; name one of {them}: {named}."
                )
            file /= RESULT_FILE
        if file.suffix == ".toml":
            raise _a_scenario(file)
        if is_capture(file):
            raise UserError(f"{file} is a capture, not a result. {A_RESULT}")
        try:
            text = file.read_bytes()
        except FileNotFoundError:
            if scenario_named(Path(path)) is not None:
                raise _a_scenario(path) from None
            raise UserError(f"{file} does not exist. {A_RESULT}") from None
        return cls.from_json(text, str(file))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _a_scenario(named: str | Path) -> UserError:
    return UserError(
        f"{named} is a scenario, not a result. Run it with "
        f"`nic2core run {quote(str(named))} --out DIR`, then name DIR."
    )


def _no_result(where: str, why: str) -> UserError:
    return UserError(
        f"{where} is not a result of this version of nic2core ({__version__}): {why}. Make it "
        "again with `nic2core run ... --out DIR`."
    )
