# Everything runs from one virtual environment in .venv, made on first use.
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := chassis chat_models ranking_formula text_analysis embedder_svc retriever_svc rewriter_svc reranker_svc gateway justesse
HAND_WRITTEN := $(PACKAGES) protos demo tests benchmarks

.DEFAULT_GOAL := help
.PHONY: help demo test check soak bench eval protos format clean

help:  ## Lists the targets.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Justesse needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.runtime-installed: .venv/bin/python pyproject.toml
	@echo "Installing Justesse and its packages into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/.dev-installed: .venv/bin/python pyproject.toml
	@echo "Installing Justesse and its development packages into .venv"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/.runtime-installed

demo: .venv/.runtime-installed  ## Starts the mesh, ingests the demo base and asks five questions.
	@$(BIN)/justesse demo demo

test: .venv/.dev-installed check  ## Runs all checks and the whole test suite with reduced counts.
	$(BIN)/python -m pytest

check: .venv/.dev-installed  ## Runs linters, type checker, contract and architecture checks.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(HAND_WRITTEN)
	$(BIN)/buf lint protos
	$(BIN)/buf format --diff --exit-code protos
	$(BIN)/python -m pytest -q tests/contracts tests/architecture

soak: .venv/.dev-installed  ## Runs the suite with full counts.
	$(BIN)/python -m pytest --soak --timeout=7200

bench: .venv/.dev-installed  ## Runs the benchmarks and prints ratios.
	$(BIN)/python -m benchmarks

eval: .venv/.dev-installed  ## Measures the demo base with its labelled questions.
	$(BIN)/justesse eval run demo/labelled_questions.jsonl --files demo/documents --out evaluation/demo

protos: .venv/.dev-installed  ## Generates the contracts again.
	$(BIN)/python protos/generate.py

format: .venv/.dev-installed  ## Formats code and contracts.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/buf format --write protos

clean:  ## Removes the environment and everything built.
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
