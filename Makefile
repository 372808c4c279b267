# Everything that a person or CI does here; each target says what it needs and brings it along.
# Portable: GNU make 3.81 (macOS) is enough.

SOURCES := $(shell find clitool tools scripts -name '*.py' -o -name clitool -type f) pyproject.toml README.md
BIN := .venv/bin

.PHONY: help demo test services lint bench performance format clean

help:
	@echo "make demo         install, make a sample folder, and show what one client may and may not do"
	@echo "make test         run all tests against the installed wheel, and real servers where they can be had"
	@echo "make services     install the servers that the tests start, if that is possible"
	@echo "make lint         check style and types"
	@echo "make format       mend style where that can be done by itself"
	@echo "make bench        measure calls against the bare interpreter, and rows and mail against minimal scripts"
	@echo "make performance  measure all that, and other programs that do the same, and write docs/performance.md"
	@echo "make clean        remove what the others made"

demo: .venv/.user
	@sh scripts/demo $(BIN)

test: .venv/.dev services
	$(BIN)/pytest --numprocesses 3 --dist loadfile $(PYTEST)

services: .venv/bin/python
	@sh scripts/services $(BIN)/python

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.dev services
	$(BIN)/python bench/start_up.py
	$(BIN)/python bench/growth.py
	$(BIN)/python bench/rows.py
	$(BIN)/python bench/mail.py
	$(BIN)/python bench/instructions.py --gate

performance: .venv/.dev services
	$(BIN)/python bench/performance.py

format: .venv/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .services bench/.peers dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The project is installed as a wheel, not in place: what is tested is what a user gets.
.venv/.user: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

.venv/.dev: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '.[all,dev]'
	@touch $@ .venv/.user

.venv/bin/python:
	@python=$$(sh scripts/find-python) && "$$python" -m venv .venv
