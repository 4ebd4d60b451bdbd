# nic2core: everything a developer or a user runs, from a fresh clone. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
# Without MAKEFLAGS and MFLAGS, where cargo would look for a job server that make passes on to other makes only.
CARGO := env -u MAKEFLAGS -u MFLAGS cargo
# Sources of the extension module: a change in any of them rebuilds it.
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock \
                rust-toolchain.toml .cargo/config.toml pyproject.toml scripts/build.sh
STAMPS := .venv/stamps
# .cargo/config.toml builds for processors with AVX2; on an older processor, build for plain x86-64.
ifeq ($(shell uname -m):$(shell grep -cwm1 avx2 /proc/cpuinfo),x86_64:0)
export RUSTFLAGS := -C target-cpu=x86-64
endif
# Seconds that each fuzz target runs in `make test`; `make fuzz FUZZ_SECONDS=600` for a long run.
FUZZ_SECONDS ?= 20

.PHONY: help
help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) \
	  | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

# A stamp carries the time at which its step began, so that what changes meanwhile is built the next time.
# The lock keeps a second make out of the same .venv.
$(STAMPS)/deps: requirements-dev.txt scripts/setup-python.sh
	@begun=$$(date +%s.%N); flock Makefile scripts/setup-python.sh; touch -d @$$begun $@

$(STAMPS)/build: $(STAMPS)/deps $(RUST_SOURCES)
	@begun=$$(date +%s.%N); flock Makefile env -u MAKEFLAGS -u MFLAGS scripts/build.sh; touch -d @$$begun $@

.PHONY: build
build: $(STAMPS)/build  ## Create .venv and build the engine into it; afterwards .venv/bin/nic2core works

# Removing the stamp makes the next `make build` do a full build.
.PHONY: quick
quick: $(STAMPS)/deps  ## Build the engine in half a minute to two minutes after a change (not the first time), for runs that may take longer
	@rm -f $(STAMPS)/build
	@flock Makefile scripts/build.sh quick

.PHONY: codegen
codegen: quick  ## Schema, Python models and docs/scenario.md anew from the Rust types
	$(BIN)/python -m tools.codegen

.PHONY: demo
demo: build  ## Replay a real memcached capture at 100 Gbps under DDIO and under Sweeper, and compare
	@scripts/demo.sh

# Two at a time, because each step is for a while on one core: linking the engine, or fuzzing. pytest takes both
# cores, and comes last: its summary is the last line of the output.
.PHONY: test
test:  ## Everything a change must pass
	@$(MAKE) --no-print-directory -j2 build lint-rust test-rust fuzz
	@$(MAKE) --no-print-directory lint-python test-python

.PHONY: lint
lint: lint-rust lint-python  ## Formatting, lints and types of Rust and Python

.PHONY: lint-rust
lint-rust:
	cargo fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

.PHONY: lint-python
lint-python: build
	$(BIN)/ruff format --check python tools
	$(BIN)/ruff check python tools
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest nic2core._core

.PHONY: fmt
fmt: $(STAMPS)/deps  ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format python tools
	$(BIN)/ruff check --fix python tools

.PHONY: test-rust
test-rust:  ## Tests of the Rust crates
	$(CARGO) test --workspace --locked --quiet

.PHONY: test-python
test-python: build  ## Tests of the Python package, the report in a real browser among them
	@scripts/need-chromium.sh
	$(BIN)/pytest -n auto --dist worksteal

.PHONY: fuzz
fuzz:  ## Fuzz every reader of outside bytes, and whole runs, for FUZZ_SECONDS each (20)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) env -u MAKEFLAGS -u MFLAGS scripts/fuzz.sh

.PHONY: bench
bench:  ## Speed of the engine: seconds and host instructions
	cargo bench --workspace --locked

.PHONY: lock
lock: $(STAMPS)/deps  ## Renew requirements-dev.txt from pyproject.toml
	$(BIN)/uv pip compile --quiet pyproject.toml --group dev --generate-hashes --universal \
	  --no-emit-index-url --python-version 3.11 -o requirements-dev.txt
