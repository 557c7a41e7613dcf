# Shortcuts for people who work on Receipt Relay. `make` alone lists them.
#
# The work is done by the scripts in deploy/dev: what they set up is a deployment too, on the machine in front of
# you, and they can be read and run one by one. .ci/run calls the same targets.

.DEFAULT_GOAL := help
.PHONY: help deps build demo run test torture fuzz asan tsan lint bench soak figures screenshots clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that are missing (apt-get, as root or through sudo)
	@deploy/dev/deps libraries tools

build: deps ## Build receiptd and receiptctl for release, into .build/release
	swift build -c release --static-swift-stdlib

demo: build ## Play a whole checkout against a stand-in destination, then one that fails and is replayed
	@deploy/dev/demo

run: build ## Run receiptd and a stand-in destination until Ctrl-C, with a development configuration
	@deploy/dev/run

test: deps ## Run all tests
	@deploy/dev/test

torture: deps ## Try for minutes to make it lose something, and print the figures (at most 20 minutes)
	@deploy/dev/torture

SECONDS ?= 60
fuzz: deps ## Fuzz everything that reads from outside, for SECONDS=60 in all or EACH=600 for each target
	@deploy/dev/fuzz $(SECONDS)

asan: deps ## Run the tests under Address Sanitizer
	@deploy/dev/sanitize address

tsan: deps ## Run the tests under Thread Sanitizer
	@deploy/dev/sanitize thread

lint: ## Check the form of the Swift sources
	swift format lint --strict --parallel --recursive Package.swift Sources Tests migrations

bench: build ## Measure against what limits it, the whole table, 20 minutes (TINY=1 shows that it works)
	@deploy/dev/deps bench
	@benchmarks/run

soak: build ## Run for MINUTES=10 with a third of the deliveries failing; fails when something keeps growing
	@deploy/dev/soak

figures: ## Put the figures of the last proofs into the docs
	@deploy/dev/figures

screenshots: build ## Take the README's pictures again, in headless Chromium
	@deploy/dev/deps browser pictures
	@deploy/dev/screenshots

clean: ## Remove what was built and the development databases
	rm -rf .build var
