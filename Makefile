# Shortcuts for developers of Receipt Relay. `make` alone lists them.
#
# The scripts in deploy/dev do the work; each can be read and run alone. .ci/run calls the same targets.

.DEFAULT_GOAL := help
.PHONY: help deps build demo demo-cluster run test mutants third-parties kit torture torture-cluster fuzz asan tsan lint bench soak figures screenshots deb deb-test reproducible image image-test release-sources release kit-android clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that are missing (apt-get, as root or through sudo)
	@deploy/dev/deps libraries tools

build: deps ## Build the programs for release, into .build/release
	@echo 'Building for release, about five minutes on two cores the first time:'
	@deploy/dev/build $(BUILD_OPTIONS)

demo demo-cluster: BUILD_OPTIONS = $(if $(VERBOSE),,--quiet)

demo: build ## Run four whole checkouts against stand-ins, half a minute (VERBOSE=1 shows every command)
	@deploy/dev/demo

demo-cluster: build ## Run two relays on one PostgreSQL, kill one of them and then the database, and show what happens
	@deploy/dev/deps server
	@deploy/dev/demo-cluster

run: build ## Run receiptd and a stand-in destination until Ctrl-C, with a development configuration
	@deploy/dev/run

test: deps ## Run all tests but those of make torture
	@deploy/dev/test

mutants: deps ## Show how many of a hundred small faults the tests notice (as long as a build, and ten minutes)
	@deploy/dev/mutants

third-parties: build ## Check receiptd with other software: Stripe's library, localstripe, Schemathesis, PyJWT, nginx
	@deploy/dev/deps third-parties
	@deploy/dev/third-parties

kit: ## Show that apps can depend on CheckoutKit, by path and by URL, and run its sample
	@deploy/dev/kit

torture: deps ## Try to make receiptd lose data, and print the figures (35 minutes)
	@deploy/dev/torture

torture-cluster: deps ## Try to make several relays on one PostgreSQL lose data (20 minutes at most)
	@deploy/dev/deps server
	@deploy/dev/torture --cluster

kit-android: build ## Build and test the app's side for Android on a JVM, also against receiptd
	@deploy/dev/deps android
	@deploy/dev/kit-android

SECONDS ?= 60
fuzz: deps ## Fuzz every reader of untrusted input, for SECONDS=60 in all or EACH=600 for each target
	@deploy/dev/fuzz $(SECONDS)

asan: deps ## Run the tests under Address Sanitizer
	@deploy/dev/sanitize address

tsan: deps ## Run the tests under Thread Sanitizer
	@deploy/dev/sanitize thread

lint: ## Check the form of the Swift sources
	swift format lint --strict --parallel --recursive Package.swift Package@swift-6.0.swift Sources Tools Tests migrations kit-sample

bench: build ## Measure against the limits, both tables, 35 minutes (TINY=1 shows that it works)
	@deploy/dev/deps bench
	@deploy/dev/deps server
	@benchmarks/run
	@benchmarks/relays

soak: build ## Run for MINUTES=10 with a third of the deliveries failing; fails when a curve keeps growing
	@deploy/dev/soak

figures: ## Put the figures of the last proofs into the docs
	@deploy/dev/figures

screenshots: build ## Take the pictures of the documents again, in headless Chromium
	@deploy/dev/deps browser pictures
	@deploy/dev/screenshots

deb: build ## Build the Debian packages into .build/deb, and check them with lintian
	@deploy/dev/deps packages
	@deploy/dev/deb

deb-test: deb ## Install, upgrade and purge the package in a fresh Debian root, with a real systemd (as root)
	@deploy/dev/deps machines
	@deploy/dev/deb-test

reproducible: deps ## Build twice in two folders, and compare programs and packages byte by byte (12 minutes)
	@deploy/dev/deps packages
	@deploy/dev/reproducible

image: deb ## Build the container image as an OCI archive, .build/image/receipt-relay.oci.tar (as root)
	@deploy/dev/deps machines
	@deploy/dev/image

image-test: image ## Run the image in podman, read-only and as its user, up to a delivered test receipt (as root)
	@deploy/dev/image-test

release-sources:
	@deploy/dev/release --sources

release: release-sources deb-test image-test ## Collect and check what a release publishes, in .build/publish (as root)
	@deploy/dev/release

clean: ## Remove the builds and the development databases
	rm -rf .build var
