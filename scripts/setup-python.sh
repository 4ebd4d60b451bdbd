#!/usr/bin/env bash
# Create .venv if it does not exist, and install the locked Python dependencies.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "nic2core: $1" >&2
  exit 1
}

command -v cargo >/dev/null ||
  fail "cargo was not found. Install Rust (https://rustup.rs); rust-toolchain.toml names the version."

if [ ! -x .venv/bin/python ]; then
  for python in "${PYTHON:-}" python3.11 python3.12 python3.13 python3.14 python3; do
    [ -n "$python" ] && command -v "$python" >/dev/null || continue
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && found=$python && break
  done
  [ -n "${found:-}" ] || fail "Python 3.11 or newer was not found. Install it, or name it: make build PYTHON=/path/to/python3"
  echo "Creating .venv with $("$found" --version)"
  "$found" -m venv .venv ||
    fail "$found cannot create a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"
fi

mkdir -p .venv/stamps
echo "Installing the locked Python dependencies"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
