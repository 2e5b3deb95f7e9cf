# Everything a fresh machine with python3 and make needs: each target sets itself up.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test test-slow bench bench-full bench-report bench-table bench-nominal bench-regression bench-probabilities bench-ranking bench-lean bench-saving bench-files bench-large bench-export record-work clean lint format

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	touch $@

$(VENV)/.package: $(VENV)/.made pyproject.toml
	$(PIP) install -e ".[cli]"
	touch $@

$(VENV)/.test: $(VENV)/.package
	$(PIP) install -e ".[test]"
	touch $@

$(VENV)/.bench: $(VENV)/.package
	$(PIP) install -e ".[bench]"
	touch $@

demo: $(VENV)/.package
	$(BIN)/python examples/demo.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Kernels are compiled beside the type checker, which has one processor only.  A worker keeps to its files, so that fitted
# models are shared.  Every processor has a worker: threads of NumPy's library beside it would only spin.
test: $(VENV)/.test
	$(BIN)/multiboost warmup --quiet & warm=$$!; $(MAKE) lint || { kill $$warm; exit 1; }; wait $$warm
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not slow" -n auto --dist worksteal $(PYTEST_ARGS)

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.quick

bench-full: $(VENV)/.bench
	$(BIN)/python -m benchmarks.full $(BENCH_ARGS)

bench-report: $(VENV)/.bench
	$(BIN)/python -m benchmarks.full_page

bench-nominal: $(VENV)/.bench
	$(BIN)/python -m benchmarks.nominal

bench-regression: $(VENV)/.bench
	$(BIN)/python -m benchmarks.regression

bench-saving: $(VENV)/.bench
	$(BIN)/python -m benchmarks.wide_sparse
	$(BIN)/python -m benchmarks.saving $(BENCH_ARGS)

bench-lean: $(VENV)/.bench
	$(BIN)/python -m benchmarks.lean $(BENCH_ARGS)

bench-probabilities: $(VENV)/.bench
	$(BIN)/python -m benchmarks.probabilities

bench-ranking: $(VENV)/.bench
	$(BIN)/python -m benchmarks.ranking

bench-export: $(VENV)/.bench
	$(BIN)/python -m benchmarks.export

bench-files: $(VENV)/.bench
	$(BIN)/python -m benchmarks.files

bench-large: $(VENV)/.bench
	$(BIN)/python -m benchmarks.outofcore --folder bench-large-rows --out benchmarks/results/outofcore.json $(BENCH_ARGS)

bench-table: $(VENV)/.bench
	$(BIN)/python -m benchmarks.table31 --validate
	$(BIN)/python -m benchmarks.table31
	$(BIN)/python -m benchmarks.table31 --collect

record-work: $(VENV)/.test
	$(BIN)/python -m benchmarks.work --record

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
