#!/usr/bin/env bash
# Build the extension module into .venv and install the package in editable form: `build.sh [PROFILE]`,
# where PROFILE is a profile of Cargo.toml; the default is release.
set -euo pipefail
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv" PATH="$PWD/.venv/bin:$PATH"
profile=${1:-release}
echo "Building the engine (the first time takes two to five minutes)"
build() { maturin develop --profile "$profile" --locked --uv; }
log=.venv/build.log
# In a terminal cargo shows its progress; elsewhere its output matters only if it fails.
if [ -t 1 ]; then
  build
elif ! build >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
