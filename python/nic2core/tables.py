"""The numbers of a run as Polars tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import polars as pl

from nic2core import names
from nic2core.explain.io_lines import placed, written
from nic2core.results.bases import PERCENTILES, column
from nic2core.results.models import (
    ConnectionResults,
    Distribution,
    SendersResults,
    SizeResults,
    TransportResults,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nic2core.explain.stages import Stage
    from nic2core.results.models import Results
    from nic2core.results.plain import Plain

SPREAD: dict[str, type[pl.DataType]] = {
    "count": pl.UInt64,
    "mean_ns": pl.Float64,
    **{column(p): pl.Float64 for p in PERCENTILES},
}
"""The columns of a distribution, also for tables without rows."""


MEMORY = {
    "cause": pl.String,
    "lines": pl.UInt64,
    "per_request": pl.Float64,
    "gbytes_per_s": pl.Float64,
}
"""The columns of a cause of memory traffic."""


TABLES = (
    "latency",
    "memory",
    "memory_by_tenant",
    "caches",
    "llc",
    "io",
    "io_by_kind",
    "iotlb",
    "stages",
    "queues",
    "tenants",
    "dma",
    "transport",
    "senders",
    "by_group",
    "by_size",
    "connections",
    "series",
)
"""The names of the tables, in the order in which they are listed and saved."""


def _hit_ratio(table: pl.DataFrame) -> pl.DataFrame:
    """The table with the share of the lines that hit; null where all lie aside."""
    ratio = pl.when(pl.col("lines") > 0).then(pl.col("hits") / pl.col("lines"))
    return table.with_columns(ratio.alias("hit_ratio")).drop("lines")


@dataclass(frozen=True, repr=False)
class Tables:
    """Views of one run's numbers; column names include the unit."""

    data: Results
    of_path: Sequence[Stage]

    @property
    def latency(self) -> pl.DataFrame:
        """One row per stage of the path: count, mean and percentiles."""
        return pl.DataFrame(
            [{"stage": s.stage, **_spread(s.distribution)} for s in self.data.latency],
            schema={"stage": pl.String, **SPREAD},
        )

    @property
    def memory(self) -> pl.DataFrame:
        """One row per cause of memory traffic."""
        return pl.DataFrame(
            [c.model_dump() for c in self.data.memory.causes],
            schema=MEMORY,
        )

    @property
    def caches(self) -> pl.DataFrame:
        """One row per cache level and kind of line."""
        rows = [c.model_dump() for c in self.data.caches]
        schema = {"level": pl.String, "kind": pl.String, "hits": pl.UInt64, "misses": pl.UInt64}
        accesses = pl.col("hits") + pl.col("misses")
        return pl.DataFrame(rows, schema=schema).with_columns(
            pl.when(accesses > 0).then(pl.col("hits") / accesses).alias("hit_ratio")
        )

    @property
    def llc(self) -> pl.DataFrame:
        """One row per way of the LLC, tenant and kind of line: what the LLC held at the end.

        `share` is that of the way's lines. `rx-consumed` are receive buffers without a packet.
        `dirty` lines are those dirty in the LLC itself: copies in the cores' caches may be newer.
        """
        rows = [c.model_dump() for c in self.data.llc_contents or ()]
        texts = dict.fromkeys(("kind", "tenant"), pl.String)
        counts = dict.fromkeys(("lines", "dirty"), pl.UInt64)
        schema = {"way": pl.UInt64, **texts, **counts, "share": pl.Float64}
        return pl.DataFrame(rows, schema=schema)

    @property
    def io(self) -> pl.DataFrame:
        """One row for the lines that the NIC writes, if some go to the LLC, one for those it reads.

        Of the hits, `moves` took a line of the I/O ways like a miss: only a core's cache held the
        line. `bypasses` went past the LLC, as payload with `ddio-headers`, and count in the ratio.
        """
        io = self.data.io
        rows: list[tuple[str | int | None, ...]] = []
        if io is not None and io.write_hits is not None:
            missed = (io.write_moves, io.write_misses, io.write_bypasses)
            rows.append(("write", placed(io), io.write_hits, *missed))
        if io is not None and io.read_hits + io.read_misses > 0:
            read = io.read_hits + io.read_misses
            rows.append(("read", read, io.read_hits, None, io.read_misses, None))
        counts = dict.fromkeys(("lines", "hits", "moves", "misses", "bypasses"), pl.UInt64)
        return _hit_ratio(pl.DataFrame(rows, {"access": pl.String, **counts}, orient="row"))

    @property
    def io_by_kind(self) -> pl.DataFrame:
        """The same for each kind of line: what placement does with packets and descriptors.

        `asides` lie outside of the caches, as packets do under `ideal-ddio`, and count in no ratio.
        """
        rows: list[tuple[str | int | None, ...]] = []
        for of in self.data.io.by_kind if self.data.io is not None else ():
            missed = (of.write_moves, of.write_misses, of.write_bypasses, of.write_asides)
            if written(of) > 0:
                rows.append(("write", of.kind, placed(of), of.write_hits, *missed))
            read = of.read_hits + of.read_misses
            if read > 0:
                rows.append(("read", of.kind, read, of.read_hits, None, of.read_misses, None, None))
        named = ("lines", "hits", "moves", "misses", "bypasses", "asides")
        counts = dict.fromkeys(named, pl.UInt64)
        schema = {"access": pl.String, "kind": pl.String, **counts}
        return _hit_ratio(pl.DataFrame(rows, schema, orient="row"))

    @property
    def iotlb(self) -> pl.DataFrame:
        """One row per kind of mapping: IOTLB lookups of DMA; no rows without an IOMMU."""
        iommu = self.data.iommu
        rows = [] if iommu is None else [m.model_dump() for m in iommu.lookups]
        counts = dict.fromkeys(("hits", "misses"), pl.UInt64)
        schema = {"mapping": pl.String, **counts, "misses_per_packet": pl.Float64}
        return pl.DataFrame(rows, schema=schema)

    @property
    def stages(self) -> pl.DataFrame:
        """One row per stage of the path with its load, 0 to 1; `name` is as in reports."""
        return pl.DataFrame(
            [
                {"stage": s.stage, "name": names.stage(s.stage), "load": s.load, "detail": s.detail}
                for s in self.of_path
            ]
        )

    @property
    def queues(self) -> pl.DataFrame:
        """One row per core that serves packets.

        `busy` is the share of the time in which it did not wait for the next packet. Then the
        packets of its queue, and the mean number of descriptors in use.
        """
        span_ps = self.data.measured_ns * 1e3
        rows = [
            {
                "core": q.core,
                "busy": None if q.core_busy_ps is None else q.core_busy_ps / span_ps,
                "offered": q.offered,
                "received": q.received,
                "dropped": q.dropped,
                "sent": q.sent,
                "rx_descriptors_in_use": q.rx_busy_ps / span_ps,
                "tx_descriptors_in_use": q.tx_busy_ps / span_ps,
            }
            for q in self.data.queues
        ]
        counts = dict.fromkeys(("offered", "received", "dropped", "sent"), pl.UInt64)
        descriptors = dict.fromkeys(("rx_descriptors_in_use", "tx_descriptors_in_use"), pl.Float64)
        return pl.DataFrame(
            rows, schema={"core": pl.UInt64, "busy": pl.Float64, **counts, **descriptors}
        )

    @property
    def tenants(self) -> pl.DataFrame:
        """One row per application.

        `progress_mps` is millions per second of requests for servers, of accesses for X-Mem, and of
        bytes for STREAM.
        """
        return pl.DataFrame(
            [t.model_dump(exclude={"counters", "memory"}) for t in self.data.tenants],
            schema={
                "name": pl.String,
                "progress_mps": pl.Float64,
                "llc_hits": pl.UInt64,
                "llc_misses": pl.UInt64,
                "amat_ns": pl.Float64,
                "stream_gbytes_per_s_by_core": pl.List(pl.Float64),
            },
        )

    @property
    def memory_by_tenant(self) -> pl.DataFrame:
        """One row per application and cause: memory traffic for the application's own lines."""
        return pl.DataFrame(
            [{"name": t.name, **c.model_dump()} for t in self.data.tenants for c in t.memory],
            schema={"name": pl.String, **MEMORY},
        )

    @property
    def dma(self) -> pl.DataFrame:
        """One row with what the DMA benchmark measured; no rows without one."""
        rows = [] if self.data.dma is None else [self.data.dma.model_dump()]
        schema = {"transactions": pl.UInt64, "gbps": pl.Float64, "latency_ns": pl.Float64}
        return pl.DataFrame(rows, schema=schema)

    @property
    def transport(self) -> pl.DataFrame:
        """One row per delay that closed-loop senders see; no rows without such senders."""
        transport = self.data.transport
        delays = {} if transport is None else _delays(transport)
        rows = [{"delay": name, **_spread(of)} for name, of in delays.items()]
        return pl.DataFrame(rows, schema={"delay": pl.String, **SPREAD})

    @property
    def senders(self) -> pl.DataFrame:
        """One row with what closed-loop senders did; no rows without them."""
        transport = self.data.transport
        apart = {*names.DELAYS, "by_group", "by_size", "connections"}
        rows = [] if transport is None else [transport.model_dump(exclude=apart)]
        return pl.DataFrame(rows, schema=_schema(TransportResults, apart))

    @property
    def by_group(self) -> pl.DataFrame:
        """Two rows of closed-loop senders, the rivals' last; no rows without rivals."""
        groups = [] if self.data.transport is None else self.data.transport.by_group
        apart = {"read_latency", "block_latency"}
        spreads = {f"{of}_{name}": as_ for of in ("read", "block") for name, as_ in SPREAD.items()}
        rows = [
            s.model_dump(exclude=apart)
            | {f"read_{name}": value for name, value in _spread(s.read_latency).items()}
            | {f"block_{name}": value for name, value in _spread(s.block_latency).items()}
            for s in groups
        ]
        return pl.DataFrame(rows, schema=_schema(SendersResults, apart) | spreads)

    @property
    def by_size(self) -> pl.DataFrame:
        """One row per size of closed-loop reads and group; no rows for one size without a load.

        `group` is 1 for rivals. `alone_ns` is what such a read takes without anything else, and
        `slowdown_mean` to `slowdown_max` how many times as long it took.
        """
        slower = {
            name: f"slowdown_{name.removesuffix('_ns')}" for name in SPREAD if name != "count"
        }
        rows = [
            of.model_dump(include={"group", "bytes", "alone_ns"}) | _spread(of.latency)
            for of in (self.data.transport.by_size if self.data.transport is not None else [])
        ]
        table = pl.DataFrame(rows, schema=_schema(SizeResults, {"latency"}) | SPREAD)
        return table.with_columns(
            (pl.col(name) / pl.col("alone_ns")).alias(as_) for name, as_ in slower.items()
        )

    @property
    def connections(self) -> pl.DataFrame:
        """One row per connection of closed-loop senders; no rows without them."""
        transport = self.data.transport
        rows = [] if transport is None else [c.model_dump() for c in transport.connections]
        return pl.DataFrame(rows, schema=_schema(ConnectionResults))

    @property
    def series(self) -> pl.DataFrame:
        """One row per sampling interval; `time_ns` is the start of the interval.

        `queue` counts packets that a core could see but has not begun. `queue`, `nic-sram`,
        `window`, `rivals-window`, `window-N`, `rivals-window-N` and `switch-queue` are sampled at
        the end of the interval; all other columns are means over it.
        """
        series = self.data.series
        samples = max((len(c.values) for c in series.columns), default=0)
        time = [series.start_ns + i * series.interval_ns for i in range(samples)]
        return pl.DataFrame(
            {
                "time_ns": pl.Series(time, dtype=pl.Float64),
                # A column without any value has a type all the same.
                **{
                    f"{c.name} [{c.unit}]": pl.Series(c.values, dtype=pl.Float64)
                    for c in series.columns
                },
            }
        )

    def __repr__(self) -> str:
        """The names and sizes of the tables with rows, for an interactive prompt."""
        tables = self.all().items()
        sizes = (f"{name} ({t.height} x {t.width})" for name, t in tables if t.height)
        return f"Tables: {', '.join(sizes)}"

    def all(self) -> dict[str, pl.DataFrame]:
        """Every table by name."""
        return {name: getattr(self, name) for name in TABLES}


