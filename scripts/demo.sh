#!/usr/bin/env bash
# The demo: traffic captured from a real memcached, replayed at 100 Gbps onto the 24-core machine under
# DDIO, without and with Sweeper.
set -euo pipefail
cd "$(dirname "$0")/.."
.venv/bin/nic2core compare scenarios/demo.toml --vary placement.sweeper=false,true --jobs 2 --out out/demo
report="$PWD/out/demo/report.html"
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
  xdg-open "$report" >/dev/null 2>&1 &
fi
