# `make test` is what every change has to pass. The environments are made on demand and kept in .envs.
SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: help test test-heavy soak mutants bench state-table screenshots lint types imports format lock environments clean

PYTHON ?= $(shell sh scripts/find-python.sh)
ENVS := .envs
BIN := $(ENVS)/dev/bin
MAKE_ENVIRONMENT := scripts/make_environment.py
SOURCES := src tests scripts bench examples
WORKERS ?= 3
SEED := $(or $(SEED),$(shell date +%s))
SOAK_SECONDS ?= 300
ARGS ?=

# Text files are opened with an encoding, in the code and in the tests: a missing one is a warning, so an error.
PYTEST := PYTHONWARNDEFAULTENCODING=1 $(BIN)/python -m pytest

help: ## What there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: lint types imports environments ## Lint, types, import contracts and tests
	$(PYTEST) -n $(WORKERS) --dist loadfile $(ARGS)

test-heavy: environments $(ENVS)/heavy $(ENVS)/state $(ENVS)/enterprise $(ENVS)/node ## Tests that need big libraries, or further servers
	$(PYTEST) -m heavy -n $(WORKERS) --dist loadfile $(ARGS)

soak: environments $(ENVS)/heavy ## Long random runs: make soak SEED=1 SOAK_SECONDS=600
	@echo "soak: SEED=$(SEED) SOAK_SECONDS=$(SOAK_SECONDS)"
	$(PYTEST) -m soak --soak-seed=$(SEED) --soak-seconds=$(SOAK_SECONDS) \
	    --timeout=$$(( $(SOAK_SECONDS) + 120 )) --hypothesis-seed=$(SEED) $(ARGS)

mutants: environments ## Put each mended failure back and see its test fail
	$(BIN)/python scripts/mutants.py $(ARGS)

bench: environments $(ENVS)/kishu ## Measure beside ipykernel and a bare pipe
	$(BIN)/python -m bench $(ARGS)

state-table: environments $(ENVS)/heavy $(ENVS)/state $(ENVS)/catalogue ## Crash every kind of object, and write what comes back into docs/state.md
	$(BIN)/python -m scripts.state_table $(ARGS)

screenshots: environments ## Make the pictures of the documentation anew, with the real UI
	$(BIN)/python -m scripts.screenshots $(ARGS)

lint: $(ENVS)/dev ## ruff: rules and format
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(ENVS)/dev ## mypy, strict
	$(BIN)/mypy $(SOURCES)

imports: $(ENVS)/dev ## Which package may import which
	@$(BIN)/lint-imports

format: $(ENVS)/dev ## Bring the sources into format
	$(BIN)/ruff check --fix-only $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

environments: $(ENVS)/dev ## The environments of the tests
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/plain
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/ipython --requirements requirements/ipython.txt
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/data --requirements requirements/data.txt
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/jupyter --requirements requirements/jupyter.txt
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/notebooks --requirements requirements/notebooks.txt
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/mcp-before --requirements requirements/mcp-before.txt
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $(ENVS)/agents --requirements requirements/agents.txt
	@"$(BIN)/python" -m scripts.fetch_notebooks $(ENVS)/notebook-corpus

# Not a file target: only the script knows whether the environment is complete, and it costs 30 ms to ask.
.PHONY: $(ENVS)/dev
$(ENVS)/dev:
	@[ -n "$(PYTHON)" ]
	@"$(PYTHON)" $(MAKE_ENVIRONMENT) $@ --requirements requirements/dev.txt --source src

.PHONY: $(ENVS)/enterprise
$(ENVS)/enterprise: $(ENVS)/dev
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $@ --requirements requirements/enterprise.txt

.PHONY: $(ENVS)/state
$(ENVS)/state: $(ENVS)/dev
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $@ --requirements requirements/state.txt

.PHONY: $(ENVS)/node
$(ENVS)/node: $(ENVS)/dev
	@"$(BIN)/python" -m scripts.make_node_environment $@ || echo "the MCP clients from npm cannot be had here"

# torch apart from the others: where its build without CUDA is not offered, the others are worth having too.
.PHONY: $(ENVS)/heavy $(ENVS)/kishu $(ENVS)/catalogue
$(ENVS)/heavy $(ENVS)/kishu $(ENVS)/catalogue: $(ENVS)/dev
	@"$(BIN)/python" $(MAKE_ENVIRONMENT) $@ --requirements requirements/$(@F).txt
	@$@/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes \
	    --requirement requirements/torch.txt \
	    || echo "torch's build without CUDA is not offered here: what needs it is skipped"

lock: ## Choose the newest versions again, with hashes (needs uv)
	sh scripts/lock.sh

clean: ## Remove what was made, except .venv
	rm -rf $(ENVS) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests scripts $(wildcard bench) -name __pycache__ -type d -prune -exec rm -rf {} +
