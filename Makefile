# `make demo` and `make test` do all set-up by themselves, in .venv. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.[ch]pp')
# PySpark is large, and of no use without Java.
# It comes as source, which the setuptools of an older Python's venv cannot build.
BUILDS_PYSPARK := 'setuptools>=70.1'
EXTRAS := all,test,lint$(if $(shell command -v java),$(shell echo ,spark))
# One process more than there are cores, as some wait for a browser or for Java, but no more than memory allows.
# tests/conftest.py says which tests stay together and which begin.
PROCESSES = $(shell $(BIN)/python -c 'import os; print(min(8, len(os.sched_getaffinity(0)) + 1))')
# Each with one thread of linear algebra: more would only wait for each other.
IN_PARALLEL = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(PROCESSES) --no-loadscope-reorder
FORMATTED := $(shell find cpp benchmarks -name '*.[ch]pp')

# Without bytecode each command that a test starts would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long lint format smoke build-smoke bench bench-micro quality clean

help: ## list these targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: $(SETUP) ## virtual environment, compiled core, all tools

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "microagg needs Python 3.11 or newer; call make PYTHON=python3.12, say"; exit 1; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null \
	  || { echo "microagg needs a C++20 compiler (Debian: apt install g++)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing (Debian: apt install python3-venv)"; exit 1; }
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.26' 'ninja>=1.11' $(BUILDS_PYSPARK)

$(SETUP): $(BIN)/python $(NATIVE)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/pip install --quiet --no-build-isolation --editable '.[$(EXTRAS)]'
	@touch $@

demo: setup ## the main job on the SME example and generated data, as a table
	$(BIN)/python -m benchmarks.demo

# The smoke test runs beside pytest: alone it would leave a core idle.
test: setup ## everything that is checked on each change
	@$(MAKE) --no-print-directory --jobs 2 --output-sync lint build-smoke
	@build/smoke/smoke > build/smoke.log 2>&1 & smoke=$$!; \
	  $(IN_PARALLEL) -m 'not long'; tests=$$?; \
	  wait $$smoke; smoke=$$?; cat build/smoke.log; [ $$tests -eq 0 ] && [ $$smoke -eq 0 ]

test-long: setup ## the long campaigns: fuzzing against the oracles
	$(IN_PARALLEL) -m long

lint: setup ## ruff, mypy, import-linter, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/clang-format --dry-run --Werror $(FORMATTED)

format: setup ## let ruff and clang-format rewrite
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(FORMATTED)

smoke: build-smoke ## the core without Python, under ASan and UBSan
	build/smoke/smoke

build-smoke: setup
	@PATH="$(CURDIR)/$(BIN):$$PATH" cmake -S . -B build/smoke -G Ninja -Wno-dev \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo -DMICROAGG_PYTHON=OFF -DMICROAGG_SANITIZE=ON > build/smoke.log 2>&1 \
	  && PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/smoke >> build/smoke.log 2>&1 \
	  || { cat build/smoke.log; exit 1; }

bench: setup ## speed against peers (installs them), for docs/speed.md: about thirteen minutes
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[bench]'
	$(BIN)/python -m benchmarks.speed

# CPU time, least of many runs: what a busy machine disturbs least. Exit code 1 if one of them grew by a third.
bench-micro: setup ## short timings of the kernels, kept in .benchmarks and compared with those kept last
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[bench]'
	$(BIN)/python -m pytest benchmarks/micro --benchmark-timer=time.process_time --benchmark-autosave \
	  --benchmark-columns=min,median,rounds --benchmark-sort=fullname \
	  $(if $(wildcard .benchmarks/*),--benchmark-compare --benchmark-compare-fail=min:33%)

quality: setup ## information loss reached in 1, 10 and 60 seconds (takes hours; may be interrupted and goes on)
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[bench]'
	$(BIN)/python -m benchmarks.quality --grid --large --other

clean: ## remove what was built
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
