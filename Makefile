# talkover: `make demo` and `make test` set everything up and run; the rest is for developers.
VENV ?= .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
HOURS ?= 8
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test lint bench soak peers train clean docs install uninstall rollback

demo: $(READY)
	$(PY) -m robot demo --out out/demo

test: $(READY) lint
	$(PY) -m pytest

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy robot dialogue perception motion firmware_bridge calibration
	$(VENV)/bin/lint-imports

bench: $(READY)
	$(PY) -m robot bench
	$(PY) -m robot script --engine scripted --out out/scenarios tests/scenarios/full/*.yaml

soak: $(READY)
	$(PY) -m robot bench --soak $(HOURS) --jobs 2

peers: $(READY)
	$(PY) -m tests.peers

train: $(READY)
	$(PY) -m training

$(READY): setup.cfg constraints.txt scripts/setup.sh
	VENV=$(VENV) sh scripts/setup.sh dev,sim

docs: $(READY)
	PYTHONPATH=. $(PY) scripts/docs.py

install:
	sh scripts/install.sh install

uninstall:
	sh scripts/install.sh uninstall $(if $(PURGE),--purge)

rollback:
	sh scripts/install.sh rollback

clean:
	rm -rf out build *.egg-info
