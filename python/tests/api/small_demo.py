"""The demo's scenario with a small store, and short."""

from pathlib import Path

ROOT = Path(__file__).parents[3]
DEMO = ROOT / "scenarios/demo.toml"
SMALL = {
    "tenants.0.app.keys": 4096,
    "tenants.0.app.buckets": 2048,
    "tenants.0.app.log": "4 MiB",
    "run.warmup": "100 us",
    "run.duration": "200 us",
    "run.sample": "20 us",
}
