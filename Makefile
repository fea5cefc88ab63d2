# Everything runs in .venv, which the targets make themselves. Only Python 3.11 to 3.13 and make are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CORE_STAMP := $(VENV)/.core

.DEFAULT_GOAL := help
.PHONY: help setup demo chaos test test-quick test-random cover slowest count check bench soak dist schemas lock model \
	extension test-extension e2e-extension e2e-setup clean

help: ## show this
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11, 3.12 or 3.13 is needed; this is %s. Say which: make PYTHON=python3.11" % sys.version.split()[0]) if not (3, 11) <= sys.version_info[:2] <= (3, 13) else None'
	@echo "Making a Python environment in $(VENV): some seconds."
	@$(PYTHON) -m venv $(VENV)

# uv and setuptools by the lock's digests; the rest is installed with them.
$(BIN)/uv: | $(BIN)/python
	@sed -nE '/^(setuptools|uv)==/,/[^\\]$$/p' requirements-dev.lock > $(VENV)/uv.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(VENV)/uv.lock

# A machine that reaches the package index only by pip's own configuration installs with pip. The lock is also its own
# constraint: pip before 23.3 looks for the newest release of what is asked for with extras.
PROGRAM := $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
define INSTALL
	@$(BIN)/uv pip install --python $(BIN)/python --require-hashes -r $(1) || \
		$(BIN)/python -m pip install --disable-pip-version-check --require-hashes -c $(1) -r $(1)
	@$(PROGRAM)
endef

$(STAMP): requirements-dev.lock pyproject.toml | $(BIN)/uv
	@echo "Installing the packages: downloads about 600 MB, takes 2 GB of disk and some minutes. Only the first time."
	$(call INSTALL,requirements-dev.lock)
	@$(BIN)/python -m compileall -q jobs bridge worker
	@touch $@ $(CORE_STAMP)

# What memories are stored and found with. An environment that has the graph keeps the versions that fit it.
CORE_LOCK = $(if $(wildcard $(VENV)/lib/python3*/site-packages/cognee),requirements.lock,requirements-core.lock)

$(CORE_STAMP): requirements-core.lock pyproject.toml | $(BIN)/uv
	@echo "Installing the core: downloads 62 MB. Only the first time."
	$(call INSTALL,$(CORE_LOCK))
	@touch $@

setup: $(STAMP) ## make the environment

demo: $(CORE_STAMP) ## see it work: drop jobs, run them, and query the memories; then install the graph, and ask it
	@$(BIN)/cognee-memory demo --graph

chaos: $(CORE_STAMP) ## a minute of kills and full disks under a worker, and what became of the jobs: lost 0, doubled 0
	@$(BIN)/python -m tools.chaos

# Bytecode is written, also where the environment says not to: each of a thousand processes would compile its modules.
# Temporary files are in memory where it has room for them: few tests are about the disk.
MEMORY := /dev/shm
define pytest
@$(info pytest $(1)) \
	if test -w $(MEMORY) && test "$$(df -Pk $(MEMORY) | awk 'END {print $$4}')" -gt 4000000; then \
		TMPDIR=$$(mktemp -d $(MEMORY)/t-XXXXXX) && chmod 711 "$$TMPDIR" && trap 'rm -rf "$$TMPDIR"' EXIT INT TERM; \
	fi; \
	TMPDIR="$$TMPDIR" PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(1)
endef

QUICK := tests/unit tests/architecture tests/conformance -m "not slow and not cognee"

test: $(STAMP) ## run the tests
	$(call pytest,-n 6 --dist loadfile --no-loadscope-reorder)

test-quick: $(STAMP) ## run the tests of single modules that take less than a quarter second each
	$(call pytest,-n 2 --dist loadfile $(QUICK))

test-random: $(STAMP) ## run the quick tests in random order: SEED=number repeats one
	$(call pytest,-n 2 --dist loadfile $(QUICK) -p tests.random_order --seed $(or $(SEED),$(shell date +%s)))

# The files of tests that begin with the name of a pure module: pyproject.toml names these.
PURE = $(shell sed -n '/^include = /,/^\]/p' pyproject.toml | grep -oE '[a-z_]+\.py' | cut -d. -f1)

cover: $(STAMP) ## run the tests of the pure modules, which are to be covered to 90 %
	$(call pytest,-n 2 --dist loadfile $(wildcard $(PURE:%=tests/unit/test_%*.py)) -m "not slow and not cognee" --cov --cov-report=term)

slowest: $(STAMP) ## what each file of the tests cost in its last run, and the hundred slowest tests; MARK=1 renews tests/slow.txt
	@$(BIN)/python tests/costs.py $(if $(MARK),--mark)

count: $(STAMP) ## lines of code of the product, the tools and the tests, and words of the docs, beside what they may be
	@$(BIN)/python -m tools.count

check: $(STAMP) ## lint and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP) ## speed, start, memory and quality as tables; OTHER=folder: beside another checkout
	$(BIN)/python -m benchmarks beside $(OTHER)
	$(BIN)/python -m benchmarks quality

