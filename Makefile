# `make` lists the targets. Each installs what it needs in .venv; only Python 3.11 or newer is required.

BIN   := .venv/bin
READY := .venv/.ready

# The folder with real catalogs for some tests: from the environment, or beside the checkout.
EVERPATH_CORPUS ?= $(abspath $(wildcard ../shared/corpus))
ifneq ($(EVERPATH_CORPUS),)
export EVERPATH_CORPUS
endif

PYTEST ?= -n auto --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help run test test-all test-exhaustive lint format generate bench conformance e2e mutation docs docs-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

# .ready contains the path of the checkout, so that a moved or copied checkout is set up again.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif
$(READY): pyproject.toml
	@scripts/setup

run: $(READY) ## show a finding with its fix (examples/01-first-finding), then upgrade an OpenSearch cluster in memory
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/01-first-finding/run.sh
	@printf '\n$$ searchkeeper run --embedded\n'; $(BIN)/searchkeeper run --embedded

test: $(READY) ## run the tests that every change needs, some minutes (PYTEST='-k fork -x' runs a part of them)
	$(BIN)/python -m pytest --tier default $(PYTEST)

test-all: test test-exhaustive ## run all tests that need no Go: make test, then make test-exhaustive

test-exhaustive: $(READY) ## run what make test leaves out: every path and fault, all examples of properties, corpus, browser
	$(BIN)/python -m pytest --tier exhaustive $(PYTEST)

lint: $(READY) ## run ruff, mypy --strict and the import contracts; check that generated files and docs are up to date
	$(BIN)/python -m ruff check
	$(BIN)/python -m ruff format --check
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --cache-dir .cache/import-linter
	$(BIN)/python scripts/definitions.py
	$(BIN)/everpath generate --check
	$(BIN)/python scripts/stubs.py
	$(BIN)/python scripts/release_table.py
	$(BIN)/python scripts/frozen_reconcilers.py
	@$(MAKE) --no-print-directory docs-check

format: $(READY) ## format the code with ruff
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format

generate: $(READY) ## write searchkeeper's CRDs, bundles/, catalog/ and table of releases; freeze the reconcilers of new releases
	$(BIN)/python scripts/definitions.py --write
	$(BIN)/everpath generate
	$(BIN)/python scripts/release_table.py --write
	$(BIN)/python scripts/frozen_reconcilers.py --write

docs-check: $(READY) ## check that the docs have every command, option, format and rule, and no dead link
	$(BIN)/python scripts/check_docs.py

docs: $(READY) ## run the commands in the docs and insert their output, write the index of rules, then check the docs
	$(BIN)/python scripts/rule_index.py
	$(BIN)/python scripts/console.py --write
	$(BIN)/python scripts/check_docs.py

bench: $(READY) ## measure speed and memory, and compare them with opm if it is installed
	$(BIN)/python -m tests.bench.run

conformance: $(READY) ## compare everpath with the real code of opm and OLM, and render our chart with Helm (needs Go)
	@command -v go >/dev/null || { echo 'make conformance builds opm, OLM and Helm, which needs go' >&2; exit 1; }
	oracle=$$(tests/everpath/conformance/oracle/build.sh) && oracle_v1=$$(tests/everpath/conformance/oracle_v1/build.sh) && opm=$$(tests/support/peers/build.sh opm) && helm=$$(tests/support/peers/build.sh helm) && \
	EVERPATH_ORACLE=$$oracle EVERPATH_ORACLE_V1=$$oracle_v1 EVERPATH_OPM=$$opm EVERPATH_HELM=$$helm $(BIN)/python -m pytest --tier conformance $(PYTEST)

e2e: $(READY) ## end-to-end tests with real OLM, our operator, OpenSearch and an API server (needs Go, etcd; Maven for OpenSearch)
	@command -v go >/dev/null || { echo 'make e2e builds Kubernetes, OLM and opm, which needs go' >&2; exit 1; }
	@command -v etcd >/dev/null || { echo 'make e2e starts an API server, which needs etcd (scripts/real-parts installs it)' >&2; exit 1; }
	parts=$$(tests/e2e/servers/build.sh) && EVERPATH_REAL=$$parts $(BIN)/python -m pytest --tier e2e -n 0 tests/e2e

mutation: $(READY) ## change the rules and the operator slightly, and check that a test fails (hours)
	$(BIN)/python -m tests.mutation.run

clean: ## delete everything that other targets create
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
