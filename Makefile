# make demo   index sample_kb/ and ask it three questions      make test   all tests
# make lint   style, types, floors                             make eval   the question sets, with figures
# make coverage   what the tests reach, lines and branches    make bench   start-up and indexing, measured
# make check-docs   the documentation tests of sample_kb/, with the installed tool

VENV := .venv
DEMO := .venv-demo
BIN := $(VENV)/bin
SPREAD := --numprocesses auto --maxprocesses 4 --dist worksteal

.PHONY: demo test coverage lint eval bench check-docs setup clean

demo:
	@scripts/setup $(DEMO) .
	@scripts/demo $(DEMO)/bin/ctx

check-docs:
	@scripts/setup $(DEMO) .
	@scripts/check-docs $(DEMO)/bin/ctx

setup:
	@scripts/setup $(VENV) --editable '.[xlsx]' --group dev

test: setup
	@$(BIN)/python -m pytest -q $(SPREAD)

coverage: setup
	@rm -f .coverage*
	@$(BIN)/coverage run -m pytest -q $(SPREAD) || true
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

eval: setup
	@$(BIN)/python benchmarks/quality.py $(EVAL)

bench: setup
	@$(BIN)/python benchmarks/start_up.py
	@$(BIN)/python benchmarks/index.py

clean:
	rm -rf $(VENV) $(DEMO) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage*
