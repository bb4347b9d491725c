# Every target works as the first command on a fresh clone; the second time none of them needs a network.
#   make demo       run the tour without a browser, print what was found, write an HTML page
#   make lab        open a copy of the tour in JupyterLab
#   make test       the tests, the notebooks and a session in a browser among them; with CI=true all of them
#   make numpy      tests of operators, layers and recorded results with NumPy alone, nothing compiled
#   make other-processor   the tests of what computes, with the kernels of an older processor of this machine's kind
#   make nightly    the exhaustive checks: random programs, sessions and files by the thousand; hours
#   make bench      every measurement, as ratios in one run
#   make notebooks  run the tutorials and save their outputs
#   make lint       ruff and its format, mypy, names, the import rules, and for the panels' JavaScript tsc and ESLint
#   make lock       pin the newest versions that pyproject.toml allows (the one target that wants the network)
#   make clean      remove .venv, js/node_modules, build/ and compiled kernels
PYTHON ?= python3
WORKERS ?= 2
INSTALLER ?= uv
NIGHTLY ?=  # for example --share 0.1 views plans
LAB_OPTIONS ?=  # for example --no-browser --port=8890

VENV := .venv
BIN := $(VENV)/bin
# JupyterLab refuses to run as root, as whom one is in a container, unless told that it may.
ROOT_ALLOWED := $(if $(filter 0,$(shell id -u)),--allow-root)
# Without node and npm, `make test` leaves out what axe-core checks, and says so; `make lint` needs them.
NPM := $(and $(shell command -v node 2>/dev/null),$(shell command -v npm 2>/dev/null))
# What an environment was made from: when one of these changes, it is installed again.
SOURCES := pyproject.toml requirements.lock scripts/install.py scripts/locked.py $(wildcard kernel/kernelspec/*)

.DEFAULT_GOAL := demo
.PHONY: demo lab test numpy other-processor nightly bench notebooks lint api lock clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

demo: $(VENV)/.lab $(VENV)/.kernels
	$(BIN)/python scripts/demo.py notebooks/01_tour.ipynb

# Copies, since JupyterLab saves a notebook that was run: with other ids of widgets, and other times. One that was
# changed is not lost when there is a newer tutorial, but kept as NAME~.
lab: $(VENV)/.lab $(VENV)/.kernels
	@mkdir -p build/notebooks
	@cp -u --backup=simple notebooks/*.ipynb build/notebooks/
	@ln -sfn ../docs build/docs
	$(BIN)/jupyter lab $(ROOT_ALLOWED) $(LAB_OPTIONS) build/notebooks/01_tour.ipynb

test: $(VENV)/.dev $(VENV)/.kernels $(if $(NPM),js/node_modules/.installed)
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --nbval tests notebooks

# What computes with kernels that have compiled twins, but for tests of the twins themselves.
NEEDS_NUMBA := compiling machine_code same_bits threads
NUMPY := $(addprefix tests/engine/,autograd networks nn/layers nn/optim ops tensors) \
  $(filter-out $(NEEDS_NUMBA:%=tests/engine/cpu/test_%.py),$(wildcard tests/engine/cpu/test_*.py tests/engine/cpu/*/test_*.py))

numpy: $(VENV)/.dev
	HOOKSCOPE_NUMBA=0 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --most-cases 8 $(NUMPY)

# What compares computed numbers, or decides by them.
COMPUTES := tests/faults/test_findings.py tests/engine/networks tests/engine/debug/diagnose $(wildcard \
  tests/engine/*/test_*_recorded.py tests/engine/*/*/test_*_recorded.py tests/engine/compile/test_recorded_programs.py) notebooks

other-processor: $(VENV)/.dev $(VENV)/.kernels
	@chosen="$$($(BIN)/python scripts/other_processor.py)" && set -x && env $$chosen \
	  $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --nbval $(COMPUTES)

nightly: $(VENV)/.dev $(VENV)/.kernels
	$(BIN)/python scripts/nightly.py $(NIGHTLY)

bench: $(VENV)/.lab $(VENV)/.kernels
	$(BIN)/python -m benchmarks

notebooks: $(VENV)/.lab $(VENV)/.kernels
	$(BIN)/python scripts/save_notebooks.py notebooks/*.ipynb

lint: $(VENV)/.dev js/node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/user_code.py
	$(BIN)/python scripts/word_list.py
	$(BIN)/lint-imports
	$(BIN)/python -m hookscope.widgets.page build/page
	js/node_modules/.bin/tsc -p js
	js/node_modules/.bin/eslint --config js/eslint.config.js widgets build/page

api: $(VENV)/.dev
	@mkdir -p build/api/pages
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs/api build/api/pages build/api/html

lock: $(VENV)/.dev
	$(BIN)/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 --all-extras \
	  --generate-hashes --no-emit-index-url --custom-compile-command "make lock" -o requirements.lock

clean:
	rm -rf $(VENV) js/node_modules build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis \
	  engine/cpu/built

$(BIN)/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || { \
	  echo "Hookscope needs Python 3.11 to 3.14; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." \
	    "Name another one: make PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info >= (3, 14))' || \
	  echo "Hookscope's tests have run on Python 3.11 to 3.13; this is $$("$(PYTHON)" --version), which may show faults."
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' does not work. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# Each package by the hash that the lock has for it; then this one, which has none, with nothing fetched for it. Modules get
# their bytecode here, on all cores, and not one after another from the first process that imports them; where Python is
# told to write none (PYTHONDONTWRITEBYTECODE), every process would compile them again.
define install
$(BIN)/python scripts/install.py --installer $(INSTALLER) $(1)
@$(BIN)/python -m compileall -qq -j 0 -x '/tests?/' $(VENV)/lib $(wildcard hookscope/*/ hookscope) || true
endef

$(VENV)/.lab: $(SOURCES) | $(BIN)/python
	$(call install,build lab)
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	$(call install,build dev)
	@touch $@ $(VENV)/.lab

# Made again when a kernel has changed; without it, as where nothing can be compiled, each process does what it needs.
$(VENV)/.kernels: $(wildcard engine/cpu/compiled/*.py engine/cpu/compiled/*/*.py engine/cpu/*machine_code.py)
	-@$(BIN)/python -m hookscope.engine.cpu.build_kernels
	@touch $@

# What the JavaScript is checked with; users need none of it.
js/node_modules/.installed: js/package.json js/package-lock.json
	@$(if $(NPM),,echo "The checks of the JavaScript need node and npm. On Debian and Ubuntu: apt-get install nodejs npm"; exit 1;) \
	  cd js && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@
