#!/usr/bin/env bash
# Build the extension module (release profile) into .venv, and the package itself in editable form.
set -euo pipefail
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/.venv/bin:$PATH"
echo "Building the engine (the first time takes a minute or two)"
log=.venv/build.log
if ! maturin develop --release --locked --uv >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
