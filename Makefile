# SPDX-License-Identifier: GPL-3.0-or-later
# make demo [SCENE=name]   the example shot: built, baked, exported, drawn under out/
# make test                every test; make lint, make zip, make bench, make validation (docs/validation.md)
# make docs               the site, under out/site/, from README and docs/
# make fabrics             every preset draped over a table and a ball, and on coarser meshes (docs/fabric.md)
# Each sets up what it needs the first time (scripts/setup.py).

PYTHON := $(firstword $(wildcard .venv/bin/python) python3)
SCENE ?=
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: demo test test-4.5 test-5.2 test-gui lint zip bench validation fabrics docs setup setup-5.2 gui-root clean

demo: setup
	@.venv/bin/python scripts/demo.py $(SCENE)

# Each part runs even if one before it failed, and the last line tells of them all.
test: setup
	@bash scripts/test.sh all

test-4.5 test-5.2 test-gui: test-%: setup
	@bash scripts/test.sh $*

lint: setup
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/python scripts/check_house.py

zip: setup
	@.venv/bin/python scripts/build_zip.py

bench: setup
	@.venv/bin/python benchmarks/bench.py
	@.venv/bin/python benchmarks/ldi.py
	@.venv/bin/python benchmarks/contact.py

validation: setup
	@.venv/bin/python scripts/validation.py

fabrics: setup
	@.venv/bin/python scripts/fabrics.py
	@.venv/bin/python scripts/fabric_assets.py
	@.venv/bin/python scripts/mesh_sizes.py

docs: setup
	@.venv/bin/python scripts/reference.py
	@.venv/bin/python scripts/site.py

setup:
	@python3 scripts/setup.py 4.5

setup-5.2:
	@python3 scripts/setup.py 5.2

gui-root:
	@bash scripts/gui_root.sh make

clean:
	rm -rf out wheels .venv .venv-5.2 taffeta.egg-info
