# Every target works as the first command on a fresh clone; the second time none of them needs a network.
#   make demo       run the tour without a browser, print what was found, write an HTML page
#   make lab        open the tour in JupyterLab
#   make test       the tests, the notebooks and a session in a browser among them; with CI=true those too that take long
#   make numpy      the tests of operators, layers and recorded results with NumPy alone, nothing compiled
#   make bench      every measurement, as ratios in one run
#   make notebooks  run the tutorials and save their outputs
#   make lint       ruff, mypy, the import rules, and for the panels' JavaScript tsc and ESLint
#   make lock       pin the newest versions that pyproject.toml allows (the one target that wants the network)
#   make clean      remove .venv, js/node_modules and build/
PYTHON ?= python3
WORKERS ?= 2
LAB_OPTIONS ?=  # for example --no-browser --port=8890

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# JupyterLab refuses to run as root, as whom one is in a container, unless told that it may.
ROOT_ALLOWED := $(if $(filter 0,$(shell id -u)),--allow-root)
# Without node and npm, `make test` leaves out what axe-core checks, and says so; `make lint` needs them.
NPM := $(and $(shell command -v node 2>/dev/null),$(shell command -v npm 2>/dev/null))
# What an environment was made from: when one of these changes, pip is called again.
SOURCES := pyproject.toml requirements.lock scripts/locked.py $(wildcard kernel/kernelspec/*)

.DEFAULT_GOAL := demo
.PHONY: demo lab test numpy bench notebooks lint api lock clean
.DELETE_ON_ERROR:

demo: $(VENV)/.lab
	$(BIN)/python scripts/demo.py notebooks/01_tour.ipynb

lab: $(VENV)/.lab
	$(BIN)/jupyter lab $(ROOT_ALLOWED) $(LAB_OPTIONS) notebooks/01_tour.ipynb

test: $(VENV)/.dev $(if $(NPM),js/node_modules/.installed)
	@$(BIN)/python tests/browser/chromium.py --install
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --nbval tests notebooks

# What asks for Numba itself, and what computes nothing, is left out.
NOT_NUMPY := compiling same_bits threads serialization% safetensors asynchronous_saves atomic_write file_trials \
  found_files large_networks stubs names surfaces
NUMPY := $(filter-out $(foreach name,$(NOT_NUMPY),tests/engine/test_$(name).py tests/engine/cpu/test_$(name).py), \
  $(wildcard tests/engine/test_*.py tests/engine/cpu/test_*.py))

numpy: $(VENV)/.dev
	HOOKSCOPE_NUMBA=0 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
	  tests/engine/mint tests/engine/networks $(NUMPY)

bench: $(VENV)/.lab
	$(BIN)/python -m benchmarks

notebooks: $(VENV)/.lab
	$(BIN)/python scripts/save_notebooks.py notebooks/*.ipynb

lint: $(VENV)/.dev js/node_modules/.installed
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing/user_code.py
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
	rm -rf $(VENV) js/node_modules build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { \
	  echo "Hookscope needs Python 3.11, 3.12 or 3.13; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." \
	    "Name another one: make PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "'$(PYTHON) -m venv' does not work. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# Each package by the hash that the lock has for it; then this one, which has none, with nothing fetched for it.
define install
$(BIN)/python scripts/locked.py build $(1) > $(VENV)/$(1).txt
$(PIP) --require-hashes -r $(VENV)/$(1).txt
$(PIP) --no-deps --no-build-isolation -e .
endef

$(VENV)/.lab: $(SOURCES) | $(BIN)/python
	$(call install,lab)
	@touch $@

$(VENV)/.dev: $(SOURCES) | $(BIN)/python
	$(call install,dev)
	@touch $@ $(VENV)/.lab

# What the JavaScript is checked with; users need none of it.
js/node_modules/.installed: js/package.json js/package-lock.json
	@$(if $(NPM),,echo "The checks of the JavaScript need node and npm. On Debian and Ubuntu: apt-get install nodejs npm"; exit 1;) \
	  cd js && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
	@touch $@
