# Every target sets itself up: the first call makes .venv and installs into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := .venv-bench
BENCH_READY := $(BENCH)/.ready
BROWSER := .browser
JOEYNMT := .venv-joeynmt
JOEYNMT_READY := $(JOEYNMT)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format docs bench bench-recurrent bench-encoding bench-search bench-words bench-language bench-generation bench-engines bench-deep-shallow bench-library bench-detection bench-page bench-large browser reverse entities soak clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

setup: $(READY) ## create .venv and install regard with all that its development needs

# torch first and by its exact version: a range would bring gigabytes of CUDA along
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

demo: $(READY) ## train, score and look into a Transformer on the built-in corpus (six to eight minutes on two cores)
	$(BIN)/regard demo --out demo --overwrite

test: $(READY) ## the tests
	$(BIN)/python -m pytest -q -n 3 --dist loadgroup

check: $(READY) ## format, lint, types, imports, tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n 3 --dist loadgroup

format: $(READY) ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## the tutorial, how-tos, reference and results as a site: site/index.html
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# BertViz without what it asks for and never uses: a client of a cloud, whose versions pip goes through one by one
$(BENCH_READY): pyproject.toml constraints.txt bench/requirements.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e . -r bench/requirements.txt
	$(BENCH)/bin/pip install --quiet --disable-pip-version-check --no-deps bertviz==1.4.1
	@touch $@

# JoeyNMT wants other versions than everybody else: a venv of its own, with exactly what is listed
$(JOEYNMT_READY): constraints.txt bench/requirements-joeynmt.txt
	$(PYTHON) -m venv $(JOEYNMT)
	$(JOEYNMT)/bin/pip install --quiet --disable-pip-version-check "$$(grep '^torch==' constraints.txt)"
	$(JOEYNMT)/bin/pip install --quiet --disable-pip-version-check --no-deps -r bench/requirements-joeynmt.txt
	@touch $@

bench: $(BENCH_READY) $(JOEYNMT_READY) bench-recurrent bench-encoding bench-search bench-words bench-language bench-generation bench-engines bench-page ## measured comparisons with peers, in venvs of their own
	$(BENCH)/bin/python bench/training.py

bench-recurrent: $(BENCH_READY) $(JOEYNMT_READY)
	$(BENCH)/bin/python bench/recurrent.py

bench-encoding: $(BENCH_READY)
	$(BENCH)/bin/python bench/encoding.py

bench-search: $(BENCH_READY)
	$(BENCH)/bin/python bench/search.py

bench-words: $(BENCH_READY)
	$(BENCH)/bin/python bench/words.py

bench-language: $(BENCH_READY)
	$(BENCH)/bin/python bench/language.py

bench-generation: $(BENCH_READY)
	$(BENCH)/bin/python bench/generation.py

bench-engines: $(BENCH_READY)
	$(BENCH)/bin/python bench/engines.py

bench-deep-shallow: $(BENCH_READY) ## deep where it reads, shallow where it writes: trained to the end, then timed (two hours)
	$(BENCH)/bin/python bench/deep_shallow.py

bench-library: $(READY) ## 100,000 lines translated, killed and gone on with
	$(BIN)/python bench/library.py

bench-detection: $(READY) ## how often the language of a sentence is found
	$(BIN)/python bench/detection.py

bench-page: $(BENCH_READY) $(BROWSER)/require.min.js
	$(BENCH)/bin/python bench/page.py

browser: $(BROWSER)/axe.min.js ## fetch what the tests of the page need besides chromium (npm)

# what npm has, unpacked; nothing of it is run here
$(BROWSER)/axe.min.js:
	mkdir -p $(BROWSER)
	cd $(BROWSER) && tar xzf "$$(npm pack --silent axe-core@4.14.0)" --strip-components=1 package/axe.min.js
	@touch $@

# what BertViz loads from elsewhere while it is shown
$(BROWSER)/require.min.js:
	mkdir -p $(BROWSER)
	cd $(BROWSER) && tar xzf "$$(npm pack --silent d3@5.7.0)" --strip-components=2 package/dist/d3.min.js
	cd $(BROWSER) && tar xzf "$$(npm pack --silent jquery@2.1.4)" --strip-components=2 package/dist/jquery.min.js
	cd $(BROWSER) && tar xzf "$$(npm pack --silent requirejs@2.3.6)" --strip-components=1 package/require.js && mv require.js require.min.js

reverse: $(READY) ## learn to reverse 50,000 random strings (some minutes)
	$(BIN)/python bench/reverse.py

entities: $(READY) ## what the line of sight is worth in the little world (some minutes)
	$(BIN)/python bench/entities.py

bench-large: $(READY) ## memory of training on 10 million pairs (an hour, some gigabytes of disk)
	$(BIN)/python bench/large.py

soak: $(READY) ## long runs: training killed and resumed, a server under load, a newcomer who reads all of the docs
	$(BIN)/python -m pytest -q -s -m soak

clean: ## remove what make has made
	rm -rf $(VENV) $(BENCH) $(JOEYNMT) $(BROWSER) demo site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
