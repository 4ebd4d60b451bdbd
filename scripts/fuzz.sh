#!/usr/bin/env bash
# Run every fuzz target for FUZZ_SECONDS.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v g++ >/dev/null || {
  echo "nic2core: fuzzing needs a C++ compiler (libFuzzer is C++). Install it with: sudo apt-get install g++" >&2
  exit 1
}
exec fuzz/run.sh "${FUZZ_SECONDS:-20}"
