# Every target sets up .venv by itself; only python3 (3.11 or later), make and the package index are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test hostile fuzz oracle lint bench goldens mixes grammar notebook clean peers mutation properties

demo: $(READY)
	$(BIN)/sassmix mix fixtures/listings/wgmma.sm_90a.sass --kernel hgmma_pipelined

test: $(READY)
	$(BIN)/python -m pytest -n 2 -q

# Every cubin of the fixtures in every print mode, against nvdisasm -json; takes a quarter of an hour.
# make oracle SASSMIX_OLD_TOOLS=FOLDER: by the nvdisasm 12.8 in it too.
oracle: $(READY)
	SASSMIX_ALL_MODES=1 $(BIN)/python -m pytest -n 2 -q tests/test_oracle.py

# Every property with 1000 new examples instead of the 40 of CI, which are always the same.
properties: $(READY)
	$(BIN)/python -m pytest -n 2 -q --hypothesis-profile=long

# Thousands of small changes of the engine, in a copy; hours. make mutation MUTATION="tensor flow --sample 4"
mutation: $(READY)
	$(BIN)/python -m pip install --quiet --group mutation
	$(BIN)/python -m mutation $(MUTATION)

# Hostile inputs at their full size: lines of 100 MB, a million labels.
hostile: $(READY)
	SASSMIX_HOSTILE=1 $(BIN)/python -m pytest -q -rP tests/test_hostile.py -k size_is_bounded
	SASSMIX_HOSTILE=1 $(BIN)/python -m pytest -q tests/test_hostile.py -k "not size_is_bounded"

# make fuzz SECONDS=600 HARNESS="trace zstd"; see docs/fuzzing.md.
fuzz: $(READY)
	$(BIN)/python -m pip install --quiet --group fuzz
	$(BIN)/python -m fuzz --seconds $(or $(SECONDS),60) $(HARNESS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy examples/*/*.py examples/*/tests/*.py
	$(BIN)/lint-imports

# make bench BENCH="--only counts --long --peers"
bench: $(READY)
	$(BIN)/python -m benchmarks $(BENCH)

# Needs nvcc 13.0 or later and the disassemblers; says what changed.
goldens: $(READY)
	$(BIN)/python fixtures/build.py

# Only mixes.csv and COVERAGE.md, from the listings that are there; needs no compiler.
mixes: $(READY)
	$(BIN)/python fixtures/build.py --mixes

# The published table of another project against ours, in an environment of its own; see docs/testing.md.
peers:
	$(PYTHON) -m venv build/peers
	build/peers/bin/python -m pip install --quiet ".[testing]" nsys-ai==0.3.0
	build/peers/bin/python examples/peer_table.py

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sassmix needs Python 3.11 or later: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[cuda]" --group dev
	touch $@

# After a change of grammars/*.lark.
grammar: $(READY)
	$(BIN)/python -m sassmix.prepare fixtures/listings

# After a change of the cells of docs/notebook.ipynb, or of what they show.
notebook: $(READY)
	$(BIN)/python -m pip install --quiet --group notebook
	$(BIN)/python docs/notebook.py

clean:
	rm -rf $(VENV) dist build
