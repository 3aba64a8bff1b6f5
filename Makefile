# Everything runs in an environment of its own, made on first use from requirements-dev.lock: only Python and make are
# needed. PYTHON picks the interpreter (3.10 or later), VENV the environment's folder.

PYTHON ?= python3
VENV ?= .venv
TARGET ?= contextc/passes/slice.py
CASE ?= imp-importlib-fstring
PACKAGES ?=
TESTS ?= tests
JOBS ?= 2
FUZZ ?= 5000

comma := ,
space := $(subst ,, )
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CONTEXTC := $(BIN)/python -m contextc

.DEFAULT_GOAL := help
.PHONY: help demo test check lint arch check-html case bench-real bench-accuracy bench-accuracy-jedi bench-accuracy-tests bench-accuracy-baseline bench-context bench-profiles bench-speed fuzz self docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements-dev.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "no such interpreter: $(PYTHON); set PYTHON to Python 3.10 or later"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "$(PYTHON) is too old: set PYTHON to Python 3.10 or later"; exit 1; }
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements-dev.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY) ## compile context for two targets and compare with a name-only compiler
	@echo "== contextc compare fixtures/nine_files app/views.py"
	@$(CONTEXTC) compare fixtures/nine_files app/views.py
	@echo
	@echo "== contextc compile fixtures/nine_files app/views.py"
	@$(CONTEXTC) compile fixtures/nine_files app/views.py
	@echo
	@echo "== contextc compile . $(TARGET) --exclude fixtures/ … (this repository's own code; the report only)"
	@$(CONTEXTC) compile . $(TARGET) --exclude fixtures/ --exclude tests/ --exclude benchmarks/ >/dev/null

test: check ## set up the environment and run what `make check` runs

check: lint arch ## ruff, mypy, import-linter, pytest
	$(BIN)/python -m pytest -q -n $(JOBS) $(TESTS)

lint: $(READY) ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/mypy

arch: $(READY) ## import-linter: direction of imports, fences around foreign libraries
	$(BIN)/lint-imports

check-html: $(READY) ## look at the picture of a context in headless Chromium (Debian's `chromium`, or CHROMIUM=)
	@$(BIN)/python -m pytest -q tests/browser/check_page.py

case: $(READY) ## score the hard case CASE= (a folder of fixtures/cases) and say what is wrong
	@$(BIN)/python benchmarks/tools/score_cases.py --cmd '$(CONTEXTC) graph {src} --format json' fixtures/cases --only $(CASE) -v

bench-real: $(READY) ## sizes on flask, click and networkx, beside three others (downloads)
	@$(BIN)/python benchmarks/real.py

bench-accuracy: $(READY) ## accuracy on recorded calls, PyCG's snippets and our cases, against the baseline (downloads; PACKAGES=click,flask)
	@$(BIN)/python benchmarks/accuracy.py $(if $(PACKAGES),--packages $(PACKAGES))

bench-accuracy-jedi: $(READY) ## recorded calls without jedi's answers; after bench-accuracy and its baseline (downloads; PACKAGES=click)
	@$(BIN)/python benchmarks/accuracy.py --parts oracle --no-jedi $(if $(PACKAGES),--packages $(PACKAGES))

bench-accuracy-tests: $(READY) ## the same with the sdists' tests in the analysis, at most 15 CPU minutes each (downloads; PACKAGES=click)
	@$(BIN)/python benchmarks/accuracy.py --parts oracle --with-tests $(if $(PACKAGES),--packages $(PACKAGES))

bench-accuracy-baseline: $(READY) ## take the figures of the last bench-accuracy into the baseline, docs/precision.md and the planner
	@$(BIN)/python benchmarks/accuracy.py --update-baseline

bench-context: $(READY) ## what recorded targets really called, shown in their context (downloads; PACKAGES=click)
	@$(BIN)/python benchmarks/context_quality.py $(if $(PACKAGES),--packages $(PACKAGES))

bench-profiles: $(READY) ## the same by profile, those of benchmarks/profiles too, without a budget (downloads; PACKAGES=click)
	@$(BIN)/python benchmarks/context_quality.py --budgets 100000 $(if $(PACKAGES),--packages $(PACKAGES)) \
		--profiles edit,explore,review,fix,$(subst $(space),$(comma),$(sort $(basename $(notdir $(wildcard benchmarks/profiles/*.toml)))))

bench-speed: $(READY) ## CPU seconds of one compile, cold and warm, beside the name-only compiler (downloads)
	@$(BIN)/python benchmarks/speed.py

fuzz: $(READY) ## properties that must hold of any program, on FUZZ= random ones each, chosen anew
	FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -n $(JOBS) tests/inference/test_join.py tests/inference/test_transfers.py \
		tests/inference/test_monotone.py tests/inference/test_properties.py tests/inference/test_incremental.py \
		tests/inference/test_termination.py

self: $(READY) ## the call graph of contextc itself, checked against its schema, and its figures
	@$(BIN)/python benchmarks/own_graph.py

docs: $(READY) ## run the commands shown in the documents again and write their output into them
	@$(BIN)/python -m tests.documents README.md ARCHITECTURE.md

lock: $(READY) ## make requirements-dev.lock anew (needs uv on the path)
	@{ sed -n '/^#/p' requirements-dev.lock; uv pip compile pyproject.toml --extra dev --universal --python-version 3.10 \
		--no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet; } > requirements-dev.lock.new
	@mv requirements-dev.lock.new requirements-dev.lock

clean: ## remove the environment, downloads and caches
	rm -rf $(VENV) .work .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
