# `make demo` and `make test` do all the set-up they need.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# Bytecode of what pip has installed, on all processors; that of torch while pip, which takes one, installs the rest.
# What nothing imports here is left out; where something does after all, Python writes it then.
# That of Freshet, too: the processes of the tests begin together, and each would compile all of it.
NOT_IMPORTED := tests?|testing/_internal|sqlalchemy/testing|_inductor|_dynamo|onnx|networkx|fontTools|mypyc?|casadi|pygments/lexers|sympy/physics
BYTECODE := $(BIN)/python -m compileall -qq -j 0 -x '/($(NOT_IMPORTED))/'
OWN := $(dir $(filter-out tests/%,$(wildcard */__init__.py)))
INSTALLED := pyproject.toml setup.py constraints.txt $(wildcard models/nets/compiled/*.cpp models/nets/compiled/*.h) \
    models/nets/compiled/variants.py

# Processes that start again and again, as those of the tests do, need the bytecode that the first has written.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo examples client test static-checks usual-tests test-all containers audit clean

setup: .venv/.ready

# Torch comes by itself, before what needs it: that then takes this build of it. Before both comes a recent pip, which
# resolves and downloads in a third of the time.
.venv/.torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Freshet needs Python 3.11 or newer; set PYTHON=...") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip
	$(PIP) torch
	@touch $@

# Installing compiles the libraries of models/nets/compiled.
.venv/.ready: .venv/.torch $(INSTALLED)
	$(BYTECODE) .venv/lib/python*/site-packages/torch & $(PIP) --editable . && wait
	$(BYTECODE) .venv/lib $(OWN)
	@touch $@

.venv/.ready-to-test: .venv/.torch $(INSTALLED)
# In this environment the build's tools are dependencies anyway: one of its own for the build would have them twice. The
# libraries are compiled while pip resolves and downloads.
	$(PIP) setuptools ziglang
	($(BIN)/python setup.py --quiet build_ext --inplace; $(BYTECODE) .venv/lib/python*/site-packages/torch) & \
	    $(PIP) --no-build-isolation --editable '.[dev]' && wait
	$(PIP) --no-deps openapi-python-client
	$(BYTECODE) .venv/lib $(OWN)
	@touch .venv/.ready $@

demo: .venv/.ready
	$(BIN)/freshet demo

# The examples of answers in the OpenAPI document, from one run of a small service.
examples: .venv/.ready-to-test
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.examples.generate

# The client's models and methods, from the OpenAPI document.
client: .venv/.ready-to-test
	$(BIN)/python -m tests.freshet.client.generate

# What an ordinary change can break. The static checks take one core, so they run beside the first tests.
test: .venv/.ready-to-test
	$(MAKE) --no-print-directory --jobs=2 static-checks usual-tests

static-checks: .venv/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

usual-tests: .venv/.ready-to-test
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 3 --dist worksteal -m "not extended"

# The rest: deaths of processes, hostile input, whole services, both databases everywhere. More processes than the usual
# two cores, as many of these tests wait for leases, restarts and retries.
test-all: .venv/.ready-to-test
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 4 --dist worksteal -m extended

# The tour of the service in containers, which no test does: it needs Docker (deployment/tour.py). EARLIER names the
# commit to upgrade from.
containers:
	$(PYTHON) deployment/tour.py $(if $(EARLIER),--earlier $(EARLIER))

# Known vulnerabilities of the pinned dependencies. It asks a database of them: it needs the internet, so no test runs it.
# In an environment of its own, for the tool brings many packages that Freshet does not need.
audit: constraints.txt
	test -x .venv/audit/bin/pip-audit || ($(PYTHON) -m venv .venv/audit && .venv/audit/bin/pip install --quiet pip-audit)
	.venv/audit/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict

clean:
	rm -rf .venv build *.egg-info models/nets/compiled/*.so .mypy_cache .ruff_cache
