# `make demo` and `make test` do all the set-up they need.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALLED := pyproject.toml setup.py constraints.txt $(wildcard models/nets/compiled/*.cpp models/nets/compiled/*.h) \
    models/nets/compiled/variants.py

.PHONY: setup demo examples test audit clean

setup: .venv/.ready

# Torch comes first and by itself: what else needs it then takes this build of it.
.venv/.torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Freshet needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) torch
	@touch $@

# Installing compiles the libraries of models/nets/compiled.
.venv/.ready: .venv/.torch $(INSTALLED)
	$(PIP) --editable .
	@touch $@

.venv/.ready-to-test: .venv/.torch $(INSTALLED)
	$(PIP) --editable '.[dev]'
	@touch .venv/.ready $@

demo: .venv/.ready
	$(BIN)/freshet demo

# The examples of answers in the OpenAPI document, from one run of a small service.
examples: .venv/.ready-to-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.examples.generate

test: .venv/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
# More processes than the usual two cores: many tests wait for leases, restarts and retries.
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 4 --dist worksteal

# Known vulnerabilities of the pinned dependencies. It asks a database of them: it needs the internet, so no test runs it.
# In an environment of its own, for the tool brings many packages that Freshet does not need.
audit: constraints.txt
	test -x .venv/audit/bin/pip-audit || ($(PYTHON) -m venv .venv/audit && .venv/audit/bin/pip install --quiet pip-audit)
	.venv/audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

clean:
	rm -rf .venv build *.egg-info models/nets/compiled/*.so .mypy_cache .ruff_cache
