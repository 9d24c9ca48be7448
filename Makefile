# The first target that runs makes the environment in .venv and builds; later ones only what has changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(shell find core -name '*.h' -o -name '*.cpp')
PYTHON_CODE := src experiments tests benchmarks scripts

# Tests start hundreds of processes: Python is to keep what it has compiled, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check
# The first run takes minutes; it says what it does in a few lines.
QUIETLY := @$(PYTHON) scripts/run_quietly.py

.PHONY: FORCE build demo test test-fast slow-tests test-builds coverage docs pictures wheel check tidy format lock stubs sanitize \
    fuzz attack bench clean

build: $(VENV)/.built

# dependency groups need a pip that knows them, so pip itself comes first.
$(VENV)/.environment: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	    "Hyoka needs Python 3.11 or newer: make PYTHON=python3.12, say")'
	@test -x $(BIN)/python || { echo "making the environment in $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@$(PIP) install --quiet --upgrade "pip>=25.1"
	$(QUIETLY) "packages into $(VENV)" $(PIP) install --group dev --constraint requirements.lock
	@touch $@

# The editable install maps the modules it knew when it was made: a new or gone one needs a new map.
MODULES := $(shell find src -name '*.py' | sort)
$(VENV)/.modules: $(VENV)/.environment FORCE
	@echo '$(MODULES)' | cmp --quiet - $@ || echo '$(MODULES)' > $@
FORCE:

$(VENV)/.built: $(VENV)/.environment $(VENV)/.modules CMakeLists.txt $(CORE)
	$(QUIETLY) "compiling" $(PIP) install --verbose --no-build-isolation --editable .
	@touch $@

demo: build
	$(BIN)/hyoka demo

# One more worker than cores: some tests wait for engines, browsers and clusters. FILES: only these files.
test: build
	$(BIN)/python -m pytest -n $$(($$(nproc) + 1)) --dist loadgroup -q $(FILES)

# Unit tests that are not slow, which tests/slow_tests.txt lists: two minutes.
test-fast: build
	HYOKA_EXAMPLES=10 $(BIN)/python -m pytest -n $$(nproc) --dist loadgroup -q -m "not slow" tests/unit tests/laws

# Measure the unit tests, and list those that take long; for an idle machine.
slow-tests: build
	HYOKA_SLOW_TESTS=1 $(BIN)/python -m pytest -n $$(nproc) --dist loadgroup -q tests/unit tests/laws

# The lines and branches that `make test` runs, also in child processes: build/coverage/index.html.
coverage: build
	rm -f .coverage*
	-$(BIN)/python -m coverage run -m pytest -n $$(($$(nproc) + 1)) --dist loadgroup -q $(FILES)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --quiet --directory build/coverage
	$(BIN)/python -m coverage report --skip-covered --skip-empty | tail -1

# What builds the core once more: the game of docs/guides/new-game-cpp.md, added as the page says.
test-builds: build
	HYOKA_BUILD_TESTS=1 $(BIN)/python -m pytest -q tests/e2e/test_new_game_in_cpp.py

# The docs as a site, with generated references: build/site/index.html. Broken links and requests to other hosts fail.
docs: build
	$(BIN)/sphinx-build -W --keep-going -q -b dirhtml docs build/site
	$(BIN)/python scripts/check_site.py build/site

# The pictures of a report and of the studio, for README and docs; needs Chromium.
pictures: build
	$(BIN)/python scripts/make_pictures.py

# A wheel, installed and tried in an environment of its own outside of this folder.
wheel: build
	scripts/check_wheel

check: build
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CORE)
	$(BIN)/python scripts/stubs.py --check

# Static analysis of the core; needs clang-tidy.
tidy: build
	clang-tidy --quiet -p $$(ls -d build/cp*) $$(find core -name '*.cpp' -not -path '*/tests/*') 2> /dev/null

format: build
	$(BIN)/ruff check --fix-only $(PYTHON_CODE)
	$(BIN)/ruff format $(PYTHON_CODE)
	$(BIN)/clang-format -i $(CORE)

# Newer packages: upgrade the environment, test, then write the versions down.
lock: build
	$(BIN)/python scripts/lock.py

# src/hyoka/_core.pyi is generated from the compiled module, and committed.
stubs: build
	$(BIN)/python scripts/stubs.py

sanitize: build
	scripts/sanitize

# A million mutated records through the readers, under AddressSanitizer and UBSan.
fuzz: build
	scripts/fuzz

# What tests try for seconds, for as long as one likes: docs/explanation/attacks.md has the figures of long runs.
attack: build
	$(BIN)/python scripts/attack/records.py --inputs 1000000
	$(BIN)/python scripts/attack/archives.py --inputs 10000
	$(BIN)/python scripts/attack/engines.py --inputs 1000
	$(BIN)/python scripts/attack/studies.py --rounds 30
	$(BIN)/python scripts/attack/kills.py --rounds 20
	$(BIN)/python scripts/attack/clusters.py --rounds 20
	$(BIN)/python scripts/attack/solving.py --rounds 500
	$(BIN)/python scripts/attack/studio.py --inputs 10000
	$(BIN)/python scripts/attack/commands.py

bench: build
	$(BIN)/hyoka bench
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/records.py
	$(BIN)/python benchmarks/bulk.py
	$(BIN)/python benchmarks/engine_rate.py
	$(BIN)/python benchmarks/searches.py
	$(BIN)/python benchmarks/arena.py
	$(BIN)/python benchmarks/ratings.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/perft_suites.py

clean:
	rm -rf build $(VENV)
