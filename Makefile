# Two targets are the way in: `make demo` and `make test`. Everything they need they install.

VENV := .venv/.complete
PYTHON := .venv/bin/python
LOCALCLUSTER = PYTHONPATH=cluster $(PYTHON) -m localcluster
# Which cluster `cluster-up`, `cluster-down` and `cluster-status` are about.
INSTANCE ?= dev
CLUSTER ?= local
export CLUSTER

.PHONY: help demo test check unit exhaustive mutations emptied-rules fuzz bench cluster-up cluster-down cluster-status lock clean

help:  ## Show this help
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 20

demo: $(VENV)  ## From nothing to finished campaigns on a real cluster
	@PYTHONPATH=cluster $(PYTHON) cluster/demo.py

test: check  ## Everything: lint, types, unit, chart and cluster tests on a cluster of their own
	@$(LOCALCLUSTER) build >/dev/null
	@$(LOCALCLUSTER) image >/dev/null
	$(PYTHON) -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder

check: $(VENV)  ## Lint and types
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	MYPYPATH=cluster .venv/bin/mypy -p localcluster -p localslurm
	MYPYPATH=cluster:tests .venv/bin/mypy --explicit-package-bases tests cluster/demo.py

unit: $(VENV)  ## Unit tests alone
	$(PYTHON) -m pytest tests/unit

exhaustive: $(VENV)  ## Every kill point, fault, stall, double apply and 200 pause cycles: about 90 minutes
	@$(LOCALCLUSTER) build >/dev/null
	$(PYTHON) -m pytest --exhaustive --log-cli-level=info tests/cluster/test_kills.py \
		tests/cluster/test_faults.py tests/cluster/test_at_once.py tests/cluster/test_cycles.py

mutations: $(VENV)  ## Take rules out one at a time, and see their tests fail
	$(PYTHON) tests/mutations.py

emptied-rules: $(VENV)  ## Empty the rules of validate one at a time, and count the tests that notice
	$(PYTHON) tests/emptied_rules.py

fuzz: $(VENV)  ## 25,000 mutated and made-up documents through validate: about 4 minutes
	PYTHONPATH=tests $(PYTHON) -m fuzz

bench: $(VENV)  ## validate, diff, status and report beside other tools, on a cluster of their own: about 8 minutes
	$(PYTHON) -m pytest --numprocesses 0 tests/bench

cluster-up: $(VENV)  ## Start a cluster (INSTANCE=dev, CLUSTER=local|kind|current, CLUSTER_MODE=full|kwok)
	@$(LOCALCLUSTER) up --instance $(INSTANCE)

cluster-down: $(VENV)  ## End it and delete its state
	@$(LOCALCLUSTER) down --instance $(INSTANCE)

cluster-status: $(VENV)  ## Say what runs
	@$(LOCALCLUSTER) status --instance $(INSTANCE)

lock: $(VENV)  ## Lock the development dependencies anew
	tools/lock

clean:  ## Remove what was built in this checkout (the cluster has its own `cluster-down`)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist

$(VENV): requirements-dev.lock pyproject.toml tools/venv
	@tools/venv