soak: $(STAMP) ## the long forms: kills at every step, power cuts, fuzzing, thousands of jobs (an hour or two)
	COGNEE_MEMORY_SOAK=1 $(BIN)/python -m pytest tests/crash tests/integration/test_graph.py --timeout 7200 -rA
	$(BIN)/python -m benchmarks soak

dist: $(STAMP) ## the files of a release, checked: dist/cognee_memory-*.tar.gz and .whl
	$(BIN)/python -m tools.dist dist

schemas: $(STAMP) ## write docs/schemas and the tables of the docs from the code
	$(BIN)/python -m tools.schemas
	$(BIN)/python -m tools.docs_tables

model: $(STAMP) ## make the default embedding model again from the published weights (fetched once): the same bytes
	$(BIN)/python -m tools.default_model bridge/data/all-MiniLM-L6-v2

COMPILE := $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate pyproject.toml

lock: $(STAMP) ## resolve the dependencies again: the core's lock by itself, the whole's, and with it what tests need
	$(COMPILE) --output-file requirements-core.lock
	$(COMPILE) --extra graph --extra team --output-file requirements.lock
	$(COMPILE) --extra graph --extra team --extra dev --constraint requirements.lock --output-file requirements-dev.lock
	$(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		extension/requirements.in --output-file extension/requirements.lock

# The extension has an environment of its own, with Node: it needs none of the program's dependencies.
EXTENSION := extension
NODE_VENV := $(EXTENSION)/.venv
NODE_STAMP := $(NODE_VENV)/.installed
MODULES_STAMP := $(EXTENSION)/node_modules/.installed
NODE_PATH := PATH="$(CURDIR)/$(NODE_VENV)/bin:$$PATH"

$(NODE_STAMP): $(EXTENSION)/requirements.lock
	@$(PYTHON) -m venv --clear $(NODE_VENV)
	@echo "Installing Node: downloads 60 MB."
	@$(NODE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -c $(EXTENSION)/requirements.lock -r $(EXTENSION)/requirements.lock
	@touch $@

$(MODULES_STAMP): $(EXTENSION)/package-lock.json $(NODE_STAMP)
	cd $(EXTENSION) && $(NODE_PATH) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

extension: $(MODULES_STAMP) ## build the VS Code extension: extension/dist/cognee-chat-memory-*.vsix
	rm -rf $(EXTENSION)/dist
	$(NODE_VENV)/bin/python -m tools.extension_bundle $(EXTENSION)/dist/python
	cd $(EXTENSION) && $(NODE_PATH) npm run package

# With the program of `make setup`, if it is there: without it, the tests that need it are skipped.
test-extension: $(MODULES_STAMP) ## types, lint and unit tests of the extension
	cd $(EXTENSION) && $(NODE_PATH) npm run check
	cd $(EXTENSION) && $(NODE_PATH) npm run lint
	cd $(EXTENSION) && $(NODE_PATH) COGNEE_MEMORY_PROGRAM="$(wildcard $(CURDIR)/$(BIN)/cognee-memory)" npm test
	cd $(EXTENSION) && $(NODE_PATH) npm run test:slow

# A real workbench: code-server (600 MB, compiled in part with the headers of our Node: needs a C++ compiler and
# libkrb5-dev) and a Chromium.
CODE_SERVER := $(EXTENSION)/.code-server
CODE_SERVER_ENTRY ?= $(CURDIR)/$(CODE_SERVER)/node_modules/code-server/out/node/entry.js

$(CODE_SERVER)/.installed: $(NODE_STAMP)
	mkdir -p $(CODE_SERVER) && echo '{"private": true}' > $(CODE_SERVER)/package.json
	cd $(CODE_SERVER) && $(NODE_PATH) && export PATH npm_config_nodedir="$$(node -p 'path.dirname(path.dirname(process.execPath))')" && \
		npm install code-server@4.139.1 --no-audit --no-fund --loglevel=error
	@touch $@

CODE_SERVER_STAMP := $(if $(filter command% environment%,$(origin CODE_SERVER_ENTRY)),,$(CODE_SERVER)/.installed)

e2e-extension: extension $(STAMP) $(CODE_SERVER_STAMP) ## the extension in a real workbench, driven by a browser
	cd $(EXTENSION) && $(NODE_PATH) COGNEE_CODE_SERVER="$(CODE_SERVER_ENTRY)" \
		COGNEE_MEMORY_PROGRAM="$(CURDIR)/$(BIN)/cognee-memory" npm run e2e

e2e-setup: extension $(CODE_SERVER_STAMP) ## the extension's set-up whole, from its package and an empty home: downloads 62 MB
	cd $(EXTENSION) && $(NODE_PATH) COGNEE_CODE_SERVER="$(CODE_SERVER_ENTRY)" npm run e2e:setup

clean: ## remove the environment and caches
	rm -rf $(VENV) $(NODE_VENV) $(EXTENSION)/node_modules $(EXTENSION)/dist $(CODE_SERVER) .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		build *.egg-info
