# Everything a person types. The environment lives outside the checkout, one for each checkout, so
# that a fresh clone in the same place is warm and nothing but the sources lies here.

PYTHON ?= python3
CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/stet-dev
VENV ?= $(CACHE)/$(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)
BIN := $(VENV)/bin
SEED ?= 1

.PHONY: demo test test-long unit check bench soak

demo: $(VENV)/demo.stamp  ## the main job on a sample file, with whatever model is found
	@$(BIN)/stet model install --quiet
	@$(BIN)/stet demo

test: check  ## everything: style, types, layers, units, protocol, real editors, a real model
	@$(BIN)/stet model install small --quiet
	@$(BIN)/python -m tests.parts
	$(BIN)/python -m tests -m 'not long'

test-long: $(VENV)/test.stamp  ## more seeds, more of the real model, and the tests of the tests
	@$(BIN)/stet model install small --quiet
	@$(BIN)/python -m tests.parts --long
	$(BIN)/python -m tests -m long

unit: $(VENV)/test.stamp  ## the inner loop: quick unit tests, in half a minute
	$(BIN)/python -m pytest tests/unit --numprocesses 2 -m 'not slow'

check: $(VENV)/test.stamp  ## style, types and layers only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp  ## the table of docs/benchmarks.md, measured here
	$(BIN)/python -m tests.bench

soak: $(VENV)/test.stamp  ## a million random operations on proposals, as many with other agents, a million messages, a link turned 100,000 times while it is read, an hour
	$(BIN)/python -m tests.soak 1000000 $(SEED)
	$(BIN)/python -m tests.soak 1000000 $(SEED) agents
	$(BIN)/python -m tests.fuzz 1000000 $(SEED)
	$(BIN)/python -m tests.attacks.turning
	$(BIN)/python -m tests.soak.hour

# An older Python would fail in pip, over some dependency; one that is half made would be used again.
define environment
	@test -x $(BIN)/python || { \
	  command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON):" \
	    "install Python 3.11 or newer, or name yours: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Stet needs Python 3.11" \
	    "or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1): make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; exit 1; }; \
	  $(PYTHON) -m venv $(VENV) || { rm -f $(BIN)/python; exit 1; }; }
endef

# A newer pyproject.toml makes both again; pip itself is quick when nothing is missing.
$(VENV)/demo.stamp: pyproject.toml
	$(environment)
	@echo "installing Stet into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local]'
	@touch $@

$(VENV)/test.stamp: pyproject.toml
	$(environment)
	@echo "installing Stet and what its tests need into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[local,web,grammars,search,agents,test]'
	@touch $@ $(VENV)/demo.stamp
