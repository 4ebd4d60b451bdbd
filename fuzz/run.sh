#!/bin/sh
# Runs every fuzz target for a bounded time and fails if one finds a crash, a hang or a blow-up of
# memory: `fuzz/run.sh SECONDS [TARGET...]`. The input that did it is left in the directory named.
#
# cargo-fuzz needs a nightly compiler for its sanitizers. The engine has no unsafe code for them to
# watch, so the coverage instrumentation of the stable compiler's LLVM is enough.
set -eu

seconds=${1:?"usage: fuzz/run.sh SECONDS [TARGET...]"}
shift
cd "$(dirname "$0")"
if [ $# -eq 0 ]; then
    set -- $(basename -s .rs fuzz_targets/*.rs)
fi

# Naming the host as --target keeps the flags away from build scripts and procedural macros.
host=$(rustc --version --verbose | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module \
-Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
out=$PWD/target
cargo build --release --locked --quiet --bins --target "$host" --target-dir "$out"

for target in "$@"; do
    # libFuzzer writes what it finds into the first corpus: the seeds stay as they are.
    found=$out/found/$target
    crashes=$out/crashes/$target
    log=$out/$target.log
    mkdir -p "$found" "$crashes"
    # 16 KiB hold several records of every kind. 512 MiB and 10 s are far above what such an input
    # may need: what exceeds them does not bound its work.
    if ! "$out/$host/release/$target" -max_total_time="$seconds" -max_len=16384 \
        -rss_limit_mb=512 -timeout=10 -print_final_stats=1 -artifact_prefix="$crashes/" \
        "$found" "corpus/$target" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "fuzz: $target failed; the input is in $crashes, the whole output in $log" >&2
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    echo "fuzz: $target ran $runs inputs in $seconds s, at most $memory MiB: nothing found"
done
