# Two commands do everything on a fresh machine with Python >= 3.10: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Real public data sets, where a copy lies beside the project; tests that need them skip visibly without.
ifneq ($(wildcard ../shared/data),)
export GADC_DATA ?= $(abspath ../shared/data)
endif

# Without stored byte code, each process of the tests would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test slow browser database fuzz faults docs gallery lint bench reproduction dist lowest clean
.DEFAULT_GOAL := test

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || \
		{ echo "gadc needs Python >= 3.10; name one with: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: $(INSTALLED)
	$(BIN)/gadc demo --out out/demo.html

# A file stays with one process, which makes its models and reads its graphs once, until the other has no work left.
test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The tests that `make test` leaves out because each takes several seconds.
slow: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

# The HTML pages in a browser; needs Chromium on the path.
browser: $(INSTALLED)
	$(BIN)/python -m pytest -m browser tests/report/test_browser.py tests/lab/page/test_browser.py tests/test_site_browser.py

# Queries on a real PostgreSQL server, which the test starts; needs the Debian package postgresql.
database: $(INSTALLED)
	$(BIN)/python -m pytest -m database tests/datasets/tables/test_postgresql.py

# Random command lines and library calls; prints how many were tried and failed (takes about an hour).
fuzz: $(INSTALLED)
	$(BIN)/python -m tests.fuzz.commands --commands 20000
	$(BIN)/python -m tests.fuzz.library

# Writers that are killed, run out of disk or compete; prints how many were tried and failed.
faults: $(INSTALLED)
	$(BIN)/python -m tests.faults --rounds 50
	$(BIN)/python -m tests.faults.cluster --kills 100

# Guides and reference as a site in out/docs; a broken link, reference or docstring is an error.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The pictures of the gallery, drawn again by its scripts.
gallery: $(INSTALLED)
	$(BIN)/python scripts/gallery.py

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/backends.py
	$(BIN)/python benchmarks/speed.py

# Takes long: resumes from the stored runs in results/, then writes the page.
reproduction: $(INSTALLED)
	$(BIN)/gadc reproduce --jobs 2
	$(BIN)/gadc report results --docs docs/evidence/reproduction.md

# Wheel and sdist in dist/, tried in a fresh environment with the core alone and then with each extra.
dist: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dist]"
	$(BIN)/python scripts/dist.py

# The lowest declared versions of all dependencies in an environment of their own; constraints-lowest.txt says when.
LOWEST := out/lowest
LOWEST_TESTS := tests/_base tests/operators tests/diffusion tests/datasets/tables tests/pyg tests/report tests/test_serve.py \
	$(addprefix tests/estimators/test_,classifier.py regressor.py saving.py onnx.py sklearn_checks.py) \
	$(addprefix tests/cli/test_,fit.py group.py denoise.py)
lowest:
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-lowest.txt \
		-e ".[all,dask,database,excel,mlflow,onnx,serve]" hypothesis igraph pandas pyarrow pytest xlsxwriter
	$(LOWEST)/bin/python -m pytest $(LOWEST_TESTS)

clean:
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
