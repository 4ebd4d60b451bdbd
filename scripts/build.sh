#!/usr/bin/env bash
# Build the extension module into .venv, and the package itself in editable form: `build.sh [PROFILE]`,
# a profile of Cargo.toml, release unless named.
set -euo pipefail
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/.venv/bin:$PATH"
profile=${1:-release}
echo "Building the engine (the first time takes a minute or two)"
build() { maturin develop --profile "$profile" --locked --uv; }
log=.venv/build.log
# In a terminal cargo shows how far it is; elsewhere its output is of interest if it fails.
if [ -t 1 ]; then
  build
elif ! build >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