def _delays(transport: TransportResults) -> dict[str, Distribution]:
    """The delay distributions that closed-loop senders measured."""
    return {name: value for name, value in transport if isinstance(value, Distribution)}


def _schema(model: type[Plain], apart: Collection[str] = ()) -> dict[str, type[pl.DataType]]:
    """The columns of a results model: counts are unsigned, measurements are floats."""
    types: dict[Any, type[pl.DataType]] = {int: pl.UInt64, str: pl.String, bool: pl.Boolean}
    fields = {name: of for name, of in model.model_fields.items() if name not in apart}
    return {n: types.get(_known(of.annotation), pl.Float64) for n, of in fields.items()}


def _known(annotation: Any) -> Any:
    """The type of a field where it has a value."""
    kinds = get_args(annotation)
    if type(None) not in kinds:
        return annotation
    return next(kind for kind in kinds if kind is not type(None))


def _spread(distribution: Distribution | None) -> dict[str, float | None]:
    """A distribution as columns, without values if there is none, or nothing in it."""
    if distribution is None:
        return dict.fromkeys(SPREAD)
    if distribution.count == 0:
        return {**dict.fromkeys(SPREAD), "count": 0}
    percentiles = {column(p): v for p, v in distribution.percentiles_ns}
    return {"count": distribution.count, "mean_ns": distribution.mean_ns, **percentiles}
