# Two commands do everything on a fresh machine: `make demo` and `make test`. Both make .venv when it is not there.

PYTHON ?= python3
BIN := .venv/bin
DATA := $(wildcard ../shared/data)
ifneq ($(DATA),)
export QUERCUS_DATA ?= $(abspath $(DATA))
endif
RUN_DIR ?= quercus-run

.PHONY: demo test unit lint soak bench clean

demo: .venv/ready
	$(BIN)/python examples/paid_labels.py $(RUN_DIR)

# Side by side, since mypy alone would leave a core idle.
test: .venv/ready
	$(MAKE) --no-print-directory --jobs 2 lint unit

# Tests of one file mostly need the same kernels: in one process, these are compiled once and not by both at a time.
# They start many processes, each of which would translate all of the library anew if no bytecode were kept.
unit: export PYTHONDONTWRITEBYTECODE =
unit: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What `make test` has a sample of: forged model files of each format, threads that answer beside one that learns,
# kills, all variants of learners. For example: make soak FILES=1000 TIME=5 KILLS=20.
FILES ?= 50000
TIME ?= 60
KILLS ?= 1000
soak: .venv/ready
	$(BIN)/python -m tests.soak files $(FILES)
	$(BIN)/python -m tests.soak threads $(TIME)
	QUERCUS_SOAK=1 QUERCUS_KILLS=$(KILLS) $(BIN)/python -m pytest -n 2 --dist loadfile tests

bench: .venv/bench
	$(BIN)/python -m experiments peers speed --scale full --fresh

clean:
	rm -rf .venv build dist src/*.egg-info $(RUN_DIR) .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# pip would translate on one core, and the tests of all libraries too.
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "quercus needs Python 3.11 or newer; give it with make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.[dev]'
	-$(BIN)/python -m compileall -qq -j 0 -x '/tests/' .venv/lib
	touch $@

# capymoa carries MOA's jar; what it would install beside it is not needed.
.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt psutil
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps capymoa
	touch $@
