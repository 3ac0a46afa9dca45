# Every target makes its own environment from a fresh clone; nothing has to be activated.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

# without it every process that the tests start compiles the package anew, and pytest rewrites every test file
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test check test-slow bench docs clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/:/' | awk -F: '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/.ready: pyproject.toml
	@echo "Making $(VENV) (once)..."
	@$(PYTHON) -c 'import sys; sys.exit("Foreshock needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@

demo: $(VENV)/.ready ## Read the shipped logs, print the verdicts, write report.html
	$(BIN)/foreshock demo --html report.html

test: $(VENV)/.ready ## Run the tests (a few minutes)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

check: $(VENV)/.ready ## Lint, types, floors, docs and CLI reference
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/check_docs.py
	$(BIN)/python tools/cli_reference.py --check
	$(BIN)/python tools/api_reference.py --check
	$(BIN)/python tools/table_reference.py --check
	$(BIN)/python tools/formats_reference.py --check

test-slow: $(VENV)/.ready ## Long studies: crash, calibration and browser tests
	$(BIN)/python -m pytest -m slow

bench: $(VENV)/.ready ## Speed and accuracy beside the peers; results under benchmarks/
	$(BIN)/python benchmarks/read_logs.py
	$(BIN)/python benchmarks/score_pairs.py
	for part in samples executors logs lookup; do $(BIN)/python benchmarks/engine.py $$part || exit 1; done
	$(BIN)/python benchmarks/compare_worlds.py
	$(BIN)/python benchmarks/mirage_worlds.py
	$(BIN)/python benchmarks/mirage_suite.py
	$(BIN)/python benchmarks/beside_worlds.py
	$(BIN)/python benchmarks/forecast.py all

docs: $(VENV)/.ready ## Write again what is made from the code: cli.md, api.md, tables.md, formats.md, the pinned names
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/api_reference.py
	$(BIN)/python tools/table_reference.py
	$(BIN)/python tools/formats_reference.py
	$(BIN)/python tests/house/test_public_names.py

clean: ## Remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
