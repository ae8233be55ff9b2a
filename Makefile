# make test   every test
# make check  format, lint, types, and the order of the packages
# make tune   tune the ready-made ops on this machine, and say where the profile is
#
# Each sets up what it needs: an environment in .venv, and in it this project, again when pyproject.toml has changed.
# PYTHON=python3.12 chooses another interpreter for the environment.

VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --root-user-action=ignore
SOURCES := $(wildcard src tests benchmarks examples)
PYTEST_ARGS ?=
TUNE_ARGS ?=

# The type checker comes whole with its package and need not ask whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: test check tune format clean
.DELETE_ON_ERROR:

test: $(VENV)/.test-installed
	$(BIN)/pytest $(PYTEST_ARGS)

check: $(VENV)/.test-installed
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/pyright
	$(BIN)/lint-imports --no-logo

# Whoever only tunes is spared the tools of the tests; where these are installed, they serve.
tune: $(if $(wildcard $(VENV)/.test-installed),$(VENV)/.test-installed,$(VENV)/.cpu-installed)
	$(BIN)/assay tune assay.zoo $(TUNE_ARGS)

format: $(VENV)/.test-installed
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.test-installed: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[cpu,test]'
	@touch $@

$(VENV)/.cpu-installed: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[cpu]'
	@touch $@

# An environment that could not be made whole is removed, so that it is never taken for one.
$(BIN)/python:
	@python=''; \
	for each in $(or $(PYTHON),python3 python3.13 python3.12 python3.11); do \
	    if command -v "$$each" >/dev/null 2>&1 && \
	       "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "assay needs Python 3.11 or newer; $(or $(PYTHON),python3) here is: $$($(or $(PYTHON),python3) --version 2>&1)" >&2; \
	    echo "install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; \
	fi; \
	rm -rf $(VENV); \
	if ! "$$python" -m venv $(VENV); then \
	    rm -rf $(VENV); \
	    echo "$$python cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; \
	fi
